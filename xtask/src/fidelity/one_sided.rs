//! Lai, Sur and Panda on truly one-sided communication.

use super::entry::Entry;

/// What the paper has measured.
pub(super) const ENTRIES: &[Entry] = &[];
