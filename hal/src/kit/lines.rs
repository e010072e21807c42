//! Lines that go through the write-combine buffer, and transfers between them and private memory, line by line.

use crate::{
    Combined, LINE_BYTES, Line, LineAddress, Mpb, MpbByte, MpbCoherence, MpbCopy, MpbLine, MpbWords, Region, Topology,
    counters::COUNTS, kind,
};

use super::{
    HardwareCore,
    event::{Event, LoadedFor, Upkeep},
    hardware::{Hardware, Hooks},
    pieces::{assert_copy, assert_inside, pieces},
    runs::mask_of,
    terms::{Expense, Transfer},
    tracing::NotingOperations,
};

/// Words of a line.
const LINE_WORDS: usize = LINE_BYTES / size_of::<u32>();

/// The line, which may be stored to.
#[inline]
fn writable(at: MpbLine) -> MpbLine {
    if at.line == 0 {
        is_drain_target(at);
    }
    at
}

#[cold]
fn is_drain_target(at: MpbLine) -> ! {
    panic!("{at} is the drain target; nothing may be kept there")
}

impl<H: Hardware> HardwareCore<H> {
    /// Bytes of a line are copied that were loaded.
    #[inline(always)]
    fn copied(&self, at: LineAddress, mask: impl FnOnce() -> u32) {
        self.hardware.hooks().witness(|| Event::Load { at, mask: mask(), what_for: LoadedFor::Copy });
    }

    /// The line of an MPB that is `index` behind `from` is copied, as far as a piece of it has bytes. Which line that is is
    /// worked out for those only who want to know.
    #[inline(always)]
    fn copied_mpb(&self, from: MpbLine, index: usize, len: usize) {
        self.hardware.hooks().witness(|| Event::Load {
            at: LineAddress::Mpb(from.plus(index)),
            mask: mask_of(0, len),
            what_for: LoadedFor::Copy,
        });
    }

    /// Bytes of the line of an MPB that is `index` behind `from` are offered.
    #[inline(always)]
    fn offered(&self, from: MpbLine, index: usize, len: usize) {
        self.hardware.hooks().witness(|| Event::Load {
            at: LineAddress::Mpb(from.plus(index)),
            mask: mask_of(0, len),
            what_for: LoadedFor::Offer,
        });
    }

    #[inline(always)]
    fn load_combined(&self, at: LineAddress) -> Line {
        self.hardware.explore();
        let counting = self.hardware.account().counting();
        match at {
            LineAddress::Mpb(_) => counting.mpb_lines_read.add(1),
            LineAddress::Shared(_) => counting.combined_lines_read.add(1),
        }
        self.hardware.load_line(at)
    }

    #[inline(always)]
    fn load_mpb(&self, at: MpbLine) -> Line {
        self.hardware.explore();
        self.hardware.account().counting().mpb_lines_read.add(1);
        self.hardware.load_mpb_line(at)
    }

    #[inline(always)]
    fn store_mpb(&self, at: MpbLine, offset: usize, bytes: &[u8]) {
        self.hardware.explore();
        self.hardware.account().count_store(LineAddress::Mpb(at), offset, bytes.len());
        self.hardware.store_mpb_line(at, offset, bytes);
    }

    /// Stores a byte that was found. What is pushed out at once need not be kept account of, but to be counted.
    #[inline(always)]
    fn store_found(&self, at: MpbByte, value: u8, is_accounted_for: bool) {
        self.hardware.hooks().spend(Expense::FlagStore);
        self.hardware.explore();
        if is_accounted_for {
            self.hardware.account().count_store(LineAddress::Mpb(at.line()), at.offset(), 1);
        }
        // SAFETY: it was found, and by condition 3 of `Hardware` it is there for all cores that there are.
        unsafe { self.hardware.store_found_byte(at.line(), at.offset(), at.address(), value) };
    }

    #[inline(always)]
    fn store_combined(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        self.hardware.explore();
        self.hardware.account().count_store(at, offset, bytes.len());
        self.hardware.store_line(at, offset, bytes);
    }

