//! The emulated core on vCPUs: memory, registers and waiting.
//!
//! Lines and words move under the emulator's locks, because straight copies tear between vCPUs. What the cores of the
//! chip would share (MPBs, shared DRAM, test-and-set registers) lies in memory that all vCPUs share; what a core
//! caches lies in its own [`EmulatedCore`].

use core::{
    cell::Cell,
    ptr::{NonNull, with_exposed_provenance_mut},
    sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering},
};

use crate::{
    ATOMIC_COUNTERS, CoreId, Deadline, Home, LINE_BYTES, Layout, Line, LineAddress, MPB_LINES, Region, SharedAddress,
    Topology,
    bare::{
        cpu,
        private::{Private, PrivateOnce},
        this_core::this_core,
    },
    emulated::{Choice, Copies, Emulated, EmulatedCore, FetchUnit, PAGE_BYTES, Platform, WaitInfo, store_masked},
    kind,
    kit::{CounterAccess, Hooks, Registers, Signals, Slices, Ticks, Watch, Woken},
    qemu::{
        cluster::{
            heartbeat,
            nodes::{self, this_core_id},
        },
        emulator::{domain_copies, exposed_memory, mmu_window::MmuWindow, stuck, test_and_set, window_pages},
        exit::{ending::is_ending, traces},
        handed::facts,
        lock::{EmulatorGuard, EmulatorLock},
        memory::{addresses, areas},
        pc::{lapic, pit},
        trap,
    },
    topology::SHARED_BYTES_PER_CONTROLLER,
    trace,
};

/// A core of the machine under QEMU.
pub type QemuCore = EmulatedCore<QemuPlatform>;

/// Bytes of an uncached word.
const WORD_BYTES: usize = size_of::<u32>();

/// Locks that lines and words of the emulator's memory move under, by address.
const LOCKS: usize = 64;

#[unsafe(link_section = ".emulator")]
static LINE_LOCKS: [EmulatorLock<()>; LOCKS] = [const { EmulatorLock::new(()) }; LOCKS];

/// The board's atomic counters.
#[unsafe(link_section = ".emulator")]
static COUNTERS: [AtomicU32; ATOMIC_COUNTERS] = [const { AtomicU32::new(0) }; ATOMIC_COUNTERS];

/// Whether an interrupt was raised on a core of this node and not taken: the bit of its configuration register.
#[unsafe(link_section = ".emulator")]
static RAISED: [AtomicBool; 256] = [const { AtomicBool::new(false) }; 256];

/// What all cores look at by slices, where memory is coherent.
#[unsafe(link_section = ".bss.emulator")]
static SLICES: EmulatorLock<Slices> = EmulatorLock::new(Slices::new());

/// This core's own copies: of what it exposes, and of shared DRAM where it is a coherence domain by itself.
static COPIES: Private<Copies<MmuWindow>> = Private::new(Copies::new(MmuWindow::own(), false));

/// This core, for its page fault handler.
static CORE: PrivateOnce<QemuCore> = PrivateOnce::new();

/// Makes the emulated core that runs on this vCPU and lets it handle page faults of the caching window.
///
/// # Panics
/// If it was made before.
pub fn start_core() -> &'static QemuCore {
    assert!(CORE.get().is_none(), "a core is started once");
    // SAFETY: the static is private to this vCPU, and only shared references to it exist.
    let own = unsafe { &*COPIES.get() };
    let domain = if facts::information().cores_per_domain > 1 { domain_copies::copies() } else { own };
    // SAFETY: 1. statics of this vCPU, and of its domain; 2. a core is started once, see above; 3. windows have room for all
    // controllers that a layout can have.
    let hardware = unsafe { Emulated::new(QemuPlatform::new(), own, domain) };
    let core = CORE.set(QemuCore::new(hardware));
    trap::set_fault_handler(|address| {
        let Some(page) = window_pages::page_of(address) else { return false };
        let Some(core) = CORE.get() else { return false };
        core.page_fault(page * PAGE_BYTES + address % PAGE_BYTES);
        true
    });
    trap::set_interrupt_handler(|| {
        if let Some(core) = CORE.get() {
            core.interrupted();
        }
    });
    traces::set_teller(|reader| {
        if let Some(core) = CORE.get() {
            trace::tell(core, false, reader);
        }
    });
    core
}

/// The line in this core's write-combine buffer.
pub(crate) fn undrained() -> Option<LineAddress> {
    let _interrupts = cpu::InterruptsOff::new();
    CORE.get()?.undrained()
}

