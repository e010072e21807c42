//! Transfers between private memory and lines that go through the write-combine buffer, line by line.

use crate::{LINE_BYTES, Line, LineAddress, MpbLine, Region, backend::pieces::pieces, kind};

/// What transfers need of a core, and the transfers.
pub(crate) trait Transfers {
    /// Loads a line.
    fn load_combined(&self, at: LineAddress) -> Line;

    /// Stores bytes to a line, from `offset` on.
    fn store_combined(&self, at: LineAddress, offset: usize, bytes: &[u8]);

    /// Copies a line of private memory, or less.
    fn take_private(&self, source: &[u8], bytes: &mut [u8]);

    /// Copies to a line of private memory, or less.
    fn keep_private(&self, bytes: &[u8], target: &mut [u8]);

    /// Stores `len` bytes that `fill` makes to lines of an MPB.
    ///
    /// All that is stored to a line is made before: the copy of what the program has may fault, or go through the
    /// write-combine buffer itself.
    #[inline]
    fn put_lines(&self, len: usize, to: MpbLine, mut fill: impl FnMut(usize, &mut [u8])) {
        for (index, offset) in (0..len).step_by(LINE_BYTES).enumerate() {
            let mut line = Line::default();
            let bytes = &mut line.0[..LINE_BYTES.min(len - offset)];
            fill(index, bytes);
            self.store_combined(writable_mpb_line(to.plus(index)), 0, bytes);
        }
    }

    /// Loads `len` bytes of lines of an MPB, and has `take` use them.
    #[inline]
    fn get_lines(&self, from: MpbLine, len: usize, mut take: impl FnMut(usize, &[u8])) {
        for (index, offset) in (0..len).step_by(LINE_BYTES).enumerate() {
            let line = self.load_combined(LineAddress::Mpb(from.plus(index)));
            take(index, &line.0[..LINE_BYTES.min(len - offset)]);
        }
    }

    /// Copies lines from MPB to MPB, each between the two places that it has.
    #[inline]
    fn copy_lines(&self, lines: usize, places: impl Fn(usize) -> (MpbLine, MpbLine)) {
        for (from, to) in (0..lines).map(places) {
            let line = self.load_combined(LineAddress::Mpb(from));
            self.store_combined(writable_mpb_line(to), 0, &line.0);
        }
    }

    /// Stores bytes of private memory to a region.
    #[inline]
    fn write_bytes(&self, region: Region<kind::Combined>, offset: usize, bytes: &[u8]) {
        for (line, within, piece) in pieces(region, offset, bytes.len()) {
            let mut copy = Line::default();
            let copy = &mut copy.0[..piece.len()];
            self.take_private(&bytes[piece], copy);
            self.store_combined(line, within, copy);
        }
    }

    /// Loads bytes of a region to private memory.
    #[inline]
    fn read_bytes(&self, region: Region<kind::Combined>, offset: usize, bytes: &mut [u8]) {
        for (line, within, piece) in pieces(region, offset, bytes.len()) {
            let data = self.load_combined(line);
            self.keep_private(&data.0[within..within + piece.len()], &mut bytes[piece]);
        }
    }

    /// Copies bytes of a region to another.
    #[inline]
    fn copy_bytes(
        &self,
        from: Region<kind::Combined>,
        from_offset: usize,
        to: Region<kind::Combined>,
        to_offset: usize,
        len_bytes: usize,
    ) {
        for (line, within, piece) in pieces(from, from_offset, len_bytes) {
            let data = self.load_combined(line);
            let bytes = &data.0[within..within + piece.len()];
            // Where the two lie differently, the rest of the line opens the next one in the write-combine buffer,
            // which the next line that is read fills up.
            for (line, within, piece) in pieces(to, to_offset + piece.start, piece.len()) {
                self.store_combined(line, within, &bytes[piece]);
            }
        }
    }
}

/// The line as one that may be stored to.
pub(crate) fn writable_mpb_line(at: MpbLine) -> LineAddress {
    assert!(at.line != 0, "{at} is the drain target; nothing may be kept there");
    LineAddress::Mpb(at)
}
