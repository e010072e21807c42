//! `bench-rma-lines`: what moves through memory, counted (section 5.3 of the paper, figure 18, which counts cache misses).
//!
//! Seven origins put 16 times to one target, each to places of its own, and the target reads its whole part
//! afterwards. The samples are sums over all eight ranks: lines of MPBs and of combined memory, lines fetched into
//! caches, lines written back. Private memory is not counted, to which messages are received and which is where all
//! that is put comes from: so a put's source is no line here, while a message is two, into an MPB and out of it.

use alloc::{format, vec::Vec};

use collectives::Group;
use hal::{Core, Counters};

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::{Algorithm, Burst, Operation, Roles, Traffic, algorithm};
use crate::measure::{Of, demand, need_cores, sizes};

/// Origins: ranks 1 to 7. Rank 0 is the target.
const ORIGINS: usize = 7;

/// Operations of a burst.
const BURST: usize = 16;

/// Bytes of the largest operation: those of all origins are as much as can be behind one memory controller.
const MOST: usize = 128 << 10;

/// The counters that count lines.
const COUNTERS: [&str; 6] = [
    "mpb_lines_read",
    "mpb_lines_written",
    "combined_lines_read",
    "combined_lines_written",
    "lines_fetched",
    "lines_written_back",
];

/// Counts the lines that puts move.
pub struct Lines;

impl Program for Lines {
    const NAME: &'static str = "bench-rma-lines";
    const ABOUT: &'static str = "counts the lines that bursts of puts of 7 ranks to rank 0 move";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", algorithm::ABOUT),
        ("most", "bytes of the largest put, 131072 if not given; powers of two from 32 up to it are measured"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", Algorithm::default())?;
        let most = rank.args.get("most", MOST)?;
        need_cores(rank.comm, 1 + ORIGINS)?;
        demand(most <= MOST, format_args!("`most={most}`: a put has {MOST} bytes at most"))?;
        for bytes in sizes(32, 2, most) {
            rank.phase(&format!("{bytes} bytes"));
            count(rank, algorithm, Burst { operation: Operation::Put, bytes, count: BURST })?;
        }
        Ok(())
    }
}

fn count<C: Core>(rank: &mut Rank<'_, C>, algorithm: Algorithm, burst: Burst) -> Result<(), Failure> {
    let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
    let mut traffic = Traffic::create(rank, algorithm, burst, &Roles::many(ORIGINS, ORIGINS * BURST))?;
    let before = hal.counters();
    if me == 0 {
        traffic.serve(&mut rank.caches, &Group::of(1..=ORIGINS)?, burst, || ())?;
        traffic.read_all();
    } else if me <= ORIGINS {
        traffic.issue(0, me - 1, burst, || ())?;
    }
    let mut counts: Vec<u64> = (hal.counters() - before).values().collect();
    if me == 0 {
        let mut theirs = counts.clone();
        for origin in 1..=ORIGINS {
            comm.receive(bytemuck::cast_slice_mut(&mut theirs), origin)?;
            counts.iter_mut().zip(&theirs).for_each(|(sum, count)| *sum += count);
        }
        let of = Of(algorithm.name(), ORIGINS as u64, burst.bytes);
        for (name, sum) in Counters::NAMES.iter().zip(counts).filter(|(name, _)| COUNTERS.contains(name)) {
            of.send(rank, name, Unit::Count, [sum]);
        }
    } else if me <= ORIGINS {
        comm.send(bytemuck::cast_slice(&counts), 0)?;
    }
    traffic.free(&mut rank.caches)
}
