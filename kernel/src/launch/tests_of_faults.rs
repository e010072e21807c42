//! Faults of cores that are threads, each in a process of its own, which ends by it.

use super::{FAILURE_STATUS, Only, backend::Stdout, on_threads};
use crate::{Failure, Program, Rank};
use hal::{Core, sim};
use std::{
    env, format,
    hint::black_box,
    process::{self, Command},
    string::String,
    time::{Duration, Instant},
};

/// What tells a process to be one that fails, and how.
const WORDS: &str = "ATOLL_TEST_WORDS";

/// Lines that a rank prints if nothing ends it.
const LINES: usize = 200_000;

/// Fails on rank 0 while the others print.
struct Faulty;

impl Program for Faulty {
    const NAME: &'static str = "faulty";
    const ABOUT: &'static str = "fails as it is told";
    const OPTIONS: &'static [(&'static str, &'static str)] = &[
        ("store", "rank 0 stores to where no memory is"),
        ("recurse", "rank 0 overruns its stack"),
        ("loop", "rank 0 does not end, and has the process told to end"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let me = rank.comm.rank();
        let is_looping = rank.args.flag("loop")?;
        if me > 0 && is_looping {
            rank.comm.receive(&mut [0], 0)?;
        }
        let lines = if me > 0 { LINES } else { 100 };
        for line in 0..lines {
            rank.print(format_args!("{}", printed(me, line)));
        }
        if rank.args.flag("store")? {
            // SAFETY: there is no memory, which ends the process.
            unsafe { core::ptr::without_provenance_mut::<u8>(16).write_volatile(3) };
        }
        if rank.args.flag("recurse")? {
            black_box(recurse(usize::MAX));
        }
        if is_looping {
            let begin = Instant::now();
            let passed = || begin.elapsed().as_secs();
            // The others wait by then.
            while passed() < 1 {}
            let told = Command::new("kill").arg(format!("{}", process::id())).status();
            assert!(told.is_ok_and(|told| told.success()), "nobody can be told to end");
            while passed() < 60 {}
        }
        Err(Failure::new("nothing has ended it"))
    }
}

fn printed(rank: usize, line: usize) -> String {
    format!("rank {rank} prints line {line} of those that it has to print")
}

#[inline(never)]
fn recurse(levels: usize) -> usize {
    let room = black_box([levels; 256]);
    if levels == 0 { 0 } else { recurse(levels - 1) + room[levels % 256] }
}

/// What the other tests here run in a process of its own, which has words for it. In any other process it does nothing.
#[test]
fn fails() {
    let Ok(words) = env::var(WORDS) else { return };
    sim::end_on_faults(FAILURE_STATUS, Duration::from_secs(60));
    on_threads::run::<Only<Faulty>>(&words, &[], &Stdout);
}

/// What a process has printed from the first line of a rank on.
fn failed(words: &str) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["launch::tests_of_faults::fails", "--exact", "--nocapture"]);
    let output = command.env(WORDS, words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(FAILURE_STATUS.into()), "{text}");
    text
}

/// Insists that what ranks have printed and what is reported of core 0 is in whole lines, and returns the latter.
fn reported(console: &str) -> String {
    let mut reported = String::new();
    let begin = console.find("rank ").unwrap();
    for line in console[begin..].lines() {
        let is_printed = (0..4).any(|rank| {
            let number =
                line.strip_prefix(&*format!("rank {rank} prints line ")).and_then(|rest| rest.split(' ').next());
            number.and_then(|number| number.parse().ok()).is_some_and(|number| line == printed(rank, number))
        });
        if !is_printed {
            reported.push_str(line);
            reported.push('\n');
        }
    }
    let is_whole =
        |line: &str| ["core 0: ", "  core 0 was ", "@done failed core 0: "].iter().any(|start| line.starts_with(start));
    assert!(reported.lines().count() == 3 && reported.lines().all(is_whole), "{reported}");
    reported
}

#[test]
fn faults_are_reported_in_whole_lines_while_other_threads_print() {
    for (words, what) in [
        ("store", "core 0: write to 0x10, where it has no memory\n"),
        ("recurse", "core 0: stack overflow: its stack has "),
    ] {
        for _ in 0..5 {
            let reported = reported(&failed(&format!("cores=4 {words}")));
            assert!(reported.starts_with(what) && reported.contains(&format!("\n@done failed {what}")), "{reported}");
        }
    }
}

/// What core 0 has told of its trace, which other cores do not tell, and the rest.
fn without_trace(console: &str) -> (String, String) {
    let (trace, rest): (Vec<_>, Vec<_>) = console.lines().partition(|line| line.starts_with("@trace "));
    let trace = trace.join("\n");
    let is_under_way = trace.lines().any(|line| line.starts_with("@trace 0 o 0 ") && line.ends_with(" s program"));
    assert!(is_under_way && trace.lines().all(|line| line.starts_with("@trace 0 ")), "{trace}");
    (trace, rest.join("\n"))
}

#[test]
fn faults_leave_the_trace_of_their_rank() {
    for words in ["store", "recurse"] {
        let (trace, rest) = without_trace(&failed(&format!("cores=4 {words} failure_trace_kib=16")));
        assert!(trace.starts_with("@trace 0 c ") && !reported(&rest).is_empty(), "{trace}");
    }
}

#[test]
fn the_thread_is_reported_that_still_ran_when_it_was_told_to_end() {
    let (_, rest) = without_trace(&failed("cores=2 loop failure_trace_kib=16"));
    let reported = reported(&rest);
    assert!(reported.starts_with("core 0: still ran when it was told to end\n  core 0 was "), "{reported}");
}
