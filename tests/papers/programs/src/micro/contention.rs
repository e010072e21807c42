//! `bench-mpb-contention`: what it costs to share an MPB (figure 4).
//!
//! The first n ranks get 128 lines from rank 0's MPB for a while, or put one line each into it, all the time. Each
//! sends its mean as a sample of `completion`, so that the least and the largest are the fastest and the slowest
//! core; rank 0 sends the mean of all as `average`.

use hal::{Core, LINE_BYTES, MpbLine};

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::{LINES, first_line, for_span, get, stay_away};
use crate::measure::Of;

/// Numbers of cores.
const COUNTS: [usize; 11] = [1, 2, 4, 8, 16, 20, 24, 28, 32, 40, 48];

/// Measures gets from and puts to one MPB.
pub struct MpbContention;

impl Program for MpbContention {
    const NAME: &'static str = "bench-mpb-contention";
    const ABOUT: &'static str = "measures gets and puts of 1 to 48 ranks from and to rank 0's MPB";
    const OPTIONS: &'static [KnownOption] =
        &[("span", "time for which all are at it, in microseconds, 1500 if not given; a tenth of that for puts")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let span_us: u64 = rank.args.get("span", 1500)?;
        let (first, me, target) = (first_line(comm)?, comm.rank(), comm.core_of(0));
        for count in COUNTS.into_iter().filter(|count| *count <= comm.size()) {
            rank.phase(&alloc::format!("{count} ranks"));
            measure(rank, "get", count, LINES, span_us, || get(hal, first, target))?;
            measure(rank, "put", count, 1, span_us / 10, || {
                hal.invalidate_mpb();
                // Each to a line of its own.
                hal.put_from_own_mpb(first, MpbLine::new(target, first + me), 1);
            })?;
        }
        Ok(())
    }
}

fn measure<C: Core>(
    rank: &Rank<'_, C>,
    algorithm: &str,
    count: usize,
    lines: usize,
    span_us: u64,
    operation: impl Fn(),
) -> Result<(), Failure> {
    let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
    comm.barrier();
    let span = hal.ticks_per_second() / 1_000_000 * span_us;
    let mut mean = 0;
    if me < count {
        // Not all at the same moment.
        hal.compute(me as u64 * 37 % 101);
        let times = for_span(hal, span, operation);
        mean = times.iter().sum::<u64>() / times.len() as u64;
    } else {
        stay_away(hal, span);
    }
    // Messages need the lines that are being put to and got from.
    comm.barrier();
    let of = Of(algorithm, count as u64, lines * LINE_BYTES);
    if me == 0 {
        let mut sum = mean;
        for peer in 1..count {
            let mut theirs = 0_u64;
            comm.receive(bytemuck::bytes_of_mut(&mut theirs), peer)?;
            sum += theirs;
        }
        of.send(rank, "average", Unit::Ticks, [sum / count as u64]);
    } else if me < count {
        comm.send(bytemuck::bytes_of(&mean), 0)?;
    }
    if me < count {
        of.send(rank, "completion", Unit::Ticks, [mean]);
    }
    Ok(())
}
