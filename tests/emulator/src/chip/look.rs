//! What a debugger sees of the chip, and changes: nothing is fetched, evicted or counted for it.

use descriptions::boards::map::{SLOT_BYTES, SLOTS};

use super::{
    Chip, Counts, PageKind, System,
    cache::{LINE_BYTES, Line, line_of},
};

/// A line in one of a core's caches.
pub(crate) struct Held {
    /// Where: `L1`, or `L2`.
    pub(crate) cache: &'static str,
    /// Its address, as the core numbers its memory.
    pub(crate) physical: u32,
    /// Whether it is of the MPB's type.
    pub(crate) is_mpbt: bool,
    /// Whether it was modified.
    pub(crate) is_modified: bool,
    /// Its bytes.
    pub(crate) bytes: [u8; LINE_BYTES],
}

/// A line as bytes.
fn bytes(line: &Line) -> [u8; LINE_BYTES] {
    std::array::from_fn(|place| line[place / 8].to_le_bytes()[place % 8])
}

impl Chip {
    /// What memory has at bytes of a line, whatever caches hold. Nothing if there is no memory.
    pub(crate) fn peek_memory(&self, core: usize, physical: u32, to: &mut [u8]) -> Option<()> {
        self.mesh.read(core, physical, to, &mut Counts::default()).ok().map(|_| ())
    }

    /// What a load by a core would return of bytes of a line. Nothing if there is no memory.
    pub(crate) fn peek(&self, core: usize, physical: u32, kind: PageKind, to: &mut [u8]) -> Option<()> {
        let line = if kind == PageKind::Uncached { None } else { self.cores[core].held_line(physical, kind.is_mpbt()) };
        match line {
            Some(line) => {
                let offset = physical as usize % LINE_BYTES;
                to.copy_from_slice(&bytes(&line)[offset..offset + to.len()]);
                Some(())
            }
            None => self.peek_memory(core, physical, to),
        }
    }

    /// Changes bytes of a line where a core would find them: in its caches, else in memory; in both if the line is of the MPB's
    /// type. Nothing if there is no memory.
    pub(crate) fn poke(&mut self, core: usize, physical: u32, kind: PageKind, from: &[u8]) -> Option<()> {
        if kind != PageKind::Uncached && self.cores[core].change_held(physical, kind.is_mpbt(), from) && !kind.is_mpbt()
        {
            return Some(());
        }
        let watched = std::mem::take(&mut self.mesh.watched);
        let written = self.mesh.write(core, physical, from, u32::MAX, &mut Counts::default());
        self.mesh.watched = watched;
        written.ok().map(|_| ())
    }

    /// The lines that a core's caches hold, those of L1 first.
    pub(crate) fn held(&self, core: usize) -> impl Iterator<Item = Held> {
        self.cores[core].lines_held().map(|(cache, physical, [is_mpbt, is_modified], line)| Held {
            cache,
            physical,
            is_mpbt,
            is_modified,
            bytes: bytes(line),
        })
    }

    /// The line in a core's write-combine buffer: its address, its bytes, and which of them were stored to.
    pub(crate) fn combining(&self, core: usize) -> Option<(u32, [u8; LINE_BYTES], u32)> {
        self.cores[core].combining().map(|(physical, line, mask)| (physical, bytes(&line), mask))
    }

    /// A core's lookup table: the entry of each slot, and where it leads, or why nowhere.
    pub(crate) fn table(&self, core: usize) -> impl Iterator<Item = (u32, Result<System, String>)> {
        (0..SLOTS).map(move |slot| {
            let leads = self.mesh.translate(core, slot * SLOT_BYTES);
            (self.mesh.entry(core, slot as usize), leads.map_err(|violation| violation.reason().to_owned()))
        })
    }

    /// Where memory has a line of the MPB of a core, and its bytes there.
    pub(crate) fn mpb_line(&self, core: usize, line: u32) -> Option<(System, [u8; LINE_BYTES])> {
        let geometry = &self.board().geometry;
        if core >= self.board().cores() || line >= geometry.mpb_bytes / LINE_BYTES as u32 {
            return None;
        }
        let (tile, which) = self.board().tile_of(core);
        let offset = which as u32 * geometry.mpb_bytes + line * LINE_BYTES as u32;
        let bytes = self.mesh.mpbs[tile][offset as usize..][..LINE_BYTES].try_into().ok()?;
        Some((System::Mpb { tile, offset }, bytes))
    }

    /// The begin of the line that an address is in.
    pub(crate) const fn line_of(physical: u32) -> u32 {
        line_of(physical)
    }
}