/// The machine under QEMU, seen from one vCPU.
pub struct QemuPlatform {
    core: CoreId,
    layout: Layout,
    coherent: bool,
    /// Whether evictions and drains happen by themselves (`seed=`).
    explores: bool,
    /// Whether operations are followed by seeded hand-overs (`preempt=`).
    preempts: bool,
    random: Cell<u32>,
    /// Writes of the machine when the last poll began.
    writes_before_poll: Cell<u32>,
}

impl QemuPlatform {
    fn new() -> Self {
        let (explore, preempt) = (seed("seed"), seed("preempt"));
        // Spread neighbouring seeds and cores; xorshift must not start at 0.
        let mixed = (explore ^ preempt.rotate_left(32))
            .wrapping_add(this_core_id().index() as u64 + 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self {
            core: this_core_id(),
            layout: layout(),
            coherent: facts::has_word("coherent"),
            explores: explore != 0,
            preempts: preempt != 0,
            random: Cell::new((mixed >> 32) as u32 | 1),
            writes_before_poll: Cell::new(0),
        }
    }

    fn draw(&self, below: usize) -> usize {
        let mut state = self.random.get();
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        self.random.set(state);
        state as usize % below
    }

    /// Where memory is coherent, insists that no slice excludes an access to the bytes in `mask` from `at` on, and keeps
    /// further slices away for the time of the access.
    fn ask_slices(&self, at: LineAddress, mask: u32, writes: bool) -> Option<EmulatorGuard<'static, Slices>> {
        let LineAddress::Shared(at) = at else { return None };
        if !self.coherent || mask == 0 {
            return None;
        }
        let (first, end) = (mask.trailing_zeros() as usize, (u32::BITS - mask.leading_zeros()) as usize);
        let slices = SLICES.lock();
        if let Err(conflict) = slices.access_memory(at.plus(first), end - first, writes) {
            drop(slices);
            if is_ending() {
                // The report of it is another core's.
                cpu::park();
            }
            panic!("{conflict}");
        }
        Some(slices)
    }

    fn hand_over_by_chance(&self) {
        if self.preempts && self.draw(4) == 0 {
            cpu::pause();
        }
    }
}

/// The machine. Each node of a cluster is a coherence domain, and no register reaches beyond it.
fn layout() -> Layout {
    let cores_per_domain = facts::information().cores_per_domain as u16;
    let layout = Layout::scc().with_cores(nodes::all_cores()).with_domains_of(cores_per_domain);
    if nodes::member().is_some() { layout.with_registers_in_domains() } else { layout }
}

/// The seed that a word of the command line gives, or 0.
///
/// # Panics
/// If it is none.
fn seed(key: &str) -> u64 {
    facts::option(key).map_or(0, |value| match value.parse() {
        Ok(seed) => seed,
        Err(error) => panic!("`{key}={value}`: {error}"),
    })
}

/// Gives `access` a pointer to a line in the memory of the emulator, or to part of it, while nobody else has one.
fn with_storage<R>(at: LineAddress, len_bytes: usize, access: impl FnOnce(*mut u8) -> R) -> R {
    let (base, offset) = match at {
        LineAddress::Mpb(mpb) => {
            assert!(mpb.core.index() < nodes::all_cores(), "{} does not exist", mpb.core);
            assert!(usize::from(mpb.line) < MPB_LINES, "{mpb} does not exist");
            (areas::mpb().0, mpb.core.index() * addresses::MPB_BYTES_PER_CORE + usize::from(mpb.line) * 32)
        }
        LineAddress::Shared(address) => match address.home() {
            Home::Controller(_) => {
                assert!(address.flat() < addresses::SHARED_DRAM_BYTES, "{address} does not exist");
                (areas::shared_dram().0, address.flat())
            }
            Home::Core(owner) => match exposed_memory::with(owner, address.offset(), len_bytes, access) {
                Some(result) => return result,
                None => panic!("{address} is not exposed"),
            },
        },
    };
    let memory = base.wrapping_add(offset);
    let _guard = LINE_LOCKS[memory.addr() / 32 % LOCKS].lock();
    access(memory)
}

/// Writes those bytes of an aligned word whose bits in `mask` are set, and no others: they may be somebody else's.
fn write_masked(memory: *mut u8, word: [u8; 4], mask: u32, is_viewed: bool) {
    // SAFETY: the callers point to an aligned word of memory that all cores may write.
    let (target, new) = (unsafe { AtomicU32::from_ptr(memory.cast()) }, u32::from_ne_bytes(word));
    match mask {
        0xF => target.store(new, Ordering::Release),
        // Views access words, with which a store of bytes would race.
        mask if is_viewed => store_masked(target, new, mask),
        // No other node's stores are atomic with ours, but those of bytes are.
        mask => {
            for (index, byte) in word.iter().enumerate().filter(|(index, _)| mask >> index & 1 == 1) {
                // SAFETY: memory that all cores may write, as the callers say; `index` is below the length of a word.
                unsafe { AtomicU8::from_ptr(memory.add(index)) }.store(*byte, Ordering::Release);
            }
        }
    }
}

