//! Whether all ranks call the same collective operation, with arguments that agree.
//!
//! They have to, and normally nobody looks: ranks that disagree wait for ever, or mix data up. While
//! [`Comm::check_arguments`] is on, every collective operation begins by comparing the calls of all ranks, and if one
//! differs from rank 0's, all return [`Error::CallsDiffer`], and nothing else has happened. What returns no error, such
//! as a barrier, panics with it.
//!
//! A call is a few words, which are combined over [messages](crate::two_sided) up a tree to the first that differs,
//! and sent down again. So each operation costs 2 (P − 1) messages more, and no rank enters one before all have called
//! it; which hides what can go wrong when ranks run ahead of each other. Where nothing is compared, all this costs a
//! look at a flag.

use hal::Messenger;

use crate::{Comm, Error};

use super::{
    call::{Call, WORDS},
    reduction,
};

/// What ranks in a row call: the lowest one, and the first that differs from it, each a rank and its words. The rank
/// that differs is raised by one, and 0 where there is none.
type Row = [u32; 2 * (1 + WORDS)];

fn join(left: Row, right: Row) -> Row {
    let (first, other) = left.split_at(1 + WORDS);
    if other[0] > 0 {
        return left;
    }
    let (next, later) = right.split_at(1 + WORDS);
    let mut row = left;
    if first[1..] == next[1..] {
        row[1 + WORDS..].copy_from_slice(later);
    } else {
        row[1 + WORDS..].copy_from_slice(next);
        row[1 + WORDS] += 1;
    }
    row
}

/// The two ends of a block of an exchange, which name different lengths: rank and bytes of the sender, rank and bytes
/// of the receiver.
pub(crate) type Ends = [(usize, usize); 2];

impl<C> Comm<'_, C> {
    /// Sets whether every collective operation begins by comparing the calls of all ranks. All ranks say
    /// the same. In the beginning nothing is compared; the word `check=arguments` on a program's command line turns it
    /// on.
    ///
    /// All ranks then have to call all collective operations in one order, non-blocking ones included, which wait for
    /// each other when they are begun.
    pub fn check_arguments(&self, compares: bool) {
        self.compares_calls().set(compares);
    }

    /// Whether it does so: operations that a library makes of messages then begin by the same.
    pub fn compares_arguments(&self) -> bool {
        self.compares_calls().get()
    }
}

impl<C: Messenger> Comm<'_, C> {
    /// Refuses, on all ranks alike, an operation that they call differently.
    #[inline]
    pub(crate) fn check_call(&self, call: impl FnOnce() -> Call) -> Result<(), Error> {
        if self.compares_calls().get() { self.compare_made(call) } else { Ok(()) }
    }

    /// Compares what `call` makes: here, so that nothing is made where nothing is compared.
    #[cold]
    #[inline(never)]
    fn compare_made(&self, call: impl FnOnce() -> Call) -> Result<(), Error> {
        self.compare(call())
    }

    /// Compares the calls of all ranks, for an operation that returns no error.
    ///
    /// # Panics
    /// If they call it differently.
    #[track_caller]
    #[inline]
    pub(crate) fn assert_call(&self, call: impl FnOnce() -> Call) {
        if let Err(error) = self.check_call(call) {
            panic!("{error}");
        }
    }

    fn compare(&self, Call(words): Call) -> Result<(), Error> {
        self.check_lines(true)?;
        let mut own: Row = [0; 2 * (1 + WORDS)];
        own[0] = self.rank() as u32;
        own[1..=WORDS].copy_from_slice(&words);
        let found = reduction::over_messages(self, own, join);
        let call = |at: usize| Call(core::array::from_fn(|word| found[at + word]));
        match found[1 + WORDS] {
            0 => Ok(()),
            rank => Err(Error::CallsDiffer { rank: rank as usize - 1, calls: [call(2 + WORDS), call(1)] }),
        }
    }

    /// Refuses, on all ranks alike, an exchange in which a rank has found two ends that differ.
    pub(crate) fn check_ends(&self, found: Option<Ends>) -> Result<(), Error> {
        self.check_lines(true)?;
        let own = found
            .map_or([0; 5], |[(from, sent), (to, wanted)]| [1, from as u32, sent as u32, to as u32, wanted as u32]);
        let first = reduction::over_messages(self, own, |left, right| if left[0] > 0 { left } else { right });
        let [found, from, sent, to, wanted] = first.map(|word| word as usize);
        if found == 0 { Ok(()) } else { Err(Error::MessageLength { from, to, sent, wanted }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_differs_is_found_however_rows_are_joined() {
        let row = |rank: u32, call: u32| {
            let mut row: Row = [0; 2 * (1 + WORDS)];
            (row[0], row[1]) = (rank, call);
            row
        };
        let calls = [4, 4, 4, 9, 4, 8];
        let rows: std::vec::Vec<_> = (0..).zip(calls).map(|(rank, call)| row(rank, call)).collect();
        let other = |row: Row| (row[1], row[1 + WORDS], row[2 + WORDS]);
        let from_left = rows.iter().copied().reduce(join).unwrap();
        let from_right = rows.iter().rev().copied().reduce(|right, left| join(left, right)).unwrap();
        assert_eq!((other(from_left), other(from_right)), ((4, 4, 9), (4, 4, 9)));
        assert_eq!(other(join(rows[0], rows[1])), (4, 0, 0));
    }
}
