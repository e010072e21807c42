//! What an emulated core has below: lines, copies and a [`Platform`].

mod cached;
mod combined;

#[cfg(feature = "sim")]
use core::cell::Ref;
use core::cell::{Cell, RefCell};

use bitflags::bitflags;

use crate::{
    CoreId, Countable, Deadline, Home, Interrupt, LINE_BYTES, Layout, LineAddress, Reason, Region, Topology,
    cached::ViewAccess,
    exposed::MAPPED_SLOTS,
    kit::{
        Account, CounterAccess, Event, Hardware, HardwareCore, Noting, Registers, Signals, Spot, Ticks, Tracer, Turns,
        Watch, Woken,
    },
};

#[cfg(feature = "sim")]
use crate::{Line, SharedAddress};

use super::{Choice, Copies, LineCache, Platform, WaitInfo, page_window::address_at};

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
pub type EmulatedCore<P> = HardwareCore<Emulated<P>>;

/// The hardware of an emulated core.
pub struct Emulated<P: Platform> {
    platform: P,
    account: Account,
    /// Copies of what the core itself exposes.
    own: P::Copies,
    /// Copies of controllers' memory, which it has in common with its coherence domain. Alone in it, they are `own`.
    domain: P::Copies,
    lines: RefCell<LineCache>,
    omitted: Cell<Omit>,
    /// Whether the account of slices may have one of this core's.
    has_slices: Cell<bool>,
    tracer: Tracer,
}

impl<P: Platform> EmulatedCore<P> {
    /// The platform below; within `hal` only, for the reason of [`HardwareCore::hardware`].
    #[cfg(feature = "sim")]
    pub(crate) fn platform(&self) -> &P {
        &self.hardware().platform
    }

    /// What its L1 and its write-combine buffer hold, for somebody who looks at a core that stands still.
    #[cfg(feature = "sim")]
    pub(crate) fn cached_lines(&self) -> Ref<'_, LineCache> {
        self.hardware().lines.borrow()
    }

    /// The core's copy of a line of a controller's memory, if it has one, and which bytes of it memory does not have.
    #[cfg(feature = "sim")]
    pub(crate) fn copy_of(&self, at: SharedAddress) -> Option<(Line, u32)> {
        self.hardware().copies(at.home()).look(at)
    }

    /// The line in the write-combine buffer, which nobody else has seen; for reports.
    pub fn undrained(&self) -> Option<LineAddress> {
        self.hardware().undrained()
    }

    /// Leaves these operations out from now on, so that tests show what they are for.
    pub fn omit(&self, operations: Omit) {
        self.hardware().omitted.set(operations);
    }

    /// Evicts one cached line now if it is dirty, as hardware may at any moment.
    pub fn provoke_eviction(&self) {
        self.defer_interrupts(|| self.hardware().provoke_eviction());
    }

    /// Makes a page of cached memory present because the program touched the byte at `position` of the window; for
    /// page fault handlers.
    #[cfg_attr(not(target_os = "none"), allow(dead_code, reason = "no pages fault there"))]
    pub(crate) fn page_fault(&self, position: usize) {
        let start = address_at(position / LINE_BYTES * LINE_BYTES, self.core());
        self.hardware().fetch(Region::new(start, LINE_BYTES), ViewAccess::Load);
    }
}

impl<P: Platform> Emulated<P> {
    /// The hardware of a core with these copies of what it exposes, and with these of controllers' memory, which are the
    /// same where it is a coherence domain of its own.
    ///
    /// # Safety
    /// 1. No other core has `own`, and `domain` only those of its coherence domain: else the slices of two cores would be of the same
    ///    bytes, and neither would know.
    /// 2. There is no other hardware of the platform's core, on the same machine.
    /// 3. The windows of both copies have room for all controllers of the layout.
    pub unsafe fn new(platform: P, own: P::Copies, domain: P::Copies) -> Self {
        Self {
            platform,
            account: Account::new(MAPPED_SLOTS),
            own,
            domain,
            lines: RefCell::new(LineCache::new()),
            omitted: Cell::new(Omit::empty()),
            has_slices: Cell::new(false),
            tracer: Tracer::default(),
        }
    }

    /// The line in the write-combine buffer.
    fn undrained(&self) -> Option<LineAddress> {
        self.lines.borrow().pending().map(|pending| pending.at)
    }

