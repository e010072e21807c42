//! How the memory of a board is divided between its cores, and the lookup tables that say so.
//!
//! This is the arithmetic of `sccMerge` (`hal::hardware`, Memory map), so that what is loaded by its files and by ours
//! is one and the same: a controller's memory is so many blocks of 16 MB. Each core that it is for has equally many of
//! them in a row, from the first block on, then comes shared memory, and the last blocks are one for each core to start
//! in.

use super::{Controller, MeshBoard, keys::join};
use crate::{
    Error,
    boards::{LutEntry, SubDestination, map},
};

/// Blocks of 16 MB in a GiB.
const BLOCKS_PER_GIB: u32 = 64;

/// The memory of a board, divided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    board: MeshBoard,
    /// GiB behind each controller.
    pub gib: u64,
    /// Slots of private memory that every core has, from slot 0 on.
    pub private_slots: u32,
    /// The first block of shared memory behind each controller.
    pub shared_block: u32,
    /// Blocks of shared memory behind each controller.
    pub shared_blocks: u32,
    places: Vec<Place>,
}

/// Where a core's private memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The number of its controller.
    pub controller: usize,
    /// How many cores of lower numbers have the same one.
    pub base: u32,
    /// The block of slot 0; those of the other private slots follow.
    pub code_block: u32,
    /// The block of the slot that the core starts in.
    pub boot_block: u32,
}

impl MeshBoard {
    /// How the memory is divided if there are `gib` GiB behind each controller.
    ///
    /// # Errors
    /// If the board has no such memory.
    pub fn memory(&self, gib: u64) -> Result<Memory, Error> {
        Memory::new(self, gib).map_err(Error)
    }
}

impl Memory {
    pub(super) fn new(board: &MeshBoard, gib: u64) -> Result<Self, String> {
        if !board.memory_gib.contains(&gib) {
            let choices = join(board.memory_gib.iter());
            return Err(format!("there are no {gib} GiB behind each controller; choices are {choices}"));
        }
        let blocks = BLOCKS_PER_GIB * gib as u32;
        let cores = board.cores_per_controller;
        let shared_blocks = board.shared_slots() / board.geometry.controllers;
        let reserved = shared_blocks + u32::from(board.lut_default);
        let private_slots = (blocks.saturating_sub(reserved) / cores).saturating_sub(1).min(board.most_private_slots);
        if private_slots == 0 {
            return Err(format!("{gib} GiB are too little for {cores} cores at each controller"));
        }
        let mut bases = vec![0; board.controllers.len()];
        let places = (0..board.geometry.cores()).map(|core| {
            let controller = board.controller_of(core);
            let base = bases[controller];
            bases[controller] += 1;
            Place { controller, base, code_block: base * private_slots, boot_block: base + blocks - cores }
        });
        let places = places.collect();
        Ok(Self {
            board: board.clone(),
            gib,
            private_slots,
            shared_block: cores * private_slots,
            shared_blocks,
            places,
        })
    }

    /// Where the memory of a core is.
    ///
    /// # Panics
    /// If the board does not have that core.
    pub fn place(&self, core: u32) -> Place {
        self.places[core as usize]
    }

    /// The board whose memory it is.
    pub fn board(&self) -> &MeshBoard {
        &self.board
    }

    /// Bytes of private memory of every core, from address 0 on.
    pub fn private_bytes(&self) -> u64 {
        u64::from(self.private_slots) * u64::from(map::SLOT_BYTES)
    }

    /// The lookup table of a core: the slots that are written, in order, and their entries. Slots for other cores'
    /// memory are not among them: the image points them somewhere.
    ///
    /// # Panics
    /// If the board does not have that core.
    pub fn lut(&self, core: u32) -> Vec<(u8, LutEntry)> {
        let (board, geometry, place) = (&self.board, &self.board.geometry, self.place(core));
        let own = board.controllers[place.controller];
        let mut table = [None; map::SLOTS as usize];
        if board.lut_default {
            table.fill(Some(behind(own, self.shared_block + self.shared_blocks)));
        }
        let mut point = |slot: u32, entry| table[slot as usize] = Some(entry);
        for slot in 0..self.private_slots {
            point(slot, behind(own, place.code_block + slot));
        }
        for (index, controller) in (0..).zip(&board.controllers) {
            for block in 0..self.shared_blocks {
                point(geometry.shared_slot + index + block, behind(*controller, self.shared_block + block));
            }
        }
        let at_tile = |x, y, what| LutEntry::new(x, y, what, 0);
        for tile in 0..board.tiles() {
            let (x, y) = (tile % geometry.columns, tile / geometry.columns);
            point(geometry.mpb_slot + tile, at_tile(x, y, SubDestination::Mpb));
            point(geometry.registers_slot + tile, at_tile(x, y, SubDestination::Registers));
        }
        let [_, x, y] = geometry.tile_of(core);
        board.own_mpb_slot.into_iter().for_each(|slot| point(slot, at_tile(x, y, SubDestination::Mpb)));
        point(geometry.own_registers_slot, at_tile(x, y, SubDestination::Registers));
        board.fixed.iter().for_each(|(slot, entry)| point(u32::from(*slot), *entry));
        point(map::BOOT_SLOT, behind(own, place.boot_block));
        (0..=u8::MAX).zip(table).filter_map(|(slot, entry)| Some((slot, entry?))).collect()
    }
}

fn behind(controller: Controller, block: u32) -> LutEntry {
    let [x, y] = controller.tile;
    LutEntry::new(x, y, controller.side, block)
}
