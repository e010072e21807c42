//! `hal::conformance` on machines that are right, and on machines with a defect each: the message says which.

use std::{cell::Cell, ptr::NonNull, thread, time::Duration};

use hal::{
    Cached, CoreId, Deadline, LINE_BYTES, Layout, Line, LineAddress, Reason, Region, Regions, Topology,
    cached::{Touch, ViewAccess},
    conformance::{self, Room},
    emulated::Emulated,
    kind,
    kit::{
        Account, CachedMemory, CombinedLines, CounterAccess, Expense, ExposedMemory, Hardware, HardwareCore, Hooks,
        Registers, Signals, Slot, Ticks, Turns, UncachedWords, Watch, Woken,
    },
    topology::MAX_CONTROLLERS,
};
use threads::{Machine, ThreadPlatform};

/// What a machine gets wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Defect {
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
}

/// Hardware with a defect.
struct Defective {
    inner: Emulated<ThreadPlatform>,
    defect: Defect,
    /// How often the clock was read, and interrupts were taken.
    count: Cell<u64>,
}

impl Defective {
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
        self.inner.machine()
    }
}

impl CombinedLines for Defective {
    fn load_line(&self, at: LineAddress) -> Line {
        self.inner.load_line(at)
    }

    fn store_line(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
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

    fn invalidate_lines(&self) {
        if !self.is(Defect::KeepsStaleLines) {
            self.inner.invalidate_lines();
        }
    }

    fn drain(&self) {
        if !self.is(Defect::DrainsNothing) {
            self.inner.drain();
        }
    }
}

impl UncachedWords for Defective {
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        self.inner.load_word(region, index)
    }

    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32) {
        if !(self.is(Defect::LosesWords) && index == 7) {
            self.inner.store_word(region, index, value);
        }
    }
}

impl Registers for Defective {
    fn test_and_set(&self, core: CoreId) -> bool {
        self.inner.test_and_set(core) || self.is(Defect::GivesRegistersToAll)
    }

