//! The binary recursive tree of RCCE_comm (OC-Bcast paper, section 5.2.2), and the slices of a message.
//!
//! Positions count from the root. A set of positions, of which the first has the message, is divided into two of
//! ⌈n/2⌉ and ⌊n/2⌋; the first sends to the first of the other half; and so on in both halves, ⌈log₂ P⌉ times.

use core::ops::Range;

use hal::LINE_BYTES;

/// One division of the set that a position is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Halving {
    /// Who sends.
    pub(super) first: usize,
    /// Who receives, the first of the second half.
    pub(super) middle: usize,
    /// Behind the last of the second half.
    pub(super) end: usize,
}

/// The divisions of the sets that `position` of `size` is in, from all down to itself.
pub(super) fn halvings(position: usize, size: usize) -> impl Iterator<Item = Halving> {
    let mut set = 0..size;
    core::iter::from_fn(move || {
        let middle = set.start + set.len().div_ceil(2);
        let halving = (set.len() > 1).then_some(Halving { first: set.start, middle, end: set.end });
        set = if position < middle { set.start..middle } else { middle..set.end };
        halving
    })
}

/// A part of a message in slices of whole lines, one for each position, which differ by a line at most.
#[derive(Clone, Debug)]
pub(super) struct Slices {
    bytes: Range<usize>,
    count: usize,
}

impl Slices {
    pub(super) fn new(bytes: Range<usize>, count: usize) -> Self {
        Self { bytes, count }
    }

    fn lines(&self) -> usize {
        self.bytes.len().div_ceil(LINE_BYTES)
    }

    /// Lines of the longest slice.
    pub(super) fn longest_lines(&self) -> usize {
        self.lines().div_ceil(self.count)
    }

    /// Where slice `index` begins in the message; that of index `count` is its end.
    fn start(&self, index: usize) -> usize {
        let (each, rest) = (self.lines() / self.count, self.lines() % self.count);
        (self.bytes.start + (index * each + index.min(rest)) * LINE_BYTES).min(self.bytes.end)
    }

    /// The bytes of some slices in a row.
    pub(super) fn bytes(&self, slices: Range<usize>) -> Range<usize> {
        self.start(slices.start)..self.start(slices.end)
    }

    /// The bytes of one slice; the slices go around.
    pub(super) fn slice(&self, index: usize) -> Range<usize> {
        let index = index % self.count;
        self.bytes(index..index + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_receives_once_and_from_one_that_has_it() {
        for size in 1..=300 {
            let mut steps = vec![None; size];
            steps[0] = Some(0);
            for position in 0..size {
                let mut has = position == 0;
                for (step, halving) in halvings(position, size).enumerate() {
                    assert!(position >= halving.first && position < halving.end);
                    if position == halving.middle {
                        assert!(!has);
                        has = true;
                        steps[position] = Some(step + 1);
                        let sent = halvings(halving.first, size).nth(step);
                        assert_eq!(sent, Some(halving));
                        assert!(steps[halving.first] <= Some(step));
                    }
                }
                assert!(has && steps[position].is_some_and(|step| 1 << step < 2 * size.next_power_of_two()));
            }
        }
    }

    #[test]
    fn slices_cover_the_message() {
        for (len, count) in [(0, 1), (1, 5), (32, 5), (33, 5), (159, 5), (160, 5), (161, 5), (4096, 48), (49 * 32, 48)]
        {
            let slices = Slices::new(7..7 + len, count);
            assert_eq!(slices.bytes(0..count), 7..7 + len);
            let mut end = 7;
            for index in 0..count {
                let slice = slices.slice(index);
                assert_eq!((slice.start, slice.len().div_ceil(LINE_BYTES) <= slices.longest_lines()), (end, true));
                end = slice.end;
            }
        }
    }
}
