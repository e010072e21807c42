//! A page of HTML about one run, which needs no other file: what came of it, what all ranks did when, what made it as long as
//! it was, what they waited for, and where the traffic was.

mod account;

use crate::{
    command_line,
    guest::Outcome,
    result_files,
    trace::{self, CriticalPath, Purpose},
    workspace,
};
use account::{Account, View};
use anyhow::Result;
use base64::{Engine, prelude::BASE64_STANDARD};
use clap::Args;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    io::{IsTerminal, stdout},
    path::{Path, PathBuf},
};

/// The page around the JSON of the run and the script that draws it.
const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
const RUN_MARK: &str = "@RUN@";
const SCRIPT_MARK: &str = "@SCRIPT@";

/// The last lines of the output that are shown.
const TEXT_LINES: usize = 2000;

/// Reasons to wait, and steps of the critical path, that are shown.
const SHOWN: usize = 15;

/// Occurrences of a phase that the timeline shows.
const OCCURRENCES: usize = 200;

/// The option of commands that run a program.
#[derive(Args, Default)]
pub(crate) struct ReportOptions {
    /// Write a page about the run, for a browser: results or findings, output, what each rank did when, phases, critical path,
    /// waits
    #[arg(long, value_name = "FILE.html", conflicts_with = "lines", value_parser = command_line::new_file())]
    report: Option<PathBuf>,
}

impl ReportOptions {
    /// Whether there will be a page.
    pub(crate) fn is_wanted(&self) -> bool {
        self.report.is_some()
    }

    /// What a trace of the run is for, whose lines may be passed on to another tool.
    pub(crate) fn purpose(&self, passes_on: bool) -> Purpose {
        match self.report {
            Some(_) => Purpose::Page,
            None if passes_on => Purpose::Nothing,
            None => Purpose::Failure,
        }
    }

    /// Writes the page of a run whose results are in `directory`, if the user wants one, with `more` that only its command
    /// knows of; a user at a terminal who wants none is told that there could be one. Then the run is what it was `judged`.
    ///
    /// # Errors
    /// What the run has failed with; or else when the page cannot be written.
    pub(crate) fn conclude(
        &self,
        outcome: &Outcome,
        directory: &Path,
        judged: Result<()>,
        more: impl FnOnce() -> Result<More>,
    ) -> Result<()> {
        let Some(file) = &self.report else {
            // Whoever reads a log cannot ask for it any more.
            if stdout().is_terminal() {
                println!("--report FILE.html makes a page of such a run");
            }
            return judged;
        };
        let put = |more| result_files::put(file, page(outcome, directory, &more).as_bytes());
        match (more().and_then(put), &judged) {
            (Ok(()), _) => println!("wrote {}", workspace::display(file)),
            (Err(error), Ok(())) => return Err(error),
            // The failure of the run is what the user wants to know.
            (Err(error), Err(_)) => eprintln!("the page of the run could not be written: {error:#}"),
        }
        judged
    }
}

/// What a command knows of a run besides its outcome.
#[derive(Default)]
pub(crate) struct More {
    /// Where the traffic was, as SVG.
    pub(crate) traffic: Option<Vec<u8>>,
    /// Mistakes that the checker has found, a line each.
    pub(crate) findings: Vec<String>,
}

/// The page of a run, as [`ReportOptions::conclude`] writes it.
pub(crate) fn page(outcome: &Outcome, directory: &Path, more: &More) -> String {
    // What ends a script must not stand in one.
    let run = run(outcome, directory, more).to_string().replace('<', "\\u003c");
    let (before, rest) = PAGE.split_once(RUN_MARK).unwrap_or((PAGE, ""));
    let (between, after) = rest.split_once(SCRIPT_MARK).unwrap_or((rest, ""));
    [before, &run, between, SCRIPT, after].concat()
}

/// All that the page shows.
fn run(outcome: &Outcome, directory: &Path, more: &More) -> Value {
    let transcript = &outcome.transcript;
    let text = transcript.tail(TEXT_LINES);
    let (pictures, files) = results(outcome, directory);
    let account = Account::of(&trace::with_enders(transcript.trace.clone()));
    json!({
        "label": outcome.label,
        "command": command(env::args_os().skip(1)),
        "failure": outcome.verdict().err().map(|error| format!("{error:#}")),
        "host_us": outcome.elapsed.as_secs_f64() * 1e6,
        "pictures": pictures,
        "files": files,
        "text": text,
        "text_lost": transcript.text.len() - text.len(),
        "findings": more.findings,
        "account": account.map(|account| in_microseconds(&account)),
        "traffic": more.traffic.as_ref().map(|svg| url("image/svg+xml", svg)),
        "counters": counters(outcome),
    })
}

/// The command line of this process, as a shell takes it.
fn command(words: impl Iterator<Item = OsString>) -> String {
    let is_plain = |word: &str| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:,+".contains(letter);
        !word.is_empty() && word.chars().all(is_plain)
    };
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let quoted = words.map(|word| if is_plain(&word) { word } else { format!("'{}'", word.replace('\'', r"'\''")) });
    quoted.fold("cargo xtask".into(), |line, word| line + " " + &word)
}