    fn free(&self, core: CoreId) {
        if !self.is(Defect::NeverFreesRegisters) {
            self.inner.free(core);
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
        self.inner.touch(region, access)
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
        if !self.is(Defect::FlushesNothing) {
            self.inner.flush(region);
        }
    }

    fn flush_all(&self) {
        if !self.is(Defect::FlushesAllOfNothing) {
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
        if !self.is(Defect::NeverLetsGo) {
            self.inner.let_go(region);
        }
    }

    fn map_slot(&self, slot: Slot, place: usize) {
        self.inner.map_slot(slot, place);
    }

    fn forget_slot(&self, slot: Slot) {
        self.inner.forget_slot(slot);
    }
}

impl Ticks for Defective {
    fn now(&self) -> u64 {
        self.count.set(self.count.get() + 1);
        let back = if self.is(Defect::ClockGoesBack) && self.count.get() == 9 { 1_000_000_000 } else { 0 };
        (self.inner.now() + 2_000_000_000) - back
    }

    fn ticks_per_second(&self) -> u64 {
        // What never comes is waited for, for so many seconds of the core's own.
        self.inner.ticks_per_second() / if self.is(Defect::LosesInterrupts) { 5 } else { 1 }
    }
}

impl Turns for Defective {
    type Patience = Deadline;

    fn begin_wait(&self, deadline: Deadline) -> Deadline {
        match deadline {
            Deadline::At(ticks) if self.is(Defect::ForgetsDeadlines) => {
                Deadline::At(ticks.saturating_sub(2_500_000_000))
            }
            Deadline::At(ticks) => Deadline::At(ticks - 2_000_000_000),
            Deadline::Never => Deadline::Never,
        }
    }

    fn before_poll(&self, watch: Watch<'_>) {
        self.inner.before_poll(watch);
    }

    fn park(&self, patience: &mut Deadline, watch: Watch<'_>, reason: Reason) -> Woken {
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
        if !self.is(Defect::LosesInterrupts) {
            self.inner.raise_interrupt(target);
        }
    }

    fn open_interrupts(&self, open: bool) {
        self.inner.open_interrupts(open);
    }

    fn interrupt_is_due(&self) -> bool {
        self.inner.interrupt_is_due() || self.is(Defect::TakesInterruptsTwice) && self.count.get() == u64::MAX
    }

    fn take_interrupt(&self) -> bool {
        let is_second = self.is(Defect::TakesInterruptsTwice) && self.count.get() == u64::MAX;
        let is_taken = self.inner.take_interrupt();
        self.count.set(if is_taken && self.is(Defect::TakesInterruptsTwice) { u64::MAX } else { 0 });
        is_taken || is_second
    }
}

impl Hooks for Defective {
    fn spend(&self, expense: Expense) {
        self.inner.spend(expense);
    }
}

// SAFETY: the hardware below promises it, and nobody else has that.
unsafe impl Hardware for Defective {
    fn account(&self) -> &Account {
        self.inner.account()
    }
}

/// What the cores of a machine with a defect find.
fn found(cores: usize, defect: Defect) -> Vec<String> {
    let results = Machine::new(cores).run_on_hardware(|inner| {
        let core = HardwareCore::new(Defective { inner, defect, count: Cell::new(0) });
        let mut caches = core.take_caches().unwrap();
        // SAFETY: nothing else uses this machine.
        let regions = unsafe { Regions::new(MAX_CONTROLLERS) };
        conformance::check(&core, &mut caches, &regions, &Room::of_all(&regions, cores))
    });
    match results {
        Ok(results) => results.into_iter().filter_map(|result| Some(result.err()?.to_string())).collect(),
        Err(failure) => vec![failure.to_string()],
    }
}

#[test]
fn a_machine_that_is_right_passes() {
    for cores in [1, 2, 3, 8] {
        assert_eq!(found(cores, Defect::None), [""; 0], "{cores} cores");
    }
}

#[test]
fn machines_that_are_right_in_other_ways_pass() {
    for (machine, what) in [
        (Machine::new(4).with_coherence(true), "coherent"),
        (Machine::new(4).with_seeds(3, 0), "evicts"),
        (Machine::new(4).with_seeds(0, 3), "hands over"),
    ] {
        let results = machine.run(|core| {
            let mut caches = core.take_caches().unwrap();
            // SAFETY: nothing else uses this machine.
            let regions = unsafe { Regions::new(MAX_CONTROLLERS) };
            conformance::check(core, &mut caches, &regions, &Room::of_all(&regions, core.layout().cores()))
        });
        assert!(results.unwrap().iter().all(Result::is_ok), "{what}");
    }
}

#[test]
fn each_defect_is_named() {
    for (defect, message) in [
        (Defect::DrainsNothing, "the drain pushes nothing out"),
        (Defect::KeepsStaleLines, "the invalidation leaves lines in L1"),
        (Defect::StoresWholeLines, "stores have to be masked by bytes"),
        (Defect::FlushesNothing, "and flushed the region, and this core, which has flushed its own copy, finds "),
        (Defect::FlushesAllOfNothing, "and flushed everything, and this core, which has flushed its own copy, finds "),
        (Defect::GivesRegistersToAll, "registers: one that core 0 holds is taken a second time"),
        (Defect::NeverFreesRegisters, "registers: one that was freed cannot be taken again"),
        (Defect::LosesInterrupts, "interrupts: what core 1 has raised does not arrive"),
        (Defect::TakesInterruptsTwice, "interrupts: one that was raised once was taken 2 times"),
        (Defect::ForgetsDeadlines, "waits: one with a deadline of "),
        (Defect::ClockGoesBack, "clock: "),
        (Defect::LosesWords, "uncached words: core 1 has stored 0x20007 to word 7, which is 0x0"),
        (Defect::ExposesNothingNew, "exposed memory: core 1 has exposed 1, and this core finds 0"),
        (
            Defect::ConcealsNothing,
            "exposed memory: core 1 has exposed 1001 after other memory, which it has concealed, and",
        ),
        (Defect::NeverLetsGo, "core 1 has said that it lets go of "),
        (Defect::ConcealsWhatIsReached, "and its owner gets it back: `conceal` has to refuse that"),
        (Defect::TearsLines, "is read in parts, as "),
        (Defect::CountsUpOnly, " is 11 and should be 9"),
        (Defect::CutsOffLines, "MPB copies: a put of 32 bytes and a get of them give "),
    ] {
        let found = found(2, defect);
        assert!(found.iter().any(|line| line.contains(message)), "{defect:?}: {found:#?}");
    }
}
