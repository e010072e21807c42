//! Families of functions that programs call: each has a module here, a table that [`services`](crate::services) points to, and its
//! C side in a directory of its own beside `src`.

pub(crate) mod mpi;
pub(crate) mod rcce;

use core::cell::OnceCell;

use kernel::hal::Core;

/// What each family of functions keeps for a rank.
pub struct Families<'r, C: Core> {
    /// From the first call of MPI on.
    pub(crate) mpi: OnceCell<mpi::Mpi<'r, C>>,
    /// From `RCCE_init` on.
    pub(crate) rcce: OnceCell<rcce::Rcce<'r, C>>,
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

impl<C: Core> Default for Families<'_, C> {
    fn default() -> Self {
        Self { mpi: OnceCell::new(), rcce: OnceCell::new() }
    }
}
