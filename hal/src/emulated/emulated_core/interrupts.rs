//! Interrupts of an emulated core, and what keeps them out of its operations.
//!
//! Every operation holds an [`Operation`], which counts how deep the core is in operations. A processor that is
//! really interrupted (`qemu`) only acknowledges if that is not 0, since the core's state may be half changed; what
//! is pending is served when the outermost operation ends. The simulator has no other moments than those, and
//! computation.

use alloc::rc::Rc;
use core::{
    cell::{Cell, RefCell},
    sync::atomic::{
        AtomicBool, AtomicU32,
        Ordering::{Relaxed, SeqCst},
        compiler_fence,
    },
};

use crate::{CoreId, Interrupt, Shielded, TestAndSet};

use super::{
    super::{Expense, Platform, Watch, trace::Spot},
    EmulatedCore,
};

type Handler<P> = Rc<dyn Fn(&EmulatedCore<P>)>;

/// A core's side of interrupts.
pub(super) struct Interrupts<P: Platform> {
    /// Operations that are under way, one within the other. It and `open` are atomic because real interrupts look at
    /// them wherever the program is; only this core does.
    depth: AtomicU32,
    /// Whether there is a handler.
    open: AtomicBool,
    handler: RefCell<Option<Handler<P>>>,
    /// Test-and-set registers that this core holds, or is about to take, by guards.
    registers: Cell<u32>,
}

impl<P: Platform> Interrupts<P> {
    pub(super) fn begin_exclusion(&self) {
        self.registers.set(self.registers.get() + 1);
    }

    pub(super) fn end_exclusion(&self) {
        self.registers.set(self.registers.get().saturating_sub(1));
    }
}

impl<P: Platform> Default for Interrupts<P> {
    fn default() -> Self {
        Self {
            depth: AtomicU32::new(0),
            open: AtomicBool::new(false),
            handler: RefCell::new(None),
            registers: Cell::new(0),
        }
    }
}

/// As long as it lives, no handler runs on the core.
pub(super) struct Operation<'e, P: Platform>(&'e EmulatedCore<P>);

impl<P: Platform> Drop for Operation<'_, P> {
    fn drop(&mut self) {
        self.0.leave_operation();
    }
}

impl<P: Platform> EmulatedCore<P> {
    /// Begins an operation.
    pub(super) fn operation(&self) -> Operation<'_, P> {
        let depth = &self.interrupts.depth;
        // Not one instruction, but what comes in between leaves the number as it was.
        depth.store(depth.load(Relaxed) + 1, Relaxed);
        compiler_fence(SeqCst);
        Operation(self)
    }

    fn leave_operation(&self) {
        let depth = &self.interrupts.depth;
        loop {
            compiler_fence(SeqCst);
            let left = depth.load(Relaxed) - 1;
            depth.store(left, Relaxed);
            // In this order: what arrives before is seen here, what arrives after interrupts for real.
            compiler_fence(SeqCst);
            if left > 0 || !self.is_due() {
                return;
            }
            depth.store(1, Relaxed);
            compiler_fence(SeqCst);
            self.serve();
        }
    }

    /// The processor was interrupted, because an interrupt was raised on this core; for interrupt handlers of backends.
    pub fn interrupted(&self) {
        drop(self.operation());
    }

    /// Whether the handler may come in the middle of the present operation: one that a program has called, which
    /// allows it.
    pub(super) fn is_interruptible(&self) -> bool {
        self.interrupts.open.load(Relaxed)
            && self.interrupts.depth.load(Relaxed) == 1
            && self.interrupts.registers.get() == 0
    }

    fn is_due(&self) -> bool {
        self.interrupts.open.load(Relaxed)
            && self.interrupts.registers.get() == 0
            && !self.platform.is_dying()
            && self.platform.interrupt_is_due()
    }

    /// Keeps the handler out while `action` does something that is no operation and has no price. What arrives
    /// meanwhile is served at the end of the next operation.
    pub(super) fn undisturbed<R>(&self, action: impl FnOnce() -> R) -> R {
        let depth = &self.interrupts.depth;
        depth.store(depth.load(Relaxed) + 1, Relaxed);
        compiler_fence(SeqCst);
        let result = action();
        compiler_fence(SeqCst);
        depth.store(depth.load(Relaxed) - 1, Relaxed);
        result
    }

    /// Calls the handler in an operation that may be interrupted, if an interrupt has arrived.
    pub(super) fn serve_what_is_due(&self) {
        if self.is_due() {
            self.serve();
        }
    }

    /// Calls the handler between two polls, if an interrupt has arrived. Returns whether it has: then the wait begins
    /// anew.
    pub(super) fn serve_within_wait(&self, watch: Watch<'_>) -> bool {
        let serves = self.is_interruptible() && self.is_due();
        if serves {
            self.platform.end_wait(watch);
            self.serve();
        }
        serves
    }

    fn serve(&self) {
        if !self.platform.take_interrupt() {
            return;
        }
        let _span = self.hardware_span("interrupt", None, 0);
        self.platform.spend(Expense::TakeInterrupt);
        self.counting.count(|counters| counters.interrupts_taken += 1);
        let handler = self.interrupts.handler.borrow().clone();
        if let Some(handler) = handler {
            handler(self);
        }
    }
}

impl<P: Platform> Interrupt for EmulatedCore<P> {
    fn raise_interrupt(&self, target: CoreId) {
        let _operation = self.operation();
        self.acquire_register(target, "an interrupt to be raised");
        self.counting.count(|counters| counters.interrupts_raised += 1);
        self.trace_store(Spot::Interrupt(target), u32::MAX, || self.platform.raise_interrupt(target));
        self.free_register(target);
    }

    fn handle_interrupts<T: Send + 'static>(&self, state: T, handler: fn(&Self, &T)) -> Option<Shielded<'_, Self, T>> {
        let _operation = self.operation();
        let mut slot = self.interrupts.handler.borrow_mut();
        if slot.is_some() {
            return None;
        }
        let state = Rc::new(state);
        let shielded = Shielded::new(self, state.clone());
        *slot = Some(Rc::new(move |core| handler(core, &state)));
        self.interrupts.open.store(true, Relaxed);
        self.platform.open_interrupts(true);
        Some(shielded)
    }

    fn defer_interrupts<R>(&self, action: impl FnOnce() -> R) -> R {
        let _operation = self.operation();
        action()
    }

    fn ignore_interrupts(&self) {
        let _operation = self.operation();
        self.platform.open_interrupts(false);
        self.interrupts.open.store(false, Relaxed);
        let handler = self.interrupts.handler.borrow_mut().take();
        drop(handler);
    }
}
