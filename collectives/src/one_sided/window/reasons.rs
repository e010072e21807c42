//! What the two sides of an epoch wait for, in the words of reports.

/// What an origin waits for in START.
pub(super) const POST: &str = "the post of window";
/// What a target waits for in WAIT.
pub(super) const COMPLETION: &str = "origins to complete on window";
