//! One emulated core: every trait of the HAL, on top of a [`Platform`].

mod atomic;
mod cached;
mod interrupts;
mod tracing;
mod waits;

use core::cell::{Cell, RefCell};

use bitflags::bitflags;

use crate::{
    Clock, Combined, CoreId, Counted, Counters, Home, LINE_BYTES, Layout, Line, LineAddress, MPB_LINES, Mpb,
    MpbCoherence, MpbCopy, MpbLine, Region, SharedAddress, Software, Topology, Uncached,
    backend::{
        deferral::{Deferral, Deferring},
        exposures::Exposures,
        mappings::{Mappings, Slot},
        pieces::assert_copy,
        runs::{StoreRuns, mask_of},
        transfers::{Transfers, writable_mpb_line},
        views::Views,
    },
    cached::ViewAccess,
    counters::Counting,
    kind,
};

use super::{
    Choice, Copies, Expense, LineCache, Platform,
    page_window::address_at,
    trace::{Spot, Tracer},
};

bitflags! {
    /// Coherence operations that a core pretends to do and does not: what a test of a protocol takes away to see it
    /// fail.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Omit: u8 {
        /// `CL1INVMB`: `invalidate_mpb`, and what a poll does before it reads.
        const INVALIDATE_MPB = 1;
        /// `drain`.
        const DRAIN = 1 << 1;
        /// Write back and invalidate of cached memory.
        const FLUSH = 1 << 2;
    }
}

/// An emulated core of a machine without cache coherence.
pub struct EmulatedCore<P: Platform> {
    platform: P,
    /// Copies of what the core itself exposes.
    own: P::Copies,
    /// Copies of controllers' memory, which it has in common with its coherence domain. Alone in it, they are `own`.
    domain: P::Copies,
    lines: RefCell<LineCache>,
    views: Views,
    exposures: RefCell<Exposures>,
    mappings: RefCell<Mappings>,
    counting: Counting,
    runs: StoreRuns,
    omitted: Cell<Omit>,
    caches_taken: Cell<bool>,
    tracer: Tracer,
    deferral: Deferral<Self>,
}

impl<P: Platform> EmulatedCore<P> {
    /// A core with these copies of what it exposes, and with these of controllers' memory, which are the same where it
    /// is a coherence domain of its own.
    pub(crate) fn new(platform: P, own: P::Copies, domain: P::Copies) -> Self {
        Self {
            platform,
            own,
            domain,
            lines: RefCell::new(LineCache::new()),
            views: Views::default(),
            exposures: RefCell::default(),
            mappings: RefCell::default(),
            counting: Counting::default(),
            runs: StoreRuns::default(),
            omitted: Cell::new(Omit::empty()),
            caches_taken: Cell::new(false),
            tracer: Tracer::default(),
            deferral: Deferral::default(),
        }
    }

    /// The platform below.
    #[cfg(feature = "sim")]
    pub(crate) fn platform(&self) -> &P {
        &self.platform
    }

    /// Whether no operation is under way: what runs is the program's.
    #[cfg(feature = "sim")]
    pub(crate) fn is_in_program(&self) -> bool {
        self.deferral.is_between_operations()
    }

    /// From now on leaves these operations out, to show what they are for.
    pub fn omit(&self, operations: Omit) {
        let _operation = self.operation();
        self.omitted.set(operations);
    }

    /// Evicts one cached line now if it is dirty, as hardware may at any moment.
    pub fn provoke_eviction(&self) {
        let _operation = self.operation();
        self.meet_domain(Home::Controller(0), true);
        let evicted = match self.domain.evict_a_line(&self.platform) {
            0 if self.domain.is_shared() => self.own.evict_a_line(&self.platform),
            evicted => evicted,
        };
        self.counting.count(|counters| counters.lines_evicted += evicted);
    }

    /// Makes a page of cached memory present because the program touched the byte at `position` of the window; for
    /// page fault handlers.
    #[cfg_attr(not(target_os = "none"), allow(dead_code, reason = "pages fault where there is no host"))]
    pub(crate) fn page_fault(&self, position: usize) {
        let start = address_at(position / LINE_BYTES * LINE_BYTES, self.core());
        self.fetch(Region::new(start, LINE_BYTES), ViewAccess::Load);
    }

    /// The copies of memory with this home.
    fn copies(&self, home: Home) -> &Copies<P::Window> {
        match home {
            Home::Controller(_) => &self.domain,
            Home::Core(_) => &self.own,
        }
    }

    /// Prepares for a use of the copies of memory with this home, which other cores may see.
    fn meet_domain(&self, home: Home, changes: bool) {
        if self.copies(home).is_shared() {
            self.platform.meet_domain(changes);
        }
    }

