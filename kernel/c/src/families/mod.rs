//! Families of functions that programs call: each has a module here, a table that [`services`](crate::services) points to, and its
//! C side in a directory of its own beside `src`.

pub(crate) mod mpi;
pub(crate) mod rcce;

use core::{cell::OnceCell, ffi::c_void, ops::Deref};

use kernel::hal::Core;

use crate::session::Session;

/// A session with what each family of functions keeps for its rank: what the functions of all tables work on, by shared
/// references, since a function of the program that is called from here may call them again.
pub(crate) struct Running<'s, 'r, C: Core> {
    session: Session<'s, 'r, C>,
    /// From the first call of MPI on.
    pub(crate) mpi: OnceCell<mpi::Mpi<'r, C>>,
    /// From `RCCE_init` on.
    pub(crate) rcce: OnceCell<rcce::Rcce<'r, C>>,
}

impl<'s, 'r, C: Core> Running<'s, 'r, C> {
    /// A session in which no family has begun.
    pub(crate) fn new(session: Session<'s, 'r, C>) -> Self {
        Self { session, mpi: OnceCell::new(), rcce: OnceCell::new() }
    }
}

impl<'s, 'r, C: Core> Deref for Running<'s, 'r, C> {
    type Target = Session<'s, 'r, C>;

    fn deref(&self) -> &Self::Target {
        &self.session
    }
}

/// Does something with the session that a function of a table was given as its context.
///
/// # Safety
/// The context is that of a program which [`CProgram`](crate::CProgram) runs on this core, with this type of core.
pub(crate) unsafe fn with<C: Core, R>(
    context: *mut c_void,
    action: impl for<'s, 'r> FnOnce(&Running<'s, 'r, C>) -> R,
) -> R {
    // SAFETY: the caller says so: the session is there until the program has ended, and nothing borrows it mutably.
    let running = unsafe { &*context.cast::<Running<'_, '_, C>>() };
    // What the program has computed was before this.
    running.spent.charge(running.comm.hal());
    action(running)
}

/// The tables of the families.
pub(crate) struct Tables {
    pub(crate) mpi: mpi::Table,
    pub(crate) rcce: rcce::Table,
}

impl Tables {
    /// The tables for ranks on cores of this type.
    pub(crate) fn of<C: Core>() -> Self {
        Self { mpi: mpi::Table::of::<C>(), rcce: rcce::Table::of::<C>() }
    }
}
