//! Registers, atomic counters, time, and interrupts.
//!
//! Interrupts come by the pin INTR, which is a bit of a core's configuration register. It is used as a level, as Barrelfish
//! does, because pulses are not reliable. Who raises an interrupt holds the target's test-and-set register and sets the bit
//! unless it is set. The target clears it *before* it looks at what the interrupt is about, and needs no register for that:
//! nobody else writes while the bit is set.
//!
//! The local APIC passes the edge on. An edge is noted by its handler, and served as soon as no operation is under way.

use core::{
    cell::Cell,
    sync::atomic::{
        AtomicBool,
        Ordering::{Relaxed, SeqCst},
        compiler_fence,
    },
};

use crate::{
    CoreId, Countable,
    bare::cpu,
    kit::{CounterAccess, Registers, Signals, Ticks},
    scc::registers::{
        board::Board,
        tile::{Glcfg, Register, Registers as TileRegisters, TestAndSetValue},
    },
};

use super::Scc;

/// Whether the bit may be set: there was an edge since it was cleared.
static RAISED: AtomicBool = AtomicBool::new(false);

/// There was an edge; for the handler of the processor's interrupt.
pub(super) fn note_edge() {
    RAISED.store(true, Relaxed);
}

/// Cycles in which a core did not wait for memory.
#[derive(Default)]
pub(super) struct OwnCycles {
    /// Cycles while the count was stopped.
    left_out: Cell<u64>,
    stopped_at: Cell<u64>,
}

impl OwnCycles {
    /// Goes on counting, or stops; returns the count so far. Wherever it is called, it takes the same itself.
    #[inline(never)]
    fn count(&self, runs: bool) -> u64 {
        let now = cpu::rdtsc();
        if runs {
            self.left_out.set(self.left_out.get() + now - self.stopped_at.get());
        } else {
            self.stopped_at.set(now);
        }
        now.wrapping_sub(self.left_out.get()).wrapping_sub(cpu::count_waits(runs))
    }
}

impl Scc {
    /// The configuration registers of a core's tile, and which of the tile's cores it is.
    #[inline]
    fn registers_of(&self, core: CoreId) -> (TileRegisters<'static>, u32) {
        assert!(core.index() < self.layout.cores(), "{core} does not exist");
        let number = core.index() as u32;
        let [tile, ..] = self.geometry.tile_of(number);
        // SAFETY: 1. the image was handed the geometry of its board; 2. registers are mapped where they are.
        let registers = unsafe { TileRegisters::of_tile(self.geometry, tile) };
        (registers, number % self.geometry.cores_per_tile)
    }

    /// The test-and-set register of a core.
    #[inline]
    fn test_and_set_of(&self, core: CoreId) -> Register<TestAndSetValue> {
        let Some(places) = self.cores.get(core.index()) else { panic!("{core} does not exist") };
        places.test_and_set
    }
}

impl Registers for Scc {
    #[inline]
    fn test_and_set(&self, core: CoreId) -> bool {
        self.test_and_set_of(core).read().is_acquired()
    }

    #[inline]
    fn free(&self, core: CoreId) {
        self.test_and_set_of(core).write(TestAndSetValue::FREE);
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let board = self.board.expect("a board that has counters has registers");
        match access {
            CounterAccess::Increment => board.increment(counter),
            CounterAccess::Decrement => {
                board.decrement(counter);
                0
            }
            CounterAccess::Read => board.read(counter),
            CounterAccess::Set(value) => {
                board.set(counter, value);
                0
            }
        }
    }
}

/// The board's timestamp, which is one for all cores. Where a board has none it is the time stamp counter, and cores
/// that were started one after the other differ.
impl Ticks for Scc {
    fn now(&self) -> u64 {
        self.board.and_then(Board::timestamp).unwrap_or_else(cpu::rdtsc)
    }

    fn ticks_per_second(&self) -> u64 {
        let has_timestamp = self.board.is_some() && self.geometry.timestamp != 0;
        let mhz = if has_timestamp { self.geometry.timestamp_mhz } else { self.geometry.costs.core_mhz };
        u64::from(mhz) * 1_000_000
    }

    fn count(&self, what: Countable, runs: bool) -> Option<u64> {
        match what {
            Countable::Instructions => Some(cpu::count_instructions(runs)),
            Countable::Cycles => Some(self.own_cycles.count(runs)),
            Countable::CodeMisses => Some(cpu::count_code_misses(runs)),
            Countable::Operations | Countable::Lines => None,
        }
    }
}

impl Signals for Scc {
    fn raise_interrupt(&self, target: CoreId) {
        let (registers, z) = self.registers_of(target);
        let pins = registers.core_configuration(z);
        let found = pins.read();
        if !found.contains(Glcfg::INTR) {
            pins.write(found | Glcfg::INTR);
        }
        if target == self.core {
            // Not to depend on how long the edge takes to come back.
            note_edge();
        }
    }

    fn open_interrupts(&self, open: bool) {
        if open {
            // There may have been an edge that nobody took.
            let (registers, z) = self.registers_of(self.core);
            if registers.core_configuration(z).read().contains(Glcfg::INTR) {
                note_edge();
            }
        }
        // SAFETY: gates are loaded, and the account of operations opens them outside of all only.
        unsafe { cpu::set_interrupts(open) }
    }

    fn interrupt_is_due(&self) -> bool {
        RAISED.load(Relaxed)
    }

    fn take_interrupt(&self) -> bool {
        RAISED.store(false, Relaxed);
        compiler_fence(SeqCst);
        let (registers, z) = self.registers_of(self.core);
        let pins = registers.core_configuration(z);
        let found = pins.read();
        // If it is not set, it was taken already when its edge was handled.
        let is_set = found.contains(Glcfg::INTR);
        if is_set {
            pins.write(found - Glcfg::INTR);
        }
        is_set
    }
}