    /// Copies a line of private memory, or less.
    #[inline]
    fn take_private(&self, source: &[u8], bytes: &mut [u8]) {
        self.hardware.hooks().spend(Expense::PrivateRead { lines: 1 });
        self.hardware.hooks().spend(Expense::Line(Transfer::Put));
        bytes.copy_from_slice(source);
    }

    /// Copies to a line of private memory, or less.
    #[inline]
    fn keep_private(&self, bytes: &[u8], target: &mut [u8]) {
        self.hardware.hooks().spend(Expense::PrivateWrite { lines: 1 });
        self.hardware.hooks().spend(Expense::Line(Transfer::Get));
        self.hardware.bring_in(target);
        target.copy_from_slice(bytes);
    }

    /// Puts memory, line by line. It is where it is called for one whole line, as most messages are: its length is known there.
    #[inline(always)]
    fn put_lines(&self, source: &[u8], to: MpbLine) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB put", to.core, source.len());
        self.hardware.hooks().goes_to(source);
        self.hardware.hooks().spend(Expense::PutFromMemory);
        let (lines, rest) = source.as_chunks::<LINE_BYTES>();
        if !lines.is_empty() {
            writable(to);
            self.hardware.account().count_line_stores(to, lines.len());
            self.hardware.put_lines(to, lines, || {
                self.hardware.hooks().spend(Expense::PrivateRead { lines: 1 });
                self.hardware.hooks().spend(Expense::Line(Transfer::Put));
                self.hardware.explore();
            });
        }
        if !rest.is_empty() {
            let mut line = [0; LINE_BYTES];
            self.take_private(rest, &mut line[..rest.len()]);
            self.store_mpb(writable(to.plus(lines.len())), 0, &line[..rest.len()]);
        }
    }

    #[inline(never)]
    fn put_many(&self, source: &[u8], to: MpbLine) {
        self.put_lines(source, to);
    }

    /// Gets memory, line by line, as [`put_lines`](Self::put_lines) puts it.
    #[inline(always)]
    fn get_lines(&self, from: MpbLine, target: &mut [u8]) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB get", from.core, target.len());
        self.hardware.hooks().goes_to(target);
        self.hardware.hooks().spend(Expense::GetToMemory);
        let (lines, rest) = target.as_chunks_mut::<LINE_BYTES>();
        let count = lines.len();
        if count > 0 {
            self.hardware.account().counting().mpb_lines_read.add(count as u64);
            self.hardware.explore();
            self.hardware.get_lines(from, lines, |index| {
                self.copied_mpb(from, index, LINE_BYTES);
                self.hardware.hooks().spend(Expense::PrivateWrite { lines: 1 });
                self.hardware.hooks().spend(Expense::Line(Transfer::Get));
                if index + 1 < count {
                    self.hardware.explore();
                }
            });
        }
        if !rest.is_empty() {
            let line = self.load_mpb(from.plus(count));
            self.copied_mpb(from, count, rest.len());
            self.keep_private(&line.0[..rest.len()], rest);
        }
    }

    #[inline(never)]
    fn get_many(&self, from: MpbLine, target: &mut [u8]) {
        self.get_lines(from, target);
    }

    /// Copies lines from MPB to MPB, one after the other.
    #[inline]
    fn copy_lines(&self, from: MpbLine, to: MpbLine, lines: usize) {
        if lines == 0 {
            return;
        }
        writable(to);
        self.hardware.account().count_line_stores(to, lines);
        let before = || {
            self.hardware.explore();
            self.hardware.account().counting().mpb_lines_read.add(1);
        };
        self.hardware.copy_lines(from, to, lines, before, |index| {
            self.copied_mpb(from, index, LINE_BYTES);
            self.hardware.hooks().spend(Expense::Line(Transfer::BetweenMpbs));
            self.hardware.explore();
        });
    }

    /// Pushes out what is in the write-combine buffer.
    #[inline(always)]
    pub(super) fn push_out(&self) {
        let account = self.hardware.account();
        account.counting().drains.add(1);
        account.pushed_out();
        self.hardware.drain();
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
        self.hardware.account().counting().mpb_invalidations.add(1);
        self.asked(Upkeep::Invalidation, || {
            self.hardware.hooks().spend(Expense::InvalidateMpb);
            self.hardware.invalidate_lines();
        });
    }

    fn drain(&self) {
        let _operation = self.operation();
        self.asked(Upkeep::Drain, || self.push_out());
    }
}

