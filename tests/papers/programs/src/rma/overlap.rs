//! `bench-rma-overlap`: how much of its communication a rank can compute through (section 5.5 of the paper, figure 19).
//!
//! First a burst of 16 puts is timed on one side: T_comm. Then it is repeated while that side computes, the origin
//! between the last put and complete, the target between post and wait: T_comp of computation makes T_total of all.
//! The host computes the overlap (T_comm + T_comp − T_total) / T_comm, which is 1 if the shorter of both is hidden
//! and 0 if nothing is. What is varied is T_comp in hundredths of T_comm; for sizes other than the largest it is 120,
//! as in the paper.
//!
//! An origin is timed from when the target has posted, so that a wait for the post is no part of its communication. A
//! target is timed from post to the end of wait. Of that, writing its part back and invalidating it is its own work,
//! which nothing hides: it counts where bursts are small.
//!
//! An origin that copies by itself has nothing to overlap with; one that hands copies to an engine is another
//! [`Algorithm`].

use alloc::format;

use collectives::Group;
use hal::{Clock, Core};

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::{Algorithm, Burst, Operation, Roles, Side, Traffic, algorithm};
use crate::measure::{Of, Splits, demand, need_cores, sizes};

/// Operations of a burst.
pub(super) const BURST: usize = 16;

/// Bytes of a part at most; larger bursts begin again at its start.
pub(super) const PART: usize = 8 << 20;

/// Hundredths of T_comm that T_comp is at each size.
const PERCENT: u64 = 120;

/// Hundredths that it is at the largest size.
const PERCENTS: [u64; 7] = [25, 50, 75, 100, PERCENT, 150, 200];

/// The sizes, by powers of four up to `most`, and hundredths of T_comm for each.
pub(super) fn cases(most: usize) -> Result<impl Iterator<Item = (usize, &'static [u64])>, Failure> {
    demand(most <= PART, format_args!("`most={most}`: a put has {PART} bytes at most"))?;
    Ok(sizes(1, 4, most).map(move |bytes| (bytes, if 4 * bytes > most { &PERCENTS[..] } else { &[PERCENT] })))
}

/// Origin and target.
const PAIR: [usize; 2] = [0, 1];

/// Measures the overlap of computation and communication.
pub struct Overlap;

impl Program for Overlap {
    const NAME: &'static str = "bench-rma-overlap";
    const ABOUT: &'static str = "measures bursts of puts whose origin or target computes meanwhile";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", algorithm::ABOUT),
        ("most", "bytes of the largest put, 1048576 if not given; powers of four up to it are measured"),
        ("repetitions", "epochs that count, 1 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", Algorithm::default())?;
        let (most, repetitions) = (rank.args.get("most", 1 << 20)?, rank.args.get("repetitions", 1)?);
        need_cores(rank.comm, 2)?;
        for (bytes, percents) in cases(most)? {
            rank.phase(&format!("{bytes} bytes"));
            measure(rank, algorithm, bytes, percents, repetitions)?;
        }
        Ok(())
    }
}

/// What T_comm, T_comp and T_total are called in measurements.
pub(super) fn names(timed: Side) -> [&'static str; 3] {
    match timed {
        Side::Origin => ["origin.comm", "origin.compute", "origin.total"],
        Side::Target => ["target.comm", "target.compute", "target.total"],
    }
}

fn measure<C: Core>(
    rank: &mut Rank<'_, C>,
    algorithm: Algorithm,
    bytes: usize,
    percents: &[u64],
    repetitions: u32,
) -> Result<(), Failure> {
    let burst = Burst { operation: Operation::Put, bytes, count: BURST };
    let me = rank.comm.rank();
    let [origin, target] = PAIR;
    let mut traffic = Traffic::create(rank, algorithm, burst, &Roles::pair(PAIR, BURST.min(PART / bytes)))?;
    for (side, timed) in [(Side::Origin, origin), (Side::Target, target)] {
        let mut epochs = Epochs { traffic: &mut traffic, burst, side, repetitions };
        let [comm, compute, total] = names(side);
        let communication = epochs.time(rank, comm, 0)?;
        for &percent in percents {
            let wanted = communication.ticks().last().unwrap_or(0) * percent / 100;
            let cycles = cycles(rank.hal(), wanted);
            let total = epochs.time(rank, total, cycles)?;
            let mut computation = Splits::new(compute);
            computation.take(rank.hal(), me == timed, || rank.hal().compute(cycles));
            for splits in [&communication, &computation, &total] {
                splits.send(rank, Of(algorithm.name(), percent, bytes), &["mpb_lines_read", "combined_lines_written"]);
            }
        }
    }
    if me == target {
        traffic.check(Operation::Put, origin)?;
    }
    traffic.free(&mut rank.caches)
}

/// Epochs of one burst each, in which one side is timed.
struct Epochs<'t, 'c, C: Core> {
    traffic: &'t mut Traffic<'c, C>,
    burst: Burst,
    side: Side,
    repetitions: u32,
}

impl<C: Core> Epochs<'_, '_, C> {
    /// What the side took each time, if it is this rank's, while it computed for `cycles` cycles.
    fn time(&mut self, rank: &mut Rank<'_, C>, name: &'static str, cycles: u64) -> Result<Splits, Failure> {
        let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
        let [origin, target] = PAIR;
        let origins = Group::of([origin])?;
        let mut splits = Splits::new(name);
        for _ in 0..self.repetitions {
            // The post is there when all others pass the barrier.
            let posts_first = me == target && self.side == Side::Origin;
            if !posts_first {
                comm.barrier();
            }
            if me == origin {
                let counts = self.side == Side::Origin;
                let meanwhile = || hal.compute(if counts { cycles } else { 0 });
                splits.take(hal, counts, || self.traffic.issue(target, 0, self.burst, meanwhile))?;
            } else if me == target {
                let meanwhile = || if posts_first { comm.barrier() } else { hal.compute(cycles) };
                let counts = self.side == Side::Target;
                splits.take(hal, counts, || self.traffic.serve(&mut rank.caches, &origins, self.burst, meanwhile))?;
            }
        }
        Ok(splits)
    }
}

/// The cycles of computation that take `ticks` ticks of the clock: nobody says how fast a core is, so it is tried.
pub(super) fn cycles(clock: &impl Clock, ticks: u64) -> u64 {
    const TRIAL: u64 = 1 << 20;
    let begin = clock.now();
    clock.compute(TRIAL);
    // Where accounting takes no time, no amount of it would take `ticks`.
    let took = (clock.now() - begin).max(1);
    ticks.saturating_mul(TRIAL) / took
}
