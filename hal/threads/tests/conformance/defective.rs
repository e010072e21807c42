//! Hardware that gets one thing wrong.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    ptr::NonNull,
    thread,
    time::{Duration, Instant},
};

use hal::{
    CoreId, Deadline, Home, LINE_BYTES, Layout, Line, LineAddress, MPB_LINES, MpbLine, Place, Reason, Region, Regions,
    SharedAddress, Topology,
    cached::{Touch, ViewAccess},
    emulated::Emulated,
    kind,
    kit::{
        Account, CachedMemory, CombinedLines, CounterAccess, ExposedMemory, Hardware, Registers, Signals, Slot, Ticks,
        Turns, UncachedWords, Watch, Woken,
    },
};
use threads::ThreadPlatform;

/// What a machine gets wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Defect {
    None,
    DrainsNothing,
    KeepsStaleLines,
    StoresWholeLines,
    FlushesNothing,
    FlushesAllOfNothing,
    GivesRegistersToAll,
    NeverFreesRegisters,
    LosesInterrupts,
    TakesInterruptsTwice,
    ForgetsDeadlines,
    ClockGoesBack,
    LosesWords,
    ExposesNothingNew,
    CutsOffLines,
    TearsLines,
    CountsUpOnly,
    ConcealsNothing,
    NeverLetsGo,
    ConcealsWhatIsReached,
    LosesLines,
    HalvesMpbs,
    MergesStores,
    FlushesDirtyLinesOnly,
    StoresFetchNothing,
    SlicesStayClean,
    FlushesNoExposures,
    WordsReachNothing,
    ForgetsNoSlots,
    HasOneRegister,
    FreesOthers,
    RacesForRegisters,
    InterruptsItself,
    KeepsInterrupts,
    HasClocksApart,
    IsTwoMachines,
    StaysAway,
    KeepsWholeLines,
    DrainsMpbsFirst,
    DrainsLastFirst,
    LosesWakeUps,
    KeepsStaleWords,
    StoresFirstWordOnly,
    LoadsOneLine,
    IsOneMpb,
    KeepsStaleMemory,
    WritesNeighboursBack,
    FlushesAllButLast,
    FlushesAllButExposures,
    LetsGoOfWholesOnly,
    LetsGoOfOneOnly,
    TogglesInterrupts,
    NeverInterruptsItself,
    SleepsThroughInterrupts,
    ClockStandsStill,
    NeverTimesOut,
    InventsLines,
    InventsExposures,
    InventsWords,
    InventsRegisters,
}

/// Beside the word that stands for a register: those in which cores say that they have found one free, until
/// they free it.
const WANTED: usize = 100;

/// Beside those, a mailbox for each core.
const MAILBOX: usize = 200;

/// Bytes of two lines that are one for a cache.
const PAIR_BYTES: usize = 2 * LINE_BYTES;

/// Bytes that a check exposes as one.
const EXPOSED_BYTES: usize = 2 * LINE_BYTES;

/// Whether an address is one of what cores expose.
fn is_exposed(address: SharedAddress) -> bool {
    matches!(address.home(), Home::Core(_))
}

/// Hardware with a defect.
pub(crate) struct Defective {
    inner: Emulated<ThreadPlatform>,
    defect: Defect,
    /// How often the clock was read, and interrupts were taken.
    count: Cell<u64>,
    was_interrupted: Cell<bool>,
    /// Stores in a buffer of the machine's own.
    held: RefCell<Vec<(LineAddress, usize, Vec<u8>)>>,
    /// Words of lines that were loaded once, and lines of memory.
    stale: RefCell<HashMap<(MpbLine, usize), u32>>,
    stale_memory: RefCell<HashMap<LineAddress, Line>>,
    /// Whether views have stored anything since the last flush.
    is_dirty: Cell<bool>,
    /// The lines in the cache.
    present: RefCell<HashSet<SharedAddress>>,
    /// The pairs of lines that were stored to.
    dirty_pairs: RefCell<HashSet<SharedAddress>>,
}

impl Defective {
    pub(crate) fn new(inner: Emulated<ThreadPlatform>, defect: Defect) -> Self {
        Self {
            inner,
            defect,
            count: Cell::new(0),
            was_interrupted: Cell::new(false),
            held: RefCell::default(),
            stale: RefCell::default(),
            stale_memory: RefCell::default(),
            is_dirty: Cell::new(false),
            present: RefCell::default(),
            dirty_pairs: RefCell::default(),
        }
    }

