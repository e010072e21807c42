//! `bench-mpb-model`: what the formulas of the paper's figure 2 say of puts and gets, as series like those of
//! [`bench-mpb-distance`](super::MpbDistance) named `model-…`.

use crate::model::{Parameters, Time};
use hal::{Core, CoreId, LINE_BYTES, Layout};

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::distance::{Operation, SIZES};
use crate::measure::{Of, ticks};

/// Computes what puts and gets take.
pub struct MpbModel;

impl Program for MpbModel {
    const NAME: &'static str = "bench-mpb-model";
    const ABOUT: &'static str = "what the formulas of the OC-Bcast paper say of puts and gets over each distance";
    const OPTIONS: &'static [KnownOption] = &[];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        if comm.rank() != 0 {
            return Ok(());
        }
        let (layout, me) = (hal.layout(), comm.core_of(0));
        let memory = memory_routers(layout, me);
        let farthest = (0..comm.size()).map(|peer| layout.distance(me, comm.core_of(peer))).max().unwrap_or(1);
        for operation in Operation::ALL {
            let algorithm = alloc::format!("model-{}", operation.name());
            for (distance, lines) in (1..=farthest).flat_map(|distance| SIZES.map(|lines| (distance, lines))) {
                let time = completion(operation, lines, distance as usize, memory);
                let of = Of(&algorithm, distance.into(), lines * LINE_BYTES);
                of.send(rank, "completion", Unit::Ticks, [ticks(hal, time)]);
            }
        }
        Ok(())
    }
}

/// Routers between a core and its memory controller.
fn memory_routers(layout: &Layout, core: CoreId) -> usize {
    layout.tile(core).routers_to(layout.controller_tile(layout.nearest_controller(core))) as usize
}

/// Formulas 7, 8, 11 and 12.
fn completion(operation: Operation, lines: usize, distance: usize, memory: usize) -> Time {
    let parameters = Parameters::SCC;
    match operation {
        Operation::GetToMpb => parameters.get_to_mpb_completion(lines, distance),
        Operation::PutFromMpb => parameters.put_from_mpb_completion(lines, distance),
        Operation::GetToMemory => parameters.get_to_memory_completion(lines, distance, memory),
        Operation::PutFromMemory => parameters.put_from_memory_completion(lines, memory, distance),
    }
}
