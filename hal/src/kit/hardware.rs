//! What a machine says of one core of its hardware.
//!
//! Each trait is about one part of it. What has a body here is what a plain machine need not say. The
//! [core](super::HardwareCore) on top calls all of this within its operations only, with its handler of interrupts kept away.

use core::ptr::NonNull;

use crate::{
    Act, CoreId, Countable, Deadline, LINE_BYTES, Line, LineAddress, MPB_LINES, MpbLine, Reason, Region, Span,
    Topology,
    cached::access::{Touch, ViewAccess},
    exposed::MAPPED_SLOTS,
    kind,
};

use super::{
    Account, Announcement, Event, Slot, Tracer, Upkeep,
    terms::{CounterAccess, Expense, Watch, Woken},
};

/// Lines that go through L1 and the write-combine buffer: those of MPBs, and combined memory.
///
/// A store may stay in the buffer until [`drain`](Self::drain), but a line of an MPB whose 32 bytes were stored as one leaves by itself,
/// and stores leave in the order of the program, to MPBs and to memory alike. Hardware that does not do so by itself is drained
/// by the machine after each such line.
pub trait CombinedLines: Topology {
    /// Lines of an MPB.
    fn mpb_lines(&self) -> usize {
        MPB_LINES
    }

    /// Loads a line; what is in L1 may be stale.
    ///
    /// # Panics
    /// If there is no such line, or it is another core's memory that is not exposed.
    fn load_line(&self, at: LineAddress) -> Line;

    /// Stores bytes to a line, from `offset` on, and nothing beside them. They may stay in the write-combine buffer.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    fn store_line(&self, at: LineAddress, offset: usize, bytes: &[u8]);

    /// Loads a line of an MPB.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    #[inline]
    fn load_mpb_line(&self, at: MpbLine) -> Line {
        self.load_line(LineAddress::Mpb(at))
    }

    /// Loads a line of an MPB to private memory.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    #[inline]
    fn load_mpb_line_to(&self, at: MpbLine, target: &mut [u8; LINE_BYTES]) {
        *target = self.load_mpb_line(at).0;
    }

    /// Loads words of a line of an MPB, from word `first` on, as they are in one copy of it.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line), and if a line has no such words.
    #[inline]
    fn load_mpb_words(&self, at: MpbLine, first: usize, words: &mut [u32]) {
        let line = self.load_mpb_line(at);
        words.iter_mut().enumerate().for_each(|(index, word)| *word = line.word(first + index));
    }

    /// Stores bytes to a line of an MPB.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    #[inline]
    fn store_mpb_line(&self, at: MpbLine, offset: usize, bytes: &[u8]) {
        self.store_line(LineAddress::Mpb(at), offset, bytes);
    }

    /// Stores words to a line of an MPB, from word `first` on.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line), and if they do not fit the line.
    #[inline]
    fn store_mpb_words(&self, at: MpbLine, first: usize, words: impl ExactSizeIterator<Item = u32>) {
        let (mut line, len) = (Line::default(), words.len() * size_of::<u32>());
        for (bytes, word) in line.0.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        self.store_mpb_line(at, first * size_of::<u32>(), &line.0[..len]);
    }

    /// Where this core finds a line of an MPB by its address, always and for all of the line. 0 where it finds none so.
    ///
    /// # Panics
    /// If there is no such line, and it would have an address.
    #[inline]
    fn address_of(&self, at: MpbLine) -> usize {
        let _ = at;
        0
    }

    /// Stores a byte of a line of an MPB.
    ///
    /// # Safety
    /// A core of this machine has found it at this address, by [`address_of`](Self::address_of) the line.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line), if lines have no addresses.
    #[inline]
    unsafe fn store_found_byte(&self, at: MpbLine, offset: usize, address: usize, value: u8) {
        let _ = address;
        self.store_mpb_line(at, offset, &[value]);
    }

