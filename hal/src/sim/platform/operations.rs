//! The operations of a simulated core.

use std::{cell::RefCell, ptr::NonNull, rc::Rc};

use crate::{
    Act, CoreId, Countable, Deadline, Home, LINE_BYTES, Layout, Line, LineAddress, Region, SharedAddress, Span,
    Topology,
    emulated::{Choice, Copies, FetchUnit, HostWindow, Platform, WaitInfo},
    kind,
    kit::{CounterAccess, Event, Expense, Hooks, Registers, Signals, Slices, Ticks, Upkeep, Watch, Woken},
};

use super::{
    super::{
        Cluster,
        access::{Access, Effect},
        check::Checker,
        cost::{Way, WriteCost},
        heap::off_account,
        heat::Target,
        network::Stored,
        software::Software,
        waiting::Sample,
    },
    PS_PER_TICK, Running, SimPlatform,
    shared::insist,
};

impl SimPlatform {
    /// Tells the checker what happens. Apart, so that runs that are not checked are as short as they can be.
    #[cold]
    #[inline(never)]
    fn tell(&self, checker: &RefCell<Checker>, event: Event) {
        if !self.is_dying() && off_account(|| checker.borrow_mut().observe(self.core, self.now_ps(), event)) {
            panic!("it looks again and again at a line that L1 has from before it was stored to");
        }
    }
}

impl SimPlatform {
    /// Tells the checker what has begun to be different from the plain run.
    #[cold]
    pub(super) fn tell_deviation(&self) {
        let begun = || self.shared.engine.borrow_mut().begun();
        while let Some(deviation) = begun() {
            if let Some(checker) = self.shared.checker.as_ref().filter(|_| !self.is_dying()) {
                off_account(|| checker.borrow_mut().deviates(self.core, self.now_ps(), &deviation));
            }
        }
    }

    /// Tells the checker that the core fails here.
    pub(in super::super) fn tell_fault(&self, what: &str) {
        if let Some(checker) = &self.shared.checker {
            checker.borrow_mut().fails(self.core, self.now_ps(), what);
        }
    }
}

impl Topology for SimPlatform {
    fn core(&self) -> CoreId {
        self.core
    }

    fn layout(&self) -> &Layout {
        &self.shared.layout
    }

    fn machine(&self) -> u64 {
        self.shared.number
    }
}

impl Registers for SimPlatform {
    /// On a machine that is being taken down every register is free, so that no loop waits for one.
    fn test_and_set(&self, register: CoreId) -> bool {
        if self.is_dying() {
            return true;
        }
        self.count_read(Target::Register(register));
        let cost = self.shared.cost.test_and_set(self.core, register);
        let access = Access::register(register, Effect::TestAndSet);
        if self.replay(access, cost).is_some() {
            return false;
        }
        self.reach(access, cost);
        let acquired = self.shared.memory.test_and_set(register, self.core);
        if !acquired {
            self.sampled(Sample::Taken(register));
        }
        acquired
    }

    fn free(&self, register: CoreId) {
        if self.is_dying() {
            return;
        }
        self.settle();
        self.count_write(Target::Register(register));
        let cost = self.shared.cost.free(self.core, register);
        let access = Access::register(register, Effect::Write);
        self.reach(access, cost.visible_ps);
        self.shared.memory.free(register);
        self.shared.engine.borrow_mut().written(self.core.index(), access, cost);
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        if self.is_dying() {
            return 0;
        }
        let cost = self.shared.cost.access_counter(self.core);
        match access {
            CounterAccess::Set(_) => self.count_write(Target::Board),
            _ => self.count_read(Target::Board),
        }
        if access == CounterAccess::Read {
            let read = Access::counter(counter, Effect::Read);
            if let Some(Sample::Counter(_, value)) = self.replay(read, cost.complete_ps) {
                return value;
            }
            self.reach(read, cost.complete_ps);
            let value = self.shared.memory.access_counter(counter, access);
            self.sampled(Sample::Counter(counter, value));
            return value;
        }
        // Raising a counter is a read, too.
        let (effect, visible_ps) = match access {
            CounterAccess::Increment => (Effect::TestAndSet, cost.complete_ps),
            _ => (Effect::Write, cost.visible_ps),
        };
        let change = Access::counter(counter, effect);
        self.reach(change, visible_ps);
        let before = self.shared.memory.access_counter(counter, access);
        let cost = WriteCost { visible_ps, ..cost };
        self.shared.engine.borrow_mut().written(self.core.index(), change, cost);
        before
    }
}

