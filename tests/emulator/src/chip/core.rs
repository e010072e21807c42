//! What a core has for itself between its execution units and its lookup table.

use descriptions::boards::map::SLOT_BYTES;

use super::{
    Settings,
    cache::{Cache, Evicted, LINE_BYTES, Line, Slot, cut, line_of, put},
    counts::Counts,
    mesh::Mesh,
};
use crate::Violation;

/// Sets of L1: 16 KB of 4 ways.
const L1_SETS: usize = 128;

/// Stores to one line that nobody else has seen.
#[derive(Clone, Copy)]
struct Pending {
    address: u32,
    line: Line,
    /// Bytes that were stored to.
    mask: u32,
}

/// Caches, write-combine buffer and counters of a core.
pub(super) struct Core {
    number: usize,
    pub(super) l1: Cache,
    /// Places of L1 that may hold MPBT lines, so that CL1INVMB is as quick as polls need it.
    mpbt_places: [u64; L1_SETS * 4 / 64],
    l2: Cache,
    /// L1 for instructions, of which only the addresses matter; used where time is kept.
    pub(super) instructions: Cache,
    /// The last line that went from the caches to memory.
    pub(super) written_back: Option<u32>,
    /// Whether L2 is used (`WAYDISABLE`).
    pub(super) l2_on: bool,
    combine: Option<Pending>,
    pub(super) counts: Counts,
    /// Cycles since the chip was powered on.
    pub(super) clock: u64,
    /// State of the generator that picks lines to evict.
    random: u64,
}

impl Core {
    pub(super) fn new(number: usize, l2_sets: usize) -> Self {
        Self {
            number,
            l1: Cache::new(L1_SETS),
            mpbt_places: [0; L1_SETS * 4 / 64],
            l2: Cache::new(l2_sets),
            instructions: Cache::new(L1_SETS),
            written_back: None,
            l2_on: true,
            combine: None,
            counts: Counts::default(),
            clock: 0,
            random: number as u64,
        }
    }

    /// What a reset does.
    pub(super) fn reset(&mut self) {
        self.l1.clear();
        self.l2.clear();
        self.instructions.clear();
        self.combine = None;
    }

    /// Whether L2 has a line, without using it.
    #[cfg(feature = "cpu")]
    pub(super) fn has_in_l2(&self, physical: u32) -> bool {
        self.l2_on && self.l2.peek(physical).is_some()
    }

    /// The line in the write-combine buffer, and which of its bytes.
    #[cfg(feature = "cpu")]
    pub(super) fn combined(&self) -> Option<(u32, u32)> {
        self.combine.map(|pending| (pending.address, pending.mask))
    }

    /// The line that a load would find in a cache.
    #[cfg(feature = "cpu")]
    pub(super) fn held_line(&self, physical: u32, mpbt: bool) -> Option<Line> {
        let in_l1 = self.l1.peek(physical).filter(|slot| self.l1.is_mpbt(*slot) == mpbt);
        let in_l2 = || self.l2.peek(physical).filter(|_| self.l2_on && !mpbt).map(|slot| *self.l2.line(slot));
        in_l1.map(|slot| *self.l1.line(slot)).or_else(in_l2)
    }

    /// Changes bytes of a line where a load would find it, as a store would. Returns whether a cache has it.
    #[cfg(feature = "cpu")]
    pub(super) fn change_held(&mut self, physical: u32, mpbt: bool, from: &[u8]) -> bool {
        let in_l1 = self.l1.peek(physical).filter(|slot| self.l1.is_mpbt(*slot) == mpbt);
        let line = match in_l1 {
            Some(slot) if mpbt => self.l1.write_through(slot),
            Some(slot) => self.l1.modify(slot),
            None => match self.l2.peek(physical).filter(|_| self.l2_on && !mpbt) {
                Some(slot) => self.l2.modify(slot),
                None => return false,
            },
        };
        let offsets = physical as usize % LINE_BYTES..;
        offsets.zip(from).for_each(|(offset, byte)| put(line, offset, 1, (*byte).into()));
        true
    }

    /// The lines in the caches: in which, its address, whether it is of the MPB's type and modified, and what it is.
    #[cfg(feature = "cpu")]
    pub(super) fn lines_held(&self) -> impl Iterator<Item = (&'static str, u32, [bool; 2], &Line)> {
        let caches = [("L1", &self.l1), ("L2", &self.l2)];
        caches.into_iter().flat_map(|(name, cache)| {
            cache.held_lines().filter_map(move |address| {
                let slot = cache.peek(address)?;
                Some((name, address, [cache.is_mpbt(slot), cache.is_modified(slot)], cache.line(slot)))
            })
        })
    }