fn url(kind: &str, bytes: &[u8]) -> String {
    format!("data:{kind};base64,{}", BASE64_STANDARD.encode(bytes))
}

/// Pictures among the results, as they were written for people to look at; and a line for each other file.
fn results(outcome: &Outcome, directory: &Path) -> (Vec<Value>, Vec<String>) {
    let (mut pictures, mut files) = (Vec::new(), Vec::new());
    for file in &outcome.transcript.files {
        let path = directory.join(&file.name);
        let drawn = [("png", "image/png"), ("svg", "image/svg+xml")].iter().find_map(|(ending, kind)| {
            let drawn = path.with_extension(ending);
            let is_of_kind = path.extension().is_some_and(|own| own == "pgm" || own == "power" || own == *ending);
            let bytes = fs::read(&drawn).ok().filter(|_| is_of_kind)?;
            Some(json!({"name": workspace::display(&drawn).to_string(), "url": url(kind, &bytes)}))
        });
        match drawn {
            Some(picture) => pictures.push(picture),
            // Not every command writes files.
            None if !path.exists() => {}
            None => files.push(format!("{}, {} bytes", workspace::display(&path), file.bytes.len())),
        }
    }
    (pictures, files)
}

/// Each counter over all ranks.
fn counters(outcome: &Outcome) -> Vec<Value> {
    let mut all: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for counters in &outcome.transcript.counters {
        for (name, value) in &counters.values {
            if let Ok(value) = value.parse() {
                all.entry(name).or_default().push(value);
            }
        }
    }
    let row = |(name, values): (&str, Vec<u64>)| {
        let (least, most) = (values.iter().min(), values.iter().max());
        json!({"name": name, "total": values.iter().sum::<u64>(), "least": least, "most": most})
    };
    all.into_iter().map(row).collect()
}

fn in_microseconds(account: &Account) -> Value {
    let us = |moments: u64| moments as f64 * 1e6 / account.moments_per_second as f64;
    let ranks: Vec<_> =
        account.ranks.iter().map(|rank| json!({"rank": rank.rank, "times": rank.times.map(us)})).collect();
    let phases = account.phases.iter().map(|phase| {
        let when: Vec<_> = phase.when.iter().take(OCCURRENCES).map(|(begin, end)| [us(*begin), us(*end)]).collect();
        json!({
            "name": *phase.name, "when": when, "count": phase.when.len(), "length": us(phase.length()),
            "times": phase.times.map(us),
        })
    });
    let waits = account.waits.iter().take(SHOWN).map(|wait| {
        json!({
            "what": wait.what, "total": us(wait.total), "count": wait.count, "polls": wait.polls,
            "longest": us(wait.longest), "rank": wait.rank, "under_way": wait.under_way,
        })
    });
    json!({
        "length": us(account.length),
        "ranks": ranks,
        "views": account.views.iter().map(|view| self::view(view, us)).collect::<Vec<_>>(),
        "phases": phases.collect::<Vec<_>>(),
        "waits": waits.collect::<Vec<_>>(),
        "wait_kinds": account.waits.len(),
        "path": path(&account.path, us),
    })
}

fn view(view: &View, us: impl Fn(u64) -> f64) -> Value {
    json!({
        "phase": view.phase.as_deref(), "begin": us(view.begin), "length": us(view.length), "columns": view.columns,
        "ranks_a_row": view.ranks_a_row,
        "cells": BASE64_STANDARD.encode(view.cells.as_flattened()),
    })
}

fn path(path: &CriticalPath, us: impl Fn(u64) -> f64) -> Value {
    let work: Vec<_> = path.work.iter().take(SHOWN).map(|(name, time)| json!([name, us(*time)])).collect();
    let waits = path.waits.iter().take(SHOWN).map(|wait| {
        json!({
            "length": us(wait.length), "rank": wait.rank, "by": wait.by,
            "what": format!("{}: {}", wait.operation, wait.what),
        })
    });
    json!({
        "length": us(path.to.1 - path.from.1), "from": path.from.0, "to": path.to.0,
        "work": work, "work_count": path.work.len(),
        "waits": waits.collect::<Vec<_>>(), "wait_count": path.waits.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_typed_again() {
        let words = ["sim", "my program", "--", "a='b'"].map(OsString::from);
        assert_eq!(command(words.into_iter()), r"cargo xtask sim 'my program' -- 'a='\''b'\'''");
    }

    #[test]
    fn the_page_has_its_marks_once() {
        for mark in [RUN_MARK, SCRIPT_MARK] {
            assert_eq!(PAGE.matches(mark).count(), 1, "{mark}");
        }
        assert!(!SCRIPT.contains("</script"));
        assert!(!PAGE.contains("http") && !SCRIPT.contains("http"), "the page needs nothing of the network");
    }
}