    /// The line that stands for one of an MPB.
    fn real(&self, at: LineAddress) -> LineAddress {
        match at {
            LineAddress::Mpb(MpbLine { line, .. }) if self.is(Defect::IsOneMpb) => {
                LineAddress::Mpb(MpbLine { core: self.core(), line })
            }
            LineAddress::Mpb(MpbLine { core, line })
                if self.is(Defect::HalvesMpbs) && usize::from(line) > MPB_LINES / 2 =>
            {
                LineAddress::Mpb(MpbLine::new(core, usize::from(line) - MPB_LINES / 2))
            }
            _ => at,
        }
    }

    /// Whether the machine makes up what is at a line.
    fn invents(&self, at: LineAddress) -> bool {
        match at {
            LineAddress::Mpb(line) => self.is(Defect::InventsLines) && line.core.index() >= self.layout().cores(),
            LineAddress::Shared(address) => self.is(Defect::InventsExposures) && is_exposed(address),
        }
    }

    /// The register that stands for that of a core.
    fn register(&self, core: CoreId) -> CoreId {
        if self.is(Defect::HasOneRegister) { CoreId::new(0) } else { core }
    }

    /// Pushes out what is held.
    fn release(&self) {
        let mut held = self.held.take();
        if self.is(Defect::DrainsMpbsFirst) {
            held.sort_by_key(|(at, ..)| matches!(at, LineAddress::Shared(_)));
        }
        if self.is(Defect::DrainsLastFirst) {
            held.reverse();
        }
        for (at, offset, bytes) in held {
            self.inner.store_line(at, offset, &bytes);
            if self.is(Defect::DrainsMpbsFirst) && matches!(at, LineAddress::Mpb(_)) {
                self.inner.drain();
                // Long enough for the other core to look.
                thread::sleep(Duration::from_micros(200));
            }
        }
    }

    /// The pairs of lines that a region has lines of, where a pair is one for the cache.
    fn pairs(&self, region: Region<kind::Cached>) -> Vec<Region<kind::Cached>> {
        if !self.is(Defect::WritesNeighboursBack) || is_exposed(region.start()) {
            return Vec::new();
        }
        // SAFETY: nothing else uses this machine.
        let regions = unsafe { Regions::new(self.layout().controllers()) };
        let (start, end) = (region.start().offset(), region.start().offset() + region.len_bytes());
        let firsts =
            (start / PAIR_BYTES..end.div_ceil(PAIR_BYTES)).map(|pair| SharedAddress::new(0, pair * PAIR_BYTES));
        firsts.map(|first| regions.region(first, PAIR_BYTES)).collect()
    }

    /// Writes all of the dirty pairs back that a region has lines of.
    fn write_pairs_back(&self, region: Region<kind::Cached>) {
        for pair in self.pairs(region) {
            if self.dirty_pairs.borrow_mut().remove(&pair.start()) {
                // SAFETY: the pair was touched when it was stored to, and is this core's own copy.
                let lines = unsafe { self.inner.view_address(pair).cast::<[Line; 2]>().read() };
                for (index, line) in lines.iter().enumerate() {
                    let at = LineAddress::Shared(pair.start().plus(index * LINE_BYTES));
                    self.inner.store_line(at, 0, &line.0);
                }
            }
            self.inner.flush(pair);
        }
    }

    /// What stands for a place that is waited for, as it is now.
    fn look(&self, place: Place) -> Vec<u8> {
        self.inner.invalidate_lines();
        match place {
            Place::Line(at) => self.inner.load_mpb_line(at).0.to_vec(),
            Place::Word(region, index) => self.inner.load_word(region, index).to_le_bytes().to_vec(),
            Place::Counter(_) => Vec::new(),
        }
    }

    /// Words that stand for the registers of cores, far from what is checked.
    fn register_word(&self) -> Region<kind::Uncached> {
        // SAFETY: nothing else uses this machine.
        let regions = unsafe { Regions::new(self.layout().controllers()) };
        regions.region(SharedAddress::new(0, 1 << 20), 4096)
    }

    /// Has words of what another core exposes leave no trace that they were reached.
    fn forget_words(&self, region: Region<kind::Uncached>) {
        let is_foreign = matches!(region.start().home(), Home::Core(owner) if owner != self.core());
        if self.is(Defect::WordsReachNothing) && is_foreign {
            self.inner.let_go(region.mapped());
        }
    }

