//! When a core's interrupt handler runs: never within its operations.
//!
//! Every operation holds an [`Operation`], which counts how deep the core is in operations. A processor that is
//! really interrupted (`qemu`, `scc`) only acknowledges if that is not 0, since the core's state may be half changed;
//! what is pending is served when the outermost operation ends. The simulator has no other moments than those, and
//! computation.

use alloc::rc::Rc;
use core::{
    cell::RefCell,
    sync::atomic::{
        AtomicU32,
        Ordering::{Relaxed, SeqCst},
        compiler_fence,
    },
};

use crate::{CoreId, Interrupt, Shielded, TestAndSet};

use super::{
    HardwareCore,
    hardware::{Hardware, Hooks},
    terms::{Expense, Watch},
    tracer::Spot,
    tracing::{Noting, NotingOperations},
};

type Handler<C> = Rc<dyn Fn(&C)>;

/// The bit of the number of operations that says that there is no handler.
const CLOSED: u32 = 1 << 31;

/// A core's side of interrupts.
#[repr(C)]
pub(super) struct Deferral<C> {
    /// Operations that are under way, one within the other, and [`CLOSED`] while there is no handler: so whoever ends an operation
    /// looks at one number, which is 0 only where a handler may run. It is atomic because real interrupts look at
    /// it wherever the program is; only this core does. It comes first, and this first in the core: whoever counts has its address.
    depth: AtomicU32,
    handler: RefCell<Option<Handler<C>>>,
    /// Test-and-set registers that this core holds, or is about to take, by guards. Real interrupts look at it, too.
    registers: AtomicU32,
}

impl<C> Default for Deferral<C> {
    fn default() -> Self {
        Self { depth: AtomicU32::new(CLOSED), handler: RefCell::new(None), registers: AtomicU32::new(0) }
    }
}

/// As long as it lives, no handler runs on the core.
pub(super) struct Operation<'e, H: Hardware>(&'e HardwareCore<H>);

impl<H: Hardware> Operation<'_, H> {
    /// Lets the operation go on until somebody drops it when it was [taken up](HardwareCore::take_up) again.
    pub(super) fn leave_open(self) {
        core::mem::forget(self);
    }
}

impl<H: Hardware> Drop for Operation<'_, H> {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(SeqCst);
        if count_down(&self.0.deferral.depth) {
            self.0.serve_at_the_end();
        }
    }
}

/// Counts a number of this core's down, and says whether nothing is left. Bare processors find that out as they count: every
/// operation ends with this.
#[inline(always)]
fn count_down(number: &AtomicU32) -> bool {
    #[cfg(all(target_arch = "x86", target_os = "none"))]
    // SAFETY: no other core has the number, and what interrupts this one does so before the instruction or after it.
    unsafe {
        core::arch::asm!("dec dword ptr [{}]", "jz {}", in(reg) number.as_ptr(), label { return true }, options(nostack));
        false
    }
    #[cfg(not(all(target_arch = "x86", target_os = "none")))]
    {
        let left = number.load(Relaxed) - 1;
        number.store(left, Relaxed);
        left == 0
    }
}

impl<H: Hardware> HardwareCore<H> {
    /// The processor was interrupted, because an interrupt was raised on this core; for interrupt handlers of machines
    /// whose processors are.
    pub fn interrupted(&self) {
        drop(self.operation());
    }

    /// Whether no operation is under way: what runs is the program's.
    pub fn is_in_program(&self) -> bool {
        self.deferral.depth.load(Relaxed) & !CLOSED == 0
    }

