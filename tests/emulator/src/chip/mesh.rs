//! What all cores share, and how their lookup tables lead there.

use std::collections::VecDeque;

use descriptions::boards::map::{SLOT_BYTES, SLOTS};

#[cfg(feature = "cpu")]
use super::watch::{Watched, first};
use super::{
    cache::{LINE_BYTES, Line, line_of},
    counts::Counts,
    dram::{Dram, pattern},
    notes::Notes,
    system::System,
};
use crate::{Board, Violation};

/// What an entry of a lookup table says, decoded when it is written, since every miss asks for it.
#[derive(Clone, Copy)]
enum Target {
    Nowhere(&'static str),
    Memory { controller: u8, block: u16 },
    Mpb { tile: u8 },
    Registers { tile: u8 },
    Board,
}

#[derive(Clone, Copy)]
struct Slot {
    entry: u32,
    target: Target,
    hops: u32,
}

/// Bits of an entry that exist.
pub(super) const ENTRY_BITS: u32 = 0x3F_FFFF;

/// Tables, memory and MPBs.
pub(super) struct Mesh {
    pub(super) board: Board,
    bypass_works: bool,
    tables: Vec<Box<[Slot]>>,
    pub(super) controllers: Vec<Dram>,
    pub(super) mpbs: Vec<Box<[u8]>>,
    /// Grows with everything that another core could see.
    pub(super) changes: u64,
    /// What cores did.
    pub(super) notes: Notes,
    /// When the access that is made takes effect, where time is kept.
    pub(super) now: u64,
    /// Bytes that loads of a poll have found earlier, for the core that executes that poll now.
    pub(super) replayed: VecDeque<[u8; LINE_BYTES]>,
    /// What a debugger watches.
    #[cfg(feature = "cpu")]
    pub(super) watched: Watched,
}

impl Mesh {
    pub(super) fn new(board: &Board, bypass_works: bool) -> Self {
        let geometry = &board.geometry;
        let tile_bytes = geometry.mpb_bytes * geometry.cores_per_tile;
        let mpb = |tile: usize| -> Box<[u8]> {
            (0..tile_bytes / 4).flat_map(|_| pattern(0x80 + tile as u32, 0).to_le_bytes()).collect()
        };
        let table = |core: usize| -> Box<[Slot]> {
            let target = Target::Nowhere("its entry of the lookup table was never written");
            (0..SLOTS).map(|slot| Slot { entry: pattern(core as u32, slot) & ENTRY_BITS, target, hops: 0 }).collect()
        };
        Self {
            board: *board,
            bypass_works,
            tables: (0..board.cores()).map(table).collect(),
            controllers: (0..geometry.controllers).map(|number| Dram::new(board.memory_gib, number)).collect(),
            mpbs: (0..board.tiles()).map(mpb).collect(),
            changes: 0,
            notes: Notes::default(),
            now: 0,
            replayed: VecDeque::new(),
            #[cfg(feature = "cpu")]
            watched: Watched::default(),
        }
    }

    /// The entry that a core has for a slot.
    pub(super) fn entry(&self, core: usize, slot: usize) -> u32 {
        self.tables[core][slot].entry
    }

    /// Writes an entry. Where it leads matters only when it is used.
    pub(super) fn set_entry(&mut self, core: usize, slot: usize, entry: u32) {
        let target = self.decode(core, entry);
        let from = self.board.place_of(self.board.tile_of(core).0);
        let hops = from[0].abs_diff(entry >> 13 & 0xF) + from[1].abs_diff(entry >> 17 & 0xF);
        self.tables[core][slot] = Slot { entry, target, hops };
        self.changes += 1;
    }

    /// Decodes an entry (`hal::hardware`, Lookup tables): bits 9:0 are bits 33:24 of the address, 12:10 the side of the
    /// tile, 16:13 its column, 20:17 its row, 21 the bypass.
    fn decode(&self, core: usize, entry: u32) -> Target {
        let (block, side, x, y) = (entry & 0x3FF, entry >> 10 & 7, entry >> 13 & 0xF, entry >> 17 & 0xF);
        let board = &self.board;
        let Some(tile) = board.tile_at(x, y) else {
            return Target::Nowhere("its entry of the lookup table names a tile that does not exist");
        };
        if entry >> 21 & 1 != 0 {
            if tile != board.tile_of(core).0 {
                return Target::Nowhere("its entry of the lookup table goes around the router to another tile");
            }
            if !self.bypass_works {
                return Target::Nowhere("its entry of the lookup table goes around the router, which is broken");
            }
        }
        if entry == board.registers_entry && entry != 0 {
            return Target::Board;
        }
        match (side, board.controller_at(x, y)) {
            (2, _) if block == 0 => Target::Registers { tile: tile as u8 },
            (3, _) if block == 0 => Target::Mpb { tile: tile as u8 },
            (2 | 3, _) => Target::Nowhere("its entry of the lookup table has an address where a tile has none"),
            (_, Some((_, at))) if side == at && block >= board.memory_gib * 64 => {
                Target::Nowhere("its entry of the lookup table is beyond the memory behind the controller")
            }
            (_, Some((controller, at))) if side == at => {
                Target::Memory { controller: controller as u8, block: block as u16 }
            }
            _ => Target::Nowhere("its entry of the lookup table names a side of a tile where there is nothing for it"),
        }
    }

    /// Where an address of a core leads.
    #[inline]
    pub(super) fn translate(&self, core: usize, physical: u32) -> Result<System, Violation> {
        Ok(self.translate_with_hops(core, physical)?.0)
    }