    /// Ticks that the core's clock is ahead.
    fn ahead(&self) -> u64 {
        let core = self.core().index() as u64;
        2_000_000_000 + if self.is(Defect::HasClocksApart) { core * 10_000_000_000 } else { 0 }
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }
}

impl Topology for Defective {
    fn core(&self) -> CoreId {
        self.inner.core()
    }

    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn machine(&self) -> u64 {
        self.inner.machine() + if self.is(Defect::IsTwoMachines) { self.core().index() as u64 } else { 0 }
    }
}

impl CombinedLines for Defective {
    fn load_line(&self, at: LineAddress) -> Line {
        if self.invents(at) {
            return Line::default();
        }
        let load = || self.inner.load_line(self.real(at));
        if self.is(Defect::KeepsStaleMemory) && matches!(at, LineAddress::Shared(_)) {
            return *self.stale_memory.borrow_mut().entry(at).or_insert_with(load);
        }
        load()
    }

    fn store_line(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        if self.invents(at) {
            return;
        }
        let at = self.real(at);
        if self.is(Defect::MergesStores) && bytes.len() < LINE_BYTES {
            self.inner.invalidate_lines();
            let mut line = self.inner.load_line(at).0;
            // Long enough for the other core to come in between, on a host that is busy, too.
            thread::sleep(Duration::from_micros(200));
            line[offset..offset + bytes.len()].copy_from_slice(bytes);
            return self.inner.store_line(at, 0, &line);
        }
        if self.is(Defect::LosesLines) {
            let mut held = self.held.borrow_mut();
            held.retain(|(line, ..)| *line == at);
            return held.push((at, offset, bytes.to_vec()));
        }
        if [Defect::KeepsWholeLines, Defect::DrainsMpbsFirst, Defect::DrainsLastFirst].contains(&self.defect) {
            self.held.borrow_mut().push((at, offset, bytes.to_vec()));
            if !self.is(Defect::KeepsWholeLines) && bytes.len() == LINE_BYTES {
                self.release();
            }
            return;
        }
        if self.is(Defect::StoresWholeLines) {
            let mut line = [0; LINE_BYTES];
            line[offset..offset + bytes.len()].copy_from_slice(bytes);
            return self.inner.store_line(at, 0, &line);
        }
        if self.is(Defect::TearsLines) && bytes.len() == LINE_BYTES {
            let (first, second) = bytes.split_at(LINE_BYTES / 2);
            self.inner.store_line(at, 0, first);
            self.inner.drain();
            // Cores in step with each other would never meet in the middle.
            thread::sleep(Duration::from_micros(500 + 300 * self.core().index() as u64));
            return self.inner.store_line(at, LINE_BYTES / 2, second);
        }
        let len = if self.is(Defect::CutsOffLines) { bytes.len().min(31) } else { bytes.len() };
        self.inner.store_line(at, offset, &bytes[..len]);
    }

    fn load_mpb_words(&self, at: MpbLine, first: usize, words: &mut [u32]) {
        let line = self.load_line(LineAddress::Mpb(at));
        let mut stale = self.stale.borrow_mut();
        for (index, word) in (first..).zip(words) {
            *word = line.word(index);
            if self.is(Defect::KeepsStaleWords) {
                *word = *stale.entry((at, index)).or_insert(*word);
            }
        }
    }

    fn store_mpb_words(&self, at: MpbLine, first: usize, words: impl ExactSizeIterator<Item = u32>) {
        let mut bytes: Vec<_> = words.flat_map(u32::to_le_bytes).collect();
        if self.is(Defect::StoresFirstWordOnly) {
            bytes.truncate(4);
        }
        self.store_line(LineAddress::Mpb(at), first * 4, &bytes);
    }

    fn get_lines(&self, from: MpbLine, lines: &mut [[u8; LINE_BYTES]], after: impl Fn(usize)) {
        for (index, line) in lines.iter_mut().enumerate() {
            *line = self.load_mpb_line(from.plus(index)).0;
            after(index);
        }
    }

    fn load_lines(&self, from: MpbLine, lines: usize, mut take: impl FnMut(usize, &[u8; LINE_BYTES])) {
        for index in 0..lines {
            let line = if self.is(Defect::LoadsOneLine) { 0 } else { index };
            take(index, &self.load_mpb_line(from.plus(line)).0);
        }
    }

