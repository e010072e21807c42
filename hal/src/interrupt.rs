//! Interrupts from core to core: how a core reaches another that is not looking.
//!
//! An interrupt carries no data and does not say who raised it; several that are raised before the first is taken are
//! one. Who wants what is in memory, in lines that only the one who rings writes: *data, doorbell, drain, then the
//! interrupt*. The handler invalidates and looks.
//!
//! **On the SCC** an interrupt is a bit of the target's configuration register (`GLCFG`), which several cores change
//! by read, modify and write; so whoever raises one holds the target's test-and-set register meanwhile. It is a
//! level, since pulses are not reliable there: who raises finds the bit set, or sets it; the target clears it
//! *before* it looks at its doorbells, so that nothing is missed in between.
//!
//! **What a handler may touch.** It runs on the stack of the program, at any of its instructions, so it is bound like
//! a thread of its own. Either its state is [`Send`] and it is a function without captures: the program reaches the state through
//! the [`Shielded`] that it got for it, which keeps the handler away meanwhile. Or it has captures, and it is the program that is
//! `Send` [for as long](Interrupt::handle_interrupts_during), and so has nothing of them. The handler gets the core, and may do whatever a program may do with it: it never comes
//!
//! * within an operation of the core (nor within [`Interrupt::defer_interrupts`]), but when that is over; between the
//!   polls of a wait it does;
//! * while the core holds a test-and-set register by a [guard](crate::TsrGuard), for it might want the same one;
//! * within itself.
//!
//! It should be short, and must not wait for what only programs do: the program of this core does not go on before it
//! returns. Stores of the program may be pushed out of the write-combine buffer by those of the handler, and lines
//! that the program has read may be invalidated; hardware does either by itself.

use alloc::rc::Rc;

use crate::{CoreId, TestAndSet};

/// Interrupts between cores.
pub trait Interrupt: TestAndSet + Sized + 'static {
    /// Raises an interrupt on `target`, which may be this core; it comes when the target next may be interrupted, or
    /// never if no handler is set there. What was stored before is *not* pushed out of the write-combine buffer.
    ///
    /// Takes the target's test-and-set register for that time, so this core must not hold it.
    fn raise_interrupt(&self, target: CoreId);

    /// From now on `handler` is called with `state` after interrupts were raised on this core; what is pending comes
    /// at once. Dropping what this returns ends it. Nothing if there is a handler.
    fn handle_interrupts<T: Send + 'static>(&self, state: T, handler: fn(&Self, &T)) -> Option<Shielded<'_, Self, T>>;

    /// Calls `program`, and `handler` meanwhile, whenever interrupts were raised on this core; what is pending comes at once. Nothing
    /// of it if there is a handler. The program gets the core as well, by which it can compute, for example.
    ///
    /// The handler may use whatever it captured, since a program that is [`Send`] has nothing of it:
    ///
    /// ```compile_fail,E0277
    /// # use hal::{Clock, Interrupt};
    /// # fn both<C: Interrupt + Clock>(core: &C) {
    /// let seen = core::cell::Cell::new(0);
    /// core.handle_interrupts_during(|_| seen.set(seen.get() + 1), |core| core.compute(seen.get()));
    /// # }
    /// ```
    fn handle_interrupts_during<R>(
        &self,
        handler: impl Fn(&Self),
        program: impl FnOnce(&Self) -> R + Send,
    ) -> Option<R>;

    /// Calls `action` and lets interrupts come afterwards.
    fn defer_interrupts<R>(&self, action: impl FnOnce() -> R) -> R;

    /// Sets no handler any more; see [`handle_interrupts`](Self::handle_interrupts). Interrupts that are raised stay
    /// pending.
    fn ignore_interrupts(&self);
}

/// What a core's program and its interrupt handler both use. Dropping it takes the handler away.
pub struct Shielded<'c, C: Interrupt, T> {
    core: &'c C,
    state: Rc<T>,
}

impl<'c, C: Interrupt, T> Shielded<'c, C, T> {
    /// The program's access to what the handler of `core` uses; for backends.
    pub(crate) fn new(core: &'c C, state: Rc<T>) -> Self {
        Self { core, state }
    }

    /// Gives `access` the state, and keeps the handler away meanwhile. What is waited for in there must not need the
    /// handler.
    pub fn with<R>(&self, access: impl FnOnce(&T) -> R) -> R {
        self.core.defer_interrupts(|| access(&self.state))
    }
}

impl<C: Interrupt, T> Drop for Shielded<'_, C, T> {
    fn drop(&mut self) {
        self.core.ignore_interrupts();
    }
}
