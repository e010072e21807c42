//! What an emulating backend has to provide.

use core::{ops::Deref, ptr::NonNull};

use crate::{
    Act, CoreId, Home, Layout, Line, LineAddress, Reason, Region, SharedAddress, kind,
    kit::{CounterAccess, Event, Expense, Slices, Upkeep, Watch, Woken},
    wait::Deadline,
};

use super::{Copies, FetchUnit, PageWindow};

/// What is left open by the hardware and may be explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Whether the write-combine buffer drains by itself now.
    DrainEarly,
    /// Whether a line of cached memory is evicted now.
    Evict,
    /// Whether a store to a line that is not cached goes to memory at once, as without write-allocate.
    StoreThrough,
    /// Which of the resident pages is the victim.
    VictimPage,
    /// Which of the lines of a page is the victim.
    VictimLine,
}

/// What to say of a core that waits, should the machine be stuck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitInfo {
    /// What the core waits for, and from whom.
    pub reason: Reason,
    /// The line that sits in its write-combine buffer, undrained: a likely culprit.
    pub undrained: Option<LineAddress>,
}

/// The machine under an [`EmulatedCore`](super::EmulatedCore), seen from one core.
///
/// All methods may hand over to other cores. Lines and words move atomically. Each access charges its own cost.
///
/// # Safety
/// 1. [`core`](Self::core), [`machine`](Self::machine), [`layout`](Self::layout) and [`coherent`](Self::coherent) are
///    always the same; no other core has that number of that machine.
/// 2. [`shared_memory`](Self::shared_memory) is what it says.
/// 3. Lines and words are those of shared memory, of MPBs and of what is [exposed](Self::expose) now, and none of the
///    process.
/// 4. Where memory is coherent, an access to a line or a word asks the [slices](Self::with_slices) of the machine at the
///    moment at which it takes effect, and panics if one of them excludes it.
/// 5. [`with_slices`](Self::with_slices) leads all cores that share copies, or all of a coherent machine, to the same
///    account, one at a time.
pub unsafe trait Platform: 'static {
    /// Where private copies of cached memory live.
    type Window: PageWindow;

    /// How the core has its copies, or the part in those of its coherence domain.
    type Copies: Deref<Target = Copies<Self::Window>>;

    /// This core.
    fn core(&self) -> CoreId;

    /// The machine.
    fn layout(&self) -> &Layout;

    /// See [`Topology::machine`](crate::Topology::machine).
    fn machine(&self) -> u64 {
        0
    }

    /// Reads a line from memory.
    fn read_line(&self, at: LineAddress) -> Line;

    /// Writes the bytes of a line whose bits in `mask` are set.
    fn write_line(&self, at: LineAddress, data: &Line, mask: u32);

    /// Writes what `take` says at the moment of the write, which may be nothing: until then other cores may change it.
    fn write_back(&self, at: LineAddress, take: &mut dyn FnMut() -> Option<(Line, u32)>) {
        if let Some((data, mask)) = take() {
            self.write_line(at, &data, mask);
        }
    }

    /// Loads an uncached word, as one access.
    fn read_word(&self, at: SharedAddress) -> u32;

    /// Stores an uncached word, as one access.
    fn write_word(&self, at: SharedAddress, value: u32);

    /// Reads a test-and-set register: true if it was free.
    fn test_and_set(&self, register: CoreId) -> bool;

    /// Writes a test-and-set register: it is free.
    fn free(&self, register: CoreId);

    /// Accesses an atomic counter, which exists, and returns what it was.
    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32;

    /// Accounts for local work, where that does not take its own time.
    fn spend(&self, expense: Expense) {
        let _ = expense;
    }

    /// An operation about so many bytes begins, within those that are under way; for platforms that price private memory.
    #[inline(always)]
    fn enter(&self, bytes: usize) {
        let _ = bytes;
    }

    /// The operation ends that began last.
    #[inline(always)]
    fn leave(&self) {}

    /// A handler of interrupts begins, whose operations have nothing to do with those that are under way.
    #[inline(always)]
    fn enter_handler(&self) {}

    /// The handler ends that began last.
    #[inline(always)]
    fn leave_handler(&self) {}

    /// Ticks, see [`Clock::now`](crate::Clock::now).
    fn now(&self) -> u64;

    /// Ticks in a second; a tick is a nanosecond unless the platform says otherwise.
    fn ticks_per_second(&self) -> u64 {
        1_000_000_000
    }

    /// Whether they are time, see [`Clock::tells_time`](crate::Clock::tells_time).
    fn tells_time(&self) -> bool {
        true
    }

    /// The time of a trace: like [`now`](Self::now), where there is nothing finer.
    fn moment(&self) -> u64 {
        self.now()
    }

    /// Moments in a second.
    fn moments_per_second(&self) -> u64 {
        self.ticks_per_second()
    }

    /// The moment at which others could see what this core has just written, if it is known; otherwise any other one.
    fn last_visible(&self) -> u64 {
        self.moment()
    }

    /// Gets to know what happens, at the moment at which it takes effect; for platforms that check programs.
    #[inline(always)]
    fn witness(&self, event: impl FnOnce() -> Event) {
        let _ = event;
    }

    /// Whether it checks programs.
    #[inline(always)]
    fn is_checked(&self) -> bool {
        false
    }

    /// Whether what the program asks for here is to be left out.
    #[inline(always)]
    fn is_left_out(&self, upkeep: Upkeep) -> bool {
        let _ = upkeep;
        false
    }

    /// Gets to know what the program does in its own memory; for platforms that check programs.
    #[inline(always)]
    fn declare(&self, act: &Act<'_>) {
        let _ = act;
    }

    /// Decides what the hardware leaves open, as a number below `options`; 0 is what nothing special means.
    fn choose(&self, choice: Choice, options: usize) -> usize;

    /// Called before each poll of a wait, so that a change between the poll and [`park`](Self::park) is not missed.
    fn before_poll(&self, watch: Watch<'_>);

    /// Hands over until a poll may succeed; the poll since [`before_poll`](Self::before_poll) has failed.
    fn park(&self, watch: Watch<'_>, deadline: Deadline, info: &WaitInfo) -> Woken;

    /// Called when a wait is over.
    fn end_wait(&self, watch: Watch<'_>);

    /// See [`Wait::relax`](crate::Wait::relax).
    fn relax(&self);

    /// Computes for `cycles` cycles. Wherever an interrupt arrives meanwhile, `interrupted` is called and the rest
    /// follows; platforms whose processors are really interrupted do nothing of that kind.
    fn compute(&self, cycles: u64, interrupted: &dyn Fn()) {
        let _ = interrupted;
        self.spend(Expense::Cycles(cycles));
    }

    /// Raises an interrupt on a core, for which this core holds that core's test-and-set register.
    fn raise_interrupt(&self, target: CoreId);

    /// Lets interrupts that are raised on this core interrupt it, or no more. Nothing to do where nothing interrupts it in the
    /// middle: what was raised is taken at the end of an operation, and where programs [compute](Self::compute).
    fn open_interrupts(&self, open: bool) {
        let _ = open;
    }

    /// Whether an interrupt that was raised on this core has arrived and was not taken.
    fn interrupt_is_due(&self) -> bool;

    /// Takes what has arrived, however often it was raised. False if nothing has.
    fn take_interrupt(&self) -> bool;

    /// See [`Wait::is_dying`](crate::Wait::is_dying).
    fn is_dying(&self) -> bool;

    /// Whether memory is to be coherent: no private copies, no stale lines, stores visible at once.
    fn coherent(&self) -> bool;

    /// See [`Layout::home_domain`].
    fn home_domain(&self, home: Home) -> Option<usize> {
        self.layout().home_domain(home)
    }

    /// The account of the slices of all cores that see the same bytes as this one: of the machine where it is coherent,
    /// else of the coherence domain. Where every core is a domain by itself and a page that is taken away is fetched by a
    /// [fault](PageWindow::faults), there need not be one.
    fn with_slices<R>(&self, change: impl FnOnce(&mut Slices) -> R) -> Option<R>;

    /// Called before each use of copies that the cores of a coherence domain share, which is visible to them all: to
    /// change them, or only to look. Nothing to do where no cores share copies.
    fn meet_domain(&self, changes: bool) {
        let _ = changes;
    }

    /// Returns when what other cores of the coherence domain have written back is in memory: of what this core has just
    /// flushed they may have written some.
    fn await_write_backs(&self) {}

    /// Called by drains and flushes: what this core has written is in memory before what it writes from now on.
    fn fence(&self) {}

    /// How much of cached memory is fetched at a time.
    fn fetch_unit(&self) -> FetchUnit {
        FetchUnit::Line
    }

    /// From now on, as many bytes of this core's private memory as `region` has are that region, which it exposes.
    ///
    /// # Safety
    /// The bytes are valid for reads and writes, and reached by nobody else, until they are
    /// [concealed](Self::conceal) or for ever.
    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>);

    /// Takes back what began with `expose`.
    ///
    /// # Errors
    /// A core that has [reached](Self::reach) it and not [let go](Self::let_go) of it: then it stays exposed.
    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId>;

    /// This core is about to access a region of what another core exposes.
    fn reach(&self, region: Region<kind::Cached>);

    /// This core will not access what another core exposes, as far as it has bytes of the region.
    fn let_go(&self, region: Region<kind::Cached>);

    /// Memory of shared DRAM itself, which the [layout](Self::layout) has, or what this core exposes, for a coherent
    /// machine's views.
    ///
    /// The pointer is valid for `region.len_bytes()` bytes for as long as the machine exists, or the region is exposed.
    fn shared_memory(&self, region: Region<kind::Cached>) -> *mut u8;
}
