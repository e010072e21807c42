//! Arrows of a timeline: from an operation to the rank that it is about, from who sends a message to who receives it, and
//! from the store that ended a wait to that wait.
//!
//! An arrow needs something under way at both of its ends, which a trace that has lost its beginning may not have.

use std::collections::BTreeMap;
use transcript::trace::{Records, Span, Trace, Wait};

/// One arrow: a rank and a moment at each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// What it stands for.
    pub(super) kind: &'static str,
    /// Where it begins.
    pub(super) from: (u32, u64),
    /// Where it ends.
    pub(super) to: (u32, u64),
}

/// Stretches in which a rank was doing something, none of which touch, in order of time.
struct Busy(Vec<(u64, u64)>);

impl Busy {
    fn of(records: &Records, last: u64) -> Self {
        let spans = records.spans.iter().map(|span| (span.begin, span.end));
        let waits = records.waits.iter().map(|wait| (wait.begin, wait.end));
        let open = records.under_way.iter().map(|open| (open.begin, last));
        let mut all: Vec<_> = spans.chain(waits).chain(open).collect();
        all.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in all {
            match merged.last_mut() {
                Some((_, until)) if begin <= *until => *until = end.max(*until),
                _ => merged.push((begin, end)),
            }
        }
        Self(merged)
    }

    fn at(&self, moment: u64) -> bool {
        let after = self.0.partition_point(|(begin, _)| *begin <= moment);
        after.checked_sub(1).is_some_and(|index| moment <= self.0[index].1)
    }
}

/// All arrows of a trace whose waits know what ended them.
pub(super) fn find(trace: &Trace) -> Vec<Flow> {
    let last = trace.end();
    let busy: BTreeMap<u32, Busy> =
        trace.ranks.iter().map(|(rank, records)| (*rank, Busy::of(records, last))).collect();
    let sends: BTreeMap<u32, Vec<&Span>> = trace.ranks.iter().map(|(rank, records)| (*rank, sends(records))).collect();
    let mut flows: Vec<Flow> = Vec::new();
    for (rank, records) in &trace.ranks {
        flows.extend(records.waits.iter().filter_map(|wait| ended(*rank, wait)));
    }
    for (rank, records) in &trace.ranks {
        flows.extend(messages(*rank, records, &sends));
        flows.extend(records.spans.iter().filter_map(|span| {
            let (kind, peer) = (kind(span)?, span.peer.filter(|peer| peer != rank)?);
            Some(Flow { kind, from: (*rank, span.begin), to: (peer, span.end) })
        }));
    }
    let holds = |(rank, moment): (u32, u64)| busy.get(&rank).is_some_and(|busy| busy.at(moment));
    flows.retain(|flow| holds(flow.from) && holds(flow.to));
    flows
}

/// What an operation that one rank makes alone is to the one that it is about, if it reaches that one.
fn kind(span: &Span) -> Option<&'static str> {
    match &*span.name {
        "put" | "put of an engine" | "accumulate" | "notify" | "MPB put" => Some("put"),
        "get" | "get of an engine" | "compare and swap" | "MPB get" => Some("get"),
        _ => None,
    }
}

fn sends(records: &Records) -> Vec<&Span> {
    let mut sends: Vec<_> = records.spans.iter().filter(|span| span.name.starts_with("send")).collect();
    sends.sort_by_key(|span| span.begin);
    sends
}

/// Messages that a rank has received: the last wait within that the sender's sending ended.
fn messages(rank: u32, records: &Records, sends: &BTreeMap<u32, Vec<&Span>>) -> Vec<Flow> {
    let mut waits: Vec<&Wait> = records.waits.iter().filter(|wait| wait.ender.is_some()).collect();
    waits.sort_by_key(|wait| wait.begin);
    let receives = records.spans.iter().filter(|span| span.name.starts_with("receive"));
    let message = |receive: &Span| {
        let first = waits.partition_point(|wait| wait.begin < receive.begin);
        let within =
            waits[first..].iter().take_while(|wait| wait.begin <= receive.end).filter(|wait| wait.end <= receive.end);
        let sent = within.filter_map(|wait| {
            let ender = wait.ender.as_ref().filter(|ender| receive.peer.is_none_or(|peer| peer == ender.rank))?;
            let sends = sends.get(&ender.rank)?;
            let before = sends.partition_point(|send| send.begin <= ender.at);
            let send = sends[..before].iter().rev().take(2).find(|send| ender.at <= send.end)?;
            let is_for = send.peer.is_none_or(|peer| peer == rank);
            is_for.then_some(Flow { kind: "message", from: (ender.rank, ender.at), to: (rank, wait.end) })
        });
        sent.last()
    };
    receives.filter_map(message).collect()
}

fn ended(rank: u32, wait: &Wait) -> Option<Flow> {
    let ender = wait.ender.as_ref()?;
    // Inside the wait, or an arrow would end at what follows.
    let seen = ender.at.clamp(wait.begin, wait.end);
    Some(Flow { kind: "ended", from: (ender.rank, ender.at), to: (rank, seen) })
}

#[cfg(test)]
mod tests {
    use super::{super::enders, *};

    /// A rank, and when.
    type End = (u32, u64);

    fn flows(lines: &[&str]) -> Vec<(&'static str, End, End)> {
        let mut trace = Trace::default();
        lines.iter().for_each(|line| trace.take(line).unwrap());
        find(&enders::find(trace)).into_iter().map(|flow| (flow.kind, flow.from, flow.to)).collect()
    }

    #[test]
    fn operations_point_at_their_targets() {
        let lines = [
            "0 c 1000 0",
            "1 c 1000 0",
            "0 s 1 10 20 1 32 put",
            "0 h 1 20 21 - 32 MPB get",
            "0 s 1 30 40 1 32 get",
            "0 s 0 0 50 - 0 program",
            "1 s 0 0 35 - 0 program",
        ];
        // Nothing is known of rank 1 at 40.
        assert_eq!(flows(&lines), [("put", (0, 10), (1, 20))]);
    }

    #[test]
    fn messages_go_from_who_sends_to_who_receives() {
        let lines = [
            "0 c 1000 0",
            "1 c 1000 0",
            "0 t 7 1 1 24 25",
            "0 s 1 10 30 1 64 send",
            "0 s 1 31 39 1 64 send",
            "0 s 0 0 50 - 0 program",
            "1 p 7 ffffffff line 7",
            "1 w 2 15 27 0 4 ok a message",
            "1 s 1 14 28 0 64 receive",
            "1 s 0 0 50 - 0 program",
        ];
        assert_eq!(flows(&lines), [("ended", (0, 25), (1, 25)), ("message", (0, 25), (1, 27))]);
    }
}
