//! How a long message is cut.

use core::ops::Range;

use hal::LINE_BYTES;

/// Lines of the first piece: the readers wait for it, and for nothing else.
const FIRST_LINES: usize = 2;

/// The pieces of a message, in order: where each is in it.
///
/// Pieces grow by half. While the readers get a piece, at `C_r^mpb + C_w^mem` a line, the root puts the next one, at
/// `C_r^mem + C_w^mpb`, which is little more than half of it; what is left of the time is for the calls and for the
/// count. So readers have to wait for the first piece only, and large messages have few pieces.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    rest: Range<usize>,
    lines: usize,
    most_lines: usize,
}

impl Pieces {
    /// The pieces of `len` bytes, none of which has more than `most_lines` lines.
    pub(super) fn new(len: usize, most_lines: usize) -> Self {
        Self { rest: 0..len, lines: FIRST_LINES.min(most_lines), most_lines }
    }

    /// How many there are, and the lines of the largest.
    pub(super) fn shape(mut self) -> (usize, usize) {
        let (mut count, mut largest) = (0, 0);
        // All that are left when they do not grow any more are counted at once.
        while self.lines < self.most_lines
            && let Some(piece) = self.next()
        {
            count += 1;
            largest = largest.max(piece.len().div_ceil(LINE_BYTES));
        }
        let rest = self.rest.len().div_ceil(LINE_BYTES);
        (count + rest.div_ceil(self.most_lines), largest.max(rest.min(self.most_lines)))
    }
}

impl Iterator for Pieces {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let end = self.rest.end.min(self.rest.start + self.lines * LINE_BYTES);
        let piece = self.rest.start..end;
        self.rest.start = end;
        self.lines = (self.lines + self.lines / 2).min(self.most_lines);
        (!piece.is_empty()).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn pieces_grow_up_to_the_largest() {
        let lines = |len, most| Pieces::new(len, most).map(|piece| piece.len().div_ceil(32)).collect::<Vec<_>>();
        assert_eq!(lines(0, 24), []);
        assert_eq!(lines(1, 24), [1]);
        assert_eq!(lines(2 * 32 + 1, 24), [2, 1]);
        assert_eq!(lines(4000, 24), [2, 3, 4, 6, 9, 13, 19, 24, 24, 21]);
        assert_eq!(lines(200, 1), [1; 7]);
    }

    #[test]
    fn pieces_make_up_the_message_and_are_counted() {
        for most in [1, 2, 3, 5, 11, 24] {
            for len in (0..3000).chain([10_000, 1 << 20]) {
                let pieces: Vec<_> = Pieces::new(len, most).collect();
                assert!(
                    pieces
                        .iter()
                        .map(|piece| piece.start)
                        .eq([0].into_iter().chain(pieces.iter().map(|piece| piece.end)).take(pieces.len()))
                );
                assert_eq!(pieces.last().map_or(0, |piece| piece.end), len);
                let largest = pieces.iter().map(|piece| piece.len().div_ceil(LINE_BYTES)).max().unwrap_or(0);
                assert_eq!(Pieces::new(len, most).shape(), (pieces.len(), largest), "{len} bytes, {most} lines");
            }
        }
    }
}