impl Ticks for SimPlatform {
    /// Where everything is priced, the clock is the board's, whose two words are read as a board's core reads them: high, low,
    /// and high again.
    fn now(&self) -> u64 {
        if self.software.is_none() || self.is_dying() {
            return self.now_ps() / PS_PER_TICK;
        }
        let (core, access_ps) = (self.core.index(), self.shared.cost.access_counter(self.core).complete_ps);
        self.shared.engine.borrow_mut().passes(core, 2 * access_ps);
        let found = self.now_ps() / PS_PER_TICK;
        self.shared.engine.borrow_mut().spend(core, access_ps);
        found
    }

    fn ticks_per_second(&self) -> u64 {
        1_000_000_000
    }

    /// What software was charged, and for how many operations.
    fn count(&self, what: Countable, runs: bool) -> Option<u64> {
        let [cycles, operations, lines] = self.software.as_ref()?.borrow_mut().count(runs);
        match what {
            Countable::Instructions | Countable::CodeMisses => None,
            Countable::Cycles => Some(cycles),
            Countable::Operations => Some(operations),
            Countable::Lines => Some(lines),
        }
    }
}

impl Signals for SimPlatform {
    fn raise_interrupt(&self, target: CoreId) {
        if self.is_dying() {
            return;
        }
        self.settle();
        // It is read first, to see whether the bit is set.
        self.count_read(Target::Register(target));
        self.count_write(Target::Register(target));
        let cost = self.shared.cost.raise(self.core, target);
        self.reach(Access::interrupt(target, Effect::Write), cost.visible_ps);
        let delivery_ps = self.shared.cost.delivery();
        let mut engine = self.shared.engine.borrow_mut();
        engine.raise_interrupt(target.index(), delivery_ps);
        engine.posted(self.core.index(), cost.complete_ps - cost.visible_ps);
    }

    fn open_interrupts(&self, open: bool) {
        self.shared.engine.borrow_mut().open_interrupts(self.core.index(), open);
    }

    fn interrupt_is_due(&self) -> bool {
        // The engine asks for a core's counters when its program is over.
        if self.is_dying() || !Running::is(self) {
            return false;
        }
        self.reach(Access::interrupt(self.core, Effect::Read), 0);
        self.shared.engine.borrow().interrupt_is_due(self.core.index())
    }

    fn take_interrupt(&self) -> bool {
        !self.is_dying() && self.shared.engine.borrow_mut().take_interrupt(self.core.index())
    }
}

impl Hooks for SimPlatform {
    fn spend(&self, expense: Expense) {
        self.charge(|software| software.spend(expense));
        if matches!(expense, Expense::Line(_) | Expense::LineLoad) {
            // Software, and nothing else.
            return;
        }
        let expense = self.caches.as_ref().map_or(expense, |caches| self.through_caches(caches, expense));
        if let Some((lines, effect)) = self.shared.cost.private_lines(expense) {
            self.heat(|heat| heat.private(self.core, lines, effect));
        }
        if let Some(journey) = self.shared.cost.errand(self.core, expense) {
            return self.run_errand(journey);
        }
        let cost = self.shared.cost.expense(self.core, expense);
        self.shared.engine.borrow_mut().spend(self.core.index(), cost);
    }

