//! What was declared to a machine that checks programs, as far as it has to be counted.

use core::cell::Cell;

/// What was declared.
#[derive(Default)]
pub(super) struct Declarations {
    /// Operations so far.
    pub(super) operations: Cell<u64>,
    /// Operations of all ranks so far that `collectives` has carried out.
    pub(super) collectives: Cell<u64>,
}
