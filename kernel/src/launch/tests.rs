use super::{Only, on_threads::threads, simulate};
use crate::{
    Failure, Program, Rank,
    launch::{Kept, Simulation, run_on_core},
};
use hal::Core;
use std::{collections::BTreeMap, vec::Vec};

/// Does what its options say.
struct Obedient;

impl Program for Obedient {
    const NAME: &'static str = "obedient";
    const ABOUT: &'static str = "does what it is told";
    const OPTIONS: &'static [(&'static str, &'static str)] = &[
        ("fail", "the rank that fails"),
        ("panic", "the rank that panics"),
        ("wait", "the rank that waits for ever"),
        ("stray", "the rank that broadcasts from another root"),
        ("refused", "the rank that sends to nobody"),
        ("drain", "the rank that drains when nothing is to be drained"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let me = rank.comm.rank();
        if me == rank.args.get("fail", usize::MAX)? {
            return Err(Failure::new("told\nto"));
        }
        assert!(me != rank.args.get("panic", usize::MAX)?, "told to");
        if me == rank.args.get("wait", usize::MAX)? {
            rank.comm.receive(&mut [0], (me + 1) % rank.comm.size())?;
        }
        if me == rank.args.get("refused", usize::MAX)? {
            rank.comm.send(&[0], 99)?;
        }
        if me == rank.args.get("drain", usize::MAX)? {
            rank.comm.hal().drain();
        }
        let stray = rank.args.get("stray", usize::MAX)?;
        if stray < usize::MAX {
            rank.comm.broadcast(&mut [0_u8; 5], usize::from(me == stray))?;
        }
        rank.write_file(&std::format!("of-{me}"), b"x")
    }
}

fn run(words: &str) -> Simulation {
    as_done(simulate::<Only<Obedient>>(words, &[]))
}

fn on_threads(words: &str) -> Simulation {
    as_done(threads::<Only<Obedient>>(words, &[]))
}

/// The last line says what became of all.
fn as_done(simulation: Simulation) -> Simulation {
    let done = simulation.console.lines().last().unwrap();
    assert_eq!(simulation.success, done == "@done ok", "{}", simulation.console);
    assert!(done.starts_with("@done "), "{}", simulation.console);
    simulation
}

#[test]
fn success_of_all_is_success() {
    let simulation = run("cores=4");
    assert!(simulation.success);
    for rank in 0..4 {
        assert!(simulation.console.contains(&std::format!("@data of-{rank} 1\neA==\n@end of-{rank} ")));
        assert!(simulation.console.contains(&std::format!("@counters {rank} mpb_lines_read=")));
    }
}

#[test]
fn what_is_asked_for_in_vain_is_told_if_it_is_wanted() {
    let asked = |words: &str| {
        let console = run(words).console;
        console.lines().filter(|line| line.starts_with("@asked drain\t1\t0\tno\tF\t")).count()
    };
    assert_eq!(asked("cores=2 drain=1 check_coherence"), 0);
    assert_eq!(asked("cores=2 drain=1 check_coherence=lint"), 1);
    assert!(run("cores=2 coherent check_coherence=lint").console.contains("nothing to be checked for"));
}

#[test]
fn threads_end_as_simulated_cores_do() {
    let good = on_threads("cores=4");
    assert!(good.success && good.console.contains("@counters 3 mpb_lines_read="), "{}", good.console);
    for (words, end) in [
        ("cores=4 fail=2", "\n@done failed on 1 of 4 ranks\n"),
        ("cores=2 wait=1", "; core 1 was the first to wait, for a message from core 0\n"),
        ("cores=0", "@done failed option `cores=0`: a machine has 1 to 4096 cores\n"),
        ("cores=2 stack_kib=x", "@done failed option `stack_kib=x`: invalid digit found in string\n"),
    ] {
        let bad = on_threads(words);
        assert!(bad.console.ends_with(end), "{}", bad.console);
    }
    if hal::emulated::HostLines::of_host().is_some() {
        let written_back = on_threads("cores=3 write_back");
        assert!(
            written_back.success && written_back.console.contains(": written back by "),
            "{}",
            written_back.console
        );
    }
    let panicked = on_threads("cores=3 panic=1").console;
    assert!(panicked.contains("\n@done failed core 1 panicked: told to (at kernel/src/launch/tests.rs:"), "{panicked}");
}

/// Lines `@trace` of a run, by rank.
fn traces(console: &str) -> BTreeMap<usize, Vec<&str>> {
    let mut traces: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for line in console.lines().filter_map(|line| line.strip_prefix("@trace ")) {
        let (rank, record) = line.split_once(' ').unwrap();
        traces.entry(rank.parse().unwrap()).or_default().push(record);
    }
    traces
}