    /// Whether the home of a line is the own coherence domain, in which loads are always current.
    fn is_near(&self, at: LineAddress) -> bool {
        let home = match at {
            LineAddress::Mpb(line) => Home::Core(line.core),
            LineAddress::Shared(address) => address.home(),
        };
        self.domain.is_shared() && self.platform.home_domain(home) == Some(self.layout().domain(self.core()))
    }

    fn omits(&self, operation: Omit) -> bool {
        self.omitted.get().contains(operation)
    }

    /// Returns whether something had to be fetched.
    fn fetch(&self, region: Region<kind::Cached>, access: ViewAccess) -> bool {
        let exposures = self.exposures.borrow();
        let copies = self.copies(region.start().home());
        let touched = copies.touch(&self.platform, &exposures, region, access);
        self.counting.count(|counters| {
            counters.lines_fetched += touched.lines_fetched;
            counters.lines_evicted += touched.lines_evicted;
        });
        touched.lines_fetched > 0
    }

    /// Insists that the register of `core` is within reach of this core.
    fn assert_register_reachable(&self, core: CoreId) {
        assert!(
            self.layout().reaches_register(self.core(), core),
            "the test-and-set register of {core} is out of reach of {}: nothing is atomic between coherence domains",
            self.core()
        );
    }

    /// Reads a register once.
    fn read_register(&self, core: CoreId) -> bool {
        self.assert_register_reachable(core);
        self.explore();
        let acquired = self.platform.test_and_set(core);
        self.counting
            .count(|counters| if acquired { counters.tsr_acquired += 1 } else { counters.failed_acquires += 1 });
        acquired
    }

    /// The line in the write-combine buffer, which nobody else has seen; for reports.
    pub fn undrained(&self) -> Option<LineAddress> {
        self.lines.borrow().pending().map(|pending| pending.at)
    }

    /// What the hardware may do by itself between two operations of a program. It asks only where both answers make a
    /// difference, so that exhaustive exploration has few choices.
    fn explore(&self) {
        if self.undrained().is_some() && self.platform.choose(Choice::DrainEarly, 2) == 1 {
            self.push_out_pending();
        }
        let may_be_dirty = self.domain.may_be_dirty() || self.domain.is_shared() && self.own.may_be_dirty();
        if may_be_dirty && self.platform.choose(Choice::Evict, 2) == 1 {
            self.provoke_eviction();
        }
    }

    fn load_uncounted(&self, at: LineAddress) -> Line {
        if self.platform.coherent() || self.is_near(at) {
            return self.platform.read_line(at);
        }
        if let Some(line) = self.lines.borrow().lookup(at) {
            return line;
        }
        let line = self.platform.read_line(at);
        self.lines.borrow_mut().fill(at, line);
        line
    }

    fn push_out_pending(&self) {
        let Some(pending) = self.lines.borrow_mut().take_pending() else { return };
        if !self.platform.coherent() {
            let write = || self.platform.write_line(pending.at, &pending.data, pending.mask);
            self.trace_store(Spot::Line(pending.at), pending.mask, write);
        }
    }

    /// Accounts for a flush of a region.
    fn count_flush(&self, region: Region<kind::Cached>) {
        self.counting.count(|counters| counters.flushes += 1);
        self.platform.spend(Expense::Flush { lines: region.len_lines() as u32 });
    }

    /// Writes a region back and forgets it, as far as this core may have copies of it. Nothing happens while the machine
    /// comes to its end: nothing would be written, and what is read then is not what memory has.
    fn flush(&self, region: Region<kind::Cached>) {
        if self.platform.is_dying() {
            return;
        }
        let home = region.start().home();
        self.meet_domain(home, true);
        let flushed = self.copies(home).write_back_invalidate(&self.platform, region);
        if self.copies(home).is_shared() {
            self.platform.await_write_backs();
        }
        self.counting.count(|counters| {
            counters.lines_written_back += flushed.lines_written;
            counters.lines_evicted += flushed.neighbours_written;
        });
    }

    /// Insists that bytes of a region are within reach of this core.
    fn assert_reachable<K: kind::Kind>(&self, region: Region<K>, offset: usize, len: usize) {
        let Some(foreign) = self.foreign(region.lines_around(offset, offset + len)) else { return };
        let mappings = self.mappings.borrow();
        assert!(
            Slot::all_of(foreign).all(|slot| mappings.contains(slot)),
            "{} is not mapped on {}, as it has to be before each use",
            region.start(),
            self.core()
        );
        self.platform.reach(foreign);
    }