    /// Loads words of a line of an MPB, as they are in one copy of it.
    ///
    /// # Safety
    /// A core of this machine has found as many there, which begin at this address: by [`address_of`](Self::address_of) the line.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line), if lines have no addresses.
    #[inline]
    unsafe fn load_found_words(&self, at: MpbLine, first: usize, address: usize, words: &mut [u32]) {
        let _ = address;
        self.load_mpb_words(at, first, words);
    }

    /// Forgets all lines in L1 (`CL1INVMB`), those of memory and of exposures, too.
    fn invalidate_lines(&self);

    /// Pushes out what is in the write-combine buffer.
    fn drain(&self);

    /// Prepares for a store to private memory of what a line had.
    fn bring_in(&self, target: &mut [u8]) {
        let _ = target;
    }

    /// Stores `lines` whole lines to an MPB, one after the other; `fill` makes them. What it finds in a line that it is
    /// given is nothing in particular.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    #[inline]
    fn store_lines(&self, to: MpbLine, lines: usize, mut fill: impl FnMut(usize, &mut [u8; LINE_BYTES])) {
        let mut line = [0; LINE_BYTES];
        for index in 0..lines {
            fill(index, &mut line);
            self.store_mpb_line(to.plus(index), 0, &line);
        }
    }

    /// Stores lines of private memory to an MPB, one after the other, and calls `before` before each.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    #[inline]
    fn put_lines(&self, to: MpbLine, lines: &[[u8; LINE_BYTES]], before: impl Fn()) {
        self.store_lines(to, lines.len(), |index, line| {
            before();
            *line = lines[index];
        });
    }

    /// Copies lines from MPB to MPB, one after the other, and calls `before` before each is loaded, and `loaded` with its number
    /// when it has been. Whether it is stored by then depends on the machine.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    #[inline]
    fn copy_lines(&self, from: MpbLine, to: MpbLine, lines: usize, before: impl Fn(), loaded: impl Fn(usize)) {
        self.store_lines(to, lines, |index, line| {
            before();
            self.load_mpb_line_to(from.plus(index), line);
            loaded(index);
        });
    }

    /// Loads lines of an MPB to private memory, one after the other, and calls `after` after each with its number.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    #[inline]
    fn get_lines(&self, from: MpbLine, lines: &mut [[u8; LINE_BYTES]], after: impl Fn(usize)) {
        self.load_lines(from, lines.len(), |index, line| {
            lines[index] = *line;
            after(index);
        });
    }

    /// Loads `lines` whole lines of an MPB, one after the other, and gives them to `take`.
    ///
    /// # Panics
    /// As for [`load_line`](Self::load_line).
    #[inline]
    fn load_lines(&self, from: MpbLine, lines: usize, mut take: impl FnMut(usize, &[u8; LINE_BYTES])) {
        for index in 0..lines {
            take(index, &self.load_mpb_line(from.plus(index)).0);
        }
    }
}

/// Uncached words.
pub trait UncachedWords: Topology {
    /// Loads word `index` of a region, as one access. What another core exposes has to be mapped, as
    /// [`Account::assert_mapped`] finds out, and is [reached](ExposedMemory::reach) first; lines are checked beforehand.
    ///
    /// # Panics
    /// If there is no such word, or it is another core's memory that is not mapped or not exposed.
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32;

    /// Stores word `index` of a region, as one access.
    ///
    /// # Panics
    /// As for [`load_word`](Self::load_word).
    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32);
}

/// Test-and-set registers, and the atomic counters of boards that have some.
pub trait Registers: Topology {
    /// Reads a test-and-set register: true if it was free.
    ///
    /// # Panics
    /// If there is no such core, or its register is out of reach.
    fn test_and_set(&self, core: CoreId) -> bool;

    /// Writes a test-and-set register: it is free.
    ///
    /// # Panics
    /// As for [`test_and_set`](Self::test_and_set).
    fn free(&self, core: CoreId);

    /// Accesses an atomic counter that the [layout](crate::Layout::atomic_counters) has, and returns what it was.
    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let _ = access;
        panic!("atomic counter {counter} of a machine that says nothing of its counters")
    }
}