    fn compute(&self, cycles: u64, interrupted: Option<&dyn Fn()>) {
        let Some(interrupted) = interrupted else { return self.spend(Expense::Cycles(cycles)) };
        let core = self.core.index();
        let mut left_ps = self.shared.cost.expense(self.core, Expense::Cycles(cycles));
        while left_ps > 0 && !self.is_dying() {
            let until_ps = self.now_ps().saturating_add(left_ps);
            if self.shared.engine.borrow_mut().sleep(core, until_ps) {
                self.give_way();
            }
            left_ps = until_ps.saturating_sub(self.now_ps());
            if left_ps > 0 {
                interrupted();
            }
        }
    }

    #[inline]
    fn enter(&self, protocol: Option<&Span>, bytes: usize) {
        if let Some(caches) = &self.caches {
            caches.borrow_mut().enter(bytes);
        }
        self.charge(|software| software.enter(protocol));
    }

    #[inline]
    fn leave(&self) {
        if let Some(caches) = &self.caches {
            caches.borrow_mut().leave();
        }
        self.charge(Software::leave);
    }

    #[inline]
    fn goes_to(&self, memory: &[u8]) {
        if let Some(caches) = &self.caches {
            caches.borrow_mut().goes_to(self.account.place(memory.as_ptr().addr()), memory.len());
        }
    }

    fn enter_handler(&self) {
        self.handlers.set(self.handlers.get() + 1);
        if let Some(caches) = &self.caches {
            caches.borrow_mut().enter_handler();
        }
        if let Some(software) = &self.software {
            software.borrow_mut().enter_handler();
        }
    }

    fn leave_handler(&self) {
        self.handlers.set(self.handlers.get().saturating_sub(1));
        if let Some(caches) = &self.caches {
            caches.borrow_mut().leave_handler();
        }
        self.charge(Software::leave);
    }

    #[inline(always)]
    fn witness(&self, event: impl FnOnce() -> Event) {
        if let Some(checker) = &self.shared.checker {
            self.tell(checker, event());
        }
    }

    #[inline(always)]
    fn is_checked(&self) -> bool {
        self.shared.checker.is_some()
    }

    #[inline(always)]
    fn is_left_out(&self, upkeep: Upkeep) -> bool {
        self.shared.checker.as_ref().is_some_and(|checker| off_account(|| checker.borrow().leaves_out(upkeep)))
    }

    #[inline(always)]
    fn declare(&self, act: &Act<'_>) {
        if matches!(act, Act::HasPart { .. } | Act::FreesPart { .. }) {
            return off_account(|| self.shared.follow_parts(self.core, act));
        }
        if let Some(checker) = self.shared.checker.as_ref().filter(|_| !self.is_dying()) {
            off_account(|| {
                checker.borrow_mut().declare(self.core, self.now_ps(), act);
                let visits = checker.borrow_mut().visits(self.core);
                for (at, mask) in visits {
                    let line = self.shared.memory.read_line(LineAddress::Shared(at));
                    self.shared.domains.copies(self.shared.layout.domain(self.core)).fetched_late(at, &line, mask);
                }
            });
        }
    }

    fn moment(&self) -> u64 {
        self.now_ps()
    }

    fn moments_per_second(&self) -> u64 {
        self.ticks_per_second() * PS_PER_TICK
    }

    fn last_visible(&self) -> u64 {
        self.shared.engine.borrow().visible[self.core.index()]
    }
}

// SAFETY: 1. all from the machine's description, and a core of each number; 2. see `Memory::shared`; 3. `Memory` has bounds
// for all of them; 4. `Shared` asks in the same step as it accesses memory; 5. the account is that of the core's domain,
// or the first one where memory is coherent, and only one core runs at a time.
unsafe impl Platform for SimPlatform {
    type Window = HostWindow;
    type Copies = Rc<Copies<HostWindow>>;

