//! What a core says of what it does, to whoever traces it from outside.

use crate::{Reason, Span};

/// One thing that is about to begin, or has ended.
#[derive(Clone, Copy, Debug)]
pub enum Announcement<'a> {
    /// An operation of a protocol begins.
    Begins(Span),
    /// The operation ends that began last.
    Ends,
    /// A wait begins.
    Waits(Reason),
    /// It is over.
    HasWaited {
        /// What for, and whom it missed last.
        reason: Reason,
        /// Whether its time was up.
        is_late: bool,
    },
    /// A phase of the program begins.
    Phase(&'a str),
}