    fn provoke_eviction(&self) {
        self.meet_domain(Home::Controller(0), true);
        let evicted = match self.domain.evict_a_line(&self.platform) {
            0 if self.domain.is_shared() => self.own.evict_a_line(&self.platform),
            evicted => evicted,
        };
        self.account.counting().lines_evicted.add(evicted);
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

    /// Insists that the register of `core` is within reach of this core.
    fn assert_register_reachable(&self, core: CoreId) {
        assert!(core.index() < self.layout().cores(), "{core} does not exist");
        assert!(
            self.layout().reaches_register(self.core(), core),
            "the test-and-set register of {core} is out of reach of {}: nothing is atomic between coherence domains",
            self.core()
        );
    }

    fn omits(&self, operation: Omit) -> bool {
        self.omitted.get().contains(operation)
    }

    fn push_out_pending(&self) {
        let Some(pending) = self.lines.borrow_mut().take_pending() else { return };
        if !self.platform.coherent() {
            let write = || self.platform.write_line(pending.at, &pending.data, pending.mask);
            self.trace_store(|| Spot::Line(pending.at), pending.mask, write);
            self.platform.witness(|| Event::PushedOut);
        }
    }
}

impl<P: Platform> Topology for Emulated<P> {
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

impl<P: Platform> Registers for Emulated<P> {
    fn test_and_set(&self, core: CoreId) -> bool {
        self.assert_register_reachable(core);
        let acquired = self.platform.test_and_set(core);
        if acquired {
            self.platform.witness(|| Event::Acquired(core));
        }
        acquired
    }

    fn free(&self, core: CoreId) {
        self.assert_register_reachable(core);
        self.platform.witness(|| Event::Freed(core));
        self.platform.free(core);
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let before = self.platform.access_counter(counter, access);
        self.platform.witness(|| Event::Counter(counter, access));
        before
    }
}

impl<P: Platform> Ticks for Emulated<P> {
    fn now(&self) -> u64 {
        self.platform.now()
    }

    fn ticks_per_second(&self) -> u64 {
        self.platform.ticks_per_second()
    }

    fn tells_time(&self) -> bool {
        self.platform.tells_time()
    }

    fn count(&self, what: Countable, runs: bool) -> Option<u64> {
        self.platform.count(what, runs)
    }
}

impl<P: Platform> Turns for Emulated<P> {
    type Patience = Deadline;

    fn begin_wait(&self, deadline: Deadline) -> Deadline {
        deadline
    }

    fn before_poll(&self, watch: Watch<'_>) {
        self.platform.before_poll(watch);
    }

    fn park(&self, deadline: &mut Deadline, watch: Watch<'_>, reason: Reason) -> Woken {
        self.platform.park(watch, *deadline, &WaitInfo { reason, undrained: self.undrained() })
    }

    fn end_wait(&self, watch: Watch<'_>) {
        self.platform.end_wait(watch);
    }

    fn interrupt_wait(&self, watch: Watch<'_>) {
        self.platform.interrupt_wait(watch);
    }

    fn relax(&self) {
        self.platform.relax();
    }

    fn is_dying(&self) -> bool {
        self.platform.is_dying()
    }
}

impl<P: Platform> Signals for Emulated<P> {
    fn raise_interrupt(&self, target: CoreId) {
        self.platform.witness(|| Event::Raised(target));
        self.platform.raise_interrupt(target);
    }

    fn open_interrupts(&self, open: bool) {
        self.platform.open_interrupts(open);
    }

    fn interrupt_is_due(&self) -> bool {
        !self.platform.is_dying() && self.platform.interrupt_is_due()
    }

    fn take_interrupt(&self) -> bool {
        let taken = self.platform.take_interrupt();
        if taken {
            self.platform.witness(|| Event::Taken);
        }
        taken
    }
}

// SAFETY: 1. a field, which is never replaced; 2. it has no parts that are shared; 3. it has no addresses.
unsafe impl<P: Platform> Hardware for Emulated<P> {
    const TELLS_EXPENSES: bool = true;

    type Hooks = P;

    fn account(&self) -> &Account {
        &self.account
    }

    #[inline(always)]
    fn hooks(&self) -> &P {
        &self.platform
    }

    /// Asks only where both answers make a difference, so that exhaustive exploration has few choices.
    fn explore(&self) {
        if self.lines.borrow().pending().is_some() && self.platform.choose(Choice::DrainEarly, 2) == 1 {
            self.push_out_pending();
        }
        let may_be_dirty = self.domain.may_be_dirty() || self.domain.is_shared() && self.own.may_be_dirty();
        if may_be_dirty && self.platform.choose(Choice::Evict, 2) == 1 {
            self.provoke_eviction();
        }
    }

    fn tracer(&self) -> Option<&Tracer> {
        Some(&self.tracer)
    }
}
