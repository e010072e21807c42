//! The ways of loads, stores and instructions through the caches.

use super::{
    Chip, PageKind, System,
    cache::{LINE_BYTES, cut, line_of, put},
    notes::mask,
};
use crate::Violation;

/// Loads and stores that L1 does not have, for one eviction, if there are some.
const MISSES_PER_EVICTION: u64 = 97;

/// Cycles of a core that an access to the board's FPGA takes, at least: who waits for time to pass sees it pass.
const FPGA_CYCLES: u64 = 600;

impl Chip {
    /// A load that L1 answers, if it does.
    #[inline]
    pub(crate) fn load_hit(&mut self, core: usize, physical: u32, kind: PageKind, len: usize) -> Option<u64> {
        let offset = physical as usize % LINE_BYTES;
        if kind == PageKind::Uncached || offset + len > LINE_BYTES {
            return None;
        }
        let state = &mut self.cores[core];
        let slot = state.l1.find(physical, kind.is_mpbt())?;
        state.counts.l1_hits += 1;
        Some(cut(state.l1.line(slot), offset, len))
    }

    /// A load of `len` bytes, 1 to 8, by a core.
    ///
    /// # Errors
    /// A violation if no program should do that.
    #[inline]
    pub fn load(&mut self, core: usize, physical: u32, kind: PageKind, len: usize) -> Result<u64, Violation> {
        debug_assert!((1..=8).contains(&len), "a load of {len} bytes");
        match self.load_hit(core, physical, kind, len) {
            Some(value) => Ok(value),
            None => self.load_missed(core, physical, kind, len),
        }
    }

    #[inline(never)]
    fn load_missed(&mut self, core: usize, physical: u32, kind: PageKind, len: usize) -> Result<u64, Violation> {
        let offset = physical as usize % LINE_BYTES;
        if offset + len > LINE_BYTES {
            let first = LINE_BYTES - offset;
            let low = self.load(core, physical, kind, first)?;
            let high = self.load(core, physical.wrapping_add(first as u32), kind, len - first)?;
            return Ok(low | high << (8 * first));
        }
        if kind == PageKind::Uncached || self.settings.coherent {
            return self.load_uncached(core, physical, len);
        }
        self.evict_now_and_then(core)?;
        let state = &mut self.cores[core];
        state.check_kinds(&self.settings, physical, Some(kind.is_mpbt()))?;
        let slot = state.miss(&mut self.mesh, physical, kind.is_mpbt())?;
        Ok(cut(state.l1.line(slot), offset, len))
    }

    fn load_uncached(&mut self, core: usize, physical: u32, len: usize) -> Result<u64, Violation> {
        let state = &mut self.cores[core];
        state.counts.uncached_loads += 1;
        state.check_kinds(&self.settings, physical, None)?;
        match self.mesh.translate(core, physical)? {
            System::Memory { .. } | System::Mpb { .. } => {
                let mut bytes = [0; 8];
                let system = self.mesh.read(core, physical, &mut bytes[..len], &mut state.counts)?;
                self.mesh.replay(&mut bytes[..len]);
                self.mesh.notes.loaded(&self.mesh.board, core, system, &bytes[..len]);
                Ok(u64::from_le_bytes(bytes))
            }
            System::Registers { tile, offset } => Ok(self.load_register(core, physical, (tile, offset), len)?.into()),
            System::Board { offset } => {
                self.board_access(core, physical, len)?;
                // A counter that is read counts.
                self.mesh.changes += u64::from(self.fpga.counts(&self.mesh.board.geometry, offset));
                let loaded = self.fpga.load(&self.mesh.board.geometry, offset, self.time + self.skipped);
                Ok(loaded.map_err(|reason| Violation::new(core, physical, reason))?.into())
            }
        }
    }

