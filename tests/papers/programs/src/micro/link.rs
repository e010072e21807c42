//! `bench-mesh-link`: gets over a loaded link (section 3.3).
//!
//! One core gets 128 lines at a time from its eastern neighbour's MPB, over the link in the middle of the mesh:
//! between tiles (2, 2) and (3, 2) of the SCC. It does so alone (`free`), and while all cores of other tiles get 128
//! lines at a time from the opposite side of the row of that link (`loaded`), which X-Y routing leads over it. They
//! get from the last core of a tile, and the one that is measured from the first, so that it is the link that they
//! share and no MPB.

use hal::{Core, LINE_BYTES, Layout, Tile};

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::{LINES, first_line, for_span, get, stay_away};
use crate::measure::{Of, demand};

/// Measures gets over a loaded link.
pub struct MeshLink;

impl Program for MeshLink {
    const NAME: &'static str = "bench-mesh-link";
    const ABOUT: &'static str = "measures gets over the middle link of the mesh, free and loaded by all other ranks";
    const OPTIONS: &'static [KnownOption] =
        &[("span", "time for which all are at it, in microseconds, 1000 if not given")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let span_us: u64 = rank.args.get("span", 1000)?;
        let first = first_line(comm)?;
        let span = hal.ticks_per_second() / 1_000_000 * span_us;
        let layout = *hal.layout();
        let (east, row) = (layout.columns() / 2, layout.rows() / 2);
        demand(
            east > 0 && core_of(&layout, east, row, 0) < comm.size(),
            "this takes a mesh of two columns or more whose middle link has a core at each end",
        )?;
        let tile = layout.tile(comm.core_of(comm.rank()));
        let ends = [east - 1, east].map(|column| Tile { x: column as u16, y: row as u16 });
        let measured = comm.rank() == core_of(&layout, east - 1, row, 0);
        let opposite = core_of(&layout, layout.columns() - 1 - usize::from(tile.x), row, layout.cores_per_tile() - 1);
        let loads = !ends.contains(&tile) && opposite < comm.size();
        for (metric, loaded) in [("free", false), ("loaded", true)] {
            rank.phase(metric);
            comm.barrier();
            let peer = match (measured, loads && loaded) {
                (true, _) => core_of(&layout, east, row, 0),
                (false, true) => opposite,
                (false, false) => {
                    stay_away(hal, span);
                    continue;
                }
            };
            let times = for_span(hal, span, || get(hal, first, comm.core_of(peer)));
            if measured {
                Of("get", 2, LINES * LINE_BYTES).send(rank, metric, Unit::Ticks, times);
            }
        }
        comm.barrier();
        Ok(())
    }
}

/// Core `place` of a tile.
fn core_of(layout: &Layout, column: usize, row: usize, place: usize) -> usize {
    (row * layout.columns() + column) * layout.cores_per_tile() + place
}
