//! Who has which of the spare lines of every MPB.
//!
//! Lines are taken and given back collectively, in the same order on all ranks, so that all find the same ones
//! without asking. Once there are several communicators, ranks have taken different lines: then those of a communicator first
//! tell each other which.

use core::{cell::Cell, ops::Range};

use hal::{MPB_LINES, Messenger, Trace};

use crate::{Comm, Operator, collective::reduction};

/// What lines are that nobody has taken.
pub(crate) const SPARE: &str = "spare";

/// Lines as bits.
pub(crate) type Lines = [u32; MPB_LINES / 32];

/// The spare lines of a core's MPB.
pub(crate) struct SpareLines {
    range: Cell<(usize, usize)>,
    taken: Cell<Lines>,
}

fn contains(lines: &Lines, line: usize) -> bool {
    lines[line / 32] >> (line % 32) & 1 == 1
}

impl SpareLines {
    pub(crate) fn new(range: Range<usize>) -> Self {
        Self { range: Cell::new((range.start, range.end)), taken: Cell::default() }
    }

    /// More lines are spare from now on: those up to `end`.
    pub(crate) fn set_end(&self, end: usize) {
        self.range.set((self.range.get().0, end));
    }

    /// How many are in none of `taken`.
    pub(crate) fn free(&self, taken: &Lines) -> usize {
        let (start, end) = self.range.get();
        (start..end).filter(|line| !contains(taken, *line)).count()
    }

    /// The first `count` lines in a row of which none is in `taken`.
    pub(crate) fn find(&self, count: usize, taken: &Lines) -> Option<usize> {
        let (start, end) = self.range.get();
        let last = end.checked_sub(count)?;
        (start..=last).find(|first| (*first..first + count).all(|line| !contains(taken, line)))
    }

    /// Whether these are spare, and in none of `taken`.
    fn are_free(&self, lines: Range<usize>, taken: &Lines) -> bool {
        let (start, end) = self.range.get();
        lines.start >= start && lines.end <= end && !lines.into_iter().any(|line| contains(taken, line))
    }

    /// The lines from which on none is in `taken`, up to the end.
    fn free_end(&self, taken: &Lines) -> Range<usize> {
        let (start, end) = self.range.get();
        let first = (start..end).rev().take_while(|line| !contains(taken, *line)).last().unwrap_or(end);
        first..end
    }

    /// Takes these lines. They contain anything.
    pub(crate) fn mark(&self, first: usize, count: usize) {
        self.change(first, count, |word, bit| word | bit);
    }

    /// Gives lines back that were taken together. Nobody writes to them any more.
    pub(crate) fn give_back(&self, first: usize, count: usize) {
        self.change(first, count, |word, bit| word & !bit);
    }

    fn change(&self, first: usize, count: usize, change: impl Fn(u32, u32) -> u32) {
        let mut taken = self.taken.get();
        (first..first + count).for_each(|line| taken[line / 32] = change(taken[line / 32], 1 << (line % 32)));
        self.taken.set(taken);
    }
}

impl<C: Trace> Comm<'_, C> {
    /// Takes these lines, for what those are told that look at them. They contain anything.
    pub(crate) fn mark_lines(&self, first: usize, count: usize, what: &'static str) {
        self.spare_lines().mark(first, count);
        self.hal().name_lines(first..first + count, what);
    }

    /// Gives lines back that were taken together. Nobody writes to them any more.
    pub(crate) fn give_back_lines(&self, first: usize, count: usize) {
        self.spare_lines().give_back(first, count);
        self.hal().name_lines(first..first + count, SPARE);
    }
}

impl<C: Messenger> Comm<'_, C> {
    /// The spare lines that are taken at some rank. Collective.
    pub(crate) fn taken_lines(&self) -> Lines {
        let mut taken = self.spare_lines().taken.get();
        if self.is_divided().get() {
            let reduced = reduction::allreduce(self, &mut taken, &Operator::OR);
            debug_assert_eq!(reduced, Ok(()), "a word always fits");
        }
        taken
    }

    /// Takes `count` spare lines in a row for something, the first that are free at all ranks. They contain anything. Collective.
    pub(crate) fn take_spare_lines(&self, count: usize, what: &'static str) -> Option<usize> {
        let first = self.spare_lines().find(count, &self.taken_lines())?;
        self.mark_lines(first, count, what);
        Some(first)
    }

    /// Takes these lines, which are spare, if all of them are free at all ranks. Collective.
    pub(crate) fn take_spare_lines_at(&self, lines: Range<usize>, what: &'static str) -> bool {
        let are_free = self.spare_lines().are_free(lines.clone(), &self.taken_lines());
        if are_free {
            self.mark_lines(lines.start, lines.len(), what);
        }
        are_free
    }

    /// The lines below which, and from which on, there is nothing that is taken at the end; and where the end is. Collective.
    pub(crate) fn free_spare_end(&self) -> Range<usize> {
        self.spare_lines().free_end(&self.taken_lines())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_free_lines_are_found() {
        let lines = SpareLines::new(10..20);
        let take = |count| {
            let first = lines.find(count, &lines.taken.get())?;
            lines.mark(first, count);
            Some(first)
        };
        assert_eq!((take(4), take(4), take(4), take(2)), (Some(10), Some(14), None, Some(18)));
        lines.give_back(10, 4);
        assert_eq!(lines.free(&lines.taken.get()), 4);
        assert_eq!((take(5), take(3), take(1), take(1)), (None, Some(10), Some(13), None));
        lines.set_end(40);
        assert_eq!((take(20), lines.find(1, &lines.taken.get())), (Some(20), None));
        assert_eq!(SpareLines::new(3..3).find(1, &Lines::default()), None);
    }

    #[test]
    fn lines_that_follow_are_taken_where_they_are_free() {
        let lines = SpareLines::new(10..20);
        let taken = || lines.taken.get();
        lines.mark(10, 3);
        assert_eq!(lines.free_end(&taken()), 13..20);
        assert!(
            lines.are_free(13..15, &taken()) && !lines.are_free(18..21, &taken()) && !lines.are_free(12..14, &taken())
        );
        lines.mark(18, 2);
        lines.set_end(25);
        assert_eq!((lines.find(6, &taken()), lines.free_end(&taken())), (None, 20..25));
        lines.set_end(27);
        assert_eq!((lines.find(6, &taken()), lines.free_end(&taken())), (Some(20), 20..27));
        lines.mark(20, 7);
        assert_eq!(lines.free_end(&taken()), 27..27);
    }

    #[test]
    fn lines_that_others_have_are_not_taken() {
        let lines = SpareLines::new(30..40);
        let mut taken = Lines::default();
        taken[1] = 0b10;
        assert_eq!((lines.find(3, &taken), lines.find(4, &taken), lines.free(&taken)), (Some(30), Some(34), 9));
    }
}
