//! A simulated core's side of the machine: [`Platform`] on top of the engine.
//!
//! Every operation first lets its time come, then touches memory. Operations of a machine that is being taken down do
//! nothing and never give way: their core is being unwound, and what they would do has no meaning any more.

mod operations;
mod over_network;
mod shared;

pub(super) use self::shared::Shared;

use std::{
    cell::{Cell, RefCell},
    ops::Range,
    ptr,
    rc::Rc,
    sync::Arc,
};

use corosensei::{Yielder, stack::Stack};
use prices::{Journey, Trip};

use crate::{
    CoreId, HeapExhausted, Line, LineAddress, MpbLine,
    emulated::{EmulatedCore, Platform},
    kit::Expense,
};

pub(super) use self::shared::Part;
use self::shared::insist;

use super::{
    access::{Access, Effect},
    account::Account,
    caches::Caches,
    cost::Way,
    float_control::FloatControl,
    heat::{HeatMap, Target},
    network::Stored,
    recency::Found,
    software::{Prices, Software},
    waiting::Sample,
};

/// A simulated core: what a program gets.
pub type SimCore = EmulatedCore<SimPlatform>;

const PS_PER_TICK: u64 = 1_000;

impl SimCore {
    /// Virtual time of this core, in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.platform().now_ps()
    }
}

/// The machine as one simulated core sees it.
pub struct SimPlatform {
    core: CoreId,
    shared: Rc<Shared>,
    yielder: Cell<*const Yielder<(), ()>>,
    /// The core's stack, with its guard page at the lower end.
    stack: Cell<(usize, usize)>,
    /// Where on it the core gave way.
    stack_pointer: Cell<usize>,
    has_ended: Cell<bool>,
    account: Arc<Account>,
    /// Whether what is allocated now is on the account.
    counts: Cell<bool>,
    /// What private memory goes through, and what our software takes, where that is priced.
    caches: Option<RefCell<Caches>>,
    software: Option<RefCell<Software>>,
    /// Handlers of interrupts that run, one within the other. Of each wait in the middle of which one came: within how many it was,
    /// and whether its first poll had failed.
    handlers: Cell<u32>,
    interrupted: RefCell<Vec<(u32, bool)>>,
    /// Whether the write-combine buffer has what was stored to push out what was in it before.
    has_dummy: Cell<bool>,
}

impl SimPlatform {
    pub(super) fn new(core: CoreId, shared: Rc<Shared>, heap_bytes: usize, software: Option<&Rc<Prices>>) -> Self {
        Self {
            core,
            caches: software.map(|_| RefCell::new(Caches::new(shared.cost.l2_bytes()))),
            software: software.map(|prices| RefCell::new(Software::new(prices))),
            handlers: Cell::new(0),
            interrupted: RefCell::default(),
            has_dummy: Cell::new(false),
            shared,
            yielder: Cell::new(ptr::null()),
            stack: Cell::new((0, 0)),
            stack_pointer: Cell::new(0),
            has_ended: Cell::new(false),
            account: Account::new(heap_bytes, software.is_some()),
            counts: Cell::new(true),
        }
    }

    /// The account of what the core's program allocates, unless it is suspended.
    pub(super) fn account(&self) -> Option<&Arc<Account>> {
        self.counts.get().then_some(&self.account)
    }

    /// Suspends the account or lets it go on; returns whether it went on before.
    pub(super) fn count(&self, counts: bool) -> bool {
        self.counts.replace(counts)
    }

    pub(super) fn set_stack(&self, stack: &impl Stack) {
        self.stack.set((stack.limit().get(), stack.base().get()));
    }

    /// The addresses of the core's stack, with its guard page at the lower end.
    pub(super) fn stack(&self) -> Range<usize> {
        let (limit, base) = self.stack.get();
        limit..base
    }

    /// Where on its stack the core gave way.
    pub(super) fn stack_pointer(&self) -> usize {
        self.stack_pointer.get()
    }

    /// Whether the core's program has begun, or will, and has not ended.
    pub(super) fn stands(&self) -> bool {
        !self.has_ended.get()
    }

    /// The core's program has ended.
    pub(super) fn ended(&self) {
        self.has_ended.set(true);
    }

    /// If the last allocation was refused: what to say of it.
    pub(super) fn exhausted(&self) -> Option<HeapExhausted> {
        self.account.exhausted(self.core.index())
    }

