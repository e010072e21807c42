//! `bench-mpb-distance`: what puts and gets take by distance and size (figure 3).
//!
//! Rank 0 puts to and gets from one core at each distance, one operation at a time, while all others wait.

use alloc::vec;

use hal::{Core, LINE_BYTES, MpbLine};

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::first_line;
use crate::measure::{Of, Splits, repetitions};

/// Sizes, in lines.
pub(super) const SIZES: [usize; 6] = [1, 4, 8, 16, 64, 128];

/// Where the lines are that rank 0 moves, beside the MPB at a distance.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    GetToMpb,
    PutFromMpb,
    GetToMemory,
    PutFromMemory,
}

impl Operation {
    pub(super) const ALL: [Self; 4] = [Self::GetToMpb, Self::PutFromMpb, Self::GetToMemory, Self::PutFromMemory];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::GetToMpb => "get-to-mpb",
            Self::PutFromMpb => "put-from-mpb",
            Self::GetToMemory => "get-to-memory",
            Self::PutFromMemory => "put-from-memory",
        }
    }
}

/// Measures puts and gets over each distance.
pub struct MpbDistance;

impl Program for MpbDistance {
    const NAME: &'static str = "bench-mpb-distance";
    const ABOUT: &'static str = "measures puts and gets of rank 0 to and from an MPB at each distance";
    const OPTIONS: &'static [KnownOption] = &[("repetitions", "operations of each kind that count, 3 if not given")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let repetitions: u32 = repetitions(rank, 3)?;
        let first = first_line(comm)?;
        let distance_of = |peer: &usize| hal.layout().distance(comm.core_of(0), comm.core_of(*peer));
        let farthest = (0..comm.size()).map(|peer| distance_of(&peer)).max().unwrap_or(0);
        comm.barrier();
        for distance in 1..=farthest {
            rank.phase(&alloc::format!("{distance} routers"));
            // The first is the core itself, unless it is alone on its tile: then that distance is to its own MPB.
            let Some(peer) = (0..comm.size()).rev().find(|peer| distance_of(peer) == distance) else { continue };
            if comm.rank() != 0 {
                continue;
            }
            let line = MpbLine::new(comm.core_of(peer), first);
            for (operation, lines) in
                Operation::ALL.into_iter().flat_map(|operation| SIZES.map(|size| (operation, size)))
            {
                let mut memory = vec![0; lines * LINE_BYTES];
                let mut splits = Splits::new("completion");
                for _ in 0..repetitions {
                    hal.invalidate_mpb();
                    splits.take(hal, true, || match operation {
                        Operation::GetToMpb => hal.get_to_own_mpb(line, first + super::LINES / 2, lines),
                        Operation::PutFromMpb => hal.put_from_own_mpb(first + super::LINES / 2, line, lines),
                        Operation::GetToMemory => hal.get(line, &mut memory),
                        Operation::PutFromMemory => hal.put(&memory, line),
                    });
                }
                let of = Of(operation.name(), distance.into(), lines * LINE_BYTES);
                splits.send(rank, of, &["mpb_lines_read", "mpb_lines_written"]);
            }
        }
        comm.barrier();
        Ok(())
    }
}
