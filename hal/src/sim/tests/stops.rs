//! A run that stops shows all cores as they are then, the same each time.

use std::cell::RefCell;

use super::*;
use crate::{Act, Cached, Clock, LineAddress, Mpb, MpbCoherence, Place, Reason, Span, Topology, Trace, Wait};

const AT: &str = "mpb:1:5";
const CACHED: &str = "memory:0:64";

/// Core 0 keeps a store in its write-combine buffer, core 1 has an old copy of that line in L1 and a dirty one of a line of
/// memory, core 2 waits, and core 3 has finished.
fn program(core: &SimCore) {
    core.start_trace(4096);
    match core.core().index() {
        0 => {
            let _span = core.span(Span::new("send").with(CoreId::new(1)).of(64));
            core.store(line(1, 5), 0, &[1; 32]);
            core.drain();
            core.store(line(1, 5), 4, &[7, 8]);
            core.compute(533_000);
            core.load_line(line(0, 5));
        }
        1 => {
            core.load_line(line(1, 5));
            let part = region::<crate::kind::Cached>(4).start();
            for (window, len_bytes) in [(7, 128), (8, 128), (9, 128), (10, 0)] {
                core.declare(&Act::HasPart { window, part, len_bytes });
            }
            core.declare(&Act::FreesPart { window: 9, part });
            let mut view = core.claim::<u8>(region(4), 128).unwrap();
            view.copy_from(64, &[9; 3]);
            core.compute(533_000);
            core.load_line(line(0, 5));
        }
        2 => {
            let reason = Reason::new("the post of window").number(7).from(CoreId::new(0));
            core.wait(&[Place::Line(line(2, 5))], reason, |poll| (poll.line(0).0[0] == 1).then_some(()));
        }
        _ => {}
    }
}

fn stopped(stop: Stop, shown: &[&str]) -> (String, Failure) {
    let options = Options { stop: Some(stop), ..Options::default() };
    let (machine, text) = (Machine::scc(4).with_options(options), RefCell::new(String::new()));
    let shown: Vec<Shown> = shown.iter().map(|text| Shown::parse(text, 4, 4).unwrap()).collect();
    let look = |core: &SimCore, why: Option<&Failure>| {
        *text.borrow_mut() += &State { core, why: why.unwrap(), shown: &shown }.to_string();
    };
    let failure = machine.run_and_look(program, &look).unwrap_err();
    // What a stack has of earlier runs is left out by whoever finds functions and lines of it.
    let text = text.into_inner();
    (text.lines().filter(|line| !line.starts_with("  core ")).map(|line| line.to_owned() + "\n").collect(), failure)
}

/// What is said of a core.
fn of(text: &str, core: usize) -> &str {
    let start = text.find(&format!("rank {core}, at ")).unwrap();
    let end = text[start..].find("\nrank ").map_or(text.len(), |end| start + end + 1);
    &text[start..end]
}

#[test]
fn all_cores_are_shown_as_they_are() {
    let (text, failure) = stopped(Stop::Time(500_000_000), &[AT, CACHED]);
    assert!(matches!(failure, Failure::Stopped { time_ps: 500_000_000.., .. }), "{failure}");
    let contains = |part: &str, what: &str| assert!(part.contains(what), "{what} in {part}");
    contains(&text, "MPB line 5 of core 1: memory has 01010101 01010101 ");
    contains(&text, "line of shared memory 0x40 behind controller 0: memory has 00000000 ");
    contains(of(&text, 0), "under way: send (core 1) of 64 bytes\n");
    contains(of(&text, 0), "its write-combine buffer holds MPB line 5 of core 1: ........ 0708.... ");
    contains(of(&text, 1), "its L1 has MPB line 5 of core 1, unlike memory: 00000000 ");
    contains(of(&text, 1), "its cache has line of shared memory 0x40 behind controller 0, dirty in 3 bytes: 09090900 ");
    contains(of(&text, 2), "waits since 0.000 µs for the post of window 7 from core 0\n");
    contains(of(&text, 3), ": has finished\n");
}

#[test]
fn windows_are_shown_by_their_number() {
    let text = stopped(Stop::Time(500_000_000), &["window:7", "window:8@1", "window:9", "window:7@2", "window:10"]).0;
    let contains = |part: &str, what: &str| assert!(part.contains(what), "{what} in {part}");
    contains(&text, "window 7 of rank 1, byte 0: memory has 00000000 ");
    contains(&text, "window 7 of rank 1, byte 96: memory has 00000000 ");
    assert!(!text.contains("byte 128"), "{text}");
    contains(&text, "window 9: there is none now\nwindow 7 of rank 2: there is none now\n");
    contains(&text, "window 10 of rank 1: it is empty\n");
    contains(of(&text, 1), "its cache has window 7 of rank 1, byte 64, dirty in 3 bytes: 09090900 ");
    contains(of(&text, 1), "its cache has window 8 of rank 1, byte 64, dirty in 3 bytes: 09090900 ");
    assert!(!of(&text, 0).contains("has window"), "{text}");
}

#[test]
fn an_earlier_moment_is_gone_back_to_and_is_the_same_twice() {
    let early = stopped(Stop::Access(1), &[AT]).0;
    assert!(early.contains(", after 1 accesses") && early.contains("memory has 00000000 "), "{early}");
    assert!(!early.contains("its L1 has"), "{early}");
    for stop in [Stop::Time(1_000), Stop::Time(300_000), Stop::Access(3)] {
        assert_eq!(stopped(stop, &[AT, CACHED]), stopped(stop, &[AT, CACHED]), "{stop:?}");
    }
}

#[test]
fn a_run_that_ends_before_is_none_that_stops() {
    let run = |stop| {
        let machine = Machine::scc(2).with_options(Options { stop, ..Options::default() });
        machine.run(|core| core.compute(core.core().index() as u64 * 533)).unwrap()
    };
    assert_eq!(run(Some(Stop::Time(u64::MAX))), run(None));
    assert_eq!(run(Some(Stop::Access(1_000))), run(None));
}

#[test]
fn lines_that_do_not_exist_are_refused() {
    for (text, why) in [
        ("mpb:1", "is nothing to show"),
        ("mpb:1:2:3", "is nothing to show"),
        ("mpb:one:2", "is nothing to show"),
        ("l2:1:2", "is nothing to show"),
        ("mpb:4:2", "cores are below 4"),
        ("mpb:3:256", "lines of an MPB are below 256"),
        ("memory:4:0", "controllers are below 4"),
        ("window:one", "is no window"),
        ("window:1@x", "is no window"),
        ("window:1@4", "ranks are below 4"),
    ] {
        let message = Shown::parse(text, 4, 4).unwrap_err();
        assert!(message.contains(why), "{message}");
    }
    assert_eq!(Shown::parse("memory:1:0x47", 4, 4), Ok(Shown::Line(LineAddress::Shared(SharedAddress::new(1, 64)))));
}

/// The stack of a core that runs changes while it is looked at.
#[test]
fn a_core_that_runs_is_not_looked_at_where_it_stands() {
    let looked = Machine::scc(1).run(|core| {
        core.load_line(line(0, 5));
        State { core, why: &Failure::Stopped { time_ps: 0, accesses: 0 }, shown: &[] }.to_string()
    });
    let text = &looked.unwrap().results()[0];
    assert!(text.contains(": runs\n") && !text.contains(" was at "), "{text}");
}
