//! Waits that drive whatever is under way.

use hal::{Core, Reason, TimedOut};

use crate::{Comm, Error};

/// What is waited for.
pub(super) const MESSAGE: Reason = Reason::new("a message with a tag");

/// Waits, driving all that is under way, until `check` finds something.
pub(super) fn wait_for<C: Core, R>(comm: &Comm<'_, C>, check: impl FnMut() -> Option<R>) -> Result<R, Error> {
    wait_for_reason(comm, MESSAGE, check)
}

/// Waits like this for something else than a message.
pub(super) fn wait_for_reason<C: Core, R>(
    comm: &Comm<'_, C>,
    reason: Reason,
    mut check: impl FnMut() -> Option<R>,
) -> Result<R, Error> {
    if let Some(found) = check() {
        return Ok(found);
    }
    comm.wait_for_engines(reason, check).map_err(|TimedOut { reason }| Error::TimedOut { reason })
}