    pub(super) fn id(&self) -> CoreId {
        self.core
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The core's coroutine runs; `yielder` is its way out.
    pub(super) fn started(&self, yielder: &Yielder<(), ()>) {
        self.yielder.set(yielder);
    }

    /// Virtual time of this core, in picoseconds.
    pub(super) fn now_ps(&self) -> u64 {
        self.shared.engine.borrow().clock_ps(self.core.index())
    }

    /// Gives way until the engine lets this core run.
    #[inline(never)]
    pub(super) fn give_way(&self) {
        assert!(Running::is(self), "{} is used outside its own program", self.core);
        let control = FloatControl::save();
        self.stack_pointer.set((&raw const control).addr());
        // SAFETY: the coroutine of this core is the one that runs, as just checked, so its yielder, which lives at the
        // bottom of its stack, was set by `started` and is alive.
        unsafe { (*self.yielder.get()).suspend(()) }
        control.restore();
    }

    /// Whether the core can stop for good here, and the others go on.
    pub(super) fn may_stop(&self) -> bool {
        !self.shared.dying.get() && self.shared.engine.try_borrow_mut().is_ok_and(|engine| engine.free.is_none())
    }

    /// Gives way for ever, as a core that has finished.
    pub(super) fn stop(&self) {
        self.shared.engine.borrow_mut().finished(self.core.index());
        self.give_way();
    }

    /// Lets the time come at which an access takes effect.
    #[inline(never)]
    fn reach(&self, access: Access, cost_ps: u64) {
        let has_come = self.shared.engine.borrow_mut().reach(self.core.index(), access, cost_ps);
        if !has_come {
            if self.shared.checker.is_some() {
                self.tell_deviation();
            }
            self.give_way();
        }
    }

    /// Lets the time come at which an access to memory takes effect, which may be later than its price says where
    /// accesses can meet.
    #[inline(always)]
    fn reach_memory(&self, access: Access, cost_ps: u64, trip: Option<Trip>) {
        let Some(trip) = trip else { return self.reach(access, cost_ps) };
        let has_come = self.shared.engine.borrow_mut().travel(self.core.index(), access, trip);
        if !has_come {
            self.give_way();
        }
    }

    /// Reaches private memory, where others may be in the way.
    #[inline(always)]
    fn run_errand(&self, journey: Journey) {
        if self.is_dying() {
            return;
        }
        let is_back = self.shared.engine.borrow_mut().run_errand(self.core.index(), journey);
        if !is_back {
            self.give_way();
        }
        self.shared.engine.borrow_mut().spend(self.core.index(), journey.trip.answer_ps);
    }

    /// Charges what software takes, where it has prices.
    fn charge(&self, price_ps: impl FnOnce(&mut Software) -> u64) {
        if let Some(software) = &self.software {
            let price_ps = price_ps(&mut software.borrow_mut());
            self.shared.engine.borrow_mut().spend(self.core.index(), price_ps);
        }
    }

    /// A wait whose first poll has failed goes on: what it needs for that is made once, before its second poll.
    fn begin_to_wait(&self) {
        let core = self.core.index();
        if !std::mem::replace(&mut self.shared.engine.borrow_mut().waits[core].goes_on, true) {
            let before = self.now_ps();
            self.charge(Software::goes_on_waiting);
            // No poll takes as long again.
            let engine = &mut self.shared.engine.borrow_mut();
            engine.waits[core].start_ps += engine.clock_ps(core) - before;
        }
    }

    /// Whether what the core reads now is a part of a poll.
    #[inline]
    fn is_polling(&self) -> bool {
        self.shared.engine.borrow().waits[self.core.index()].polling
    }

    /// A poll has looked at something.
    fn looked(&self) {
        self.charge(Software::looked);
    }

    /// A store to another line than that of the last drain first pushes out what the drain has stored, to the own MPB.
    fn push_out_dummy(&self) {
        if self.has_dummy.replace(false) {
            let line = LineAddress::Mpb(MpbLine::new(self.core, 0));
            let cost = self.shared.cost.write_line(self.core, line);
            match self.shared.cost.write_trip(self.core, line) {
                Some(trip) => {
                    let journey = Journey { trip, effect: Effect::Write, more: 0 };
                    let is_back = self.shared.engine.borrow_mut().run_errand(self.core.index(), journey);
                    if !is_back {
                        self.give_way();
                    }
                }
                None => self.shared.engine.borrow_mut().passes(self.core.index(), cost.visible_ps),
            }
            self.shared.engine.borrow_mut().posted(self.core.index(), cost.complete_ps - cost.visible_ps);
        }
    }

    /// What is left of an expense behind the core's caches. What L2 has is paid for at once.
    fn through_caches(&self, caches: &RefCell<Caches>, expense: Expense) -> Expense {
        let (lines, writes) = match expense {
            Expense::PrivateRead { lines } => (lines, false),
            Expense::PrivateWrite { lines } => (lines, true),
            Expense::Flush { .. } | Expense::FlushAll => {
                let displaced = self.shared.cost.private_lines(expense).map_or(0, |(lines, _)| lines);
                caches.borrow_mut().displace(displaced);
                return expense;
            }
            Expense::InvalidateMpb => {
                caches.borrow_mut().invalidate_mpb();
                return expense;
            }
            _ => return expense,
        };
        let (mut in_l2, mut in_memory) = (0, 0);
        caches.borrow_mut().pass(lines, writes, |found| match found {
            Found::InL1 => {}
            Found::InL2 => in_l2 += 1,
            Found::InMemory => in_memory += 1,
        });
        if in_l2 > 0 {
            self.shared.engine.borrow_mut().spend(self.core.index(), self.shared.cost.l2_hits(in_l2));
        }
        Expense::PrivateRead { lines: in_memory }
    }

    /// Lets the time come at which memory is exposed or concealed: what others do to it earlier comes before. That
    /// costs nothing in itself.
    fn reach_exposure(&self) {
        if !self.is_dying() {
            self.reach(Access::exposure(self.core), 0);
        }
    }

    /// Lets the time of a write of bytes in `most` come, and writes what there is to be written then.
    #[inline(always)]
    fn write_at_time(&self, at: LineAddress, most: u32, mut take: impl FnMut() -> Option<(Line, u32)>) {
        if self.is_dying() {
            return;
        }
        match (self.shared.cost.way(self.core, at), self.shared.cost.cluster()) {
            (Way::Coherent, Some(cluster)) => return self.write_coherently(at, most, &mut take, cluster),
            (Way::Engine(node), _) => {
                if let Some((data, mask)) = take() {
                    self.count_write(Target::Line(at));
                    self.post(node, Stored::Line(at, data, mask));
                }
                return;
            }
            _ => {}
        }
        self.settle();
        self.push_out_dummy();
        let cost = self.shared.cost.write_line(self.core, at);
        let access = Access::line(at, most, Effect::Write);
        self.reach_memory(access, cost.visible_ps, self.shared.cost.write_trip(self.core, at));
        let Some((data, mask)) = take() else { return };
        self.count_write(Target::Line(at));
        insist(self.shared.write_line(at, &data, mask));
        self.shared.engine.borrow_mut().written(self.core.index(), access, cost);
    }

    /// Counts traffic, where it is counted.
    fn heat(&self, count: impl FnOnce(&mut HeatMap)) {
        if let Some(heat) = &self.shared.heat {
            count(&mut heat.borrow_mut());
        }
    }

    fn count_read(&self, target: Target) {
        self.heat(|heat| heat.read(self.core, target, 1));
    }

    fn count_write(&self, target: Target) {
        self.heat(|heat| heat.write(self.core, target, 1));
    }

    fn replay(&self, access: Access, cost_ps: u64) -> Option<Sample> {
        self.shared.engine.borrow_mut().replay(self.core.index(), access, cost_ps)
    }

    fn sampled(&self, sample: Sample) {
        self.shared.engine.borrow_mut().sampled(self.core.index(), sample);
    }
}

thread_local! {
    static RUNNING: Cell<*const SimCore> = const { Cell::new(ptr::null()) };
}

/// Notes, until it is dropped, that a core is running on this thread.
pub(super) struct Running {
    /// A simulated core may itself run a machine; its own turn is not over then.
    outer: *const SimCore,
}

impl Running {
    pub(super) fn now(core: &SimCore) -> Self {
        Self { outer: RUNNING.replace(core) }
    }

    /// Whether that core is the one that is running.
    pub(super) fn is(platform: &SimPlatform) -> bool {
        Self::with(|core| ptr::eq(core.platform(), platform)).unwrap_or(false)
    }

    /// Does something with the core that is running on this thread, if one is. Neither allocates nor locks, so that
    /// allocators and handlers of signals may call it.
    pub(super) fn with<R>(action: impl FnOnce(&SimCore) -> R) -> Option<R> {
        let core = RUNNING.try_with(Cell::get).ok()?;
        // SAFETY: a core is only noted while it is borrowed by the caller of `now`, whose turn it is.
        unsafe { core.as_ref() }.map(action)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.outer);
    }
}

#[cfg(test)]
impl SimPlatform {
    /// Lets any time pass.
    pub(super) fn spend_ps(&self, cost_ps: u64) {
        self.shared.engine.borrow_mut().spend(self.core.index(), cost_ps);
    }
}
