//! What an access will have to get from outside of its core, told before it is made: a board that keeps time makes it
//! when that has come.

use prices::{Effect, Place};

use super::{
    Chip, Counts, PageKind, Settings, System,
    cache::{LINE_BYTES, line_of},
};

/// What an access needs beside the core's L1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// Nothing: the core has it, or it will be refused.
    Nothing,
    /// L2 has it.
    L2,
    /// It goes out.
    Access(Place, Effect),
}

impl Chip {
    /// What a load within a line needs that L1 does not have.
    pub(crate) fn load_needs(&self, core: usize, physical: u32, kind: PageKind) -> Need {
        match kind {
            PageKind::Uncached => self.access(core, physical, false, Effect::Read),
            _ if self.settings.coherent => self.access(core, physical, false, Effect::Read),
            PageKind::WriteBack if self.cores[core].has_in_l2(physical) => Need::L2,
            _ => self.access(core, physical, true, Effect::Read),
        }
    }

    /// What a store within a line needs.
    pub(crate) fn store_needs(&self, core: usize, physical: u32, kind: PageKind, len: usize) -> Need {
        let state = &self.cores[core];
        let in_l1 = |mpbt| state.l1.peek(physical).is_some_and(|slot| state.l1.is_mpbt(slot) == mpbt);
        let written = |physical, line| self.access(core, physical, line, Effect::Write);
        match kind {
            PageKind::Uncached => written(physical, false),
            _ if self.settings.coherent => written(physical, false),
            PageKind::WriteBack if in_l1(false) => Need::Nothing,
            PageKind::WriteBack if state.has_in_l2(physical) => Need::L2,
            PageKind::WriteBack => written(physical, false),
            PageKind::MpbtWriteBack if in_l1(true) => Need::Nothing,
            PageKind::Mpbt | PageKind::MpbtWriteBack => {
                let stored = (((1_u64 << len) - 1) << (physical as usize % LINE_BYTES)) as u32;
                match state.combined() {
                    Some((line, mask)) if line == line_of(physical) => {
                        let drains = mask | stored == u32::MAX;
                        if drains { written(line, true) } else { Need::Nothing }
                    }
                    Some((line, _)) => written(line, true),
                    None => Need::Nothing,
                }
            }
        }
    }

    /// What a load of `len` bytes that goes out finds now, and all of its line if it is cached. Nothing if it is none of memory.
    pub(crate) fn polled(&self, core: usize, physical: u32, kind: PageKind, len: usize) -> Option<[u8; LINE_BYTES]> {
        let mut found = [0; LINE_BYTES];
        let is_word = kind == PageKind::Uncached;
        let (from, len) = if is_word { (physical, len) } else { (line_of(physical), LINE_BYTES) };
        self.peek_memory(core, from, &mut found[..len])?;
        Some(found)
    }

    /// Whether cores may leave out polls: nobody notes what is read, and chance has no part in it.
    pub(crate) fn skips_polls(&self) -> bool {
        let Settings { executes_polls, coherent, evictions, .. } = self.settings;
        !executes_polls && !coherent && evictions.is_none() && !self.mesh.notes.are_kept()
    }

    /// A core has made so many polls, by each of which its counts grow.
    pub(crate) fn count_polls(&mut self, core: usize, by: Counts, times: u64) {
        self.cores[core].counts.grow(by, times);
        self.polls_left_out += times;
    }

    /// The next loads that go out, all of one core, find what was found before.
    pub(crate) fn replay(&mut self, found: Vec<[u8; LINE_BYTES]>) {
        assert!(self.mesh.replayed.is_empty(), "a core has not read again what was read for it");
        self.mesh.replayed = found.into();
    }

    /// A core that keeps time is about to execute so many instructions.
    pub(crate) fn executes(&mut self, core: usize, instructions: u64) {
        self.cores[core].counts.instructions += instructions;
    }

    /// What the fetch of a line of instructions needs. It is in the core's L1 for instructions from now on.
    pub(crate) fn fetch_needs(&mut self, core: usize, line: u32) -> Need {
        let state = &mut self.cores[core];
        if state.instructions.find(line, false).is_some() {
            return Need::Nothing;
        }
        state.instructions.fill(line, false, [0; 4]);
        state.counts.instruction_misses += 1;
        if state.has_in_l2(line) { Need::L2 } else { self.access(core, line, true, Effect::Read) }
    }

    /// A line of instructions that a core has fetched passes L2.
    ///
    /// # Errors
    /// A violation if what leaves L2 for it leads nowhere.
    pub(crate) fn fetched(&mut self, core: usize, line: u32) -> Result<(), crate::Violation> {
        self.cores[core].load_l2(&mut self.mesh, line).map(|_| ())
    }

    /// The place of the line that the core's caches have last written back, once.
    pub(crate) fn take_written_back(&mut self, core: usize) -> Need {
        let Some(physical) = self.cores[core].written_back.take() else { return Need::Nothing };
        self.access(core, physical, true, Effect::Write)
    }

    /// An access that goes out.
    fn access(&self, core: usize, physical: u32, is_line: bool, effect: Effect) -> Need {
        let geometry = &self.mesh.board.geometry;
        let place = match self.mesh.translate(core, physical) {
            Ok(System::Memory { controller, .. }) if is_line => Place::Line(controller as u16),
            Ok(System::Memory { controller, .. }) => Place::Word(controller as u16),
            Ok(System::Mpb { tile, offset }) => {
                Place::Mpb((tile as u32 * geometry.cores_per_tile + offset / geometry.mpb_bytes) as u16)
            }
            Ok(System::Registers { tile, .. }) => Place::Register((tile as u32 * geometry.cores_per_tile) as u16),
            Ok(System::Board { .. }) => Place::Board,
            // The access itself says what is wrong.
            Err(_) => return Need::Nothing,
        };
        Need::Access(place, effect)
    }
}
