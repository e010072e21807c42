//! Pointing slots of this core's lookup table at memory.
//!
//! An entry is read from where it is right, the table of the core whose memory it is, and stored as one word. Caches do
//! not notice: they know memory by its address, and what they hold of a slot goes on standing for it. So whoever
//! points a slot elsewhere makes sure that they hold nothing of it. For slots that are seen as MPBT lines that is a
//! drain and CL1INVMB, since such lines are never in L2; for slots that are seen uncached there is nothing to do.
//!
//! For the same reason shared memory has three slots for each controller, all with the same entry: one for each way to
//! see it. A line that this core has cached is not found, stale or dirty, by an access that means to go past the
//! caches.

use descriptions::boards::Geometry;

use crate::{
    bare::this_core::this_core,
    scc::{
        handed::handed,
        memory::map::{SCRATCH, SHARED_CACHED, SHARED_COMBINED},
        registers::tile::{Registers, slot_address},
    },
};

/// Points `slot` of this core's table where slot `number` of core `owner` leads, which may be this one.
///
/// # Panics
/// If there is no such core, or the register does not keep what is stored to it.
///
/// # Safety
/// 1. Nobody relies on what is seen in the slot now: no reference, and no code.
/// 2. The caches hold nothing of it, see [above](self).
/// 3. What the owner's slot leads to may be seen, and stored to, in the ways in which this core maps the slot.
pub(crate) unsafe fn point(slot: u32, owner: usize, number: u32) {
    let geometry = &handed().geometry;
    let registers_of = |core: usize| {
        let [tile, ..] = geometry.tile_of(core as u32);
        // SAFETY: the board is as it was handed over, and its registers are mapped uncached.
        (unsafe { Registers::of_tile(geometry, tile) }, core as u32 % geometry.cores_per_tile)
    };
    let ((other, other_place), (own, own_place)) = (registers_of(owner), registers_of(this_core()));
    let entry = other.lookup_entry(other_place, number).read();
    let register = own.lookup_entry(own_place, slot);
    register.write(entry);
    // The read returns after the write has arrived: what follows goes the new way.
    assert!(register.read() == entry, "slot {slot:#x} of the lookup table cannot be changed");
}

/// The slot in which the memory of controller `controller` begins, seen in the way that begins at `window`.
fn slot_of(window: usize, controller: u32) -> u32 {
    (window / slot_address(1)) as u32 + controller
}

/// Gives shared memory its slots to be seen cached and combined.
pub(crate) fn share_views() {
    let geometry = &handed().geometry;
    for controller in 0..geometry.controllers {
        for window in [SHARED_CACHED, SHARED_COMBINED] {
            // SAFETY: 1. and 2. `has_room_for_views` has found the slots free, and nothing was seen there since the start;
            // 3. it is shared memory.
            unsafe { point(slot_of(window, controller), this_core(), geometry.shared_slot + controller) };
        }
    }
}

/// Whether the board leaves the slots alone that [`share_views`] takes, and the one behind them.
pub(crate) fn has_room_for_views(geometry: &Geometry) -> bool {
    let (first, end) = (slot_of(SHARED_CACHED, 0), slot_of(SCRATCH, 1));
    let tiles = geometry.columns * geometry.rows;
    [
        (0, geometry.foreign_slots_end),
        (geometry.mpb_slot, tiles),
        (geometry.registers_slot, tiles),
        (geometry.own_registers_slot, 1),
        (geometry.board_slot, 1),
        (geometry.shared_slot, geometry.controllers),
    ]
    .iter()
    .all(|&(start, slots)| start + slots <= first || end <= start)
}
