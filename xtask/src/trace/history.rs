//! What a rank did from moment to moment: the innermost of its nested operations and waits.

use std::{collections::BTreeMap, sync::Arc};
use transcript::trace::{Kind, Records, Wait};

/// A stretch of time in which a rank did one thing.
pub(crate) struct Stretch {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// The operation of a protocol, and what of the hardware's it did for that.
    pub(crate) operation: Arc<str>,
    pub(crate) detail: Option<Arc<str>>,
}

/// What a rank did, from its begin to its end.
pub(crate) struct History<'t> {
    pub(crate) stretches: Vec<Stretch>,
    /// Those that somebody ended, in the order of their ends.
    waits: Vec<&'t Wait>,
}

/// An operation or a wait, as part of a history.
struct Part {
    begin: u64,
    end: u64,
    depth: u8,
    operation: Option<Arc<str>>,
    detail: Option<Arc<str>>,
}

impl<'t> History<'t> {
    /// What it did to the `end` of all traces, until which lasts what had not ended when it was stopped.
    pub(crate) fn until(records: &'t Records, end: u64) -> Self {
        let mut waits: Vec<_> = records.waits.iter().filter(|wait| wait.was_for().is_some()).collect();
        waits.sort_by_key(|wait| wait.end);
        let polling: Arc<str> = "wait".into();
        let spans = records.spans.iter().map(|span| {
            let name = Some(span.name.clone());
            let (operation, detail) = if span.of_hardware { (None, name) } else { (name, None) };
            Part { begin: span.begin, end: span.end, depth: span.depth, operation, detail }
        });
        let waited = records.waits.iter().map(|wait| Part {
            begin: wait.begin,
            end: wait.end,
            depth: wait.depth,
            operation: None,
            detail: Some(polling.clone()),
        });
        let under_way = records.under_way.iter().map(|open| {
            let name = Some(open.name.clone());
            let (operation, detail) = match open.kind {
                Kind::Operation => (name, None),
                Kind::Hardware => (None, name),
                Kind::Wait => (None, Some(polling.clone())),
            };
            Part { begin: open.begin, end: end.max(open.begin), depth: open.depth, operation, detail }
        });
        let mut parts: Vec<_> = spans.chain(waited).chain(under_way).collect();
        parts.sort_by_key(|part| (part.begin, part.depth));
        Self { stretches: stretches(parts), waits }
    }

    /// The last wait that was over at a moment, with the rank whose store ended it, and when.
    pub(crate) fn last_wait(&self, now: u64) -> Option<(&'t Wait, u32, u64)> {
        let over = self.waits.partition_point(|wait| wait.end <= now);
        let wait = self.waits.get(over.checked_sub(1)?)?;
        let ender = wait.was_for()?;
        Some((wait, ender.rank, ender.at))
    }

    /// Adds what this rank did between two moments.
    pub(crate) fn add_work(&self, begin: u64, end: u64, work: &mut BTreeMap<String, u64>) {
        let first = self.stretches.partition_point(|stretch| stretch.end <= begin);
        let mut told = 0;
        for stretch in self.stretches[first..].iter().take_while(|stretch| stretch.begin < end) {
            let time = stretch.end.min(end) - stretch.begin.max(begin);
            let name = match &stretch.detail {
                Some(detail) => format!("{}: {detail}", stretch.operation),
                None => stretch.operation.to_string(),
            };
            *work.entry(name).or_default() += time;
            told += time;
        }
        if end - begin > told {
            *work.entry("before and after the program".into()).or_default() += end - begin - told;
        }
    }

    /// What the rank was doing in these moments, above the hardware.
    pub(crate) fn operation_at(&self, begin: u64, end: u64) -> Arc<str> {
        let first = self.stretches.partition_point(|stretch| stretch.end <= begin);
        let stretch = self.stretches.get(first).filter(|stretch| stretch.begin < end);
        stretch.map_or_else(|| "start".into(), |stretch| stretch.operation.clone())
    }
}

/// Lays the innermost of nested parts one after another. They are sorted by begin and depth.
fn stretches(parts: Vec<Part>) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut stack: Vec<Part> = Vec::new();
    let mut now = 0;
    let mut until = |stack: &[Part], now: &mut u64, end: u64| {
        if let Some(part) = stack.last().filter(|_| end > *now) {
            let operation = stack.iter().rev().find_map(|part| part.operation.clone());
            let operation = operation.unwrap_or_else(|| "start".into());
            stretches.push(Stretch { begin: *now, end, operation, detail: part.detail.clone() });
        }
        *now = end.max(*now);
    };
    for part in parts {
        while let Some(end) = stack.last().map(|open| open.end).filter(|end| *end <= part.begin) {
            until(&stack, &mut now, end);
            stack.pop();
        }
        until(&stack, &mut now, part.begin);
        stack.push(part);
    }
    while let Some(end) = stack.last().map(|open| open.end) {
        until(&stack, &mut now, end);
        stack.pop();
    }
    stretches
}