/// Memory that is reached through the core's caches, in lines of 32 bytes: a write-back is of those that are dirty, and of
/// nothing beside them, which other cores may have stored to since.
///
/// # Safety
/// 1. [`core`](Topology::core), [`machine`](Topology::machine) and [`layout`](Topology::layout) are always the same; no
///    other value is the same core of that machine, and no other machine in the process has that number.
/// 2. A [view's address](Self::view_address) is aligned like lines and valid for reads and writes of the region's bytes once
///    they were [touched](Self::touch): for the access that follows, or, for a slice, until the next coherence point.
/// 3. Where other cores reach the same bytes, the machine [watches views](Self::WATCHES_VIEWS), and `touch` refuses an
///    access that the slice of another core excludes; from a touch for a slice on until the next coherence point of its core,
///    no other core changes what it looks at, or looks at it if the slice is mutable. [`Slices`](super::Slices) keeps account of
///    that.
/// 4. Where a core [is alone](Self::IS_ALONE), no value of the program is of another one, or of another machine.
pub unsafe trait CachedMemory: Topology {
    /// Whether a program can get hold of no other core's token of its caches.
    const IS_ALONE: bool = false;

    /// Whether the machine is told of each access of a view. If not, none of the methods is called that have a body here.
    const WATCHES_VIEWS: bool = false;

    /// Where this core has a region that it may view: one behind a controller, or one that it exposes.
    fn view_address(&self, region: Region<kind::Cached>) -> *mut u8;

    /// See [`ViewWindow::touch`](crate::cached::ViewWindow::touch). Lines that are absent are fetched for a store, too.
    fn touch(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<Touch> {
        let _ = (region, access);
        Some(Touch::default())
    }

    /// See [`ViewWindow::end_access`](crate::cached::ViewWindow::end_access).
    fn end_access(&self, region: Region<kind::Cached>, touch: Touch) {
        let _ = (region, touch);
    }

    /// A view is gone.
    fn end_view(&self, region: Region<kind::Cached>) {
        let _ = region;
    }

    /// This core is at a coherence point: its slices are gone.
    fn end_slices(&self) {}

    /// Writes back a region, which is no other core's memory, and forgets it, to its last line.
    fn flush(&self, region: Region<kind::Cached>);

    /// Writes back and forgets all that is cached, what the core itself exposes, too.
    fn flush_all(&self);
}

/// Private memory that other cores reach.
///
/// # Safety
/// 1. A region that this core has [exposed](Self::expose) leads to the memory that it was exposed with, for all cores that
///    have mapped it, and to nothing else; and to nothing any more when [`conceal`](Self::conceal) has returned `Ok`.
/// 2. `conceal` returns `Ok` only when no core has reached the region that has not let go of it.
pub unsafe trait ExposedMemory: CombinedLines {
    /// Whether others know what a core exposes by the addresses at which the core itself has it. If not, it gets others,
    /// which do not depend on where the memory is.
    const EXPOSES_IN_PLACE: bool = false;

    /// Slots of the lookup table that the core has for other cores' memory.
    fn most_mappings(&self) -> usize {
        MAPPED_SLOTS
    }

    /// From now on, as many bytes of this core's private memory as `region` has are that region, which it exposes. What the
    /// core has of them in its caches is written back and forgotten before others can reach them.
    ///
    /// # Safety
    /// The bytes are valid for reads and writes, and reached by nobody else, until they are [concealed](Self::conceal) or for
    /// ever.
    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>);

    /// Takes back what began with `expose`, after a drain and a flush.
    ///
    /// # Errors
    /// A core that has reached it and not [let go](Self::let_go) of it: then it stays exposed.
    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId>;

    /// This core is about to access lines of what another core exposes, which it has mapped: a part of an exposure, or lines
    /// of several.
    fn reach(&self, region: Region<kind::Cached>) {
        let _ = region;
    }

    /// This core will not access what another core exposes, as far as it has bytes of the region: it lets go of each
    /// exposure that has some, though the region may be a part of it. What it has stored there is in memory before others see
    /// that. Nothing to do where nobody is told of [`reach`](Self::reach).
    fn let_go(&self, region: Region<kind::Cached>) {
        let _ = region;
    }

