//! One core of the machine: [`Platform`] on the host's threads.

use std::{
    cell::{Cell, RefCell},
    hint, panic,
    ptr::NonNull,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use hal::{
    CoreId, Deadline, Layout, Line, LineAddress, Region, SharedAddress, Topology,
    emulated::{Choice, Copies, EmulatedCore, HostWindow, Platform, WaitInfo},
    kind,
    kit::{CounterAccess, Hooks, Registers, Signals, Slices, Ticks, Watch, Woken},
};

use crate::{memory::Memory, stuck::Cores};

/// A core that is a thread: what a program gets.
pub type ThreadCore = EmulatedCore<ThreadPlatform>;

/// Failed polls of a wait until a core lets others have its processor, and until it says what it waits for and sleeps in
/// between, where there are fewer processors than cores.
pub(crate) const POLLS_IN_A_CROWD: [u32; 2] = [64, 4096];

/// Failed polls until then where each core can have a processor: for longer than another one oversleeps, lest that makes this one sleep.
pub(crate) const POLLS_WITH_ROOM: [u32; 2] = [1 << 16; 2];

/// For how long a core sleeps between two polls of a long wait.
const NAP: Duration = Duration::from_micros(100);

/// A turn of others that is longer than this is not one of this machine's cores: other programs compute, too.
const LONG_TURN: Duration = Duration::from_micros(500);

/// How often a core then sleeps where it would have given up its turn. Whoever sleeps comes before them, and whoever
/// gives up its turn comes after each of them.
const NAPS_IN_A_CROWD: u32 = 256;

/// What all cores of a machine have.
pub(crate) struct Shared {
    pub(crate) layout: Layout,
    pub(crate) memory: Memory,
    pub(crate) cores: Cores,
    /// Whether an interrupt was raised on a core and not taken.
    pub(crate) raised: Vec<AtomicBool>,
    pub(crate) begin: Instant,
    pub(crate) coherent: bool,
    /// Failed polls of a wait until a core lets others have its processor, and until it sleeps.
    pub(crate) polls: [u32; 2],
    /// Seeds of what hardware does by itself, and of hand-overs; 0 for none.
    pub(crate) explore: u64,
    pub(crate) preempt: u64,
}

/// With what a core leaves its program when the machine comes to its end.
pub(crate) struct Leaves;

/// The machine as one of its threads sees it.
pub struct ThreadPlatform {
    core: CoreId,
    shared: Arc<Shared>,
    random: Cell<u64>,
    slices: RefCell<Slices>,
    /// Failed polls of the present wait, and the machine's writes before the last one, once it is a long wait.
    polls: Cell<u32>,
    writes: Cell<u64>,
    /// For how many turns to come other programs are taken to compute, too.
    crowded: Cell<u32>,
}

impl ThreadPlatform {
    pub(crate) fn new(core: CoreId, shared: Arc<Shared>) -> Self {
        let random = Cell::new((shared.explore ^ shared.preempt.rotate_left(32)).wrapping_add(core.index() as u64));
        let (slices, polls, writes, crowded) = Default::default();
        Self { core, shared, random, slices, polls, writes, crowded }
    }

    fn draw(&self, below: usize) -> usize {
        // Spread over all bits, of which the upper ones are drawn from.
        let state = self.random.get().wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        (state >> 33) as usize % below
    }

    /// Lets others run, now and then, where that was asked for.
    fn hand_over_by_chance(&self) {
        if self.shared.preempt != 0 && self.draw(4) == 0 {
            self.give_way();
        }
    }

    /// Lets others run.
    fn give_way(&self) {
        match self.crowded.get() {
            0 => {
                let began = Instant::now();
                thread::yield_now();
                if began.elapsed() > LONG_TURN {
                    self.crowded.set(NAPS_IN_A_CROWD);
                }
            }
            left => {
                self.crowded.set(left - 1);
                thread::sleep(NAP);
            }
        }
    }

    /// Something was written that others may wait for.
    fn wrote(&self) {
        self.shared.cores.count_write(self.core);
        self.hand_over_by_chance();
    }

    /// Leaves the program if the machine comes to its end.
    fn leave_if_dying(&self) {
        if self.is_dying() && !thread::panicking() {
            panic::resume_unwind(Box::new(Leaves));
        }
    }

    /// Whether a long wait goes on, of which the others are told.
    fn is_told(&self) -> bool {
        self.polls.get() > self.shared.polls[1]
    }
}

impl Topology for ThreadPlatform {
    fn core(&self) -> CoreId {
        self.core
    }

    fn layout(&self) -> &Layout {
        &self.shared.layout
    }

    fn machine(&self) -> u64 {
        Arc::as_ptr(&self.shared).addr() as u64
    }
}

impl Registers for ThreadPlatform {
    fn test_and_set(&self, register: CoreId) -> bool {
        self.hand_over_by_chance();
        self.shared.memory.test_and_set(register)
    }

    fn free(&self, register: CoreId) {
        self.shared.memory.free(register);
        self.wrote();
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        self.hand_over_by_chance();
        let before = self.shared.memory.access_counter(counter, access);
        if access != CounterAccess::Read {
            self.wrote();
        }
        before
    }
}

impl Ticks for ThreadPlatform {
    fn now(&self) -> u64 {
        self.shared.begin.elapsed().as_nanos() as u64
    }
}

impl Signals for ThreadPlatform {
    fn raise_interrupt(&self, target: CoreId) {
        self.shared.raised[target.index()].store(true, SeqCst);
        self.wrote();
    }

    fn interrupt_is_due(&self) -> bool {
        self.shared.raised[self.core.index()].load(SeqCst)
    }

    fn take_interrupt(&self) -> bool {
        self.shared.raised[self.core.index()].swap(false, SeqCst)
    }
}

impl Hooks for ThreadPlatform {
    /// Where programs compute, an interrupt may come.
    fn compute(&self, _cycles: u64, interrupted: Option<&dyn Fn()>) {
        interrupted.inspect(|interrupted| interrupted());
    }
}

// SAFETY: 1. all of it is chosen when the machine is made, and `Machine::run` makes one value for each core; 2. `Memory::at`
// checks; 3. so does `Memory`; 4. `Memory` holds the account meanwhile, unless nobody has a slice; 5. there is one account.
unsafe impl Platform for ThreadPlatform {
    type Window = HostWindow;
    type Copies = Rc<Copies<HostWindow>>;

    fn read_line(&self, at: LineAddress) -> Line {
        self.hand_over_by_chance();
        self.shared.memory.read_line(at)
    }

    fn write_line(&self, at: LineAddress, data: &Line, mask: u32) {
        if mask != 0 {
            self.shared.memory.write_line(at, data, mask);
            self.wrote();
        }
    }

    fn read_word(&self, at: SharedAddress) -> u32 {
        self.hand_over_by_chance();
        self.shared.memory.read_word(at)
    }

    fn write_word(&self, at: SharedAddress, value: u32) {
        self.shared.memory.write_word(at, value);
        self.wrote();
    }

    fn choose(&self, choice: Choice, options: usize) -> usize {
        let by_chance = |one_in| usize::from(self.shared.explore != 0 && self.draw(one_in) == 0);
        match choice {
            Choice::VictimPage | Choice::VictimLine => self.draw(options),
            Choice::DrainEarly => by_chance(8),
            Choice::Evict => by_chance(32),
            Choice::StoreThrough => by_chance(2),
        }
    }

    fn before_poll(&self, _watch: Watch<'_>) {
        if self.is_told() {
            self.writes.set(self.shared.cores.writes());
        }
    }

    fn park(&self, watch: Watch<'_>, deadline: Deadline, info: &WaitInfo) -> Woken {
        self.leave_if_dying();
        let was_told = self.is_told();
        self.polls.set(self.polls.get().saturating_add(1));
        match deadline {
            Deadline::At(ticks) if self.now() >= ticks => return Woken::TimedOut,
            Deadline::Never if was_told => {
                let register = if let Watch::Register(register) = watch { Some(register) } else { None };
                let is_taken = |register| self.shared.memory.is_taken(register);
                self.shared.cores.waits(self.core, self.writes.get(), self.now(), *info, register, is_taken);
                thread::sleep(NAP);
            }
            _ if self.polls.get() > self.shared.polls[0] => self.give_way(),
            _ => hint::spin_loop(),
        }
        Woken::Poll { missed_polls: 0 }
    }

    fn end_wait(&self, _watch: Watch<'_>) {
        if self.is_told() {
            self.shared.cores.goes_on(self.core);
        }
        self.polls.set(0);
    }

    fn relax(&self) {
        self.leave_if_dying();
        self.give_way();
    }

    fn is_dying(&self) -> bool {
        self.shared.cores.is_dying()
    }

    fn coherent(&self) -> bool {
        self.shared.coherent
    }

    fn with_slices<R>(&self, change: impl FnOnce(&mut Slices) -> R) -> Option<R> {
        let Self { shared, slices, .. } = self;
        Some(if shared.coherent { shared.memory.with_slices(change) } else { change(&mut slices.borrow_mut()) })
    }

    fn fence(&self) {
        self.shared.memory.fence();
    }

    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>) {
        // SAFETY: the caller says so.
        unsafe { self.shared.memory.expose(region, memory) }
    }

    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        self.shared.memory.conceal(region)
    }

    fn reach(&self, region: Region<kind::Cached>) {
        self.shared.memory.set_reached(self.core, region, true);
    }

    fn let_go(&self, region: Region<kind::Cached>) {
        self.shared.memory.set_reached(self.core, region, false);
    }

    fn shared_memory(&self, region: Region<kind::Cached>) -> *mut u8 {
        self.shared.memory.at(region)
    }
}
