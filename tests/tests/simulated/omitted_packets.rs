//! The message channel with its flushes, invalidations or drains taken away.

use crate::common::run;
use collectives::Group;
use hal::{
    LINE_BYTES,
    emulated::{FetchUnit, Omit},
    sim::{Machine, Options, SimCore},
};
use tests::{Context, Failed, channel::Part, check_eq, suite};

#[test]
fn packets_need_their_drains_and_invalidations() {
    for name in ["channel::all_pairs", "channel::all_sizes", "channel::early_post_of_a_later_group"] {
        assert_eq!(without(Omit::empty(), name), Ok(()));
        let failure = without(Omit::DRAIN, name).expect_err(name);
        assert!(failure.contains("has not drained"), "{name} failed for another reason: {failure}");
        assert!(without(Omit::INVALIDATE_MPB, name).is_err(), "{name} passes on stale lines");
    }
}

/// Runs a test of the suite in which the operations are omitted from the beginning.
fn without(omitted: Omit, name: &str) -> Result<(), String> {
    run(&Machine::scc(5), |context| {
        context.hal().omit(omitted);
        suite::run_simulated(name, context)
    })
}

fn between_two(omitted: Omit) -> Result<(), String> {
    let options = Options { fetch_unit: FetchUnit::Page, ..Options::default() };
    run(&Machine::scc(2).with_options(options), |context| put_by_packet(context, omitted))
}

#[test]
fn everything_passes_when_nothing_is_omitted() {
    assert_eq!(between_two(Omit::empty()), Ok(()));
    assert_eq!(get_from_itself_twice(Omit::empty()), Ok(()));
}

/// The origin puts a word by packet; the omission is in the target's wait for completions, which handles it.
fn put_by_packet(context: &mut Context<'_, '_, SimCore>, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let part = Part::open(context, 0, LINE_BYTES)?;
    let (origin, target) = (Group::of([0])?, Group::of([1])?);
    if context.rank() == 0 {
        part.put(context, 1, 12, &[77; 4]);
        part.complete(context, &target);
    } else {
        part.post(context, 0, &[], &origin)?;
        hal.omit(omitted);
        let bytes = part.wait(context, &origin)?;
        hal.omit(Omit::empty());
        check_eq!(bytes[12..16], [77; 4], "the word that was put by packet");
    }
    part.close(context)
}

/// A rank gets the same word of its own part in two epochs, between which it changed it; the omission is in the
/// second get. On so many cores that nothing else invalidates in between, because packets go through uncached memory.
fn get_from_itself_twice(omitted: Omit) -> Result<(), String> {
    run(&Machine::scc(151), |context| {
        let (hal, me) = (context.hal(), Group::of([context.rank()])?);
        let part = Part::open(context, 0, LINE_BYTES)?;
        for round in 1..=2 {
            part.post(context, 0, &[round; 8], &me)?;
            hal.omit(if round == 2 { omitted } else { Omit::empty() });
            let got = part.get(context, context.rank(), 4, 1);
            hal.omit(Omit::empty());
            check_eq!(got, [round], "the byte that was got in round {round}");
            part.complete(context, &me);
            part.wait(context, &me)?;
        }
        part.close(context)
    })
}

#[test]
fn completions_by_packet_need_their_drain() {
    let failure = between_two(Omit::DRAIN).expect_err("nothing was missed");
    assert!(failure.contains("the word that was put by packet"), "{failure}");
}

#[test]
fn gets_by_packet_need_their_invalidation() {
    let failure = get_from_itself_twice(Omit::INVALIDATE_MPB).expect_err("nothing was missed");
    assert!(failure.contains("the byte that was got in round 2"), "{failure}");
}
