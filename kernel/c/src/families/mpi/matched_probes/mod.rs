//! Probes: whether a message has come, and which; a matched one takes it.

pub(crate) mod calls;

use alloc::rc::Rc;

use kernel::{collectives::Arrival, hal::Core};

use super::communicators::Communicator;

/// A message that was taken.
pub(crate) struct Found<'r, C: Core> {
    comm: Rc<Communicator>,
    arrival: Arrival<'r, 'r, C>,
}