    fn invalidate_lines(&self) {
        if !self.is(Defect::KeepsStaleLines) {
            self.inner.invalidate_lines();
        }
    }

    fn drain(&self) {
        self.release();
        if !self.is(Defect::DrainsNothing) {
            self.inner.drain();
        }
    }
}

impl UncachedWords for Defective {
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        if self.is(Defect::InventsWords) && is_exposed(region.start()) {
            return 0;
        }
        let word = self.inner.load_word(region, index);
        self.forget_words(region);
        word
    }

    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32) {
        if self.is(Defect::InventsWords) && is_exposed(region.start()) {
            return;
        }
        let is_meeting = self.is(Defect::StaysAway) && region.start().offset() == 0 && value == 12;
        if !(self.is(Defect::LosesWords) && index == 7 || is_meeting) {
            self.inner.store_word(region, index, value);
            self.forget_words(region);
        }
    }
}

impl Registers for Defective {
    fn test_and_set(&self, core: CoreId) -> bool {
        if self.is(Defect::InventsRegisters) && core.index() >= self.layout().cores() {
            return true;
        }
        if self.is(Defect::RacesForRegisters) {
            let words = self.register_word();
            let is_free = self.inner.load_word(words, core.index()) == 0;
            if is_free {
                // What follows is later: another core may find the register free meanwhile, and is given time to.
                let [own, other] = [0, 1].map(|other| WANTED + (self.core().index() ^ other));
                self.inner.store_word(words, own, 1);
                let late = Instant::now() + Duration::from_millis(10);
                while self.inner.load_word(words, other) == 0 && Instant::now() < late {
                    thread::yield_now();
                }
                self.inner.store_word(words, core.index(), 1);
            }
            return is_free;
        }
        self.inner.test_and_set(self.register(core)) || self.is(Defect::GivesRegistersToAll)
    }

    fn free(&self, core: CoreId) {
        match self.defect {
            Defect::NeverFreesRegisters => {}
            Defect::InventsRegisters if core.index() >= self.layout().cores() => {}
            Defect::FreesOthers => self.inner.free(CoreId::new((core.index() + 1) % self.layout().cores())),
            Defect::RacesForRegisters => {
                self.inner.store_word(self.register_word(), WANTED + self.core().index(), 0);
                self.inner.store_word(self.register_word(), core.index(), 0);
            }
            _ => self.inner.free(self.register(core)),
        }
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let is_lost = self.is(Defect::CountsUpOnly) && access == CounterAccess::Decrement;
        self.inner.access_counter(counter, if is_lost { CounterAccess::Read } else { access })
    }
}

// SAFETY: the hardware below promises it.
unsafe impl CachedMemory for Defective {
    const WATCHES_VIEWS: bool = true;

    fn view_address(&self, region: Region<kind::Cached>) -> *mut u8 {
        self.inner.view_address(region)
    }