    /// Points the slot of the lookup table that has number `place`, of those for other cores' memory, at this one. Nothing to do
    /// where other cores' memory is reached without a table.
    fn map_slot(&self, slot: Slot, place: usize) {
        let _ = (slot, place);
    }

    /// Prepares for a slot to stand for other memory, or for none: what this core has stored there is pushed out, and lines
    /// are forgotten.
    fn forget_slot(&self, slot: Slot) {
        let _ = slot;
        self.drain();
        self.invalidate_lines();
    }
}

/// Time.
pub trait Ticks {
    /// Ticks, see [`Clock::now`](crate::Clock::now).
    fn now(&self) -> u64;

    /// Ticks in a second; a tick is a nanosecond unless the machine says otherwise.
    fn ticks_per_second(&self) -> u64 {
        1_000_000_000
    }

    /// Whether ticks are time, see [`Clock::tells_time`](crate::Clock::tells_time).
    fn tells_time(&self) -> bool {
        true
    }

    /// Lets the core count something from now on, or no more, and returns the count so far. Nothing if it cannot.
    fn count(&self, what: Countable, runs: bool) -> Option<u64> {
        let _ = (what, runs);
        None
    }
}

/// Waiting, and giving way.
pub trait Turns {
    /// What a wait that goes on keeps.
    type Patience;

    /// A wait begins.
    fn begin_wait(&self, deadline: Deadline) -> Self::Patience;

    /// Called before each poll, so that a change between the poll and [`park`](Self::park) is not missed.
    fn before_poll(&self, watch: Watch<'_>) {
        let _ = watch;
    }

    /// Lets time pass until another poll may succeed; the poll since [`before_poll`](Self::before_poll) has failed. Comes back
    /// if anything was written since then, if an interrupt is due, and when the deadline has passed, which it says. Does not return if the machine cannot come to its end any more: then it has said who waits for whom.
    fn park(&self, patience: &mut Self::Patience, watch: Watch<'_>, reason: Reason) -> Woken;

    /// The wait is over.
    fn end_wait(&self, watch: Watch<'_>) {
        let _ = watch;
    }

    /// A handler comes in the middle of the wait, which then begins anew.
    fn interrupt_wait(&self, watch: Watch<'_>) {
        self.end_wait(watch);
    }

    /// See [`Wait::relax`](crate::Wait::relax).
    fn relax(&self) {
        core::hint::spin_loop();
    }

    /// Whether waits of this core end at once, without [`park`](Self::park): once it unwinds, as `std::thread::panicking` says. A core
    /// that does not unwind, and is told so, goes on with what was never sent; it is `park` that ends it, by a panic, if another
    /// one has failed. Machines on which a core that fails stops at once are never seen dying.
    fn is_dying(&self) -> bool {
        false
    }
}

/// Interrupts between cores.
pub trait Signals {
    /// Raises an interrupt on a core, which may be this one, and for which this core holds that core's test-and-set register.
    fn raise_interrupt(&self, target: CoreId);

    /// Lets interrupts that are raised on this core interrupt it, or no more. Nothing to do where nothing interrupts it in the
    /// middle: what [is due](Self::interrupt_is_due) is taken at the end of its operations.
    fn open_interrupts(&self, open: bool) {
        let _ = open;
    }

    /// Whether an interrupt that was raised on this core has arrived and was not taken, however often others raised it
    /// meanwhile. May be called at any moment.
    fn interrupt_is_due(&self) -> bool;

    /// Takes what has arrived, however often it was raised. False if nothing has.
    fn take_interrupt(&self) -> bool;
}

/// What a machine that is emulated gets to know besides. Others say nothing of it, and pay nothing for it.
pub trait Hooks: Ticks {
    /// Accounts for local work, where that does not take its own time.
    #[inline(always)]
    fn spend(&self, expense: Expense) {
        let _ = expense;
    }

