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

use kernel::{Failure, Program, Rank, Series, Unit, args::KnownOption};

use super::{Algorithm, Burst, Operation, Pair, Traffic, algorithm, need_cores, pairs, traffic::Room};
use crate::splits::Splits;

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
            for bytes in (0..).map(|power| 1 << power).take_while(|bytes| *bytes <= most) {
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
    let room = peer.map_or_else(Room::default, |_| Room::of_both(algorithm, burst, 1));
    let mut traffic = Traffic::create(comm, &mut rank.caches, algorithm, room)?;
    comm.barrier();
    if let Some(peer) = peer {
        let peers = Group::of([peer])?;
        let mut splits = Splits::new(burst.operation.name());
        for number in 0..WARM_UP + repetitions {
            splits.take(hal, number >= WARM_UP, || -> Result<(), Failure> {
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
        match burst.operation {
            Operation::Put => traffic.check_put_by(peer)?,
            Operation::Get => traffic.check_got_from(peer)?,
        }
        // The first one begins and ends with the ping-pong as a whole.
        if me == pair.ranks[0] {
            let metric = format!("{}.latency", burst.operation.name());
            let (param, bytes) = (pair.routers, burst.bytes as u64);
            let series = Series { algorithm: algorithm.name(), param, bytes, metric: &metric, unit: Unit::Ticks };
            rank.samples(&series, splits.ticks().map(|ticks| ticks / 2));
            splits.send_counters(rank, &series, &COUNTERS);
        }
    }
    traffic.free(&mut rank.caches)
}