    /// The region, if it is another core's memory.
    fn foreign<K: kind::Kind>(&self, region: Region<K>) -> Option<Region<kind::Cached>> {
        matches!(region.start().home(), Home::Core(owner) if owner != self.core()).then(|| region.mapped())
    }

    /// Word `index` of a region, within reach.
    fn word_address(&self, region: Region<kind::Uncached>, index: usize) -> SharedAddress {
        assert!(index < region.len_bytes() / 4, "word {index} of a region of {} words", region.len_bytes() / 4);
        self.assert_reachable(region, index * 4, 4);
        region.start().plus(index * 4)
    }

    /// Prepares for a slot to stand for other memory, or for none.
    fn forget_slot(&self, slot: Slot) {
        let pends = |at| matches!(at, LineAddress::Shared(address) if Slot::of(address) == Some(slot));
        if self.undrained().is_some_and(pends) {
            self.push_out_pending();
        }
        self.runs.end();
        self.platform.spend(Expense::InvalidateMpb);
        self.lines.borrow_mut().invalidate();
    }
}

impl<P: Platform> Topology for EmulatedCore<P> {
    fn core(&self) -> CoreId {
        self.platform.core()
    }

    fn layout(&self) -> &Layout {
        self.platform.layout()
    }

    fn machine(&self) -> u64 {
        self.platform.machine()
    }
}

impl<P: Platform> MpbCoherence for EmulatedCore<P> {
    fn invalidate_mpb(&self) {
        let _operation = self.operation();
        self.counting.count(|counters| counters.mpb_invalidations += 1);
        self.platform.spend(Expense::InvalidateMpb);
        if !self.omits(Omit::INVALIDATE_MPB) {
            self.lines.borrow_mut().invalidate();
        }
    }

    fn drain(&self) {
        let _operation = self.operation();
        self.counting.count(|counters| counters.drains += 1);
        self.runs.end();
        if !self.omits(Omit::DRAIN) {
            self.push_out_pending();
        }
    }
}

impl<P: Platform> Transfers for EmulatedCore<P> {
    fn load_combined(&self, at: LineAddress) -> Line {
        self.explore();
        self.counting.count(|counters| match at {
            LineAddress::Mpb(_) => counters.mpb_lines_read += 1,
            LineAddress::Shared(_) => counters.combined_lines_read += 1,
        });
        self.load_uncounted(at)
    }

    fn store_combined(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        self.explore();
        self.runs.count(&self.counting, at, mask_of(offset, bytes.len()));
        if self.lines.borrow().pending().is_some_and(|pending| pending.at != at) {
            self.push_out_pending();
        }
        let full = {
            let mut lines = self.lines.borrow_mut();
            lines.store(at, offset, bytes);
            lines.pending().is_some_and(|pending| pending.mask == u32::MAX)
        };
        if self.platform.coherent() {
            let mut data = Line::default();
            data.0[offset..offset + bytes.len()].copy_from_slice(bytes);
            let mask = mask_of(offset, bytes.len());
            self.trace_store(Spot::Line(at), mask, || self.platform.write_line(at, &data, mask));
        }
        if full {
            self.push_out_pending();
        }
    }

    fn take_private(&self, source: &[u8], bytes: &mut [u8]) {
        self.platform.spend(Expense::PrivateRead { lines: 1 });
        bytes.copy_from_slice(source);
    }

    fn keep_private(&self, bytes: &[u8], target: &mut [u8]) {
        self.platform.spend(Expense::PrivateWrite { lines: 1 });
        target.copy_from_slice(bytes);
    }
}

impl<P: Platform> Mpb for EmulatedCore<P> {
    fn mpb_lines(&self) -> usize {
        MPB_LINES
    }

    fn load_line(&self, at: MpbLine) -> Line {
        let _operation = self.operation();
        self.load_combined(LineAddress::Mpb(at))
    }

    fn store(&self, at: MpbLine, offset: usize, bytes: &[u8]) {
        let _operation = self.operation();
        assert!(offset + bytes.len() <= LINE_BYTES, "a store stays within a line");
        self.platform.spend(Expense::FlagStore);
        self.store_combined(writable_mpb_line(at), offset, bytes);
    }
}

impl<P: Platform> MpbCopy for EmulatedCore<P> {
    fn put(&self, source: &[u8], to: MpbLine) {
        self.put_made(source.len(), to, |index, bytes| {
            self.take_private(&source[index * LINE_BYTES..][..bytes.len()], bytes);
        });
    }