    fn touch(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<Touch> {
        if self.is(Defect::SlicesStayClean) && access == ViewAccess::SliceMut {
            return self.inner.touch(region, ViewAccess::Slice);
        }
        self.is_dirty.set(self.is_dirty.get() || access.writes());
        for pair in self.pairs(region) {
            self.inner.touch(pair, ViewAccess::Load)?;
            if access.writes() {
                self.dirty_pairs.borrow_mut().insert(pair.start());
            }
        }
        let touch = self.inner.touch(region, access);
        for line in (0..region.len_lines()).map(|line| region.start().plus(LINE_BYTES * line)) {
            if self.present.borrow_mut().insert(line) && access.writes() && self.is(Defect::StoresFetchNothing) {
                let offset = line.offset() - region.start().offset();
                // SAFETY: the line was touched for a store, which follows, and the region is that line or has it.
                unsafe { self.inner.view_address(region).add(offset).cast::<Line>().write(Line::default()) };
            }
        }
        touch
    }

    fn end_access(&self, region: Region<kind::Cached>, touch: Touch) {
        self.inner.end_access(region, touch);
    }

    fn end_view(&self, region: Region<kind::Cached>) {
        self.inner.end_view(region);
    }

    fn end_slices(&self) {
        self.inner.end_slices();
    }

    fn flush(&self, region: Region<kind::Cached>) {
        let is_kept = match self.defect {
            Defect::FlushesNothing => true,
            Defect::FlushesDirtyLinesOnly => !self.is_dirty.replace(false),
            Defect::FlushesNoExposures => matches!(region.start().home(), Home::Core(_)),
            _ => false,
        };
        if !is_kept {
            for line in 0..region.len_lines() {
                self.present.borrow_mut().remove(&region.start().plus(LINE_BYTES * line));
            }
            let spared = usize::from(self.is(Defect::FlushesAllButLast));
            let lines = region.lines_around(0, region.len_bytes() - spared * LINE_BYTES);
            self.write_pairs_back(lines);
            self.inner.flush(lines);
        }
    }

    fn flush_all(&self) {
        if self.is(Defect::FlushesAllButExposures) {
            // SAFETY: nothing else uses this machine.
            let regions = unsafe { Regions::new(self.layout().controllers()) };
            let lines = self.present.borrow().iter().copied().filter(|line| !is_exposed(*line)).collect::<Vec<_>>();
            return lines.into_iter().for_each(|line| self.flush(regions.region(line, LINE_BYTES)));
        }
        if !self.is(Defect::FlushesAllOfNothing) {
            let pairs = self.dirty_pairs.borrow().iter().copied().collect::<Vec<_>>();
            // SAFETY: nothing else uses this machine.
            let regions = unsafe { Regions::new(self.layout().controllers()) };
            pairs.into_iter().for_each(|pair| self.write_pairs_back(regions.region(pair, PAIR_BYTES)));
            self.present.borrow_mut().clear();
            self.is_dirty.set(false);
            self.inner.flush_all();
        }
    }
}

// SAFETY: the hardware below promises it. What is not exposed anew leads nowhere, or to what was exposed before and is
// never given back; what is not concealed, the check keeps, or
// has nobody reach any more.
unsafe impl ExposedMemory for Defective {
    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>) {
        let memory = if self.is(Defect::ExposesNothingNew) {
            NonNull::from(Box::leak(Box::new([Line::default(); 2]))).cast()
        } else {
            memory
        };
        // SAFETY: the caller says so, or two lines are leaked, which is as many as a check exposes.
        unsafe { self.inner.expose(region, memory) }
    }

    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        match self.defect {
            Defect::ConcealsNothing => Ok(()),
            Defect::ConcealsWhatIsReached => self.inner.conceal(region).or(Ok(())),
            _ => self.inner.conceal(region),
        }
    }

    fn reach(&self, region: Region<kind::Cached>) {
        self.inner.reach(region);
    }

    fn let_go(&self, region: Region<kind::Cached>) {
        match self.defect {
            Defect::NeverLetsGo => {}
            // Tables are looked up by where a region starts and how long it is.
            Defect::LetsGoOfWholesOnly if region.len_bytes() < EXPOSED_BYTES => self.inner.drain(),
            Defect::LetsGoOfOneOnly => self.inner.let_go(region.lines_around(0, LINE_BYTES)),
            _ => self.inner.let_go(region),
        }
    }

    fn map_slot(&self, slot: Slot, place: usize) {
        self.inner.map_slot(slot, place);
    }

    fn forget_slot(&self, slot: Slot) {
        if !self.is(Defect::ForgetsNoSlots) {
            self.inner.forget_slot(slot);
        }
    }
}

impl Ticks for Defective {
    fn now(&self) -> u64 {
        self.count.set(self.count.get() + 1);
        if self.is(Defect::ClockStandsStill) {
            return self.ahead();
        }
        let back = if self.is(Defect::ClockGoesBack) && self.count.get() == 9 { 1_000_000_000 } else { 0 };
        (self.inner.now() + self.ahead()) - back
    }

    fn ticks_per_second(&self) -> u64 {
        // What never comes is waited for, for so many seconds of the core's own.
        let waits = [
            Defect::LosesInterrupts,
            Defect::InterruptsItself,
            Defect::StaysAway,
            Defect::KeepsWholeLines,
            Defect::LosesWakeUps,
            Defect::TogglesInterrupts,
            Defect::NeverInterruptsItself,
            Defect::SleepsThroughInterrupts,
        ];
        self.inner.ticks_per_second() / if waits.contains(&self.defect) { 10 } else { 1 }
    }
}

impl Turns for Defective {
    type Patience = Deadline;

