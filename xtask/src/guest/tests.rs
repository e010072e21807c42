//! Guests that stand in for machines: small scripts.

use super::*;

fn guest(script: &str, limit_ms: u64) -> Outcome {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    run("stand-in", &mut command, None, Duration::from_millis(limit_ms), |_| {}).unwrap()
}

fn failure(script: &str) -> String {
    guest(script, 10_000).verdict().expect_err("failure").to_string()
}

#[test]
fn success_needs_word_and_status() {
    assert!(guest("echo hello; echo @done ok; exit 33", 10_000).verdict().is_ok());
    assert!(failure("exit 33").contains("without `@done ok`"));
    assert!(failure("echo @done ok; exit 35").contains("status 35"));
    assert!(failure("echo @done ok; exit 0").contains("triple fault"));
    assert!(failure("echo @done ok; echo @bogus; exit 33").contains("@bogus"));
    assert!(failure("echo @done failed wrong sum on core 7; exit 33").contains("wrong sum on core 7"));
}

#[test]
fn an_early_end_quotes_the_guest() {
    assert!(
        failure("echo booting; echo 'core 3: panic at x.rs:1: boom'; echo bye; exit 35")
            .ends_with("core 3: panic at x.rs:1: boom")
    );
    assert!(failure("echo 'qemu: could not load kernel' >&2; exit 1").contains("could not load kernel"));
    let script = "echo 'rank 2 failed: wrong sum'; echo '@done failed on 1 of 4 ranks'; exit 35";
    assert_eq!(failure(script), "stand-in failed: on 1 of 4 ranks: rank 2 failed: wrong sum");
    let script = "echo 'rank 2 failed: wrong sum'; echo '@done failed deadlock: all wait'; exit 35";
    assert_eq!(failure(script), "stand-in failed: rank 2 failed: wrong sum; deadlock: all wait");
    assert!(failure("kill -9 $$").contains("signal 9"));
}

#[test]
fn an_emulated_board_gives_its_reason_last() {
    let script = "echo 'emulator: starts' >&2; echo 'emulator: core 3 at 0x100040: slot 0x29 leads nowhere' >&2; ";
    assert_eq!(
        failure(&format!("{script} exit 3")),
        "stand-in did what its board does not allow: core 3 at 0x100040: slot 0x29 leads nowhere"
    );
    assert!(failure("echo 'emulator: all cores have halted' >&2; exit 4").ends_with("still: all cores have halted"));
    let late = failure("echo '@phase halos'; echo 'emulator: core 0 waits at 0x10' >&2; exit 5");
    assert_eq!(late, "stand-in was told to end, in phase `halos`: core 0 waits at 0x10");
    let killed = failure("echo 'emulator: the debugger has ended it' >&2; exit 6");
    assert_eq!(killed, "stand-in was ended by its debugger, before its first phase");
    // What the program itself has said comes first.
    assert!(failure(&format!("{script} echo '@done failed no'; exit 3")).ends_with("failed: no"));
    assert!(failure(&format!("{script} echo '@done ok'; exit 3")).contains("does not allow"));
}

#[test]
fn nothing_is_said_twice() {
    let script = "echo 'core 3 panicked at x.rs:1: boom'; echo '@done failed core 3 panicked'; exit 35";
    assert_eq!(failure(script), "stand-in failed: core 3 panicked at x.rs:1: boom");
    let script = "echo 'rank 2 failed: no'; echo '@done failed 1 rank: rank 2 failed: no'; exit 35";
    assert_eq!(failure(script), "stand-in failed: 1 rank: rank 2 failed: no");
}

#[test]
fn a_machine_that_cannot_be_asked_is_judged_all_the_same() {
    let mut command = Command::new("sh");
    command.args(["-c", "echo one; exec sleep 60"]);
    let monitor = Monitor { directory: "/nonexistent".into(), image: "/nonexistent".into() };
    let outcome = run("stand-in", &mut command, Some(&monitor), Duration::from_millis(300), |_| {}).unwrap();
    assert_eq!(outcome.transcript.text, ["one"]);
    assert!(
        outcome.verdict().unwrap_err().to_string().contains("does nothing any more, all its cores are halted, before")
    );
}

#[test]
fn a_hang_is_ended_and_explained() {
    let said = "echo '@phase halos'; echo 'core 1 waits for core 2'";
    for (script, how) in [("exec sleep 6000", "does nothing any more"), ("while :; do :; done", "after 0 s of its own")]
    {
        let outcome = guest(&format!("{said}; {script}"), 500);
        let message = outcome.verdict().unwrap_err().to_string();
        assert!(message.contains(how), "{message}");
        assert!(message.contains("in phase `halos`") && message.contains("--timeout"), "{message}");
        assert_eq!(outcome.transcript.text, ["core 1 waits for core 2"]);
    }
}

#[test]
fn what_a_guest_may_use_is_counted_anew_with_each_test() {
    let turns = "turn() { i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; }";
    let used = |script: &str| guest(&format!("{turns}; {script}"), 400).verdict().map_err(|error| error.to_string());
    let many = |told: &str| format!("for n in $(seq 40); do turn; {told}; done; echo @done ok; exit 33");
    assert_eq!(used(&many("echo @test a ok")), Ok(()));
    assert!(used(&many("echo working")).unwrap_err().contains("of its own processor time"));
    assert!(used("echo @done ok; while :; do :; done").unwrap_err().contains("does not go away"));
}

#[test]
fn a_fatal_program_has_to_end_with_its_report() {
    let verdict = |script| guest(script, 500).verdict_of_fatal("waits for core 2").map_err(|error| error.to_string());
    assert_eq!(verdict("echo 'core 1 waits for core 2'; exit 35"), Ok(()));
    assert_eq!(verdict("echo '@done failed core 1 waits for core 2'; exit 35"), Ok(()));
    assert!(verdict("echo 'core 1 waits for core 2'; exit 0").is_err());
    assert!(verdict("echo 'core 1 waits for core 2'; echo '@done ok'; exit 33").is_err());
    assert!(verdict("echo other; exit 35").unwrap_err().contains("did not say"));
    assert!(verdict("echo 'core 1 waits for core 2'; exec sleep 60").unwrap_err().contains("has not ended"));
}

#[test]
fn a_machine_that_halts_is_looked_at_and_judged_by_its_word() {
    let halting = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let monitor = Monitor { directory: "/nonexistent".into(), image: "/nonexistent".into() };
        let mut looks = 0;
        let limit = Duration::from_secs(3);
        let outcome = run_halting("stand-in", &mut command, &monitor, limit, || looks += 1, |_| {}).unwrap();
        (outcome.verdict().map_err(|error| error.to_string()), looks)
    };
    assert_eq!(halting("echo @done ok; exec sleep 60"), (Ok(()), 1));
    assert_eq!(halting("echo @done ok; exit 33"), (Ok(()), 0));
    assert_eq!(halting("echo @done failed no; exec sleep 60"), (Err("stand-in failed: no".into()), 1));
    assert!(halting("echo @bogus; echo @done ok; exec sleep 60").0.unwrap_err().contains("@bogus"));
    let (verdict, looks) = halting("echo one; exec sleep 60");
    assert!(verdict.unwrap_err().contains("has not ended") && looks == 0);
}

#[test]
fn a_cut_off_result_fails() {
    assert!(failure("echo '@data a.bin 3'; echo AAAA; echo '@done ok'; exit 33").contains("a.bin is cut off"));
}
