//! Which of our broadcasts is the fastest.

use crate::tagged::tagged_lines;

use super::short;

/// Whether `len` bytes arrive earlier as a short message than as a long one.
///
/// In a tree of one level, readers take a poll for each tagged line, and a line of memory for each 32 bytes; of a long message they take a
/// read for each 32 bytes, and for each of its pieces a count, its poll and a call. So short ones are ahead as long as one operation
/// has room for them. With more levels, pieces are passed on from memory to MPB at each, and tagged lines from MPB to MPB.
pub(super) fn is_short(len: usize) -> bool {
    tagged_lines(len) <= short::MOST_LINES
}
