//! `bench-rma-bandwidth`: back-to-back operations (section 5.1 of the paper).
//!
//! One rank of a pair posts and waits, the other one starts, issues 32 operations on places of their own, and
//! completes; or as many as fit in a part, or in an origin's buffer. Bytes by what passes from start to the end of
//! complete is the throughput: in a loop, so that the target's write-backs and invalidations are part of it.
//!
//! The algorithm `lines` is what all of them can reach at most: one call of [`Combined::write`](hal::Combined::write)
//! or [`read`](hal::Combined::read) for a long run of lines, which is the read of a line there and the write of a
//! line here for each.

use alloc::{format, vec};

use collectives::{Group, Placement};
use hal::{Core, kind};

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::{Algorithm, Burst, Operation, Pair, Roles, Traffic, algorithm, pairs};
use crate::measure::{Of, Splits, demand, need_cores, sizes, turns};

/// Epochs of a loop that do not count.
const WARM_UP: u32 = 1;

/// Operations of a burst.
const BURST: usize = 32;

/// Bytes of a part at most.
const PART: usize = 4 << 20;

/// Bytes that an origin gets into at most: so much that a heap of the usual size has room.
const BUFFER: usize = 2 << 20;

/// Bytes of the run that the algorithm `lines` moves.
const RUN: usize = 1 << 20;

/// Measures the throughput of puts and gets.
pub struct Bandwidth;

impl Program for Bandwidth {
    const NAME: &'static str = "bench-rma-bandwidth";
    const ABOUT: &'static str = "measures bursts of puts and gets between ranks at three distances";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", algorithm::ABOUT),
        ("most", "bytes of the largest operation, 1048576 if not given; powers of two up to it are measured"),
        ("repetitions", "epochs that count, 2 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", Algorithm::default())?;
        let (most, repetitions) = (rank.args.get("most", 1 << 20)?, rank.args.get("repetitions", 2)?);
        need_cores(rank.comm, 2)?;
        demand(most <= BUFFER, format_args!("`most={most}`: one operation has {BUFFER} bytes at most"))?;
        for pair in pairs(rank.comm) {
            rank.phase(&format!("lines, {} routers", pair.routers));
            measure_lines(rank, pair)?;
            for bytes in sizes(1, 2, most) {
                rank.phase(&format!("{bytes} bytes, {} routers", pair.routers));
                for (operation, limit) in [(Operation::Put, PART), (Operation::Get, BUFFER)] {
                    let burst = Burst { operation, bytes, count: BURST.min(limit / bytes) };
                    measure(rank, algorithm, pair, burst, repetitions)?;
                }
            }
        }
        Ok(())
    }
}

fn measure<C: Core>(
    rank: &mut Rank<'_, C>,
    algorithm: Algorithm,
    pair: Pair,
    burst: Burst,
    repetitions: u32,
) -> Result<(), Failure> {
    let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
    let [origin, target] = pair.ranks;
    let mut traffic = Traffic::create(rank, algorithm, burst, &Roles::pair(pair.ranks, burst.count))?;
    comm.barrier();
    let mut splits = Splits::new(burst.operation.name());
    let origins = Group::of([origin])?;
    for counts in turns(WARM_UP, repetitions) {
        if me == origin {
            splits.take(hal, counts, || traffic.issue(target, 0, burst, || ()))?;
        } else if me == target {
            traffic.serve(&mut rank.caches, &origins, burst, || ())?;
        }
    }
    match burst.operation {
        Operation::Put if me == target => traffic.check(Operation::Put, origin)?,
        Operation::Get if me == origin => traffic.check(Operation::Get, target)?,
        _ => {}
    }
    if me == origin {
        let of = Of(algorithm.name(), pair.routers, burst.bytes);
        let counters = ["combined_lines_read", "combined_lines_written"];
        splits.send_throughput(rank, of, burst.total_bytes(), &counters);
    }
    traffic.free(&mut rank.caches)
}

fn measure_lines<C: Core>(rank: &mut Rank<'_, C>, pair: Pair) -> Result<(), Failure> {
    let (comm, hal) = (rank.comm, rank.hal());
    let [origin, target] = pair.ranks;
    if comm.rank() == origin {
        let memory = comm.allocator().allocate::<kind::Combined>(RUN, Placement::Near(comm.core_of(target)))?;
        let mut bytes = vec![0; RUN];
        for operation in Operation::ALL {
            let mut splits = Splits::new(operation.name());
            splits.take(hal, true, || match operation {
                Operation::Put => hal.write(memory, 0, &bytes),
                Operation::Get => {
                    hal.invalidate_mpb();
                    hal.read(memory, 0, &mut bytes);
                }
            });
            splits.send_throughput(rank, Of("lines", pair.routers, RUN), RUN, &[]);
        }
        comm.allocator().free(memory)?;
    }
    comm.barrier();
    Ok(())
}