    /// Begins an operation.
    #[inline]
    pub(super) fn operation(&self) -> Operation<'_, H> {
        let depth = &self.deferral.depth;
        // Not one instruction, but what comes in between leaves the number as it was.
        depth.store(depth.load(Relaxed) + 1, Relaxed);
        compiler_fence(SeqCst);
        Operation(self)
    }

    /// The operation that was [left open](Operation::leave_open), once for each.
    pub(super) fn take_up(&self) -> Operation<'_, H> {
        Operation(self)
    }

    /// Whether the handler may come in the middle of the present operation: one that a program has called, which
    /// allows it.
    pub(super) fn is_interruptible(&self) -> bool {
        let deferral = &self.deferral;
        deferral.depth.load(Relaxed) == 1 && deferral.registers.load(Relaxed) == 0
    }

    /// Whether the handler is to be called as soon as it may.
    fn is_due(&self) -> bool {
        let deferral = &self.deferral;
        let is_open = deferral.depth.load(Relaxed) & CLOSED == 0;
        is_open && deferral.registers.load(Relaxed) == 0 && self.hardware.interrupt_is_due()
    }

    /// The outermost operation has ended, and there is a handler: calls it for what has arrived meanwhile.
    #[cold]
    #[inline(never)]
    fn serve_at_the_end(&self) {
        let depth = &self.deferral.depth;
        loop {
            // In this order: what arrives before is seen here, what arrives after interrupts for real.
            compiler_fence(SeqCst);
            if !self.is_due() {
                return;
            }
            depth.store(1, Relaxed);
            compiler_fence(SeqCst);
            self.serve();
            compiler_fence(SeqCst);
            let left = depth.load(Relaxed) - 1;
            depth.store(left, Relaxed);
            if left != 0 {
                return;
            }
        }
    }

    /// Says whether there is a handler.
    fn set_open(&self, is_open: bool) {
        let depth = &self.deferral.depth;
        let operations = depth.load(Relaxed) & !CLOSED;
        depth.store(if is_open { operations } else { operations | CLOSED }, Relaxed);
        compiler_fence(SeqCst);
    }

    /// Keeps the handler out while `action` does something that is no operation and has no price. What arrives
    /// meanwhile is served at the end of the next operation.
    pub(super) fn undisturbed<R>(&self, action: impl FnOnce() -> R) -> R {
        let depth = &self.deferral.depth;
        depth.store(depth.load(Relaxed) + 1, Relaxed);
        compiler_fence(SeqCst);
        let result = action();
        compiler_fence(SeqCst);
        depth.store(depth.load(Relaxed) - 1, Relaxed);
        result
    }

    /// Sets the handler, which comes at once if an interrupt is pending; unless there is one. Says whether it could.
    fn set_handler(&self, handler: Handler<Self>) -> bool {
        let _operation = self.operation();
        let mut slot = self.deferral.handler.borrow_mut();
        if slot.is_some() {
            return false;
        }
        *slot = Some(handler);
        self.set_open(true);
        self.hardware.open_interrupts(true);
        true
    }

    /// Calls the handler if an interrupt has arrived.
    #[cold]
    #[inline(never)]
    fn serve(&self) {
        let Some(handler) = self.deferral.handler.borrow().clone() else {
            // It has ended itself where it had interrupted the count of operations, which then went on with what it had been before.
            return self.set_open(false);
        };
        if !self.hardware.take_interrupt() {
            return;
        }
        let _span = self.hardware.hardware_span("interrupt", None::<CoreId>, 0);
        self.hardware.hooks().spend(Expense::TakeInterrupt);
        self.hardware.account().counting().interrupts_taken.add(1);
        self.hardware.hooks().enter_handler();
        handler(self);
        self.hardware.hooks().leave_handler();
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
            self.hardware.interrupt_wait(watch);
            self.serve_what_is_due();
        }
        serves
    }

    /// Lets a handler run that was kept out by something that is no operation.
    #[inline]
    pub(super) fn serve_if_due(&self) {
        if self.is_due() {
            drop(self.operation());
        }
    }

    /// Puts handlers off. One that comes in the middle of this leaves the number as it was.
    pub(super) fn count_exclusion(&self) {
        let registers = &self.deferral.registers;
        registers.store(registers.load(Relaxed) + 1, Relaxed);
        compiler_fence(SeqCst);
    }

    pub(super) fn discount_exclusion(&self) {
        compiler_fence(SeqCst);
        let registers = &self.deferral.registers;
        registers.store(registers.load(Relaxed).saturating_sub(1), Relaxed);
    }
}

/// As long as it lives, there is a handler.
struct Handled<'e, H: Hardware>(&'e HardwareCore<H>);

impl<H: Hardware> Drop for Handled<'_, H> {
    fn drop(&mut self) {
        self.0.ignore_interrupts();
    }
}

impl<H: Hardware> Interrupt for HardwareCore<H> {
    fn raise_interrupt(&self, target: CoreId) {
        let _operation = self.operation();
        self.acquire_register(target, "an interrupt to be raised");
        self.hardware.account().counting().interrupts_raised.add(1);
        self.hardware.trace_store(|| Spot::Interrupt(target), u32::MAX, || self.hardware.raise_interrupt(target));
        self.free_register(target);
    }

    fn handle_interrupts<T: Send + 'static>(&self, state: T, handler: fn(&Self, &T)) -> Option<Shielded<'_, Self, T>> {
        let state = Rc::new(state);
        let handled = state.clone();
        self.set_handler(Rc::new(move |core| handler(core, &handled))).then(|| Shielded::new(self, state))
    }

    fn handle_interrupts_during<R>(
        &self,
        handler: impl Fn(&Self),
        program: impl FnOnce(&Self) -> R + Send,
    ) -> Option<R> {
        let handler: &dyn Fn(&Self) = &handler;
        // SAFETY: only the lifetime changes. The handler is called on this core's stack, above this function, until `Handled` is dropped:
        // before this function ends, however it does, and before `handler` is dropped.
        let handler: &'static dyn Fn(&Self) = unsafe { core::mem::transmute(handler) };
        // It does not come before there is something that takes it away.
        let operation = self.operation();
        let _handled = self.set_handler(Rc::new(handler)).then(|| Handled(self))?;
        drop(operation);
        Some(program(self))
    }

    fn defer_interrupts<R>(&self, action: impl FnOnce() -> R) -> R {
        let _operation = self.operation();
        action()
    }

    fn ignore_interrupts(&self) {
        let _operation = self.operation();
        self.hardware.open_interrupts(false);
        self.set_open(false);
        let handler = self.deferral.handler.borrow_mut().take();
        drop(handler);
    }
}
