//! Starting another core.

use descriptions::boards::Geometry;

use crate::scc::registers::tile::{Gcbcfg, Registers};

/// Lets a core out of its reset, with its L2. It begins in its reset page, which has to be in its memory, not only in
/// this core's caches.
///
/// Nobody else may change the tile's clocks and resets meanwhile: one core starts all others.
///
/// # Safety
/// 1. The board is as `geometry` says, and its registers can be reached. 2. What the core will execute is a program.
///
/// # Panics
/// If there is no such core.
pub unsafe fn start(geometry: &Geometry, core: u32) {
    assert!(core < geometry.cores(), "core {core} does not exist");
    let [tile, ..] = geometry.tile_of(core);
    let resets = Gcbcfg::reset_of(core % geometry.cores_per_tile);
    // SAFETY: the caller says so.
    unsafe { Registers::of_tile(geometry, tile) }.tile_configuration().update(|found| found - resets);
}