    fn put_from_own_mpb(&self, from: usize, to: MpbLine, lines: usize) {
        let _operation = self.operation();
        let _span = self.hardware_span("MPB put", to.core, lines * LINE_BYTES);
        self.platform.spend(Expense::PutFromMpb);
        self.copy_lines(lines, |index| (MpbLine::new(self.core(), from + index), to.plus(index)));
    }

    fn get(&self, from: MpbLine, target: &mut [u8]) {
        self.get_used(from, target.len(), |index, bytes| {
            self.keep_private(bytes, &mut target[index * LINE_BYTES..][..bytes.len()]);
        });
    }

    fn get_to_own_mpb(&self, from: MpbLine, to: usize, lines: usize) {
        let _operation = self.operation();
        let _span = self.hardware_span("MPB get", from.core, lines * LINE_BYTES);
        self.platform.spend(Expense::GetToMpb);
        self.copy_lines(lines, |index| (from.plus(index), MpbLine::new(self.core(), to + index)));
    }

    fn put_made(&self, len: usize, to: MpbLine, fill: impl FnMut(usize, &mut [u8])) {
        let _operation = self.operation();
        let _span = self.hardware_span("MPB put", to.core, len);
        self.platform.spend(Expense::PutFromMemory);
        self.put_lines(len, to, fill);
    }

    fn get_used(&self, from: MpbLine, len: usize, take: impl FnMut(usize, &[u8])) {
        let _operation = self.operation();
        let _span = self.hardware_span("MPB get", from.core, len);
        self.platform.spend(Expense::GetToMemory);
        self.get_lines(from, len, take);
    }

    fn keep(&self, polled: &[u8], target: &mut [u8]) {
        let _operation = self.operation();
        self.platform.spend(Expense::GetToMemory);
        self.account_memory(0, polled.len().div_ceil(LINE_BYTES));
        target.copy_from_slice(polled);
    }
}

impl<P: Platform> Combined for EmulatedCore<P> {
    fn write(&self, region: Region<kind::Combined>, offset: usize, bytes: &[u8]) {
        let _operation = self.operation();
        self.assert_reachable(region, offset, bytes.len());
        let _span = self.hardware_span("memory write", region.start().home(), bytes.len());
        self.platform.spend(Expense::PutFromMemory);
        self.write_bytes(region, offset, bytes);
    }

    fn read(&self, region: Region<kind::Combined>, offset: usize, bytes: &mut [u8]) {
        let _operation = self.operation();
        self.assert_reachable(region, offset, bytes.len());
        let _span = self.hardware_span("memory read", region.start().home(), bytes.len());
        self.platform.spend(Expense::GetToMemory);
        self.read_bytes(region, offset, bytes);
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
        let _span = self.hardware_span("memory copy", to.start().home(), len_bytes);
        self.platform.spend(Expense::PutFromMemory);
        self.copy_bytes(from, from_offset, to, to_offset, len_bytes);
    }
}

impl<P: Platform> Uncached for EmulatedCore<P> {
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        let _operation = self.operation();
        self.explore();
        self.counting.count(|counters| counters.words_read += 1);
        self.platform.spend(Expense::WordCall);
        self.platform.read_word(self.word_address(region, index))
    }

    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32) {
        let _operation = self.operation();
        self.explore();
        self.counting.count(|counters| counters.words_written += 1);
        self.platform.spend(Expense::WordCall);
        let at = self.word_address(region, index);
        self.trace_store(Spot::Word(at), u32::MAX, || self.platform.write_word(at, value));
    }
}

impl<P: Platform> Clock for EmulatedCore<P> {
    fn now(&self) -> u64 {
        let _operation = self.operation();
        self.platform.now()
    }

    fn ticks_per_second(&self) -> u64 {
        self.platform.ticks_per_second()
    }

    fn tells_time(&self) -> bool {
        self.platform.tells_time()
    }

    fn compute(&self, cycles: u64) {
        let _operation = self.operation();
        let _span = self.hardware_span("compute", None, 0);
        if self.is_interruptible() {
            self.platform.compute(cycles, &|| self.serve_what_is_due());
        } else {
            self.platform.spend(Expense::Cycles(cycles));
        }
    }

    fn account_memory(&self, lines_read: usize, lines_written: usize) {
        let _operation = self.operation();
        self.platform.spend(Expense::PrivateRead { lines: lines_read as u32 });
        self.platform.spend(Expense::PrivateWrite { lines: lines_written as u32 });
    }

    fn account(&self, software: Software) {
        let _operation = self.operation();
        self.platform.spend(Expense::Software(software));
    }
}

impl<P: Platform> Counted for EmulatedCore<P> {
    fn counters(&self) -> Counters {
        let _operation = self.operation();
        self.counting.snapshot()
    }
}
