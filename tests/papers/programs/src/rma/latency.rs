//! `bench-rma-latency`: ping-pong (section 5.1 of the paper).
//!
//! One rank of a pair posts, waits, starts, puts or gets, and completes; the other one begins with start. Half of
//! what both epochs take together is the latency. Two ranks that exchange messages do so in the same order, and there
//! a latency is that of one message.
//!
//! Parts are as large as the operation, as in the OSU benchmarks. Post and wait write back and invalidate the part,
//! line by line as long as it is smaller than the cache. A post's share of that passes while the peer is busy; what a
//! wait spends comes before the next put, which messages do without, as they are received to private memory.

use alloc::format;

use collectives::Group;
use hal::Core;

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::{Algorithm, Burst, Operation, Pair, Roles, Traffic, algorithm, pairs};
use crate::measure::{Of, Splits, need_cores, sizes, turns};

/// Ping-pongs of a loop that do not count.
const WARM_UP: u32 = 1;

/// The counters that say what an epoch does to memory that others see.
const COUNTERS: [&str; 7] = [
    "mpb_lines_read",
    "mpb_lines_written",
    "combined_lines_read",
    "combined_lines_written",
    "words_read",
    "words_written",
    "tsr_acquired",
];

/// Measures the latency of puts and gets.
pub struct Latency;

impl Program for Latency {
    const NAME: &'static str = "bench-rma-latency";
    const ABOUT: &'static str = "measures ping-pongs of puts and gets between ranks at three distances";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", algorithm::ABOUT),
        ("most", "bytes of the largest operation, 1048576 if not given; powers of two up to it are measured"),
        ("repetitions", "ping-pongs that count, 3 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", Algorithm::default())?;
        let (most, repetitions) = (rank.args.get("most", 1 << 20)?, rank.args.get("repetitions", 3)?);
        need_cores(rank.comm, 2)?;
        for pair in pairs(rank.comm) {
            for bytes in sizes(1, 2, most) {
                rank.phase(&format!("{bytes} bytes, {} routers", pair.routers));
                for operation in Operation::ALL {
                    measure(rank, algorithm, pair, Burst { operation, bytes, count: 1 }, repetitions)?;
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
    let peer = pair.peer_of(me);
    let roles = Roles::both(pair.ranks, 1);
    let mut traffic = Traffic::create(rank, algorithm, burst, &roles)?;
    comm.barrier();
    if let Some(peer) = peer {
        let peers = Group::of([peer])?;
        let mut splits = Splits::new(burst.operation.name());
        for counts in turns(WARM_UP, repetitions) {
            splits.take(hal, counts, || -> Result<(), Failure> {
                if me == pair.ranks[1] {
                    traffic.issue(peer, 0, burst, || ())?;
                }
                traffic.serve(&mut rank.caches, &peers, burst, || ())?;
                if me == pair.ranks[0] {
                    traffic.issue(peer, 0, burst, || ())?;
                }
                Ok(())
            })?;
        }
        traffic.check(burst.operation, peer)?;
        // The first one begins and ends with the ping-pong as a whole.
        if me == pair.ranks[0] {
            let metric = format!("{}.latency", burst.operation.name());
            let of = Of(algorithm.name(), pair.routers, burst.bytes);
            splits.send_as(rank, of, &metric, Unit::Ticks, &COUNTERS, |ticks| ticks / 2);
        }
    }
    traffic.free(&mut rank.caches)
}
