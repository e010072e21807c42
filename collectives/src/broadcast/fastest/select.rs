//! Which of our broadcasts is the fastest.

use hal::LINE_BYTES;

use crate::tagged::tagged_lines;

use super::{short, tree::Tree};

/// Whether `len` bytes go faster as a short message than as a long one.
///
/// A line takes the readers as long either way, so it depends on how many there are: tagged ones have room for less. What a long message
/// needs besides, a count and its poll for each piece, makes the difference where they are as many. Beyond what one operation has
/// room for, short messages would go as several.
pub(super) fn is_short(tree: &Tree, len: usize) -> bool {
    tagged_lines(len) <= short::most_lines(tree).min(len.div_ceil(LINE_BYTES))
}
