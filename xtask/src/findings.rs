//! Mistakes that the checker has found, in words.

use crate::{
    console::Transcript,
    kernel_line::KernelLine,
    places::{self, Frame},
    workspace,
};
use anyhow::Result;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};
use transcript::finding::{Access, Finding};

/// The word that asks the simulator for the checker.
pub(crate) const CHECK_WORD: &str = "check_coherence";

/// The exit status if something was found.
pub(crate) const FOUND: u8 = 6;

/// The words of a run that is to be checked.
pub(crate) fn words(of_run: KernelLine) -> KernelLine {
    of_run.switch(CHECK_WORD, true)
}

/// What a run has found, with the places in a program that it has loaded.
pub(crate) fn of(transcript: &Transcript, loaded: Option<&Path>) -> Result<Vec<Finding>> {
    let mut findings = transcript.findings.clone();
    if let Some(loaded) = loaded {
        let accesses =
            findings.iter_mut().flat_map(|finding| [Some(&mut finding.place), finding.other.as_mut()]).flatten();
        places::find_loaded(accesses.map(|access| &mut access.frames), loaded)?;
    }
    Ok(findings)
}

/// The lines of a finding's places, if they are in the file of this name.
pub(crate) fn lines(finding: &Finding, file: &str) -> Option<BTreeSet<u32>> {
    let line = |access: &Access| {
        let (at, line) = place(access, &workspace::root())
            .0
            .rsplit_once(':')
            .map(|(at, line)| (at.to_owned(), line.parse().ok()))?;
        line.filter(|_| Path::new(&at).file_name().is_some_and(|name| name == file))
    };
    [Some(&finding.place), finding.other.as_ref()].into_iter().flatten().map(line).collect()
}

/// Adds what a run has found to what others have, each once.
pub(crate) fn note(findings: &[Finding], found: &mut BTreeMap<String, Finding>) {
    let root = workspace::root();
    let mut places: BTreeSet<_> = found.values().map(|finding| key(finding, &root)).collect();
    for finding in findings {
        if places.insert(key(finding, &root)) {
            found.insert(in_words(finding, &root), finding.clone());
        }
    }
}

/// Kinds of mistakes of which neither place is the one that has to change.
const NEITHER_FIRST: [&str; 2] = ["race", "one-sided misuse"];

/// What two findings have in common that are the same mistake: nothing orders the two places of a race.
fn key(finding: &Finding, root: &Path) -> (String, String, String) {
    let here = place(&finding.place, root).0;
    let other = finding.other.as_ref().map_or_else(String::new, |other| place(other, root).0);
    let (first, second) =
        if NEITHER_FIRST.contains(&finding.kind.as_str()) && other < here { (other, here) } else { (here, other) };
    (finding.kind.clone(), first, second)
}

/// A finding as one line.
fn in_words(finding: &Finding, root: &Path) -> String {
    let Finding { kind, remedy, bytes, place: here, other } = finding;
    let (at, function) = place(here, root);
    let mut line = format!("{kind} {at}: rank {} {} in {function}", here.rank, here.what);
    line += &within(here);
    if bytes != "no bytes" {
        line += &format!(", {bytes}");
    }
    if let Some(other) = other {
        let (at, function) = place(other, root);
        line += &format!("; rank {} {} at {at} in {function}{}", other.rank, other.what, within(other));
    }
    format!("{line}: {remedy}")
}

/// The operations that an access is part of, in words.
pub(crate) fn within(access: &Access) -> String {
    if access.spans.is_empty() { String::new() } else { format!(" ({})", access.spans) }
}

/// File and line of an access in the user's program, and the function; of a library's if nothing of the program is there.
pub(crate) fn place(access: &Access, root: &Path) -> (String, String) {
    let frames: Vec<_> = access.frames.iter().map(Frame::from).collect();
    let frame = frames.iter().find(|frame| frame.is_of_program(root)).or(frames.first());
    frame.map_or_else(|| ("an unknown place".into(), "an unknown function".into()), |frame| frame.place(root))
}

pub(crate) fn to_json(finding: &Finding) -> Value {
    let root = workspace::root();
    let access = |access: &Access| {
        let (at, function) = place(access, &root);
        let stack: Vec<_> = access
            .frames
            .iter()
            .map(|frame| json!({ "function": frame.function, "file": frame.file, "line": frame.line.parse::<u32>().ok() }))
            .collect();
        json!({
            "rank": access.rank, "does": access.what, "within": access.spans, "place": at, "function": function,
            "stack": stack,
        })
    };
    json!({
        "kind": finding.kind, "missing": finding.remedy, "bytes": finding.bytes, "place": access(&finding.place),
        "other": finding.other.as_ref().map(access),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_begins_with_kind_and_place_in_the_program() {
        let line = "stale\ta drain is missing\t4 bytes\tA\t1\tstores\tput with core 0\tF\tput\t/w/hal/src/a.rs\t7\tF\trun<C>\t/u/b.rs\t8\
                    \tA\t0\tloads\t\tF\trun\t/w/tests/src/c.rs\t9";
        let findings = vec![Finding::parse(line).unwrap(); 2];
        let mut found = BTreeMap::new();
        note(&findings, &mut found);
        note(&findings, &mut found);
        assert_eq!(found.len(), 1, "each once");
        let words = in_words(&findings[0], Path::new("/w"));
        assert_eq!(
            words,
            "stale /u/b.rs:8: rank 1 stores in run (put with core 0), 4 bytes; rank 0 loads at tests/src/c.rs:9 in run: a drain \
             is missing"
        );
    }
}
