//! Core 0 starts the others, where the board's host has loaded and started it alone.
//!
//! It copies what was loaded into its own memory to the same places of each other core's, which it reaches by pointing
//! a slot of its own where their lookup tables point; then it lets go of their resets (`hal::hardware`, Tile
//! registers). What it has changed since it was started is not copied: `.data` comes from the copy that the start code
//! has made, and `.bss` is cleared by whoever starts.
//!
//! The host has written all lookup tables. Stores are whole lines of the MPB's type, so they pass by L2 and are in the
//! memory when the reset is let go: a core has one store under way at a time (`hal::hardware`, Caches).

use core::ops::Range;

use descriptions::boards::map::{IMAGE, PAGE_BYTES, RESET, SLOT_BYTES};

use crate::{
    LINE_BYTES,
    scc::{
        boot::{own_parts, reset},
        handed::handed,
        memory::{areas, image, lookup_table, paging},
        registers::tile::slot_address,
    },
};

/// Gives all other cores that take part their memory, and starts them.
pub(crate) fn start() {
    let handed = handed();
    let geometry = &handed.geometry;
    for core in 1..handed.setting.cores {
        Target::new(core).load();
        // SAFETY: 1. the board is as it was handed over, and its registers are mapped uncached; 2. the core has just
        // got its program. Nobody else changes the register meanwhile: cores do that in this function only.
        unsafe { reset::start(geometry, core) }
    }
}

/// The memory of a core that is to be started, seen through the first slot behind the status page's.
struct Target {
    core: u32,
    window_slot: u32,
    /// Which of its slots the window shows.
    shown: Option<u32>,
}

impl Target {
    fn new(core: u32) -> Self {
        let window_slot = handed().setting.private_slots + 1;
        paging::map_foreign(window_slot);
        Self { core, window_slot, shown: None }
    }

    fn load(mut self) {
        let pristine = image::pristine_start()..image::stack_guard();
        self.copy(areas::handed_range(), areas::handed_range().start);
        self.copy(IMAGE as usize..image::private_start(), IMAGE as usize);
        self.copy(pristine, image::private_start());
        for module in handed().modules() {
            // Files are loaded as whole lines (`hal::hardware`, Loader files).
            let end = (module.start + module.len_bytes) as usize;
            self.copy(module.start as usize..end.next_multiple_of(LINE_BYTES), module.start as usize);
        }
        // Its end is no address, so it is no range.
        for line in (0..PAGE_BYTES).step_by(LINE_BYTES) {
            self.copy_line((RESET + line) as usize, RESET + line);
        }
    }

    /// Copies whole lines of this core's memory to the other's at `target`.
    fn copy(&mut self, source: Range<usize>, target: usize) {
        for line in source.clone().step_by(LINE_BYTES) {
            self.copy_line(line, (target + (line - source.start)) as u32);
        }
    }

    fn copy_line(&mut self, source: usize, target: u32) {
        self.show(target / SLOT_BYTES);
        let source = core::ptr::with_exposed_provenance::<u32>(source);
        // SAFETY: whole lines of this core's memory, mapped, which nobody changes meanwhile.
        let words = core::array::from_fn(|index| unsafe { source.add(index).read_volatile() });
        let place = slot_address(self.window_slot) + (target % SLOT_BYTES) as usize;
        // SAFETY: the slot is mapped with the MPB's type, and shows the memory of a core that does not run.
        unsafe { own_parts::store_line(place, words) }
    }

    /// Points the window at a slot of the other core's. Nothing of it is in L1, since it is only stored to, nor in the
    /// write-combine buffer, since lines are whole.
    fn show(&mut self, slot: u32) {
        if self.shown.replace(slot) == Some(slot) {
            return;
        }
        // SAFETY: 1. the window is used here only; 2. see above; 3. the core does not run.
        unsafe { lookup_table::point(self.window_slot, self.core as usize, slot) };
    }
}