#[test]
fn each_way_to_fail_tells_traces() {
    let machines: [(_, fn(&str) -> _); 4] =
        [("", run), ("trace_kib=64", run), ("check_coherence", run), ("", on_threads)];
    for (machine, run) in machines {
        for failure in ["fail=2", "panic=2", "wait=2"] {
            let words = std::format!("cores=4 {machine} {failure} failure_trace_kib=64");
            let console = run(&words).console;
            let traces = traces(&console);
            assert!(traces.keys().copied().eq(0..4), "{words}: {console}");
            for (rank, records) in &traces {
                assert!(records[0].starts_with("c 1"), "{words}: {records:?}");
                // Once, and the program has begun on each.
                let clocks = records.iter().filter(|record| record.starts_with("c ")).count();
                let begun = records.iter().any(|record| record.ends_with(" world") || record.ends_with(" s program"));
                assert!(clocks == 1 && begun, "{words}, rank {rank}: {records:?}");
            }
            let waits =
                traces[&2].iter().any(|record| record.starts_with("o 2 ") && record.contains(" 3 0 w a message"));
            assert_eq!(waits, failure == "wait=2", "{words}: {:?}", traces[&2]);
        }
    }
    assert!(!run("cores=4 failure_trace_kib=64").console.contains("@trace"));
    assert!(!run("cores=4 fail=2").console.contains("@trace"));
    let traced = run("cores=4 panic=2 failure_trace_kib=64").console;
    let others: Vec<_> = traced.lines().filter(|line| !line.starts_with("@trace")).collect();
    assert_eq!(others, run("cores=4 panic=2").console.lines().collect::<Vec<_>>(), "nothing else changes");
}

#[test]
fn failure_of_one_is_failure() {
    let simulation = run("cores=4 fail=2");
    assert!(!simulation.success);
    assert!(simulation.console.contains("\nrank 2 failed: told to\n"));
    assert!(simulation.console.ends_with("\n@done failed on 1 of 4 ranks\n"));
}

#[test]
fn an_error_names_the_line_that_passed_it_on() {
    let place = " (at kernel/src/launch/tests.rs:";
    let console = run("cores=4 refused=2").console;
    let line = console.lines().find(|line| line.starts_with("rank 2 failed: ")).expect("it fails");
    assert!(line.contains("rank 99") && line.contains(place) && line.ends_with(')'), "{line}");
    assert!(!run("cores=4 fail=2").console.contains(place));
}

#[test]
fn a_panic_names_the_core() {
    let simulation = run("cores=4 panic=3");
    assert!(!simulation.success);
    assert!(simulation.console.contains("@done failed core 3 panicked"), "{}", simulation.console);
}

#[test]
fn a_deadlock_names_who_waits() {
    let simulation = run("cores=4 wait=1");
    assert!(!simulation.success);
    assert!(simulation.console.contains("core 1 has waited"), "{}", simulation.console);
    assert!(simulation.console.contains("@done failed deadlock"), "{}", simulation.console);
}

#[test]
fn arguments_are_checked_on_demand() {
    let simulation = run("cores=4 stray=2 check=arguments");
    let report = "rank 2 calls broadcast of 5 u8 with root 1, rank 0 broadcast of 5 u8 with root 0";
    for rank in 0..4 {
        assert!(simulation.console.contains(&std::format!("rank {rank} failed: {report}")), "{}", simulation.console);
    }
    assert!(!run("cores=4 stray=2").console.contains(report));
    assert!(run("cores=4 stray=9 check=arguments").success);
}

#[test]
fn what_all_ranks_do_wrong_is_reported_once() {
    for (words, message) in [
        ("cores=3 fail=x", "option `fail=x`: invalid digit found in string"),
        ("cores=3 fall=1", "unknown option `fall=1`; options are `fail` (the rank that fails), "),
        ("cores=3 check=all", "option `check=all`: what can be checked is `check=arguments`"),
        ("cores=3 program=other", "no program is called `other`; there are obedient"),
    ] {
        let simulation = run(words);
        assert!(!simulation.success);
        assert_eq!(simulation.console.matches(" failed: ").count(), 1, "{}", simulation.console);
        assert!(simulation.console.contains(&std::format!("rank 0 failed: {message}")), "{}", simulation.console);
    }
}

/// Begins anew in the middle.
struct Restarted;

impl Program for Restarted {
    const NAME: &'static str = "restarted";
    const ABOUT: &'static str = "runs another program on its own core";

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        // SAFETY: it is the machine's own core, which refuses to be started again.
        unsafe { run_on_core::<Only<Obedient>, C>(rank.comm.hal(), "", &[], &Kept::default()) }
    }
}

#[test]
fn a_core_gets_the_right_to_make_regions_once() {
    let simulation = simulate::<Only<Restarted>>("cores=2", &[]);
    let refused = "rank 1 failed: this core runs a program already\n";
    assert!(simulation.console.contains(refused), "{}", simulation.console);
}

#[test]
fn machines_that_do_not_exist_are_refused() {
    for words in ["cores=0", "cores=4097", "cores=x", "machine=ring:5", "seed=-1"] {
        let simulation = run(words);
        assert!(!simulation.success);
        assert_eq!(simulation.console.lines().count(), 1);
    }
    assert!(run("machine=mesh:2x1x3").console.contains("@counters 5 "));
    assert!(run("program=list").console.starts_with("obedient: does what it is told; options are `fail`"));
}
