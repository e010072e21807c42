//! Which of our broadcasts is the fastest.

use hal::LINE_BYTES;

use crate::tagged::tagged_lines;

use super::{short, tree::Tree};

/// Whether `len` bytes go faster as a short message than as a long one. Never for more than [`short::MOST_LINES`] lines.
///
/// In a tree of one level, a line takes the readers as long either way, so it depends on how many there are: tagged ones have room for
/// less. Where they are as many, short messages are ahead, as long ones have a count for each piece, and its poll.
///
/// With more levels, pieces are passed on from memory to MPB at each, and tagged lines from MPB to MPB.
pub(super) fn is_short(tree: &Tree, len: usize) -> bool {
    let lines = tagged_lines(len);
    lines <= short::MOST_LINES && (lines <= len.div_ceil(LINE_BYTES) || !tree.is_flat())
}