    /// Computes for `cycles` cycles. Wherever an interrupt arrives meanwhile, `interrupted` is called and the rest follows;
    /// machines whose processors are really interrupted do nothing of that kind.
    fn compute(&self, cycles: u64, interrupted: Option<&dyn Fn()>) {
        let _ = interrupted;
        self.spend(Expense::Cycles(cycles));
    }

    /// Tells a machine that prices private memory and software that an operation about `bytes` bytes begins, within those that
    /// are under way; 0 if it is about none. That of an operation of a protocol is its span's.
    #[inline(always)]
    fn enter(&self, protocol: Option<&Span>, bytes: usize) {
        let _ = (protocol, bytes);
    }

    /// The operation ends that began last.
    #[inline(always)]
    fn leave(&self) {}

    /// Tells such a machine that the lines of private memory of which it is told next are these.
    #[inline(always)]
    fn goes_to(&self, memory: &[u8]) {
        let _ = memory;
    }

    /// Tells such a machine that a handler of interrupts begins, whose operations have nothing to do with what is under way.
    #[inline(always)]
    fn enter_handler(&self) {}

    /// The handler ends that began last.
    #[inline(always)]
    fn leave_handler(&self) {}

    /// Tells a machine that checks programs what happens, at the moment at which it takes effect. Others do not ask.
    #[inline(always)]
    fn witness(&self, event: impl FnOnce() -> Event) {
        let _ = event;
    }

    /// Whether a machine checks the program.
    #[inline(always)]
    fn is_checked(&self) -> bool {
        false
    }

    /// Whether what the program asks for here is to be left out, to show what it is for.
    #[inline(always)]
    fn is_left_out(&self, upkeep: Upkeep) -> bool {
        let _ = upkeep;
        false
    }

    /// Tells a machine that checks programs what the program does in its own memory.
    #[inline(always)]
    fn declare(&self, act: &Act<'_>) {
        let _ = act;
    }

    /// Tells whoever traces the core from outside what it does. Others do not ask.
    #[inline(always)]
    fn announce(&self, announcement: Announcement<'_>) {
        let _ = announcement;
    }

    /// The time of a trace: like [`now`](Ticks::now), where there is nothing finer.
    fn moment(&self) -> u64 {
        self.now()
    }

    /// Moments in a second.
    fn moments_per_second(&self) -> u64 {
        self.ticks_per_second()
    }

    /// The moment at which others could see what this core has just written, if it is known; otherwise now, or an earlier one.
    fn last_visible(&self) -> u64 {
        self.moment()
    }
}

/// All that a machine says of one core.
///
/// # Safety
/// 1. [`account`](Self::account) is always the same, and nobody else's: whether there are views and the token of the caches, it
///    alone knows.
/// 2. Once a [`HardwareCore`](super::HardwareCore) has the value, nobody else calls its methods.
/// 3. [`address_of`](CombinedLines::address_of) is other than 0 only where a program has one machine, and all its cores find the line there,
///    always.
pub unsafe trait Hardware:
    CombinedLines + UncachedWords + Registers + CachedMemory + ExposedMemory + Ticks + Turns + Signals + 'static
{
    /// Whether the [hooks](Self::hooks) are told of what has no effect but on time, by [`spend`](Hooks::spend) and
    /// [`compute`](Hooks::compute), as all emulated cores' are.
    const TELLS_EXPENSES: bool = false;

    /// Who implements the hooks: the machine itself, or a part of it, such as the platform below an emulated core.
    type Hooks: Hooks;

    /// The account that the core on top keeps, made with as many [mappings](ExposedMemory::most_mappings) as there can be.
    fn account(&self) -> &Account;

    /// The hooks, which are the same value in each call.
    fn hooks(&self) -> &Self::Hooks;

    /// Does what hardware may do by itself between two operations of a program: drain, or evict.
    #[inline(always)]
    fn explore(&self) {}

    /// The core's trace, where it can be traced.
    #[inline(always)]
    fn tracer(&self) -> Option<&Tracer> {
        None
    }
}