    fn begin_wait(&self, deadline: Deadline) -> Deadline {
        match deadline {
            Deadline::At(ticks) if self.is(Defect::ForgetsDeadlines) => {
                Deadline::At(ticks.saturating_sub(2_500_000_000))
            }
            Deadline::At(ticks) => Deadline::At(ticks - self.ahead()),
            Deadline::Never => Deadline::Never,
        }
    }

    fn before_poll(&self, watch: Watch<'_>) {
        self.inner.before_poll(watch);
    }

    fn park(&self, patience: &mut Deadline, watch: Watch<'_>, reason: Reason) -> Woken {
        if self.is(Defect::RacesForRegisters) && matches!(watch, Watch::Places([])) {
            // A moment is long enough for another thread to run, however many there are.
            thread::sleep(Duration::from_millis(5));
        }
        if self.is(Defect::ClockStandsStill) || self.is(Defect::NeverTimesOut) {
            return Woken::Poll { missed_polls: 0 };
        }
        if let Watch::Places(&[place]) = watch
            && match place {
                Place::Line(_) => self.is(Defect::LosesWakeUps),
                _ => self.is(Defect::SleepsThroughInterrupts) && *patience == Deadline::Never,
            }
        {
            // Long enough for what is awaited to come unseen.
            thread::sleep(Duration::from_micros(200));
            let before = self.look(place);
            while self.look(place) == before {
                if matches!(*patience, Deadline::At(late) if self.inner.now() >= late) {
                    return Woken::TimedOut;
                }
                thread::yield_now();
            }
            return Woken::Poll { missed_polls: 0 };
        }
        self.inner.park(patience, watch, reason)
    }

    fn end_wait(&self, watch: Watch<'_>) {
        self.inner.end_wait(watch);
    }

    fn relax(&self) {
        self.inner.relax();
    }

    fn is_dying(&self) -> bool {
        self.inner.is_dying()
    }
}

impl Signals for Defective {
    fn raise_interrupt(&self, target: CoreId) {
        match self.defect {
            Defect::LosesInterrupts => {}
            Defect::InventsRegisters if target.index() >= self.layout().cores() => {}
            Defect::InterruptsItself => self.inner.raise_interrupt(self.core()),
            Defect::NeverInterruptsItself if target == self.core() => {}
            Defect::TogglesInterrupts => {
                let (words, mailbox) = (self.register_word(), MAILBOX + target.index());
                self.inner.store_word(words, mailbox, self.inner.load_word(words, mailbox) ^ 1);
            }
            Defect::SleepsThroughInterrupts => {
                // The target is in its wait by now.
                thread::sleep(Duration::from_millis(20));
                self.inner.raise_interrupt(target);
            }
            _ => self.inner.raise_interrupt(target),
        }
    }

    fn open_interrupts(&self, open: bool) {
        self.inner.open_interrupts(open);
    }

    fn interrupt_is_due(&self) -> bool {
        if self.is(Defect::TogglesInterrupts) {
            return self.inner.load_word(self.register_word(), MAILBOX + self.core().index()) == 1;
        }
        self.inner.interrupt_is_due()
            || self.is(Defect::TakesInterruptsTwice) && self.count.get() == u64::MAX
            || self.is(Defect::KeepsInterrupts) && self.was_interrupted.get()
    }

    fn take_interrupt(&self) -> bool {
        if self.is(Defect::TogglesInterrupts) {
            let is_due = self.interrupt_is_due();
            self.inner.store_word(self.register_word(), MAILBOX + self.core().index(), 0);
            return is_due;
        }
        let is_second = self.is(Defect::TakesInterruptsTwice) && self.count.get() == u64::MAX;
        let is_taken = self.inner.take_interrupt();
        self.count.set(if is_taken && self.is(Defect::TakesInterruptsTwice) { u64::MAX } else { 0 });
        self.was_interrupted.set(is_taken || self.was_interrupted.get());
        is_taken || is_second || self.is(Defect::KeepsInterrupts)
    }
}

// SAFETY: the hardware below promises it, and nobody else has that.
unsafe impl Hardware for Defective {
    const TELLS_EXPENSES: bool = true;

    type Hooks = ThreadPlatform;

    fn account(&self) -> &Account {
        self.inner.account()
    }

    fn hooks(&self) -> &ThreadPlatform {
        self.inner.hooks()
    }
}
