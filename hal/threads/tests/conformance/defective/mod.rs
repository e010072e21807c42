//! Hardware that gets one thing wrong.

mod cached;
mod shared;
mod time;

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    thread,
    time::Duration,
};

use hal::{
    CoreId, Home, LINE_BYTES, Layout, Line, LineAddress, MPB_LINES, MpbLine, Place, Region, Regions, SharedAddress,
    Topology,
    emulated::Emulated,
    kind,
    kit::{Account, CachedMemory, CombinedLines, ExposedMemory, Hardware, UncachedWords},
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
    /// By how much its seconds are too short where what it waits for never comes.
    haste: u64,
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
    pub(crate) fn new(inner: Emulated<ThreadPlatform>, defect: Defect, haste: u64) -> Self {
        Self {
            inner,
            defect,
            haste,
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
