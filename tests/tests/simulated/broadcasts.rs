//! Broadcasts by chance, and broadcasts with drains or invalidations taken away.

use crate::common::run;
use collectives::Broadcast;
use hal::{
    Clock,
    emulated::Omit,
    sim::{Machine, Options, Strategy},
};
use tests::{
    broadcast::{ALGORITHMS, broadcast, mixed},
    random::Numbers,
};

/// Any rank count, one broadcast after the other by any algorithm from any root, any of them late, while hardware
/// drains and holds up as it likes; sometimes with the MPBs lent to the baselines in between.
fn at_random(seed: usize) -> Result<(), String> {
    let ranks = 1 + Numbers::new(&[seed]).below(48);
    let options = Options { strategy: Strategy::Seeded { seed: seed as u64 }, ..Options::default() };
    run(&Machine::scc(ranks).with_options(options), |context| {
        let mut numbers = Numbers::new(&[seed, ranks]);
        for turn in 0..6 {
            mixed(context, &mut numbers, turn)?;
            if numbers.below(8) == 0 {
                let profile = context.comm.rcce_profile()?;
                let (root, len) = (numbers.below(ranks), numbers.below(20_000));
                broadcast(context, ["binomial", "scatter-allgather"][turn % 2], root, len, turn)?;
                drop(profile);
            }
        }
        Ok(())
    })
}

#[test]
fn over_many_seeds() {
    for seed in 0..100 {
        assert_eq!(at_random(seed), Ok(()), "seed {seed}");
    }
}

/// The barriers within a broadcast of several blocks say that those before are complete, and not that this one is:
/// the next one must not have its staging before all ranks have left.
#[test]
fn blocks_keep_their_staging_to_the_end() {
    for seed in 0..20 {
        let options = Options { strategy: Strategy::Seeded { seed }, ..Options::default() };
        let result = run(&Machine::scc(5).with_options(options), |context| {
            broadcast(context, "scatter-allgather-one-sided", 0, 16_000, 1)?;
            broadcast(context, "scatter-allgather-one-sided", 2, 33, 2)
        });
        assert_eq!(result, Ok(()), "seed {seed}");
    }
}

/// Each algorithm by itself, at all rank counts up to a few and at some of many.
#[test]
fn at_all_rank_counts() {
    for ranks in (1..=13).chain([31, 32, 33, 47]) {
        for algorithm in ALGORITHMS {
            let result = run(&Machine::scc(ranks), |context| {
                for (turn, len) in [1, 32 * ranks + 1, 10_000].into_iter().enumerate() {
                    broadcast(context, algorithm, turn * 5 % ranks, len, turn)?;
                }
                Ok(())
            });
            assert_eq!(result, Ok(()), "{algorithm} on {ranks} ranks");
        }
    }
}

/// Whoever is late still finds what it needs, when others have gone on to a broadcast that uses the lines of the MPBs
/// in another way.
#[test]
fn the_next_one_waits_for_those_who_are_late() {
    let all = || ALGORITHMS.iter().copied().chain(["short", "long"]);
    for first in all() {
        for second in all() {
            let result = run(&Machine::scc(4), |context| {
                for late in 0..4 {
                    if context.rank() == late {
                        context.hal().compute(100_000);
                    }
                    broadcast(context, first, 0, 2500, late)?;
                    // All staging lines, and again the first of them.
                    broadcast(context, second, (late + 2) % 4, if second == "short" { 300 } else { 7000 }, late + 4)?;
                }
                Ok(())
            });
            assert_eq!(result, Ok(()), "{second} after {first}");
        }
    }
}

/// What baselines leave in lines that were lent to them is not taken for a short message, whatever words it has.
#[test]
fn lines_come_back_without_tags() {
    let result = run(&Machine::scc(3), |context| {
        for tag in 1..=20_u32 {
            let profile = context.comm.rcce_profile()?;
            let mut words = tag.to_le_bytes().repeat(251 * 8);
            context.comm.using(Broadcast::Binomial, |comm| comm.broadcast(&mut words, 0))?;
            drop(profile);
            if context.rank() == 0 {
                context.hal().compute(100_000);
            }
            // The operation that has this tag.
            broadcast(context, "short", 0, 20, tag as usize)?;
        }
        Ok(())
    });
    assert_eq!(result, Ok(()));
}

/// Two broadcasts of so many bytes that every buffer is used again.
fn without(omitted: Omit, algorithm: &str) -> Result<(), String> {
    run(&Machine::scc(5), |context| {
        context.comm.barrier();
        context.hal().omit(omitted);
        for turn in 0..2 {
            broadcast(context, algorithm, turn, 3 * 5 * 48 * 32 + 1, turn)?;
        }
        Ok(())
    })
}

#[test]
fn all_pass_when_nothing_is_omitted() {
    for algorithm in ALGORITHMS {
        assert_eq!(without(Omit::empty(), algorithm), Ok(()), "{algorithm}");
    }
}

#[test]
fn all_need_their_drains() {
    for algorithm in ALGORITHMS {
        let failure = without(Omit::DRAIN, algorithm).expect_err(algorithm);
        assert!(failure.contains("has not drained"), "{algorithm} failed for another reason: {failure}");
    }
}

#[test]
fn all_need_their_invalidations() {
    for algorithm in ALGORITHMS {
        assert!(without(Omit::INVALIDATE_MPB, algorithm).is_err(), "{algorithm} passes on stale lines");
    }
}