impl<H: Hardware> Mpb for HardwareCore<H> {
    fn mpb_lines(&self) -> usize {
        self.hardware.mpb_lines()
    }

    fn load_line(&self, at: MpbLine) -> Line {
        let _operation = self.operation();
        self.hardware.hooks().spend(Expense::LineLoad);
        let line = self.load_mpb(at);
        self.hardware.hooks().witness(|| Event::Load {
            at: LineAddress::Mpb(at),
            mask: u32::MAX,
            what_for: LoadedFor::Look,
        });
        line
    }

    // A flag is one byte, and most of what follows is about others.
    #[inline(always)]
    fn store(&self, at: MpbLine, offset: usize, bytes: &[u8]) {
        let _operation = self.operation();
        assert!(offset <= LINE_BYTES && bytes.len() <= LINE_BYTES - offset, "a store stays within a line");
        self.hardware.hooks().spend(Expense::FlagStore);
        self.store_mpb(writable(at), offset, bytes);
    }

    #[inline(always)]
    fn store_words(&self, at: MpbLine, first: usize, words: impl ExactSizeIterator<Item = u32>) {
        let _operation = self.operation();
        let len = words.len();
        assert!(first <= LINE_WORDS && len <= LINE_WORDS - first, "a store stays within a line");
        self.hardware.hooks().spend(Expense::FlagStore);
        self.hardware.explore();
        self.hardware.account().count_store(LineAddress::Mpb(at), first * 4, len * 4);
        self.hardware.store_mpb_words(writable(at), first, words);
    }

    #[inline(always)]
    fn find_byte(&self, at: MpbLine, offset: usize) -> MpbByte {
        assert!(offset < LINE_BYTES, "a store stays within a line");
        MpbByte::new(at, offset, self.hardware.address_of(writable(at)) + offset)
    }

    #[inline]
    fn find_words<const WORDS: usize>(&self, at: MpbLine, first: usize) -> MpbWords<WORDS> {
        assert!(WORDS <= LINE_WORDS && first <= LINE_WORDS - WORDS, "a line has 8 words");
        MpbWords::new(at, first, self.hardware.address_of(at) + first * size_of::<u32>())
    }

    #[inline(always)]
    fn store_byte(&self, at: MpbByte, value: u8) {
        let _operation = self.operation();
        self.store_found(at, value, true);
    }

    #[inline(always)]
    fn set(&self, at: MpbByte, value: u8) {
        let _operation = self.operation();
        self.store_found(at, value, COUNTS);
        self.push_out();
    }
}

impl<H: Hardware> MpbCopy for HardwareCore<H> {
    #[inline(always)]
    fn put(&self, source: &[u8], to: MpbLine) {
        match <&[u8; LINE_BYTES]>::try_from(source) {
            Ok(line) => self.put_lines(line, to),
            Err(_) => self.put_many(source, to),
        }
    }

