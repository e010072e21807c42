//! Who has which of the spare lines of every MPB.
//!
//! Lines are taken and given back collectively, in the same order on all ranks, so that all find the same ones
//! without asking.

use core::{cell::RefCell, ops::Range};

use hal::MPB_LINES;

/// The spare lines of a communicator.
pub(crate) struct SpareLines {
    range: Range<usize>,
    taken: RefCell<[bool; MPB_LINES]>,
}

impl SpareLines {
    pub(crate) fn new(range: Range<usize>) -> Self {
        Self { range, taken: RefCell::new([false; MPB_LINES]) }
    }

    /// Takes `count` lines in a row, the first that are free. They contain anything.
    pub(crate) fn take(&self, count: usize) -> Option<usize> {
        let mut taken = self.taken.borrow_mut();
        let last = self.range.end.checked_sub(count)?;
        let first = (self.range.start..=last).find(|first| taken[*first..first + count].iter().all(|line| !line))?;
        taken[first..first + count].fill(true);
        Some(first)
    }

    /// Gives lines back that were taken together. Nobody writes to them any more.
    pub(crate) fn give_back(&self, first: usize, count: usize) {
        self.taken.borrow_mut()[first..first + count].fill(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_free_lines_are_found() {
        let lines = SpareLines::new(10..20);
        assert_eq!((lines.take(4), lines.take(4), lines.take(4), lines.take(2)), (Some(10), Some(14), None, Some(18)));
        lines.give_back(10, 4);
        assert_eq!((lines.take(5), lines.take(3), lines.take(1), lines.take(1)), (None, Some(10), Some(13), None));
        assert_eq!(SpareLines::new(3..3).take(1), None);
    }
}
