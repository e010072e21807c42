//! Notifications in the simulator with operations taken away.

use crate::common::run;
use collectives::{Group, Message, Subscription};
use hal::{Clock, Deadline, emulated::Omit, sim::Machine};
use tests::check_eq;

/// Two messages one after the other, with operations taken away from the moment at which everybody has subscribed.
fn two_messages(omitted: Omit) -> Result<(), String> {
    run(&Machine::scc(5), |context| {
        let notifications = context.comm.subscribe(&context.comm.group(), Subscription::default())?;
        context.comm.barrier();
        context.hal().omit(omitted);
        for turn in 1..=2 {
            if context.rank() == 0 {
                notifications.notify_all(&[turn; 100])?;
            } else {
                let Message { bytes, .. } = notifications.take(Deadline::Never)?;
                check_eq!(bytes, [turn; 100], "the message");
            }
        }
        context.hal().omit(Omit::empty());
        notifications.close();
        Ok(())
    })
}

#[test]
fn handlers_need_their_drains_and_invalidations() {
    assert_eq!(two_messages(Omit::empty()), Ok(()));
    let failure = two_messages(Omit::DRAIN).expect_err("acknowledgements are not drained");
    assert!(failure.contains("has not drained"), "it failed for another reason: {failure}");
    let failure = two_messages(Omit::INVALIDATE_MPB).expect_err("doorbells are stale");
    assert!(failure.contains("a notification being received"), "it failed for another reason: {failure}");
}

/// On a machine that is stuck because a member neither takes nor notifies, the report says so.
#[test]
fn whoever_does_not_take_is_named() {
    let failure = run(&Machine::scc(3), |context| {
        let subscription = Subscription { mailbox_bytes: 40, ..Subscription::default() };
        let notifications = context.comm.subscribe(&context.comm.group(), subscription)?;
        match context.rank() {
            0 => (0..2).try_for_each(|_| notifications.notify_all(&[7; 40]))?,
            1 => drop((notifications.take(Deadline::Never)?, notifications.take(Deadline::Never)?)),
            _ => context.comm.receive(&mut [0], 0)?,
        }
        Ok(())
    });
    let failure = failure.expect_err("rank 2 does not take");
    assert!(failure.contains("a notification being received, chunk 2 from core 2"), "{failure}");
}

/// A message costs the ranks that compute what their handlers take, and no more: those that are no members nothing at
/// all.
#[test]
fn computation_is_held_up_for_as_long_as_the_handler_runs() {
    let times = Machine::scc(3)
        .run(|core| {
            let comm = collectives::Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
            let members = Group::of([0, 1]).expect("two ranks");
            let notifications = comm.subscribe(&members, Subscription::default()).expect("nobody else has subscribed");
            comm.barrier();
            let begin = core.now();
            if comm.rank() == 0 {
                notifications.notify_all(&[7; 8]).expect("it fits");
            } else {
                core.compute(53_300);
            }
            let time = core.now() - begin;
            notifications.close();
            time
        })
        .expect("it comes to its end")
        .results();
    assert_eq!(times[2], 100_000);
    let held_up = times[1] - times[2];
    assert!((1_000..3_000).contains(&held_up), "held up for {held_up} ns");
    assert!(times[0] < 10_000, "the root took {} ns", times[0]);
}
