//! `terrain`: 48 cores without coherent caches wear down a mountain.
//!
//! Rank 0 broadcasts an elevation map (a binary PGM) with OC-Bcast; the ranks split it into blocks and diffuse it for
//! some steps, each exchanging the edges of its block with up to four neighbours by puts in PSCW epochs, while it
//! computes its interior. Dissemination barriers end that part and the next, in which rank 0 gets all blocks. Then it
//! computes the same alone, and compares bit for bit.
//!
//! Every rank, and rank 0 alone, evaluates one expression in one order for each cell, so the result does not depend on
//! the number of ranks, nor on the machine: the x87 of the P54C at 53 bits and a host's SSE2 round alike.

mod alone;
mod broadcast;
mod field;
mod gather;
mod grid;
mod halo;
mod pgm;
mod report;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use collectives::{Barrier, Broadcast, OcBcast, Release};
use hal::Core;

use crate::{Failure, Program, Rank, args::KnownOption, println};

use self::{
    field::Field,
    grid::Grid,
    halo::Halo,
    report::{Phase, Stopwatch},
};

/// What lies on top of all heights while they are computed, so that no value comes near 0: the x87 and SSE2 differ
/// where results are subnormal, and a front that creeps into a plain of zeros gets there.
const GROUND: f64 = 1.0;

/// The barrier unless another one is named, whichever is the fastest on the machine: the paper's, in ⌈log₂ P⌉ rounds.
const BARRIER: Barrier = Barrier::Dissemination { partners: 1, flags: Release::Push };

/// Diffuses an elevation map on all ranks, and checks the result.
pub struct Terrain;

impl Program for Terrain {
    const NAME: &'static str = "terrain";
    const ABOUT: &'static str =
        "wears down an elevation map (a binary PGM) on all ranks and checks the result bit for bit";
    const OPTIONS: &'static [KnownOption] = &[
        ("steps", "steps of diffusion, 50 if not given"),
        ("broadcast", "how the map is broadcast: oc-k7 if not given, or any that `bench-broadcast` measures"),
        (
            "barrier",
            "what ends the stencil and the gather: dissemination if not given, or any that `bench-barrier` measures",
        ),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let steps: u32 = rank.args.get("steps", 50)?;
        let how = rank.args.get("broadcast", Broadcast::OcBcast(OcBcast::default()))?;
        let barrier = rank.args.get("barrier", BARRIER)?;
        let before = hal.counters();

        rank.phase("broadcast");
        let Some(announced) = broadcast::announce(rank, how)? else { return Ok(()) };
        let mut watch = Stopwatch::start(hal);
        let map = announced.spread(rank, how)?;
        watch.stop(hal, Phase::Broadcast);

        rank.phase("windows and barrier");
        let grid = Grid::new(comm.size(), map.width, map.height);
        let mut halo = Halo::create(comm, &mut rank.caches, &grid)?;
        let (blocks, own_block) = gather::window(comm, &mut rank.caches, &grid)?;
        // After the windows, and so gone before them: a barrier of registers lets nobody allocate shared memory.
        let mut everybody = comm.barrier_of(&comm.group(), barrier)?;
        watch.stop(hal, Phase::Preparation);

        rank.phase("stencil");
        let mut field = grid.block(comm.rank()).map(|block| Field::new(&map, block));
        drop(map);
        if let Some(field) = &mut field {
            field.add_buffer();
            for _ in 0..steps {
                halo.step(field, &mut rank.caches, hal)?;
            }
        }
        watch.stop(hal, Phase::Stencil);
        // Otherwise the gathering would be charged with the wait for the last block.
        everybody.wait();
        watch.restart(hal);

        rank.phase("gather");
        let gathered = gather::to_rank_0(comm, &blocks, own_block, &mut rank.caches, &grid, field)?;
        // Where all cores share one processor, what rank 0 does alone would be charged to those that do not wait yet.
        everybody.wait();
        watch.stop(hal, Phase::Gather);

        let Some(gathered) = gathered else { return report::contribute(comm, &watch, hal.counters() - before) };
        rank.phase("one core alone");
        let expected = alone::heights(hal, rank.input(0)?.bytes, steps)?;
        watch.stop(hal, Phase::Alone);
        rank.phase("comparison");
        let compared = alone::compare(&gathered, &expected, &grid);
        drop(expected);

        let crc = checksum(&gathered);
        write_picture(rank, gathered, &grid)?;
        println!(rank, "terrain of {} x {}, {grid}, {steps} steps", grid.width(), grid.height());
        println!(rank, "broadcast {how}, put and get in PSCW epochs, barrier {barrier}");
        report::print(rank, &watch, hal.counters() - before)?;
        compared?;
        rank.tell_host(format_args!("result checksum {crc:08x}"));
        println!(rank, "result equals that of one core bit for bit; its checksum is {crc:08x}");
        Ok(())
    }
}

/// A checksum over the bits of all heights, row by row, to compare runs.
fn checksum(heights: &[f64]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    heights.iter().for_each(|height| hasher.update(&height.to_bits().to_le_bytes()));
    hasher.finalize()
}

/// Sends the final heights to the host, rounded, as a PGM of 16 bits.
fn write_picture<C: Core>(rank: &Rank<'_, C>, heights: Vec<f64>, grid: &Grid) -> Result<(), Failure> {
    let samples = heights.iter().map(|height| (height - GROUND + 0.5) as u16);
    let picture = pgm::encode(grid.width(), grid.height(), samples);
    drop(heights);
    rank.write_file("terrain.pgm", &picture)
}