    fn read_line(&self, at: LineAddress) -> Line {
        if self.is_dying() {
            return Line::default();
        }
        self.count_read(Target::Line(at));
        match (self.shared.cost.way(self.core, at), self.shared.cost.cluster()) {
            (Way::Coherent, Some(cluster)) => return self.read_coherently(at, cluster),
            (Way::Engine(node), _) => {
                let answer_ps = self.reach_over_network(node, Some(at), Cluster::loads(LINE_BYTES));
                let line = self.shared.read_line(at);
                self.sampled(Sample::Line(at, line));
                self.shared.engine.borrow_mut().spend(self.core.index(), answer_ps);
                return line;
            }
            _ => {}
        }
        let cost = self.shared.cost.read_line(self.core, at);
        let access = Access::line(at, u32::MAX, Effect::Read);
        // Also in the part of a poll that is skipped: L1 has all lines of the last poll.
        if let (Some(caches), LineAddress::Mpb(_)) = (&self.caches, at) {
            caches.borrow_mut().load_mpb();
        }
        let is_polling = self.is_polling();
        if is_polling && let Some(Sample::Line(_, line)) = self.replay(access, cost) {
            self.looked();
            return line;
        }
        self.reach_memory(access, cost, self.shared.cost.read_trip(self.core, at));
        let line = self.shared.read_line(at);
        if is_polling {
            self.sampled(Sample::Line(at, line));
            self.looked();
        }
        line
    }

    fn write_line(&self, at: LineAddress, data: &Line, mask: u32) {
        self.write_at_time(at, mask, || Some((*data, mask)));
    }

    fn write_back(&self, at: LineAddress, take: &mut dyn FnMut() -> Option<(Line, u32)>) {
        self.write_at_time(at, u32::MAX, take);
    }

    fn read_word(&self, at: SharedAddress) -> u32 {
        if self.is_dying() {
            return 0;
        }
        self.count_read(Target::Word(at));
        if let Way::Engine(node) = self.shared.cost.word_way(at) {
            let answer_ps = self.reach_over_network(node, None, 1);
            let word = self.shared.read_word(at);
            self.sampled(Sample::Word(at, word));
            self.shared.engine.borrow_mut().spend(self.core.index(), answer_ps);
            return word;
        }
        let cost = self.shared.cost.read_word(self.core, at);
        let access = Access::word(at, Effect::Read);
        let is_polling = self.is_polling();
        if is_polling && let Some(Sample::Word(_, word)) = self.replay(access, cost) {
            self.looked();
            return word;
        }
        self.reach_memory(access, cost, self.shared.cost.word_trip(self.core, at, Effect::Read));
        let word = self.shared.read_word(at);
        if is_polling {
            self.sampled(Sample::Word(at, word));
            self.looked();
        }
        word
    }

    fn write_word(&self, at: SharedAddress, value: u32) {
        if self.is_dying() {
            return;
        }
        self.count_write(Target::Word(at));
        if let Way::Engine(node) = self.shared.cost.word_way(at) {
            return self.post(node, Stored::Word(at, value));
        }
        let cost = self.shared.cost.write_word(self.core, at);
        let access = Access::word(at, Effect::Write);
        self.reach_memory(access, cost.visible_ps, self.shared.cost.word_trip(self.core, at, Effect::Write));
        insist(self.shared.write_word(at, value));
        self.shared.engine.borrow_mut().written(self.core.index(), access, cost);
    }

    fn fence(&self) {
        // Of a drain of nothing, nothing is left.
        self.has_dummy.set(self.software.is_some());
    }

    fn relax(&self) {
        // Cores have a processor each.
        self.spend(Expense::Cycles(1));
    }

    fn choose(&self, choice: Choice, options: usize) -> usize {
        if self.is_dying() {
            return 0;
        }
        let chosen = self.shared.engine.borrow_mut().choose(self.core, choice, options);
        if chosen > 0 && self.is_checked() {
            self.tell_deviation();
        }
        chosen
    }