    #[inline]
    fn translate_with_hops(&self, core: usize, physical: u32) -> Result<(System, u32), Violation> {
        let slot = &self.tables[core][(physical / SLOT_BYTES) as usize];
        let offset = physical % SLOT_BYTES;
        let system = match slot.target {
            Target::Memory { controller, block } => {
                let address = u64::from(block) * u64::from(SLOT_BYTES) + u64::from(offset);
                System::Memory { controller: controller.into(), address }
            }
            Target::Mpb { tile } if (offset as usize) < self.mpbs[0].len() => System::Mpb { tile: tile.into(), offset },
            Target::Mpb { .. } => return Err(Violation::new(core, physical, "it is beyond the end of a tile's MPB")),
            Target::Registers { tile } => System::Registers { tile: tile.into(), offset },
            Target::Board => System::Board { offset },
            Target::Nowhere(reason) => {
                let reason = format!("{reason} ({:#x} for slot {:#x})", slot.entry, physical / SLOT_BYTES);
                return Err(Violation::new(core, physical, reason));
            }
        };
        Ok((system, slot.hops))
    }

    /// Where an address leads that is accessed as memory.
    pub(super) fn memory_at(&self, core: usize, physical: u32) -> Result<System, Violation> {
        match self.translate(core, physical)? {
            System::Registers { .. } | System::Board { .. } => Err(not_memory(core, physical)),
            system => Ok(system),
        }
    }

    /// Reads bytes of one line of memory or of an MPB.
    pub(super) fn read(
        &self,
        core: usize,
        physical: u32,
        to: &mut [u8],
        counts: &mut Counts,
    ) -> Result<System, Violation> {
        let (system, hops) = self.translate_with_hops(core, physical)?;
        counts.hops += u64::from(hops);
        match system {
            System::Memory { controller, address } => self.controllers[controller].read(address, to),
            System::Mpb { tile, offset } => {
                let offset = offset as usize;
                to.copy_from_slice(&self.mpbs[tile][offset..offset + to.len()]);
            }
            System::Registers { .. } | System::Board { .. } => return Err(not_memory(core, physical)),
        }
        Ok(system)
    }

    /// A load that was made earlier finds what it found then, if this is one.
    #[inline]
    pub(super) fn replay(&mut self, to: &mut [u8]) {
        if let Some(found) = self.replayed.pop_front() {
            to.copy_from_slice(&found[..to.len()]);
        }
    }

    /// Reads the line that an address is in, to be cached.
    pub(super) fn read_line(
        &mut self,
        core: usize,
        physical: u32,
        mpbt: bool,
        counts: &mut Counts,
    ) -> Result<Line, Violation> {
        let mut bytes = [0; LINE_BYTES];
        // Refuses the address itself, not that of its line.
        self.memory_at(core, physical)?;
        match self.read(core, line_of(physical), &mut bytes, counts)? {
            System::Mpb { .. } if !mpbt => Err(cached_mpb(core, physical)),
            system => {
                if mpbt {
                    self.replay(&mut bytes);
                    self.notes.loaded(&self.board, core, system, &bytes);
                }
                let word = |index: usize| u64::from_le_bytes(std::array::from_fn(|place| bytes[8 * index + place]));
                Ok(std::array::from_fn(word))
            }
        }
    }

    /// Writes bytes within one line of memory or of an MPB: those whose bit is set in `mask`.
    pub(super) fn write(
        &mut self,
        core: usize,
        physical: u32,
        from: &[u8],
        mask: u32,
        counts: &mut Counts,
    ) -> Result<System, Violation> {
        let (system, hops) = self.translate_with_hops(core, physical)?;
        counts.hops += u64::from(hops);
        let to = match system {
            System::Memory { controller, address } => {
                let offset = address as usize % 4096;
                &mut self.controllers[controller].page_mut(address)[offset..offset + from.len()]
            }
            System::Mpb { tile, offset } => {
                let offset = offset as usize;
                &mut self.mpbs[tile][offset..offset + from.len()]
            }
            System::Registers { .. } | System::Board { .. } => return Err(not_memory(core, physical)),
        };
        for (index, (to, from)) in to.iter_mut().zip(from).enumerate() {
            if mask >> index & 1 != 0 {
                *to = *from;
            }
        }
        self.changes += 1;
        #[cfg(feature = "cpu")]
        if !self.watched.is_empty() {
            self.watched.note(core, system, mask & first(from.len()), true);
        }
        Ok(system)
    }

    /// Writes a line, or some bytes of it.
    pub(super) fn write_line(
        &mut self,
        core: usize,
        physical: u32,
        line: &Line,
        mask: u32,
        counts: &mut Counts,
    ) -> Result<System, Violation> {
        let mut bytes = [0; LINE_BYTES];
        for (to, word) in bytes.chunks_exact_mut(8).zip(line) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        self.write(core, physical, &bytes, mask, counts)
    }
}

/// Registers that are not accessed uncached.
fn not_memory(core: usize, physical: u32) -> Violation {
    Violation::new(core, physical, "registers are accessed through a page that is not uncached")
}

/// An MPB through a page without the MPB's type, which would be in L2, where nothing but displacement gets it out of.
pub(super) fn cached_mpb(core: usize, physical: u32) -> Violation {
    Violation::new(core, physical, "an MPB is accessed through a cached page that is not of the MPB's type")
}
