//! `bench-rma-skew`: an origin whose target is busy (sections 3 and 5.4 of the paper, tables 1 to 3).
//!
//! The target multiplies two matrices of n × n between post and wait, while the origin starts, puts 16 times, and
//! completes. If the origin does not depend on what the target does, its time does not either. With messages the
//! target receives when it has multiplied.
//!
//! Of the multiplication only the floating-point operations are counted, n³ multiplications and as many additions,
//! and nothing is computed. So where computation takes its time by itself there is none of it, and only counters mean
//! something.

use alloc::format;

use collectives::Group;
use hal::{Core, p54c};

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::{Algorithm, Burst, Operation, Roles, Traffic, algorithm};
use crate::measure::{Of, Splits, demand, need_cores};

/// Sizes of the matrices.
const MATRICES: [u64; 5] = [0, 32, 64, 128, 256];

/// Operations of a burst.
const BURST: usize = 16;

/// Bytes of an operation at most: all of a burst have places of their own in a part of 8 MB.
const MOST: usize = (8 << 20) / BURST;

/// Origin and target.
const PAIR: [usize; 2] = [0, 1];

/// Measures epochs whose target is busy.
pub struct Skew;

impl Program for Skew {
    const NAME: &'static str = "bench-rma-skew";
    const ABOUT: &'static str = "measures bursts of puts to a target that computes between post and wait";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", algorithm::ABOUT),
        ("bytes", "bytes of a put, 262144 if not given"),
        ("repetitions", "epochs for each size of the matrices, 3 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
        let algorithm = rank.args.get("algorithm", Algorithm::default())?;
        let (bytes, repetitions): (usize, u32) = (rank.args.get("bytes", 256 << 10)?, rank.args.get("repetitions", 3)?);
        need_cores(comm, 2)?;
        demand((1..=MOST).contains(&bytes), format_args!("`bytes={bytes}`: a put has 1 to {MOST} bytes"))?;
        let burst = Burst { operation: Operation::Put, bytes, count: BURST };
        let [origin, target] = PAIR;
        let mut traffic = Traffic::create(rank, algorithm, burst, &Roles::pair(PAIR, BURST))?;
        let origins = Group::of([origin])?;
        for n in MATRICES {
            rank.phase(&format!("matrices of {n} x {n}"));
            let mut splits = Splits::new(if me == origin { "origin" } else { "target" });
            let mut computing = Splits::new("compute");
            for _ in 0..repetitions {
                comm.barrier();
                if me == origin {
                    splits.take(hal, true, || traffic.issue(target, 0, burst, || ()))?;
                } else if me == target {
                    let mut multiply = || computing.take(hal, true, || hal.compute(cycles(n)));
                    splits.take(hal, true, || traffic.serve(&mut rank.caches, &origins, burst, &mut multiply))?;
                }
            }
            for splits in [splits, computing] {
                let counters = ["words_read", "mpb_lines_read", "combined_lines_written"];
                splits.send(rank, Of(algorithm.name(), n, bytes), &counters);
            }
        }
        if me == target {
            traffic.check(Operation::Put, origin)?;
        }
        traffic.free(&mut rank.caches)
    }
}

/// What multiplying two matrices of `n` × `n` takes.
fn cycles(n: u64) -> u64 {
    n * n * n * (p54c::FMUL + p54c::FADD)
}