    /// A store of `len` bytes, 1 to 8, by a core.
    ///
    /// # Errors
    /// A violation if no program should do that.
    #[inline]
    pub fn store(
        &mut self,
        core: usize,
        physical: u32,
        kind: PageKind,
        len: usize,
        value: u64,
    ) -> Result<(), Violation> {
        debug_assert!((1..=8).contains(&len), "a store of {len} bytes");
        let offset = physical as usize % LINE_BYTES;
        if kind == PageKind::WriteBack && offset + len <= LINE_BYTES {
            let state = &mut self.cores[core];
            state.counts.cached_stores += 1;
            if let Some(slot) = state.l1.find(physical, false) {
                put(state.l1.modify(slot), offset, len, value);
                return Ok(());
            }
        }
        self.store_missed(core, physical, kind, len, value)
    }

    #[inline(never)]
    fn store_missed(
        &mut self,
        core: usize,
        physical: u32,
        kind: PageKind,
        len: usize,
        value: u64,
    ) -> Result<(), Violation> {
        let offset = physical as usize % LINE_BYTES;
        if offset + len > LINE_BYTES {
            let first = LINE_BYTES - offset;
            self.store(core, physical, kind, first, value)?;
            let rest = physical.wrapping_add(first as u32);
            return self.store(core, rest, kind, len - first, value >> (8 * first));
        }
        if kind == PageKind::Uncached || self.settings.coherent {
            return self.store_uncached(core, physical, len, value);
        }
        self.evict_now_and_then(core)?;
        let state = &mut self.cores[core];
        state.check_kinds(&self.settings, physical, Some(kind.is_mpbt()))?;
        if kind.is_mpbt() {
            state.store_mpbt(&mut self.mesh, physical, len, value, kind == PageKind::MpbtWriteBack)
        } else {
            state.store_missed(&mut self.mesh, physical, len, value)
        }
    }

    fn store_uncached(&mut self, core: usize, physical: u32, len: usize, value: u64) -> Result<(), Violation> {
        let state = &mut self.cores[core];
        state.counts.uncached_stores += 1;
        state.check_kinds(&self.settings, physical, None)?;
        match self.mesh.translate(core, physical)? {
            System::Memory { .. } | System::Mpb { .. } => {
                let bytes = &value.to_le_bytes()[..len];
                let system = self.mesh.write(core, physical, bytes, u32::MAX, &mut state.counts)?;
                let mask = mask(physical.into(), len);
                self.mesh.notes.stored(&self.mesh.board, core, system, mask, self.mesh.now);
                Ok(())
            }
            System::Registers { tile, offset } => {
                self.store_register(core, physical, (tile, offset), len, value as u32)
            }
            System::Board { offset } => {
                self.board_access(core, physical, len)?;
                self.mesh.changes += 1;
                let stored = self.fpga.store(&self.mesh.board.geometry, offset, value as u32);
                stored.map_err(|reason| Violation::new(core, physical, reason))
            }
        }
    }

    fn board_access(&mut self, core: usize, physical: u32, len: usize) -> Result<(), Violation> {
        if !self.keeps_time {
            self.tick(core, FPGA_CYCLES);
        }
        if len == 4 {
            Ok(())
        } else {
            Err(Violation::new(core, physical, format!("{len} bytes of a register are accessed instead of 4")))
        }
    }

    fn evict_now_and_then(&mut self, core: usize) -> Result<(), Violation> {
        let Some(seed) = self.settings.evictions else { return Ok(()) };
        self.misses += 1;
        if self.misses.is_multiple_of(MISSES_PER_EVICTION) {
            self.cores[core].evict_something(&mut self.mesh, seed ^ self.misses)
        } else {
            Ok(())
        }
    }

    /// The page of instructions that a core fetches from: what is in memory, and over it what is modified in its
    /// caches.
    ///
    /// # Errors
    /// A violation if the page is not in memory.
    pub fn fetch_page(&self, core: usize, physical: u32) -> Result<[u8; 4096], Violation> {
        let page = physical & !0xFFF;
        let System::Memory { controller, address } = self.mesh.translate(core, page)? else {
            return Err(Violation::new(core, physical, "instructions are fetched from something that is no memory"));
        };
        let mut bytes = [0; 4096];
        self.mesh.controllers[controller].read(address, &mut bytes);
        for (line, address) in bytes.chunks_exact_mut(LINE_BYTES).zip((page..).step_by(LINE_BYTES)) {
            self.cores[core].overlay(line_of(address), line);
        }
        Ok(bytes)
    }
}
