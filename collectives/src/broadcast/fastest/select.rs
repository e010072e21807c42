//! Which of our broadcasts is the fastest.

use crate::{sequence::TURNS, tagged::tagged_lines};

use super::{short, tree::Tree};

/// Whether `len` bytes arrive earlier as a short message than as a long one.
///
/// In a tree of one level, readers take a poll for each tagged line, and a line of memory for each 32 bytes; of a
/// long message they take a read for each 32 bytes, and for each of its pieces a count, its poll and a call. So short
/// ones are ahead as long as one operation has room for them. With more levels each tagged line is an operation, and
/// is passed on from MPB to MPB, but pieces from memory: short ones arrive earlier as long as there are turns for
/// all, but take more of each rank's time. They may use half of the turns there, so that not every message has to
/// wait for a barrier.
pub(super) fn is_short(tree: &Tree, len: usize) -> bool {
    let most = if tree.is_flat() { short::MOST_LINES } else { TURNS as usize / 2 };
    tagged_lines(len) <= most
}