    /// The line in the write-combine buffer, and which of its bytes were stored to.
    #[cfg(feature = "cpu")]
    pub(super) fn combining(&self) -> Option<(u32, Line, u32)> {
        self.combine.map(|pending| (pending.address, pending.line, pending.mask))
    }

    fn violation(&self, physical: u32, reason: &str) -> Violation {
        Violation::new(self.number, physical, reason)
    }

    /// A load from a line that L1 does not have.
    pub(super) fn miss(&mut self, mesh: &mut Mesh, physical: u32, mpbt: bool) -> Result<Slot, Violation> {
        let line = if mpbt {
            self.counts.mpbt_lines_read += 1;
            mesh.read_line(self.number, physical, true, &mut self.counts)?
        } else {
            self.load_l2(mesh, physical)?
        };
        let (slot, evicted) = self.l1.fill(physical, mpbt, line);
        if mpbt {
            let index = Cache::index(slot);
            self.mpbt_places[index / 64] |= 1 << (index % 64);
        }
        self.settle_l1(mesh, evicted)?;
        Ok(slot)
    }

    pub(super) fn load_l2(&mut self, mesh: &mut Mesh, physical: u32) -> Result<Line, Violation> {
        if self.l2_on
            && let Some(slot) = self.l2.find(physical, false)
        {
            self.counts.l2_hits += 1;
            return Ok(*self.l2.line(slot));
        }
        self.counts.memory_lines_read += 1;
        let line = mesh.read_line(self.number, physical, false, &mut self.counts)?;
        if self.l2_on {
            let (_, evicted) = self.l2.fill(physical, false, line);
            self.settle_l2(mesh, evicted)?;
        }
        Ok(line)
    }

    /// Where a modified line goes that left L1: to L2 if that has it, otherwise to memory.
    fn settle_l1(&mut self, mesh: &mut Mesh, evicted: Option<Evicted>) -> Result<(), Violation> {
        let Some(Evicted { address, mpbt: false, line }) = evicted else {
            return self.settle_l2(mesh, evicted);
        };
        if self.l2_on
            && let Some(slot) = self.l2.find(address, false)
        {
            *self.l2.modify(slot) = line;
            return Ok(());
        }
        self.settle_l2(mesh, evicted)
    }

    fn settle_l2(&mut self, mesh: &mut Mesh, evicted: Option<Evicted>) -> Result<(), Violation> {
        let Some(evicted) = evicted else { return Ok(()) };
        self.counts.lines_written_back += 1;
        self.written_back = Some(evicted.address);
        mesh.write_line(self.number, evicted.address, &evicted.line, u32::MAX, &mut self.counts)?;
        Ok(())
    }

    /// A store to a write-back page that L1 does not have.
    pub(super) fn store_missed(
        &mut self,
        mesh: &mut Mesh,
        physical: u32,
        len: usize,
        value: u64,
    ) -> Result<(), Violation> {
        if self.l2_on
            && let Some(slot) = self.l2.find(physical, false)
        {
            put(self.l2.modify(slot), physical as usize % LINE_BYTES, len, value);
            return Ok(());
        }
        self.counts.missed_stores += 1;
        let written = mesh.write(self.number, physical, &value.to_le_bytes()[..len], u32::MAX, &mut self.counts)?;
        if let super::System::Mpb { .. } = written {
            return Err(super::mesh::cached_mpb(self.number, physical));
        }
        Ok(())
    }

    /// A store to an MPBT page, within a line.
    pub(super) fn store_mpbt(
        &mut self,
        mesh: &mut Mesh,
        physical: u32,
        len: usize,
        value: u64,
        write_back: bool,
    ) -> Result<(), Violation> {
        self.counts.mpbt_stores += 1;
        let offset = physical as usize % LINE_BYTES;
        if let Some(slot) = self.l1.find(physical, true) {
            if write_back {
                put(self.l1.modify(slot), offset, len, value);
                return Ok(());
            }
            put(self.l1.write_through(slot), offset, len, value);
        }
        let address = line_of(physical);
        if self.combine.is_none_or(|pending| pending.address != address) {
            // An address that leads nowhere is reported with the store, not with the drain that some later one causes.
            mesh.memory_at(self.number, physical)?;
            self.drain(mesh)?;
        }
        let pending = self.combine.get_or_insert(Pending { address, line: [0; 4], mask: 0 });
        put(&mut pending.line, offset, len, value);
        pending.mask |= (((1u64 << len) - 1) << offset) as u32;
        if pending.mask == u32::MAX { self.drain(mesh) } else { Ok(()) }
    }

