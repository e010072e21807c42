//! `bench-pscw`: what the four calls of an epoch cost, after Algorithm 3 of the SCOSCo paper (section V).
//!
//! Rank 0 is the origin, ranks 1 to k are its targets, and the others only take part in making the window. Epochs
//! carry no data, and nothing but the epochs themselves synchronises the ranks of a loop: after one of them they are
//! in step anyway, and a barrier would be left by the origin later than by some targets.
//!
//! In virtual time a loop soon repeats itself exactly, so a thousand epochs would be one number a thousand times.
//! Instead there are several short loops for each k, and each begins with other skews between the ranks; the first
//! epochs of a loop, in which the ranks fall into step, do not count.

use alloc::format;

use collectives::{Class, Group, Window};
use hal::Core;

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::measure::{Of, Splits, demand, let_pass, turns};

/// Epochs of a loop that do not count.
const WARM_UP: u32 = 4;

/// Cycles that a rank may come late to a loop: about as long as an epoch with a few targets takes.
const MOST_SKEW_CYCLES: u64 = 8192;

/// Every access to memory that other cores see, and what pushes it out.
const COUNTERS: [&str; 6] =
    ["mpb_lines_read", "mpb_lines_written", "words_read", "words_written", "tsr_acquired", "drains"];

/// Measures START, COMPLETE, POST and WAIT.
pub struct Pscw;

impl Program for Pscw {
    const NAME: &'static str = "bench-pscw";
    const ABOUT: &'static str = "measures the four calls of epochs between rank 0 and k targets";
    const OPTIONS: &'static [KnownOption] = &[
        ("class", "how epochs are synchronised: default, truly-one-sided, scosco, immediate, deferred or message"),
        ("targets", "one number of targets; all from 1 on if not given"),
        ("loops", "loops for each number of targets, 4 if not given"),
        ("repetitions", "epochs of a loop that count, 10 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let me = comm.rank();
        let class = rank.args.get("class", Class::default())?;
        let (loops, repetitions) = (rank.args.get("loops", 4)?, rank.args.get("repetitions", 10)?);
        let (first, last) = targets(comm.size(), rank.args.get("targets", 0)?)?;

        rank.phase("window creation");
        let (window, mut view) = Window::<C, u32>::with_class(comm, &mut rank.caches, 0, class)?;
        let origin = Group::of([0])?;
        for k in first..=last {
            rank.phase(&format!("{k} targets"));
            let group = Group::of(1..=k)?;
            let [mut opening, mut closing] =
                if me == 0 { ["start", "complete"] } else { ["post", "wait"] }.map(Splits::new);
            for number in 0..loops {
                comm.barrier();
                let_pass(hal, skew_cycles(me, k, number));
                for counts in turns(WARM_UP, repetitions) {
                    if me == 0 {
                        let access = opening.take(hal, counts, || window.start(&group))?;
                        closing.take(hal, counts, || access.complete());
                    } else if me <= k {
                        let exposure = opening.take(hal, counts, || window.post(view, &mut rank.caches, &origin))?;
                        view = closing.take(hal, counts, || exposure.wait(&mut rank.caches));
                    }
                }
            }
            for splits in [opening, closing] {
                splits.send(rank, Of(class.name(), k as u64, 0), &COUNTERS);
            }
        }
        window.free(view, &mut rank.caches)?;
        Ok(())
    }
}

/// The numbers of targets to measure, first and last: the one that is wanted, or all for 0.
fn targets(ranks: usize, wanted: usize) -> Result<(usize, usize), Failure> {
    let most = ranks - 1;
    demand(most > 0, "one rank alone has no target")?;
    demand(wanted <= most, format_args!("`targets={wanted}`: rank 0 of {ranks} has 1 to {most}"))?;
    Ok(if wanted == 0 { (1, most) } else { (wanted, wanted) })
}

/// How late a rank comes to a loop: anything below the limit, the same in each run.
fn skew_cycles(rank: usize, targets: usize, number: u64) -> u64 {
    let place = (rank as u64) << 32 | (targets as u64) << 16 | number;
    // Multiplication by an odd number spreads neighbours; what it carries to the top bits is the skew.
    (place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - MOST_SKEW_CYCLES.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refused, run};
    use std::vec::Vec;

    #[test]
    fn every_call_is_measured_as_often_as_it_counts() {
        let printed = run::<Pscw>("cores=5 class=scosco loops=2 repetitions=3");
        for k in 1..5 {
            let len = |metric| printed.at("scosco", metric, (k, 0)).len() as u64;
            assert_eq!([len("start"), len("complete"), len("start.words_read")], [6; 3], "{k} targets");
            assert_eq!([len("post"), len("wait"), len("wait.drains")], [6 * k; 3], "{k} targets");
        }
    }

    #[test]
    fn accesses_are_those_of_the_protocol() {
        let printed = run::<Pscw>("cores=6 class=scosco targets=4");
        // A locked reset and a locked decrement for each of 4 targets.
        for (metric, expected) in [
            ("complete.tsr_acquired", 8),
            ("complete.words_read", 8),
            ("complete.words_written", 8),
            ("start.words_read", 0),
            ("post.tsr_acquired", 1),
            ("post.words_written", 2),
            ("wait.words_read", 0),
        ] {
            let found = printed.samples("scosco", metric);
            assert!(found.keys().eq(&[(4, 0)]), "{metric}");
            assert!(found[&(4, 0)].iter().all(|value| *value == expected), "{metric}: {found:?}");
        }
    }

    #[test]
    fn what_cannot_be_measured_is_said_once() {
        refused::<Pscw>(&[
            ("cores=1", "rank 0 failed: one rank alone has no target\n"),
            ("cores=4 targets=4", "rank 0 failed: `targets=4`: rank 0 of 4 has 1 to 3\n"),
            (
                "cores=4 class=other",
                "option `class=other`: no such synchronisation class; there are default, truly-one-sided, scosco, immediate, deferred and message; ",
            ),
        ]);
    }

    #[test]
    fn skews_differ_and_are_small() {
        let skews: Vec<_> = (0..48).flat_map(|rank| (0..4).map(move |number| skew_cycles(rank, 13, number))).collect();
        assert!(skews.iter().all(|skew| *skew < MOST_SKEW_CYCLES));
        let mut distinct = skews.clone();
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > skews.len() * 9 / 10, "{} of {}", distinct.len(), skews.len());
    }
}
