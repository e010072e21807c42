//! SCOSCo: Christgau and Schnor on post, start, complete and wait without coherence.

use super::entry::Entry;

/// What the paper has measured.
pub(super) const ENTRIES: &[Entry] = &[];
