//! Lines that go through the write-combine buffer, and transfers between them and private memory, line by line.

use crate::{Combined, LINE_BYTES, Line, LineAddress, Mpb, MpbCoherence, MpbCopy, MpbLine, Region, Topology, kind};

use super::{
    HardwareCore,
    hardware::{Expense, Hardware},
    pieces::{assert_copy, assert_inside, pieces},
    runs::mask_of,
    tracing::NotingOperations,
};

/// The line as one that may be stored to.
fn writable(at: MpbLine) -> LineAddress {
    assert!(at.line != 0, "{at} is the drain target; nothing may be kept there");
    LineAddress::Mpb(at)
}

impl<H: Hardware> HardwareCore<H> {
    #[inline(always)]
    fn load_combined(&self, at: LineAddress) -> Line {
        self.hardware.explore();
        self.hardware.account().count(|counters| match at {
            LineAddress::Mpb(_) => counters.mpb_lines_read += 1,
            LineAddress::Shared(_) => counters.combined_lines_read += 1,
        });
        self.hardware.load_line(at)
    }

    #[inline(always)]
    fn store_combined(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        self.hardware.explore();
        self.hardware.account().count_store(at, mask_of(offset, bytes.len()));
        self.hardware.store_line(at, offset, bytes);
    }

    /// Copies a line of private memory, or less.
    #[inline]
    fn take_private(&self, source: &[u8], bytes: &mut [u8]) {
        self.hardware.spend(Expense::PrivateRead { lines: 1 });
        bytes.copy_from_slice(source);
    }

    /// Copies to a line of private memory, or less.
    #[inline]
    fn keep_private(&self, bytes: &[u8], target: &mut [u8]) {
        self.hardware.spend(Expense::PrivateWrite { lines: 1 });
        self.hardware.bring_in(target);
        target.copy_from_slice(bytes);
    }

    /// Copies lines from MPB to MPB, each between the two places that it has.
    fn copy_lines(&self, lines: usize, places: impl Fn(usize) -> (MpbLine, MpbLine)) {
        for (from, to) in (0..lines).map(places) {
            let line = self.load_combined(LineAddress::Mpb(from));
            self.store_combined(writable(to), 0, &line.0);
        }
    }

    /// Insists that bytes of a region are within reach of this core.
    fn assert_reachable(&self, region: Region<kind::Combined>, offset: usize, len: usize) {
        if let Some(foreign) = self.hardware.account().assert_mapped(self, region, offset, len) {
            self.hardware.reach(foreign);
        }
    }
}

impl<H: Hardware> MpbCoherence for HardwareCore<H> {
    fn invalidate_mpb(&self) {
        let _operation = self.operation();
        self.hardware.account().count(|counters| counters.mpb_invalidations += 1);
        self.hardware.spend(Expense::InvalidateMpb);
        self.hardware.invalidate_lines();
    }

    fn drain(&self) {
        let _operation = self.operation();
        self.hardware.account().count(|counters| counters.drains += 1);
        self.hardware.account().pushed_out();
        self.hardware.drain();
    }
}

impl<H: Hardware> Mpb for HardwareCore<H> {
    fn mpb_lines(&self) -> usize {
        self.hardware.mpb_lines()
    }

    fn load_line(&self, at: MpbLine) -> Line {
        let _operation = self.operation();
        self.load_combined(LineAddress::Mpb(at))
    }

    fn store(&self, at: MpbLine, offset: usize, bytes: &[u8]) {
        let _operation = self.operation();
        assert!(offset + bytes.len() <= LINE_BYTES, "a store stays within a line");
        self.hardware.spend(Expense::FlagStore);
        self.store_combined(writable(at), offset, bytes);
    }
}

impl<H: Hardware> MpbCopy for HardwareCore<H> {
    fn put(&self, source: &[u8], to: MpbLine) {
        self.put_made(source.len(), to, |index, bytes| {
            self.take_private(&source[index * LINE_BYTES..][..bytes.len()], bytes);
        });
    }