    fn before_poll(&self, watch: Watch<'_>) {
        if !self.is_dying() {
            if matches!(watch, Watch::Places(_)) && !self.shared.engine.borrow().waits[self.core.index()].active {
                let mut interrupted = self.interrupted.borrow_mut();
                if let Some((_, went_on)) = interrupted.pop_if(|(handlers, _)| *handlers == self.handlers.get()) {
                    // It was paid for when it began.
                    self.shared.engine.borrow_mut().waits[self.core.index()].goes_on = went_on;
                } else {
                    self.charge(Software::polls);
                }
            }
            self.shared.engine.borrow_mut().begin_poll(self.core.index());
        }
    }

    fn park(&self, watch: Watch<'_>, deadline: Deadline, info: &WaitInfo) -> Woken {
        if self.is_dying() {
            return Woken::TimedOut;
        }
        let deadline_ps = match deadline {
            Deadline::Never => None,
            // A time beyond the clock's range never comes.
            Deadline::At(ticks) => ticks.checked_mul(PS_PER_TICK),
        };
        let core = self.core.index();
        if matches!(watch, Watch::Places(_)) {
            self.charge(Software::failed);
            self.begin_to_wait();
        }
        let at_once = self.shared.engine.borrow_mut().park(core, watch, deadline_ps, info, &self.shared.memory);
        let woken = at_once.unwrap_or_else(|| {
            self.give_way();
            self.shared.engine.borrow_mut().woken(core)
        });
        if let Woken::Poll { missed_polls: times @ 1.. } = woken {
            // The polls that were skipped would have read what the last one did.
            let engine = self.shared.engine.borrow();
            self.heat(|heat| engine.last_poll(core).iter().for_each(|sample| heat.poll(self.core, sample, times)));
        }
        woken
    }

    fn end_wait(&self, watch: Watch<'_>) {
        let went_on = self.shared.engine.borrow_mut().end_wait(self.core.index());
        if went_on && matches!(watch, Watch::Places(_)) {
            self.charge(Software::ends_wait);
        }
    }

    fn interrupt_wait(&self, watch: Watch<'_>) {
        let went_on = self.shared.engine.borrow_mut().end_wait(self.core.index());
        if matches!(watch, Watch::Places(_)) {
            self.interrupted.borrow_mut().push((self.handlers.get(), went_on));
        }
    }

    fn is_dying(&self) -> bool {
        self.shared.dying.get() || std::thread::panicking()
    }

    fn coherent(&self) -> bool {
        self.shared.coherent
    }

    fn home_domain(&self, home: Home) -> Option<usize> {
        self.shared.domains.home(&self.shared.layout, home)
    }

    fn await_write_backs(&self) {
        if !self.is_dying() {
            self.settle_node();
        }
    }

    fn with_slices<R>(&self, change: impl FnOnce(&mut Slices) -> R) -> Option<R> {
        let scope = if self.shared.coherent { 0 } else { self.shared.layout.domain(self.core) };
        Some(change(&mut self.shared.domains.slices(scope)))
    }

    fn meet_domain(&self, changes: bool) {
        if !self.is_dying() {
            let effect = if changes { Effect::Write } else { Effect::Read };
            self.reach(Access::copies(self.shared.layout.domain(self.core), effect), 0);
        }
    }

    fn fetch_unit(&self) -> FetchUnit {
        self.shared.fetch_unit
    }

    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>) {
        self.reach_exposure();
        // SAFETY: the caller says so.
        unsafe { self.shared.memory.expose(region, memory) }
    }

    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        self.reach_exposure();
        self.shared.memory.conceal(region)
    }

    fn reach(&self, region: Region<kind::Cached>) {
        self.shared.memory.for_each_exposed(region, |reached_by| _ = reached_by.insert(self.core));
    }

    fn let_go(&self, region: Region<kind::Cached>) {
        self.shared.memory.for_each_exposed(region, |reached_by| _ = reached_by.remove(&self.core));
    }

    fn shared_memory(&self, region: Region<kind::Cached>) -> *mut u8 {
        self.shared.memory.shared(region.start(), region.len_bytes())
    }
}
