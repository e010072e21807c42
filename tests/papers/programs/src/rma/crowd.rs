//! `bench-rma-crowd`: many origins that put to one target (section 5.2 of the paper, figure 17 b).
//!
//! Each of k origins starts, puts 16 times, and completes. The bytes of all by what passes at the target from post to
//! the end of wait
//! are the aggregate throughput. A part holds the bursts of some origins; those of more are written where others' are.

use alloc::{format, vec::Vec};

use collectives::Group;
use hal::Core;

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::{Algorithm, Burst, Operation, Roles, Traffic, algorithm};
use crate::measure::{Of, Splits, demand, need_cores};

/// Numbers of origins.
const ORIGINS: [usize; 7] = [1, 2, 4, 8, 16, 32, 46];

/// Operations of a burst.
const BURST: usize = 16;

/// Bytes of the part.
const PART: usize = 8 << 20;

/// Measures the throughput of many origins.
pub struct Crowd;

impl Program for Crowd {
    const NAME: &'static str = "bench-rma-crowd";
    const ABOUT: &'static str = "measures bursts of puts of k ranks to rank 0";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", algorithm::ABOUT),
        ("bytes", "bytes of a put, 65536 if not given"),
        ("most", "origins at most, 46 if not given"),
        ("least", "origins at least, 1 if not given"),
        ("repetitions", "epochs for each number of origins, 1 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
        let algorithm = rank.args.get("algorithm", Algorithm::default())?;
        let (bytes, repetitions): (usize, u32) = (rank.args.get("bytes", 64 << 10)?, rank.args.get("repetitions", 1)?);
        need_cores(comm, 2)?;
        demand((1..=PART).contains(&bytes), format_args!("`bytes={bytes}`: a put has 1 to {PART} bytes"))?;
        let burst = Burst { operation: Operation::Put, bytes, count: BURST };
        let (least, most) = (rank.args.get("least", 1)?, rank.args.get("most", 46)?.min(comm.size() - 1));
        let counts: Vec<_> = ORIGINS.into_iter().filter(|k| (least..=most).contains(k)).collect();
        let none = format_args!("`least={least}`: none of {ORIGINS:?} origins is from that to {most}");
        demand(!counts.is_empty(), none)?;
        let mut traffic = Traffic::create(rank, algorithm, burst, &Roles::many(most, PART / bytes))?;
        for k in counts {
            rank.phase(&format!("{k} origins"));
            let origins = Group::of(1..=k)?;
            let mut splits = Splits::new("put");
            for _ in 0..repetitions {
                comm.barrier();
                if me == 0 {
                    splits.take(hal, true, || traffic.serve(&mut rank.caches, &origins, burst, || ()))?;
                } else if me <= k {
                    traffic.issue(0, me - 1, burst, || ())?;
                }
            }
            let counters = ["mpb_lines_read", "mpb_lines_written", "words_read", "words_written"];
            splits.send_throughput(rank, Of(algorithm.name(), k as u64, bytes), k * burst.total_bytes(), &counters);
        }
        traffic.free(&mut rank.caches)
    }
}
