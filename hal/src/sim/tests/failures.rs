//! Failures name the guilty, and take the machine down in good order.

use super::*;
use crate::{Clock, LineAddress, Mpb, Place, Reason, TestAndSet, Topology, Uncached, Wait};

#[test]
fn a_deadlock_names_who_waits_for_whom() {
    let failure = Machine::scc(4)
        .run(|core| {
            let me = core.core().index();
            core.compute(533 * me as u64);
            match me {
                3 => core.store(line(0, 5), 0, &[1]), // and does not drain
                _ => {
                    let peer = CoreId::new((me + 3) % 4);
                    let reason = Reason::new("the post of window").number(7).from(peer);
                    core.wait(&[Place::Line(line(me, 5))], reason, |poll| (poll.line(0).0[0] == 1).then_some(()));
                }
            }
        })
        .unwrap_err();
    let Failure::Deadlock(deadlock) = &failure else { panic!("{failure}") };
    let waiting: Vec<_> = deadlock.waiting.iter().map(|waiting| (waiting.core.index(), waiting.since_ps)).collect();
    assert_eq!(waiting, [(0, 0), (1, 1_000_000), (2, 2_000_000)]);
    assert_eq!(deadlock.waiting[0].reason.peer, Some(CoreId::new(3)));
    let [finished] = deadlock.finished.as_slice() else { panic!("one core has finished") };
    assert_eq!((finished.core, finished.undrained), (CoreId::new(3), Some(LineAddress::Mpb(line(0, 5)))));
    let text = failure.to_string();
    for part in [
        "3 of 4 cores wait",
        "core 1 has waited since 1.000 µs for the post of window 7 from core 0",
        "core 3 has not drained its write-combine buffer: nobody has seen what it stored to MPB line 5 of core 0",
        "finished: core 3",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    assert_eq!(failure.summary().lines().count(), 1);
    assert!(
        failure
            .summary()
            .contains("core 0 was the first to wait, for the post of window 7 from core 3; core 3 has not drained"),
        "{}",
        failure.summary()
    );
}

#[test]
fn a_deadlock_of_locks_is_a_circle() {
    let failure = Machine::scc(3)
        .run(|core| {
            let me = core.core().index();
            let _mine = core.lock(CoreId::new(me), "my own");
            core.compute(5330);
            let _next = core.lock(CoreId::new((me + 1) % 3), "my neighbour's");
        })
        .unwrap_err();
    let Failure::Deadlock(deadlock) = &failure else { panic!("{failure}") };
    assert_eq!(deadlock.cycle(), Some(vec![CoreId::new(0), CoreId::new(1), CoreId::new(2)]));
    assert_eq!(deadlock.waiting[2].register, Some(CoreId::new(0)));
    assert_eq!(deadlock.waiting[2].holder, Some(CoreId::new(0)));
    assert!(
        failure.to_string().contains("my neighbour's: the test-and-set register of core 1, held by core 1"),
        "{failure}"
    );
    assert!(
        failure.summary().contains("core 0 waits for core 1 waits for core 2 waits for core 0"),
        "{}",
        failure.summary()
    );
}

#[test]
fn a_panic_names_its_core_and_place() {
    let failure = Machine::scc(48)
        .run(|core| {
            core.store(line(0, 1), 0, &[0; 32]);
            assert!(core.core().index() != 17, "core 17 does not like this");
            core.wait(&[Place::Line(line(0, 2))], Reason::new("nothing"), |_| None::<()>);
        })
        .unwrap_err();
    let Failure::Panic { core, message, .. } = &failure else { panic!("{failure}") };
    assert_eq!(*core, CoreId::new(17));
    assert!(message.contains("core 17 does not like this") && message.contains("failures.rs"), "{message}");
    assert!(failure.to_string().contains("core 17 panicked"));
}

/// Does everything that a destructor must not be able to get stuck with.
struct BusyDrop<'c>(&'c SimCore, &'c std::cell::Cell<usize>);

impl Drop for BusyDrop<'_> {
    fn drop(&mut self) {
        let BusyDrop(core, dropped) = *self;
        dropped.set(dropped.get() + 1);
        if core.is_dying() {
            core.store(line(0, 1), 0, &[1; 32]);
            core.store_word(region(1), 0, 1);
            core.load_line(line(0, 1));
            drop(core.lock(CoreId::new(0), "the last thing"));
            let deadline = crate::Deadline::At(core.now() + 1_000);
            let waited = core.wait_until(&[Place::Line(line(0, 2))], deadline, Reason::new("no more"), |_| None::<()>);
            assert!(waited.is_err());
        }
    }
}

#[test]
fn destructors_of_a_dying_machine_do_nothing() {
    for panics in [false, true] {
        let dropped = std::cell::Cell::new(0);
        let failure = Machine::scc(5).run(|core| {
            let _busy = BusyDrop(core, &dropped);
            let _lock = (core.core().index() == 0).then(|| core.lock(CoreId::new(0), "to keep"));
            core.compute(10_000);
            core.load_line(line(0, 1)); // so that all have begun
            assert!(!panics || core.core().index() != 3, "one panics");
            core.acquire_register(CoreId::new(0), "never");
        });
        assert!(failure.is_err());
        assert_eq!(dropped.get(), 5, "every core was unwound");
    }
}

#[test]
fn a_core_may_run_another_machine_but_not_lend_itself() {
    // The inner machine is built on the outer core's stack.
    let machine = Machine::scc(2).with_options(Options { stack_bytes: 2 << 20, ..Options::default() });
    let sum = machine.run(|outer| {
        let inner = Machine::scc(3).run(|inner| {
            inner.store(line(0, 1), 0, &[1; 32]);
            inner.core().index()
        });
        outer.store(line(0, 1), 0, &[1; 32]);
        inner.unwrap().results().iter().sum::<usize>()
    });
    assert_eq!(sum.unwrap().results(), [3, 3]);

    let misuse = machine.run(|outer| {
        let inner = Machine::scc(1).run(|_| (0..10).for_each(|_| outer.store(line(0, 1), 0, &[1; 32])));
        inner.map_err(|failure| failure.to_string())
    });
    assert!(misuse.unwrap().results()[0].as_ref().is_err_and(|text| text.contains("outside its own program")));
}

/// What tells a process to report faults and to simulate on two threads.
const ON_TWO_THREADS: &str = "ATOLL_TEST_TWO_THREADS";

/// What the next test runs in a process of its own; in any other it does nothing.
#[test]
fn simulates_on_two_threads() {
    if std::env::var(ON_TWO_THREADS).is_err() {
        return;
    }
    end_on_faults(1, std::time::Duration::from_secs(60));
    let is_refused = || std::thread::spawn(|| Machine::scc(1).run(|_| ())).join().is_err();
    let one_inside = Machine::scc(1).run(|_| Machine::scc(1).run(|_| is_refused()).unwrap().results()[0]);
    assert!(one_inside.unwrap().results()[0]);
    assert!(!is_refused(), "nothing is simulated any more");
}

#[test]
fn a_process_that_reports_faults_simulates_on_one_thread_at_a_time() {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["simulates_on_two_threads", "--nocapture"]);
    let output = command.env(ON_TWO_THREADS, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_simulated_core_is_no_thread_whose_faults_are_reported() {
    // SAFETY: it is refused.
    let failure = Machine::scc(2).run(|core| unsafe { report_faults_of(core, || ()) }).unwrap_err();
    assert!(failure.to_string().contains("is no thread of its own"), "{failure}");
}
