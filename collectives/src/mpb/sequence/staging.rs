//! Staging lines of operations that may not be complete.

use core::cell::Cell;

/// What an operation has in its staging lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contents {
    /// Data without tags.
    Raw,
    /// Lines with tags.
    Tagged,
}

/// Staging lines that operations share over time.
#[derive(Default)]
pub(super) struct Staging {
    /// The lines, by the bits of [`lines_bits`], that operations have which may not be complete.
    pub(super) taken: Cell<u128>,
    /// Those of them that the last operation has.
    pub(super) last: Cell<u128>,
    /// An operation that keeps its staging to itself may not be complete on other ranks.
    pub(super) kept: Cell<bool>,
    /// The last operation, if it may be repeated in its lines, by its number, and what it had in these.
    pub(super) repeatable: Cell<Option<(u32, [usize; 2])>>,
    /// The lines that may hold anything: whatever a message has where lines have their tags could be the tag of the next
    /// operation. The others hold 0, or tagged data of earlier operations.
    pub(super) raw: Cell<u128>,
}

impl Staging {
    /// All operations so far are complete.
    pub(super) fn end_all(&self) {
        self.taken.set(0);
        self.kept.set(false);
    }

    /// The operation that begins has these lines.
    #[inline]
    pub(super) fn take(&self, bits: u128) {
        // Looked at first: stores to a line that no cache has would go out to memory, one by one, each time.
        if bits != 0 {
            self.taken.set(self.taken.get() | bits);
            self.last.set(bits);
        } else if self.last.get() != 0 {
            self.last.set(0);
        }
    }

    /// The first of `lines` staging lines of `room`; none if no such lines in a row are left by operations that may not be
    /// complete.
    pub(super) fn place(&self, lines: usize, room: usize, contents: Contents) -> Option<usize> {
        let (taken, raw) = (self.taken.get(), self.raw.get());
        let others = if contents == Contents::Raw { !raw } else { raw };
        free_lines(taken | others, lines, room).or_else(|| free_lines(taken, lines, room))
    }
}

/// The first of `lines` lines in a row that are among the first `room` and not among the `others`.
pub(super) fn free_lines(others: u128, lines: usize, room: usize) -> Option<usize> {
    if others == 0 && lines <= room {
        return Some(0);
    }
    let mut first = 0;
    while first + lines <= room {
        let met = others & lines_bits(first, lines);
        if met == 0 {
            return Some(first);
        }
        first = met.ilog2() as usize + 1;
    }
    None
}

/// A bit for each of these lines, counted from the first one that there is; no communicator has as many as bits.
pub(super) fn lines_bits(first: usize, lines: usize) -> u128 {
    !(u128::MAX << lines) << first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_between_others() {
        let others = lines_bits(0, 1) | lines_bits(5, 2) | lines_bits(95, 1);
        let found = |lines| free_lines(others, lines, 96);
        assert_eq!([1, 4, 5, 88, 89].map(found), [Some(1), Some(1), Some(7), Some(7), None]);
        assert_eq!([free_lines(others, 87, 95), free_lines(others, 5, 91)], [Some(7), Some(7)]);
        assert_eq!([free_lines(0, 96, 96), free_lines(u128::MAX, 1, 96)], [Some(0), None]);
    }
}
