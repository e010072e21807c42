//! When a core's interrupt handler runs: never within its operations.
//!
//! Every operation holds an [`Operation`], which counts how deep the core is in operations. A processor that is
//! really interrupted (`qemu`, `scc`) only acknowledges if that is not 0, since the core's state may be half changed;
//! what is pending is served when the outermost operation ends. The simulator has no other moments than those, and
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

use crate::{Interrupt, Shielded};

type Handler<C> = Rc<dyn Fn(&C)>;

/// A core's side of interrupts.
pub(crate) struct Deferral<C> {
    /// Operations that are under way, one within the other. It and `open` are atomic because real interrupts look at
    /// them wherever the program is; only this core does.
    depth: AtomicU32,
    /// Whether there is a handler.
    open: AtomicBool,
    handler: RefCell<Option<Handler<C>>>,
    /// Test-and-set registers that this core holds, or is about to take, by guards.
    registers: Cell<u32>,
}

impl<C> Deferral<C> {
    /// Whether no operation is under way.
    #[cfg(feature = "sim")]
    pub(crate) fn is_between_operations(&self) -> bool {
        self.depth.load(Relaxed) == 0
    }

    pub(crate) fn begin_exclusion(&self) {
        self.registers.set(self.registers.get() + 1);
    }

    pub(crate) fn end_exclusion(&self) {
        self.registers.set(self.registers.get().saturating_sub(1));
    }
}

impl<C> Default for Deferral<C> {
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
pub(crate) struct Operation<'e, C: Deferring>(&'e C);

impl<C: Deferring> Operation<'_, C> {
    /// Lets the operation go on until somebody drops it when it was [taken up](Deferring::take_up) again.
    #[cfg(any(feature = "qemu", feature = "sim"))]
    pub(crate) fn leave_open(self) {
        core::mem::forget(self);
    }
}

impl<C: Deferring> Drop for Operation<'_, C> {
    fn drop(&mut self) {
        leave_operation(self.0);
    }
}

fn leave_operation(core: &impl Deferring) {
    let depth = &core.deferral().depth;
    loop {
        compiler_fence(SeqCst);
        let left = depth.load(Relaxed) - 1;
        depth.store(left, Relaxed);
        // In this order: what arrives before is seen here, what arrives after interrupts for real.
        compiler_fence(SeqCst);
        if left > 0 || !core.is_due() {
            return;
        }
        depth.store(1, Relaxed);
        compiler_fence(SeqCst);
        serve(core);
    }
}

/// Calls the handler if an interrupt has arrived.
fn serve<C: Deferring>(core: &C) {
    core.take_interrupt_for(|| {
        let handler = core.deferral().handler.borrow().clone();
        if let Some(handler) = handler {
            handler(core);
        }
    });
}

/// A core whose interrupts wait for the end of its operations.
pub(crate) trait Deferring: Interrupt {
    /// The account of operations and of interrupts that wait.
    fn deferral(&self) -> &Deferral<Self>;

    /// Lets interrupts that are raised on this core interrupt it, or no more.
    fn open_interrupts(&self, open: bool);

    /// Whether an interrupt has arrived that is to be served.
    fn has_interrupt(&self) -> bool;

    /// Takes what has arrived, however often it was raised, and then calls `handler`. Does nothing if nothing has.
    fn take_interrupt_for(&self, handler: impl FnOnce());

    /// Begins an operation.
    fn operation(&self) -> Operation<'_, Self> {
        let depth = &self.deferral().depth;
        // Not one instruction, but what comes in between leaves the number as it was.
        depth.store(depth.load(Relaxed) + 1, Relaxed);
        compiler_fence(SeqCst);
        Operation(self)
    }

    /// The operation that was [left open](Operation::leave_open), once for each.
    #[cfg(any(feature = "qemu", feature = "sim"))]
    fn take_up(&self) -> Operation<'_, Self> {
        Operation(self)
    }

    /// Whether the handler may come in the middle of the present operation: one that a program has called, which
    /// allows it.
    fn is_interruptible(&self) -> bool {
        let deferral = self.deferral();
        deferral.open.load(Relaxed) && deferral.depth.load(Relaxed) == 1 && deferral.registers.get() == 0
    }

    /// Whether the handler is to be called as soon as it may.
    fn is_due(&self) -> bool {
        let deferral = self.deferral();
        deferral.open.load(Relaxed) && deferral.registers.get() == 0 && self.has_interrupt()
    }

    /// Keeps the handler out while `action` does something that is no operation and has no price. What arrives
    /// meanwhile is served at the end of the next operation.
    fn undisturbed<R>(&self, action: impl FnOnce() -> R) -> R {
        let depth = &self.deferral().depth;
        depth.store(depth.load(Relaxed) + 1, Relaxed);
        compiler_fence(SeqCst);
        let result = action();
        compiler_fence(SeqCst);
        depth.store(depth.load(Relaxed) - 1, Relaxed);
        result
    }

    /// Calls the handler in an operation that may be interrupted, if an interrupt has arrived.
    fn serve_what_is_due(&self) {
        if self.is_due() {
            serve(self);
        }
    }

    /// Sets the handler, see [`Interrupt::handle_interrupts`].
    fn set_handler<T: Send + 'static>(&self, state: T, handler: fn(&Self, &T)) -> Option<Shielded<'_, Self, T>> {
        let deferral = self.deferral();
        let mut slot = deferral.handler.borrow_mut();
        if slot.is_some() {
            return None;
        }
        let state = Rc::new(state);
        let shielded = Shielded::new(self, state.clone());
        *slot = Some(Rc::new(move |core| handler(core, &state)));
        deferral.open.store(true, Relaxed);
        self.open_interrupts(true);
        Some(shielded)
    }

    /// Takes the handler away.
    fn take_handler(&self) {
        let deferral = self.deferral();
        self.open_interrupts(false);
        deferral.open.store(false, Relaxed);
        let handler = deferral.handler.borrow_mut().take();
        drop(handler);
    }
}
