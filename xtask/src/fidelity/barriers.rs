//! Fröning et al. on barriers of a cluster.

use super::entry::Entry;

/// What the paper has measured.
pub(super) const ENTRIES: &[Entry] = &[];
