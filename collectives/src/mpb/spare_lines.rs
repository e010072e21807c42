//! Who has which of the spare lines of every MPB.
//!
//! Lines are taken and given back collectively, in the same order on all ranks, so that all find the same ones
//! without asking.

use core::{
    cell::{Cell, RefCell},
    ops::Range,
};

use hal::MPB_LINES;

/// The spare lines of a communicator.
pub(crate) struct SpareLines {
    start: usize,
    end: Cell<usize>,
    taken: RefCell<[bool; MPB_LINES]>,
}

impl SpareLines {
    pub(crate) fn new(range: Range<usize>) -> Self {
        Self { start: range.start, end: Cell::new(range.end), taken: RefCell::new([false; MPB_LINES]) }
    }

    /// Takes `count` lines in a row, the first that are free. They contain anything.
    pub(crate) fn take(&self, count: usize) -> Option<usize> {
        let mut taken = self.taken.borrow_mut();
        let last = self.end.get().checked_sub(count)?;
        let first = (self.start..=last).find(|first| taken[*first..first + count].iter().all(|line| !line))?;
        taken[first..first + count].fill(true);
        Some(first)
    }

    /// Takes these lines, which are spare, if all of them are free.
    pub(crate) fn take_at(&self, lines: Range<usize>) -> bool {
        let mut taken = self.taken.borrow_mut();
        let free = lines.start >= self.start && lines.end <= self.end.get() && !taken[lines.clone()].contains(&true);
        if free {
            taken[lines].fill(true);
        }
        free
    }

    /// The lines below which, and from which on, there is nothing that is taken at the end; and where the end is.
    pub(crate) fn free_end(&self) -> Range<usize> {
        let taken = self.taken.borrow();
        let end = self.end.get();
        let first = (self.start..end).rev().take_while(|line| !taken[*line]).last().unwrap_or(end);
        first..end
    }

    /// More lines are spare from now on: those up to `end`.
    pub(crate) fn set_end(&self, end: usize) {
        self.end.set(end);
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

    #[test]
    fn lines_that_follow_are_taken_where_they_are_free() {
        let lines = SpareLines::new(10..20);
        assert_eq!((lines.take(3), lines.free_end()), (Some(10), 13..20));
        assert!(lines.take_at(13..15) && !lines.take_at(14..16) && !lines.take_at(18..21));
        lines.set_end(25);
        assert!(lines.take_at(18..21));
        assert_eq!((lines.take(5), lines.free_end()), (None, 21..25));
        lines.set_end(27);
        assert_eq!((lines.take(6), lines.free_end()), (Some(21), 27..27));
    }
}