    fn put_from_own_mpb(&self, from: usize, to: MpbLine, lines: usize) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB put", to.core, lines * LINE_BYTES);
        self.hardware.spend(Expense::PutFromMpb);
        self.copy_lines(lines, |index| (MpbLine::new(self.core(), from + index), to.plus(index)));
    }

    fn get(&self, from: MpbLine, target: &mut [u8]) {
        self.get_used(from, target.len(), |index, bytes| {
            self.keep_private(bytes, &mut target[index * LINE_BYTES..][..bytes.len()]);
        });
    }

    fn get_to_own_mpb(&self, from: MpbLine, to: usize, lines: usize) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB get", from.core, lines * LINE_BYTES);
        self.hardware.spend(Expense::GetToMpb);
        self.copy_lines(lines, |index| (from.plus(index), MpbLine::new(self.core(), to + index)));
    }

    /// All that is stored to a line is made before: the copy of what the program has may fault, or go through the
    /// write-combine buffer itself.
    fn put_made(&self, len: usize, to: MpbLine, mut fill: impl FnMut(usize, &mut [u8])) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB put", to.core, len);
        self.hardware.spend(Expense::PutFromMemory);
        for (index, offset) in (0..len).step_by(LINE_BYTES).enumerate() {
            let mut line = Line::default();
            let bytes = &mut line.0[..LINE_BYTES.min(len - offset)];
            fill(index, bytes);
            self.store_combined(writable(to.plus(index)), 0, bytes);
        }
    }

    fn get_used(&self, from: MpbLine, len: usize, mut take: impl FnMut(usize, &[u8])) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB get", from.core, len);
        self.hardware.spend(Expense::GetToMemory);
        for (index, offset) in (0..len).step_by(LINE_BYTES).enumerate() {
            let line = self.load_combined(LineAddress::Mpb(from.plus(index)));
            take(index, &line.0[..LINE_BYTES.min(len - offset)]);
        }
    }

    fn keep(&self, polled: &[u8], target: &mut [u8]) {
        if H::IS_PRICED {
            let _operation = self.operation();
            self.hardware.spend(Expense::GetToMemory);
            self.hardware.spend(Expense::PrivateWrite { lines: polled.len().div_ceil(LINE_BYTES) as u32 });
        }
        self.hardware.bring_in(target);
        target.copy_from_slice(polled);
    }
}

impl<H: Hardware> Combined for HardwareCore<H> {
    fn write(&self, region: Region<kind::Combined>, offset: usize, bytes: &[u8]) {
        let _operation = self.operation();
        assert_inside(region, offset, bytes.len());
        self.assert_reachable(region, offset, bytes.len());
        let _span = self.hardware.hardware_span("memory write", region.start().home(), bytes.len());
        self.hardware.spend(Expense::PutFromMemory);
        for (line, within, piece) in pieces(region, offset, bytes.len()) {
            let mut copy = Line::default();
            let copy = &mut copy.0[..piece.len()];
            self.take_private(&bytes[piece], copy);
            self.store_combined(line, within, copy);
        }
    }

    fn read(&self, region: Region<kind::Combined>, offset: usize, bytes: &mut [u8]) {
        let _operation = self.operation();
        assert_inside(region, offset, bytes.len());
        self.assert_reachable(region, offset, bytes.len());
        let _span = self.hardware.hardware_span("memory read", region.start().home(), bytes.len());
        self.hardware.spend(Expense::GetToMemory);
        for (line, within, piece) in pieces(region, offset, bytes.len()) {
            let data = self.load_combined(line);
            self.keep_private(&data.0[within..within + piece.len()], &mut bytes[piece]);
        }
    }

    fn copy(
        &self,
        from: Region<kind::Combined>,
        from_offset: usize,
        to: Region<kind::Combined>,
        to_offset: usize,
        len_bytes: usize,
    ) {
        let _operation = self.operation();
        assert_copy(from, from_offset, to, to_offset, len_bytes);
        self.assert_reachable(from, from_offset, len_bytes);
        self.assert_reachable(to, to_offset, len_bytes);
        let _span = self.hardware.hardware_span("memory copy", to.start().home(), len_bytes);
        self.hardware.spend(Expense::PutFromMemory);
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
