//! Numbers of the paper's text.

/// Targets of the paper's experiments at most: it uses 32 cores.
pub(crate) const MOST_TARGETS: u64 = 31;

/// Targets of the times that the text gives.
pub(crate) const TARGETS: u64 = 13;

/// The target's side of an epoch with [`TARGETS`] targets, in microseconds.
pub(crate) const TARGET_SIDE: f64 = 25.8;

/// The same over messages.
pub(crate) const TARGET_SIDE_OF_MESSAGES: f64 = 115.2;
