//! What a barrier of a group is made of.

use hal::{Core, Deadline};

use crate::Comm;

/// One way to carry out barriers, with what it needs for that, on one rank.
///
/// Ranks that are no member have one, too, which does nothing and never waits. While one barrier is under way, no
/// other of the same mechanism is begun.
pub(super) trait Mechanism<C: Core> {
    /// Begins the next barrier: does what needs no waiting.
    fn arrive(&self, comm: &Comm<'_, C>);

    /// Goes on with the barrier that was begun, until `deadline`, and says whether all have arrived. With a deadline
    /// that is over it goes on as far as possible without waiting. Without one it returns when all have arrived, or
    /// when the machine is dying.
    fn go_on(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool;

    /// Gives back what it had, after a barrier of all ranks: nobody uses it any more.
    fn end(&self, comm: &Comm<'_, C>);
}