/// Ticks in a second, where they are time: nodes of a cluster and PCs have measured them.
fn measured_rate() -> Option<u64> {
    heartbeat::cycles_per_second().or_else(pit::cycles_per_second)
}

const _: () = assert!(
    Layout::scc().controllers() * SHARED_BYTES_PER_CONTROLLER == addresses::SHARED_DRAM_BYTES,
    "there is the memory that the layout says"
);

impl Topology for QemuPlatform {
    fn core(&self) -> CoreId {
        self.core
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl Registers for QemuPlatform {
    fn test_and_set(&self, register: CoreId) -> bool {
        self.hand_over_by_chance();
        test_and_set::take(register, self.core)
    }

    fn free(&self, register: CoreId) {
        test_and_set::free(register);
        stuck::note_write();
        self.hand_over_by_chance();
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        self.hand_over_by_chance();
        let counter = &COUNTERS[counter];
        let before = match access {
            CounterAccess::Increment => counter.fetch_add(1, Ordering::AcqRel),
            CounterAccess::Decrement => counter.fetch_sub(1, Ordering::AcqRel),
            CounterAccess::Read => return counter.load(Ordering::Acquire),
            CounterAccess::Set(value) => counter.swap(value, Ordering::AcqRel),
        };
        stuck::note_write();
        self.hand_over_by_chance();
        before
    }
}

impl Ticks for QemuPlatform {
    fn now(&self) -> u64 {
        cpu::rdtsc()
    }

    fn ticks_per_second(&self) -> u64 {
        // With `-icount shift=0` an instruction is a nanosecond.
        measured_rate().unwrap_or(1_000_000_000)
    }

    fn tells_time(&self) -> bool {
        measured_rate().is_some()
    }
}

impl Signals for QemuPlatform {
    fn raise_interrupt(&self, target: CoreId) {
        let local = nodes::expect_local(target, "the interrupt");
        let was_raised = RAISED[local].swap(true, Ordering::SeqCst);
        // A core that interrupts itself finds it when the operation ends, and alone it has no local APIC.
        if !was_raised && target != self.core {
            lapic::send_interrupt(local);
        }
        stuck::note_write();
        self.hand_over_by_chance();
    }

    fn open_interrupts(&self, open: bool) {
        // The timer of a node always comes; the core keeps the others off by itself.
        let has_timer = nodes::member().is_some() && this_core() == 0;
        // SAFETY: gates are loaded, and the account of operations opens them outside of all only.
        unsafe { cpu::set_interrupts(open || has_timer) }
    }

    fn interrupt_is_due(&self) -> bool {
        RAISED[this_core()].load(Ordering::SeqCst)
    }

    fn take_interrupt(&self) -> bool {
        RAISED[this_core()].swap(false, Ordering::SeqCst)
    }
}

/// Work takes its own time here.
impl Hooks for QemuPlatform {
    fn moment(&self) -> u64 {
        // Traces of nodes lie side by side.
        cpu::rdtsc().wrapping_sub(heartbeat::meeting())
    }
}

// SAFETY: 1. numbers and the command line do not change; 2. `areas::shared_dram` is mapped for ever, and all that the
// layout says, and `own_address` knows what is exposed; 3. `with_storage` has bounds for all; 4. it asks; 5. the domain's account, under its lock, or the
// machine's, under its own.
unsafe impl Platform for QemuPlatform {
    type Window = MmuWindow;
    type Copies = &'static Copies<MmuWindow>;

    fn read_line(&self, at: LineAddress) -> Line {
        self.hand_over_by_chance();
        let mut line = Line::default();
        let _slices = self.ask_slices(at, u32::MAX, false);
        with_storage(at, LINE_BYTES, |memory| {
            // `with_storage` keeps writers of this node out. Those of others write the last word last.
            for (index, word) in line.0.chunks_exact_mut(WORD_BYTES).enumerate().rev() {
                // SAFETY: `with_storage` points to a whole line, which is aligned to words.
                let found = unsafe { AtomicU32::from_ptr(memory.cast::<u32>().add(index)) }.load(Ordering::Acquire);
                word.copy_from_slice(&found.to_ne_bytes());
            }
        });
        line
    }

    fn write_line(&self, at: LineAddress, data: &Line, mask: u32) {
        let slices = self.ask_slices(at, mask, true);
        with_storage(at, LINE_BYTES, |memory| {
            // Other nodes may read at the same time, from the end.
            for (index, word) in data.0.as_chunks::<WORD_BYTES>().0.iter().enumerate() {
                let offset = index * WORD_BYTES;
                write_masked(memory.wrapping_add(offset), *word, mask >> offset & 0xF, self.coherent);
            }
        });
        drop(slices);
        nodes::make_visible();
        stuck::note_write();
        self.hand_over_by_chance();
    }

    fn read_word(&self, at: SharedAddress) -> u32 {
        self.hand_over_by_chance();
        let _slices = self.ask_slices(LineAddress::Shared(at), 0xF, false);
        with_storage(LineAddress::Shared(at), WORD_BYTES, |memory| {
            // SAFETY: the storage is there for as long as this is called; word addresses are multiples of 4.
            unsafe { AtomicU32::from_ptr(memory.cast()) }.load(Ordering::Acquire)
        })
    }

    fn write_word(&self, at: SharedAddress, value: u32) {
        let slices = self.ask_slices(LineAddress::Shared(at), 0xF, true);
        with_storage(LineAddress::Shared(at), WORD_BYTES, |memory| {
            // SAFETY: the storage is there for as long as this is called; word addresses are multiples of 4.
            unsafe { AtomicU32::from_ptr(memory.cast()) }.store(value, Ordering::Release);
        });
        drop(slices);
        nodes::make_visible();
        stuck::note_write();
        self.hand_over_by_chance();
    }

    fn choose(&self, choice: Choice, options: usize) -> usize {
        match choice {
            Choice::VictimPage | Choice::VictimLine => self.draw(options),
            Choice::DrainEarly => usize::from(self.explores && self.draw(8) == 0),
            Choice::Evict => usize::from(self.explores && self.draw(32) == 0),
            Choice::StoreThrough => usize::from(self.explores && self.draw(2) == 0),
        }
    }

    fn before_poll(&self, _watch: Watch<'_>) {
        self.writes_before_poll.set(stuck::writes());
    }

    fn park(&self, watch: Watch<'_>, deadline: Deadline, info: &WaitInfo) -> Woken {
        let register = match watch {
            Watch::Register(register) => Some(register),
            Watch::Places(_) => None,
        };
        match deadline {
            Deadline::Never => stuck::wait_fruitlessly(self.writes_before_poll.get(), info, register),
            Deadline::At(ticks) if cpu::rdtsc() >= ticks => {
                cpu::pause();
                return Woken::TimedOut;
            }
            Deadline::At(_) => {}
        }
        cpu::pause();
        Woken::Poll { missed_polls: 0 }
    }

    fn end_wait(&self, _watch: Watch<'_>) {
        stuck::stop_waiting();
    }

    fn relax(&self) {
        cpu::pause();
    }

    fn is_dying(&self) -> bool {
        is_ending()
    }

    fn coherent(&self) -> bool {
        self.coherent
    }

    fn with_slices<R>(&self, change: impl FnOnce(&mut Slices) -> R) -> Option<R> {
        if self.coherent {
            return Some(change(&mut SLICES.lock()));
        }
        (facts::information().cores_per_domain > 1).then(|| domain_copies::with_slices(change))
    }

    fn meet_domain(&self, _changes: bool) {
        self.hand_over_by_chance();
    }

    fn fetch_unit(&self) -> FetchUnit {
        FetchUnit::Page
    }

    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>) {
        let address = memory.as_ptr().expose_provenance();
        // SAFETY: the caller says so.
        unsafe { exposed_memory::expose(region.start().offset(), address, region.len_bytes()) }
    }

    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        exposed_memory::conceal(region.start().offset(), region.len_bytes()).map_err(nodes::global)
    }

    fn reach(&self, region: Region<kind::Cached>) {
        exposed_memory::set_reached(region, true);
    }

    fn let_go(&self, region: Region<kind::Cached>) {
        exposed_memory::set_reached(region, false);
    }

    fn shared_memory(&self, region: Region<kind::Cached>) -> *mut u8 {
        let start = region.start();
        match start.home() {
            Home::Controller(_) => areas::shared_dram().0.wrapping_add(start.flat()),
            Home::Core(_) => match exposed_memory::own_address(start.offset(), region.len_bytes()) {
                Some(address) => with_exposed_provenance_mut(address),
                None => panic!("{start} is not exposed"),
            },
        }
    }
}
