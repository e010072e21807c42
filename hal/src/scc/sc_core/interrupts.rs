//! Interrupts by the pin INTR, which is a bit of a core's configuration register.
//!
//! It is used as a level, as Barrelfish does, because pulses are not reliable. Who raises an interrupt holds the
//! target's test-and-set register and sets the bit unless it is set. The target clears it *before* it looks at what
//! the interrupt is about, and needs no register for that: nobody else writes while the bit is set.
//!
//! The local APIC passes the edge on. An edge is noted by its handler, and served as soon as no operation is under way.

use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

use crate::{
    CoreId, Interrupt, Shielded, TestAndSet,
    backend::deferral::{Deferral, Deferring},
    bare::cpu,
    scc::{registers::tile::Glcfg, sc_core::ScCore},
};

/// Whether the bit may be set: there was an edge since it was cleared.
static RAISED: AtomicBool = AtomicBool::new(false);

/// There was an edge; for the handler of the processor's interrupt.
pub(crate) fn note_edge() {
    RAISED.store(true, Relaxed);
}

impl ScCore {
    /// The processor was interrupted.
    pub(crate) fn interrupted(&self) {
        drop(self.operation());
    }

    /// Calls the handler between two polls, if an interrupt has arrived. Returns whether it has.
    pub(crate) fn serve_within_wait(&self) -> bool {
        let serves = self.is_interruptible() && self.is_due();
        if serves {
            self.serve_what_is_due();
        }
        serves
    }
}

impl Deferring for ScCore {
    fn deferral(&self) -> &Deferral<Self> {
        &self.deferral
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

    fn has_interrupt(&self) -> bool {
        RAISED.load(Relaxed)
    }

    fn take_interrupt_for(&self, handler: impl FnOnce()) {
        RAISED.store(false, Relaxed);
        compiler_fence(SeqCst);
        let (registers, z) = self.registers_of(self.core);
        let pins = registers.core_configuration(z);
        let found = pins.read();
        if !found.contains(Glcfg::INTR) {
            // It was taken already when its edge was handled.
            return;
        }
        pins.write(found - Glcfg::INTR);
        self.counting.count(|counters| counters.interrupts_taken += 1);
        handler();
    }
}

impl Interrupt for ScCore {
    fn raise_interrupt(&self, target: CoreId) {
        let _operation = self.operation();
        self.acquire_register(target, "an interrupt to be raised");
        self.counting.count(|counters| counters.interrupts_raised += 1);
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
        self.free_register(target);
    }

    fn handle_interrupts<T: Send + 'static>(&self, state: T, handler: fn(&Self, &T)) -> Option<Shielded<'_, Self, T>> {
        let _operation = self.operation();
        self.set_handler(state, handler)
    }

    fn defer_interrupts<R>(&self, action: impl FnOnce() -> R) -> R {
        let _operation = self.operation();
        action()
    }

    fn ignore_interrupts(&self) {
        let _operation = self.operation();
        self.take_handler();
    }
}