    fn put_from_own_mpb(&self, from: usize, to: MpbLine, lines: usize) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB put", to.core, lines * LINE_BYTES);
        self.hardware.hooks().spend(Expense::PutFromMpb);
        self.copy_lines(MpbLine::new(self.core(), from), to, lines);
    }

    #[inline(always)]
    fn get(&self, from: MpbLine, target: &mut [u8]) {
        let len = target.len();
        match target.first_chunk_mut::<LINE_BYTES>() {
            Some(line) if len == LINE_BYTES => self.get_lines(from, line),
            _ => self.get_many(from, target),
        }
    }

    fn get_to_own_mpb(&self, from: MpbLine, to: usize, lines: usize) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB get", from.core, lines * LINE_BYTES);
        self.hardware.hooks().spend(Expense::GetToMpb);
        self.copy_lines(from, MpbLine::new(self.core(), to), lines);
    }

    /// All that is stored to a line is made before: the copy of what the program has may fault, or go through the
    /// write-combine buffer itself.
    #[inline]
    fn put_made(&self, len: usize, to: MpbLine, mut fill: impl FnMut(usize, &mut [u8])) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB put", to.core, len);
        self.hardware.hooks().spend(Expense::PutMade);
        let (lines, rest) = (len / LINE_BYTES, len % LINE_BYTES);
        if lines > 0 {
            writable(to);
            self.hardware.account().count_line_stores(to, lines);
            self.hardware.store_lines(to, lines, |index, line| {
                fill(index, line);
                self.hardware.hooks().spend(Expense::Line(Transfer::PutMade));
                self.hardware.explore();
            });
        }
        if rest > 0 {
            let mut line = [0; LINE_BYTES];
            fill(lines, &mut line[..rest]);
            self.hardware.hooks().spend(Expense::Line(Transfer::PutMade));
            self.store_mpb(writable(to.plus(lines)), 0, &line[..rest]);
        }
    }

    #[inline]
    fn get_used(&self, from: MpbLine, len: usize, mut take: impl FnMut(usize, &[u8])) {
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("MPB get", from.core, len);
        self.hardware.hooks().spend(Expense::GetUsed);
        let (lines, rest) = (len / LINE_BYTES, len % LINE_BYTES);
        if lines > 0 {
            self.hardware.account().counting().mpb_lines_read.add(lines as u64);
            self.hardware.explore();
            self.hardware.load_lines(from, lines, |index, line| {
                self.offered(from, index, LINE_BYTES);
                take(index, line);
                self.hardware.hooks().spend(Expense::Line(Transfer::GetUsed));
                if index + 1 < lines {
                    self.hardware.explore();
                }
            });
        }
        if rest > 0 {
            let line = self.load_mpb(from.plus(lines));
            self.offered(from, lines, rest);
            take(lines, &line.0[..rest]);
            self.hardware.hooks().spend(Expense::Line(Transfer::GetUsed));
        }
    }

    #[inline]
    fn bring_in(&self, target: &mut [u8]) {
        self.hardware.bring_in(target);
    }

    #[inline(always)]
    fn keep(&self, polled: &[u8], target: &mut [u8]) {
        if H::TELLS_EXPENSES {
            let _operation = self.operation();
            self.hardware.hooks().goes_to(target);
            self.hardware.hooks().spend(Expense::GetToMemory);
            self.hardware.hooks().spend(Expense::PrivateWrite { lines: polled.len().div_ceil(LINE_BYTES) as u32 });
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
        self.hardware.hooks().spend(Expense::PutFromMemory);
        for (line, within, piece) in pieces(region, offset, bytes.len()) {
            let mut copy = Line::default();
            let copy = &mut copy.0[..piece.len()];
            let source = &bytes[piece];
            // Each piece is paid for as a line, and there may be more of them than lines that the bytes fill.
            self.hardware.hooks().goes_to(source);
            self.take_private(source, copy);
            self.store_combined(line, within, copy);
        }
    }

    fn read(&self, region: Region<kind::Combined>, offset: usize, bytes: &mut [u8]) {
        let _operation = self.operation();
        assert_inside(region, offset, bytes.len());
        self.assert_reachable(region, offset, bytes.len());
        let _span = self.hardware.hardware_span("memory read", region.start().home(), bytes.len());
        self.hardware.hooks().spend(Expense::GetToMemory);
        for (line, within, piece) in pieces(region, offset, bytes.len()) {
            let data = self.load_combined(line);
            self.copied(line, || mask_of(within, piece.len()));
            let target = &mut bytes[piece];
            // As above.
            self.hardware.hooks().goes_to(target);
            self.keep_private(&data.0[within..within + target.len()], target);
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
        self.hardware.hooks().spend(Expense::PutFromMemory);
        for (line, within, piece) in pieces(from, from_offset, len_bytes) {
            let data = self.load_combined(line);
            self.copied(line, || mask_of(within, piece.len()));
            let bytes = &data.0[within..within + piece.len()];
            // Where the two lie differently, the rest of the line opens the next one in the write-combine buffer,
            // which the next line that is read fills up.
            for (line, within, piece) in pieces(to, to_offset + piece.start, piece.len()) {
                self.store_combined(line, within, &bytes[piece]);
            }
        }
    }
}
