//! Guests that belong together, as one: the nodes of a cluster, the cores of a board.

use super::{Ending, Outcome};
use crate::console::Transcript;
use std::{collections::btree_map::Entry, time::Duration};

/// What nodes have said and how they ended, as if they were one guest called `label`. `failed` has the numbers of those
/// that failed, the first to do so first. The cause is what the first of them says that does not say only that another one of them
/// has failed: the one that it means may still tell what it has noted, and end later.
///
/// # Panics
/// When there is no node.
pub(crate) fn merge(label: &str, nodes: Vec<Outcome>, failed: &[usize]) -> Outcome {
    let words = |node: &usize| matches!(nodes[*node].transcript.done, Some(Err(_)));
    let follows = |node: &usize| {
        let of = |other: &usize| nodes[*node].transcript.done == Some(Err(format!("node {other} has failed")));
        failed.iter().any(of)
    };
    let mut failed_with_words = failed.iter().copied().filter(words);
    let cause = failed_with_words.clone().find(|node| !follows(node)).or(failed_with_words.next());
    let cause = cause.or(failed.first().copied()).unwrap_or(0);
    let ending = nodes[cause].ending;
    let is_silent = failed.contains(&cause) && !words(&cause);
    let label = if is_silent { format!("{label}: node {cause}") } else { label.into() };
    let elapsed = nodes.iter().map(|node| node.elapsed).max().unwrap_or_default();
    let reports = nodes.iter().map(|node| node.reports).sum();
    let running = nodes.iter().find_map(|node| node.running.clone());
    // One node speaks for all.
    let times = nodes.iter().flat_map(|node| node.times.iter().copied()).collect();
    let done = match nodes[cause].transcript.done.clone() {
        Some(Err(message)) => Some(Err(format!("node {cause}: {message}"))),
        _ if nodes.iter().all(|node| node.transcript.done == Some(Ok(()))) => Some(Ok(())),
        _ => None,
    };
    let mut transcript = Transcript { done, ..Transcript::default() };
    let mut messages = String::new();
    for (number, node) in nodes.into_iter().enumerate() {
        add(&mut transcript, node.transcript, &format!("node {number}"));
        node.messages.lines().for_each(|line| messages += &format!("node {number}: {line}\n"));
    }
    transcript.counters.sort_by_key(|counters| counters.rank);
    Outcome { label, transcript, elapsed, times, ending, messages, reports, running }
}

/// What was captured elsewhere of the parts of one guest, each with its name, or without if there is but one: one of
/// them speaks for all when the guest ends, and any of them can fail.
pub(crate) fn captured(label: &str, parts: Vec<(String, Transcript)>) -> Outcome {
    let failure = parts.iter().find_map(|(name, part)| match &part.done {
        Some(Err(message)) => Some(Err(said_by(name, message))),
        _ => None,
    });
    let success = parts.iter().find_map(|(_, part)| part.done.clone());
    let mut transcript = Transcript { done: failure.or(success), ..Transcript::default() };
    parts.into_iter().for_each(|(name, part)| add(&mut transcript, part, &name));
    transcript.counters.sort_by_key(|counters| counters.rank);
    Outcome {
        label: label.into(),
        transcript,
        elapsed: Duration::ZERO,
        times: Vec::new(),
        ending: Ending::Elsewhere,
        messages: String::new(),
        reports: 0,
        running: None,
    }
}

/// A line with the name of who said it, if there is one.
fn said_by(name: &str, line: &str) -> String {
    if name.is_empty() { line.into() } else { format!("{name}: {line}") }
}

/// Adds what one of them has said, except for its last word.
fn add(all: &mut Transcript, one: Transcript, name: &str) {
    let from = |line: String| said_by(name, &line);
    all.text.extend(one.text.into_iter().map(from));
    all.problems.extend(one.problems.into_iter().map(from));
    for file in one.files {
        if all.files.iter().any(|other| other.name == file.name) {
            all.problems.push(from(format!("another one has sent result file {}, too", file.name)));
        }
        all.files.push(file);
    }
    for (result, value) in one.results {
        match all.results.entry(result) {
            Entry::Vacant(entry) => drop(entry.insert(value)),
            Entry::Occupied(entry) if *entry.get() == value => {}
            Entry::Occupied(entry) => {
                let problem = format!("{name}: result {} is {value}, and {} elsewhere", entry.key(), entry.get());
                all.problems.push(problem);
            }
        }
    }
    all.tests.extend(one.tests);
    all.counts = match (all.counts, one.counts) {
        (Some((passed, failed)), Some(more)) => Some((passed + more.0, failed + more.1)),
        (one, other) => one.or(other),
    };
    all.counters.extend(one.counters);
    all.steps.extend(one.steps);
    all.samples.extend(one.samples);
    all.fatal.extend(one.fatal);
    all.trace.add(one.trace);
    all.ticks = all.ticks.or(one.ticks);
    all.phase = all.phase.take().or(one.phase);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::run;
    use std::{process::Command, time::Duration};

    fn node(script: &str) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run("stand-in", &mut command, None, Duration::from_millis(10_000), |_| {}).unwrap()
    }

    #[test]
    fn success_needs_all_nodes() {
        let good = || node("echo '@counters 1 drains=2'; echo '@result sum 7'; echo @done ok; exit 33");
        let first = node("echo '@phase last'; echo '@counters 0 drains=1'; echo '@samples'; echo @done ok; exit 33");
        let merged = merge("two", vec![good(), good()], &[]);
        assert!(merged.verdict().is_ok());
        let merged = merge("two", vec![good(), first], &[]);
        assert_eq!(merged.transcript.phase.as_deref(), Some("last"));
        assert_eq!(merged.transcript.counters.iter().map(|counters| counters.rank).collect::<Vec<_>>(), [0, 1]);
        let message = merged.verdict().unwrap_err().to_string();
        assert!(message.contains("node 1: `@samples` means nothing"), "{message}");
        let merged = merge("two", vec![good(), node("exit 33")], &[1]);
        let message = merged.verdict().unwrap_err().to_string();
        assert!(message.contains("two: node 1") && message.contains("without `@done ok`"), "{message}");
    }

    #[test]
    fn the_first_that_says_why_is_the_cause() {
        let nodes = || {
            vec![
                node("echo hello; echo '@done failed node 1 has disappeared'; exit 35"),
                node("kill -9 $$"),
                node("echo '@done failed node 0 has failed'; exit 35"),
            ]
        };
        for failed in [[1, 0, 2], [1, 2, 0], [2, 0, 1]] {
            let merged = merge("three", nodes(), &failed);
            let message = merged.verdict().unwrap_err().to_string();
            assert_eq!(message, "three failed: node 0: node 1 has disappeared");
            assert_eq!(merged.transcript.text, ["node 0: hello"]);
        }
        let alone = merge("three", vec![node("echo @done ok; exit 33"), node("kill -9 $$")], &[1]);
        let message = alone.verdict().unwrap_err().to_string();
        assert!(message.contains("three: node 1 was ended by signal 9"), "{message}");
    }

    #[test]
    fn nodes_do_not_contradict_each_other() {
        let node = |value| node(&format!("echo '@result sum {value}'; echo @done ok; exit 33"));
        assert!(merge("two", vec![node(1), node(1)], &[]).verdict().is_ok());
        let message = merge("two", vec![node(1), node(2)], &[]).verdict().unwrap_err().to_string();
        assert!(message.contains("result sum is 2, and 1 elsewhere"), "{message}");
    }
}
