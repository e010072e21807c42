//! What has to end a machine ends the simulated one too, with the same reason in its report.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use tests::fatal::FATAL;

/// Exit status of a failure that the simulator has reported itself.
const FAILURE: i32 = 35;

fn simulated(words: &str) -> (Output, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_integration"));
    let output = command.args(["--cmdline", &format!("program=fatal {words}")]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

/// The last line, if the simulator has ended as it should.
fn last_line(words: &str) -> (String, String) {
    let (output, text) = simulated(words);
    assert_eq!(output.status.code(), Some(FAILURE), "{words}: {text} {}", String::from_utf8_lossy(&output.stderr));
    let last = text.lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("@done failed "), "{words}: {text}");
    (last, text)
}

#[test]
fn every_case_ends_with_its_report() {
    for cores in [3, 5] {
        for (case, report) in FATAL {
            let (_, text) = last_line(&format!("case={case} cores={cores}"));
            // Functions and lines are found by whoever looks at the report.
            let expected = report.split(", in ").next().unwrap();
            // Unoptimised code has a larger stack.
            let expected =
                if cfg!(debug_assertions) { expected.replace("256 KiB", "1024 KiB") } else { expected.into() };
            assert!(text.contains(&expected), "{case} on {cores} cores: {text}");
        }
    }
}

#[test]
fn a_fault_says_where_it_was_and_who_waits() {
    for (case, place) in [
        ("reads_null", "at 0x"),
        ("writes_wild", "at 0x"),
        ("jumps_into_nothing", "outside the program's code at 0x20, "),
        ("overflows_its_stack", "at 0x"),
        // Who aborts is the host's library.
        ("exhausts_its_heap", "outside the program's code at 0x"),
    ] {
        let (_, text) = last_line(&format!("case={case} cores=3"));
        let place = format!("  core 0 was {place}");
        assert!(text.contains(&place) && text.contains(", on its stack are 0x"), "{case}: {text}");
        assert!(text.contains("  core 1 waits for ") && text.contains("  core 2 waits for "), "{case}: {text}");
    }
}

#[test]
fn a_deadlock_names_circle_first_waiter_and_undrained_buffer_last() {
    let (last, _) = last_line("case=waits_in_a_circle cores=4");
    assert!(
        last.contains(
            "core 0 waits for core 1 waits for core 0; core 1 was the first to wait, for a message from core 0"
        ),
        "{last}"
    );
    let (last, _) = last_line("case=undrained_flag cores=3");
    assert!(
        last.contains(" was the first to wait, for ") && last.contains("; core 2 has not drained MPB line"),
        "{last}"
    );
}

#[test]
fn an_endless_loop_ends_when_its_processor_time_is_over() {
    let (last, text) = last_line("case=loops cores=3 stuck_s=2");
    assert!(last.starts_with("@done failed core 0: endless loop: it has run for 2 s of the host"), "{last}");
    assert!(text.contains("  core 0 was at 0x") && text.contains("  core 1 waits for "), "{text}");
}

#[test]
fn heaps_and_stacks_are_as_large_as_they_are_chosen() {
    let (last, _) = last_line("case=exhausts_its_heap cores=2 heap0_kib=1000 heap_kib=9");
    assert!(last.contains("core 0: its heap of 1000 KiB has no room for 65536 bytes; raise heap0_kib="), "{last}");
    let (last, _) = last_line("case=overflows_its_stack cores=2 stack_kib=64");
    let kib = if cfg!(debug_assertions) { 256 } else { 64 };
    assert!(last.contains(&format!("its stack has {kib} KiB; raise stack_kib=")), "{last}");
    for wrong in ["stack_kib=0", "stack_kib=99999", "stack_kib=x", "heap_kib=0"] {
        let (last, _) = last_line(&format!("case=panics {wrong}"));
        assert!(last.contains("option `"), "{last}");
    }
}

/// Ranks of lines `@trace` in a report, and whether something was under way on each.
fn traced(text: &str) -> BTreeMap<usize, bool> {
    let mut ranks = BTreeMap::new();
    for words in text.lines().filter_map(|line| line.strip_prefix("@trace ")) {
        let (rank, record) = words.split_once(' ').expect("a rank and a record");
        *ranks.entry(rank.parse().expect("a rank")).or_default() |= record.starts_with("o 0 ");
    }
    ranks
}

#[test]
fn faults_and_endless_loops_leave_traces() {
    for case in ["reads_null", "jumps_into_nothing", "overflows_its_stack", "exhausts_its_heap", "loops"] {
        let (_, text) = last_line(&format!("case={case} cores=3 stuck_s=2 failure_trace_kib=16"));
        let all = BTreeMap::from([(0, true), (1, true), (2, true)]);
        assert_eq!(traced(&text), all, "{case}: {text}");
    }
    let (_, text) = last_line("case=reads_null cores=3");
    assert!(traced(&text).is_empty(), "{text}");
}

/// The processor time of a process until now, in ticks of which Linux has a hundred in a second.
fn processor_ticks(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    // The name, in parentheses, may have spaces. User's time is the fourteenth field.
    let (_, fields) = text.rsplit_once(") ").expect("it has a name");
    fields.split(' ').nth(11).and_then(|ticks| ticks.parse().ok()).expect("it is a number")
}

/// What the simulator says when it is told to end while it is at work.
fn told_to_end(words: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_integration"));
    command.args(["--cmdline", &format!("program=fatal {words}")]).stdout(Stdio::piped());
    let mut simulation = command.spawn().expect("it starts");
    // It is at work once it has used more than a start takes, however long that is on a busy host.
    while processor_ticks(simulation.id()) < 20 {
        assert!(simulation.try_wait().expect("it can be looked at").is_none(), "{words}: it has ended");
        thread::sleep(Duration::from_millis(10));
    }
    let told = Command::new("kill").arg(simulation.id().to_string()).status().expect("the system has it");
    assert!(told.success());
    let output = simulation.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(FAILURE), "{text}");
    text
}

/// No limit of its own ends a loop in which virtual time passes. Whoever wants it to end learns where it was.
#[test]
fn a_simulation_that_is_told_to_end_says_where_it_was() {
    // Where accesses wait for each other polls are made one by one, and cores that wait run, too.
    let text = told_to_end("case=passes_time cores=3 machine=scc+ideal failure_trace_kib=16");
    assert!(text.ends_with("@done failed core 0: still ran when it was told to end\n"), "{text}");
    assert!(text.contains("  core 0 was at 0x") && text.contains("  core 1 waits for "), "{text}");
}

/// Here no core runs for long: the simulator makes the polls of those that wait, and on a cluster it lets them make theirs, so that
/// it may be one of them that runs.
#[test]
fn a_simulation_in_which_no_core_runs_says_what_they_wait_for() {
    for machine in ["scc", "cluster-fpga:3x1"] {
        let text = told_to_end(&format!("case=computes_for_ages cores=3 machine={machine}"));
        assert!(text.ends_with(": still ran when it was told to end\n"), "{machine}: {text}");
        assert!(text.contains("  core 1 waits for ") && text.contains("  core 2 waits for "), "{machine}: {text}");
    }
}