    /// Empties the write-combine buffer.
    fn drain(&mut self, mesh: &mut Mesh) -> Result<(), Violation> {
        let Some(Pending { address, line, mask }) = self.combine.take() else { return Ok(()) };
        if mask == u32::MAX {
            self.counts.full_drains += 1;
        } else {
            self.counts.partial_drains += 1;
        }
        let system = mesh.write_line(self.number, address, &line, mask, &mut self.counts)?;
        mesh.notes.stored(&mesh.board, self.number, system, mask, mesh.now);
        Ok(())
    }

    /// CL1INVMB: forgets all MPBT lines of L1. What was modified in a write-back page is lost.
    pub(super) fn forget_mpbt(&mut self) {
        self.counts.mpbt_invalidations += 1;
        for (word, places) in self.mpbt_places.iter_mut().enumerate() {
            let mut rest = std::mem::take(places);
            while rest != 0 {
                let slot = Cache::at_index(word * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
                if self.l1.is_mpbt(slot) && self.l1.forget(slot).is_some() {
                    self.counts.lost_mpbt_lines += 1;
                }
            }
        }
    }

    /// `wbinvd`: writes back and forgets L1, and nothing else.
    pub(super) fn flush_l1(&mut self, mesh: &mut Mesh) -> Result<(), Violation> {
        self.counts.l1_flushes += 1;
        for slot in self.l1.slots() {
            let evicted = self.l1.forget(slot);
            self.settle_l1(mesh, evicted)?;
        }
        self.mpbt_places = Default::default();
        Ok(())
    }

    /// What may happen to a line at any moment: it leaves L2, or L1.
    pub(super) fn evict_something(&mut self, mesh: &mut Mesh, seed: u64) -> Result<(), Violation> {
        self.random =
            (self.random ^ seed).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let picked = (self.random >> 33) as usize;
        if let Some(slot) = self.l2.modified_from(picked) {
            let evicted = self.l2.forget(slot);
            self.settle_l2(mesh, evicted)
        } else if let Some(slot) = self.l1.modified_from(picked) {
            let evicted = self.l1.forget(slot);
            self.settle_l1(mesh, evicted)
        } else {
            Ok(())
        }
    }

    /// Refuses an access to a line that a cache holds in another way, where the chip would return or lose the wrong
    /// one.
    pub(super) fn check_kinds(&self, settings: &Settings, physical: u32, mpbt: Option<bool>) -> Result<(), Violation> {
        if !settings.strict_kinds {
            return Ok(());
        }
        if let Some(slot) = self.l1.peek(physical)
            && Some(self.l1.is_mpbt(slot)) != mpbt
        {
            let held = if self.l1.is_mpbt(slot) { "an MPBT line" } else { "a write-back line" };
            return Err(self.violation(physical, &format!("it is accessed otherwise while L1 holds it as {held}")));
        }
        if mpbt != Some(false) && self.l2.peek(physical).is_some_and(|slot| self.l2.is_modified(slot)) {
            return Err(self.violation(physical, "it is accessed around L2, which holds it modified"));
        }
        if mpbt.is_none() && self.combine.is_some_and(|pending| pending.address == line_of(physical)) {
            return Err(self.violation(physical, "it is accessed uncached while the write-combine buffer holds it"));
        }
        Ok(())
    }

    /// The address of a modified line of L2.
    pub(super) fn modified_in_l2(&self) -> Option<u32> {
        self.l2.modified_lines().next()
    }

    /// The address of a line of a slot that is in a cache or in the write-combine buffer, and in which: it would be
    /// written elsewhere, or stand for something else, if the slot led elsewhere now.
    pub(super) fn held(&self, slot: usize) -> Option<(u32, &'static str)> {
        let within = |address: &u32| (address / SLOT_BYTES) as usize == slot;
        let pending = self.combine.map(|pending| pending.address).filter(within);
        let in_l1 = || self.l1.held_lines().find(within).map(|address| (address, "L1"));
        let in_l2 = || self.l2.held_lines().find(within).map(|address| (address, "L2"));
        pending.map(|address| (address, "the write-combine buffer")).or_else(in_l1).or_else(in_l2)
    }

    /// Puts over bytes of memory what the caches hold of them. `physical` is that of a whole line.
    pub(super) fn overlay(&self, physical: u32, bytes: &mut [u8]) {
        let in_l1 = self.l1.peek(physical).map(|slot| self.l1.line(slot));
        let in_l2 = || self.l2.peek(physical).filter(|_| self.l2_on).map(|slot| self.l2.line(slot));
        if let Some(line) = in_l1.or_else(in_l2) {
            bytes.iter_mut().enumerate().for_each(|(offset, byte)| *byte = cut(line, offset, 1) as u8);
        }
    }
}
