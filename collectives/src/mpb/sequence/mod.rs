//! The order of collective operations: which lines of every MPB the next one may use without asking.
//!
//! All ranks call the collective operations of a communicator in the same order, so that all count them alike. That
//! is enough to share lines of every MPB over time without a handshake for each operation:
//!
//! * a **cell** is a line that only ever holds [tagged](crate::mpb::tagged) data. Operation n has the two cells of turn n
//!   mod [`TURNS`] in every MPB, and its tag tells them from what was there before;
//! * **staging lines** come from the second staging buffer: the first in a row that no earlier operation may have. They
//!   hold what operations like. One that wants them for tagged data gets lines that have held nothing else since they were
//!   last cleared. To clear lines takes about as long as a short reduction. So an operation gets such lines as have held
//!   its kind of data before, if it can: then operations of both kinds can take turns.
//!
//! Both may be used again when every rank has finished the operation that had them. No rank waits for that at the end
//! of an operation. Instead each knows how far all have come: whoever leaves a barrier, or any other operation that
//! nobody leaves before all have entered it, knows that all earlier ones are complete everywhere. If the lines run
//! out before such an operation came by, the next one begins with a barrier; all ranks find that at the same
//! operation, since they count alike. So most operations need no acknowledgements at all, and the rest share one
//! barrier (MPICH's release-gather does so with its cells, Jain et al., SC'18).
//!
//! **A communicator of some ranks** has few staging lines of its own, and no claim to those of all ranks, which its members may
//! be using for something else.
//!
//! * An operation of tagged data that wants more lines than these can have cells as well, which hold nothing but tagged data either:
//!   those of turns that nobody is in. An operation whose turn has such cells then begins with a barrier.
//! * The first staging buffer of a rank is quiescent while this rank is in no operation. So an operation that wants still more lines
//!   is lent that buffer. If each rank writes to its own MPB only, it may do so at once. If any rank may write to it, a barrier
//!   comes first: whoever has come to that is in no other operation. A barrier at the end of the operation leaves the
//!   buffer quiescent again. Where a rank leaves only after it has taken all that others write to its buffer, and others read nothing there,
//!   that second barrier is not needed: see [`slots_turn`](Comm::slots_turn).
//!
//! Reductions of which all ranks get the result have the lines of the one before, if that was alike
//! and there are no others: whoever puts operands has the result of that one, for which the operands of all were taken; and
//! there is no result before all have put operands, so all have got the one before.

mod staging;
#[cfg(test)]
mod tests;

use core::{cell::Cell, ops::Range};

use hal::{LINE_BYTES, Mpb, MpbCopy, MpbLine, Wait};

use self::staging::{Contents, Staging, free_lines, lines_bits};
use crate::{Comm, Error};

/// Operations that can be under way before one has to wait for all ranks, among all ranks of a machine.
pub(crate) const TURNS: u32 = 8;

/// Cells of each operation.
pub(crate) const CELLS: usize = 2;

/// Who writes the staging lines of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writers {
    /// Each rank those of its own MPB.
    Owner,
    /// Any rank those of any MPB.
    Anyone,
}

/// The count of collective operations of one rank: how far it, and all ranks, have come.
#[derive(Default)]
pub(crate) struct Sequence {
    /// Operations that were begun.
    begun: Cell<u32>,
    /// How many of these, from the first, are complete on all ranks.
    complete: Cell<u32>,
    /// The staging lines that the communicator has.
    shared: Staging,
    /// Those that were lent to the operation under way.
    lent: Staging,
    /// Whether there are any.
    are_lent: Cell<bool>,
}

/// What one operation may use whose ranks put tagged data into each other's MPBs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SlotsTurn {
    /// Tells its data from what was there before.
    pub(crate) tag: u32,
    /// The first of the lines that others write to.
    pub(crate) written: usize,
    /// The first of the lines that others read.
    pub(crate) read: usize,
}

/// What one operation may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    /// Tells what this operation writes to its cells from what others wrote. Never 0, which is what lines hold at
    /// first.
    pub(crate) tag: u32,
    /// The operation's cells, the same lines in every MPB.
    pub(crate) cells: [usize; CELLS],
    /// The operation's staging lines, the same in every MPB. They contain anything, or in a [tagged turn](Comm::tagged_turn) no tag
    /// but of earlier operations.
    pub(crate) staging: Range<usize>,
}

impl Sequence {
    /// All ranks have entered an operation that began after all others so far; so these are complete.
    pub(crate) fn all_complete(&self) {
        // An operation that has barriers of its own is complete itself only later, and says so by `earlier_complete`.
        let begun = self.begun.get();
        if self.complete.get() == begun {
            // Nothing was begun or kept since, so there is nothing to store: a store to a line that no cache has goes out to memory.
            return;
        }
        self.complete.set(begun);
        self.shared.end_all();
        if self.are_lent.get() {
            self.lent.end_all();
        }
    }

    /// All ranks have entered the operation that was begun last; so those before it are complete.
    pub(crate) fn earlier_complete(&self) {
        self.complete.set(self.begun.get().wrapping_sub(1));
        let staging = self.staging();
        staging.taken.set(staging.last.get());
        staging.kept.set(false);
    }

    /// The next barrier has something to note, whether an operation has been begun by then or not.
    fn await_barrier(&self) {
        if self.complete.get() == self.begun.get() {
            self.complete.set(self.begun.get().wrapping_sub(1));
        }
    }

    /// Ranks keep this staging to themselves until the next barrier.
    fn keep(&self, staging: &Staging) {
        staging.kept.set(true);
        self.await_barrier();
    }

    /// The MPBs are laid out anew.
    pub(crate) fn restart_staging(&self) {
        self.keep(&self.shared);
    }

    /// Staging lines may hold anything from now on.
    pub(crate) fn staging_is_raw(&self) {
        self.shared.raw.set(u128::MAX);
    }

    /// The tag of the operation that is begun next.
    #[cfg(test)]
    pub(crate) fn next_tag(&self) -> u32 {
        tag_of(self.begun.get().wrapping_add(1))
    }

    /// The staging lines that operations get now.
    #[inline]
    fn staging(&self) -> &Staging {
        if self.are_lent.get() { &self.lent } else { &self.shared }
    }

    /// From now on, and until they are [returned](Self::return_lines), operations get the lines that all ranks lend. These hold anything.
    /// That they are quiescent is known to their owner only: so others write to them after a barrier.
    fn borrow_lines(&self) {
        self.are_lent.set(true);
        self.lent.taken.set(0);
        self.lent.last.set(0);
        self.keep(&self.lent);
        self.lent.raw.set(u128::MAX);
    }

    /// Whether lines were lent, which are given back.
    pub(crate) fn return_lines(&self) -> bool {
        let were_lent = self.are_lent.replace(false);
        if were_lent {
            self.await_barrier();
        }
        were_lent
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// Lines of the staging that operations share: no [`turn`](Self::turn) gets more.
    pub(crate) fn shared_staging_lines(&self) -> usize {
        self.mpb_layout().most_shared()
    }

    /// The staging lines out of which an operation gets `lines`.
    #[inline]
    fn staging_for(&self, lines: usize) -> Range<usize> {
        let (layout, sequence) = (self.mpb_layout(), self.sequence());
        if lines > layout.shared().len() && !sequence.are_lent.get() {
            sequence.borrow_lines();
        }
        if sequence.are_lent.get() { layout.lent() } else { layout.shared() }
    }

    /// Begins a collective operation that uses its cells, and `lines` staging lines of every MPB. All ranks have to
    /// say the same.
    #[inline]
    pub(crate) fn turn(&self, lines: usize, writers: Writers) -> Turn {
        let turn = self.begin(lines, writers);
        if lines > 0 {
            let staging = self.sequence().staging();
            staging.raw.set(staging.raw.get() | staging.last.get());
            if self.sequence().are_lent.get() {
                self.first_buffer_is_raw(turn.staging.end - self.mpb_layout().lent().start);
            }
        }
        turn
    }

    #[inline]
    fn begin(&self, lines: usize, writers: Writers) -> Turn {
        self.assert_no_profile();
        let (all, has_cells) = (self.staging_for(lines), self.is_part());
        let sequence = self.sequence();
        let staging = sequence.staging();
        debug_assert!(lines <= all.len());
        let foreign = writers == Writers::Anyone && lines > 0 && staging.kept.get();
        let no_cells = || has_cells && sequence.shared.taken.get() & self.next_cells() != 0;
        let place = || if lines > 0 { staging.place(lines, all.len(), Contents::Raw) } else { Some(0) };
        let mut found = place();
        if self.is_late() || foreign || no_cells() || found.is_none() {
            self.synchronise();
            found = place();
        }
        // After a barrier nothing is taken, so that any number fits.
        let place = found.unwrap_or(0);
        staging.take(if lines > 0 { lines_bits(place, lines) } else { 0 });
        if has_cells {
            self.take_cells();
        }
        self.next_turn(all.start + place..all.start + place + lines)
    }

    /// The cells of the next operation, among the lines that operations of tagged data can have.
    fn next_cells(&self) -> u128 {
        let layout = self.mpb_layout();
        let cell = layout.cell(self.sequence().begun.get().wrapping_add(1) & (layout.turns() - 1), 0);
        cell.checked_sub(layout.tagged().start).map_or(0, |place| lines_bits(place, CELLS))
    }

    /// The next operation has its cells.
    #[cold]
    fn take_cells(&self) {
        let (staging, cells) = (&self.sequence().shared, self.next_cells());
        staging.taken.set(staging.taken.get() | cells);
        staging.last.set(staging.last.get() | cells);
    }

    fn next_turn(&self, staging: Range<usize>) -> Turn {
        let (layout, sequence) = (self.mpb_layout(), self.sequence());
        let begun = sequence.begun.get().wrapping_add(1);
        sequence.begun.set(begun);
        // A power of 2.
        let turn = begun & (layout.turns() - 1);
        Turn { tag: tag_of(begun), cells: core::array::from_fn(|cell| layout.cell(turn, cell)), staging }
    }

    /// Whether as many operations are under way as there are cells for.
    fn is_late(&self) -> bool {
        let sequence = self.sequence();
        sequence.begun.get().wrapping_sub(sequence.complete.get()) >= self.mpb_layout().turns()
    }

    /// Begins a collective operation that stages in its own MPB only, in this many lines from the start of the first
    /// buffer on, and that no rank leaves before others have done with its staging.
    pub(crate) fn own_staging_turn(&self, lines: usize) {
        self.assert_no_profile();
        self.first_buffer_is_raw(lines);
        let sequence = self.sequence();
        if self.is_part() {
            // These buffers are others than what its operations share, unless that was lent to them.
            if sequence.are_lent.get() {
                self.synchronise();
                sequence.borrow_lines();
            }
            return;
        }
        if lines <= self.mpb_layout().buffer_lines() {
            // The second buffer is left as it is.
            return;
        }
        if sequence.shared.taken.get() != 0 {
            self.synchronise();
        }
        sequence.keep(&sequence.shared);
        sequence.staging_is_raw();
    }
}

impl<C: Mpb + MpbCopy + Wait> Comm<'_, C> {
    /// Clears this rank's staging lines that operations share, so that no one has to when it wants them for tagged data. Nobody
    /// uses them, and a barrier has to follow.
    pub(crate) fn clear_staging(&self) {
        let lines = self.mpb_layout().shared();
        let own = MpbLine::new(self.hal().core(), lines.start);
        self.hal().put_made(lines.len() * LINE_BYTES, own, |_, bytes| bytes.fill(0));
        self.sequence().shared.raw.set(0);
    }

    /// Like [`turn`](Self::turn) for anyone, with staging lines that only ever hold tagged data, so that no tag is in
    /// them that this operation did not write. Where other data was before, every rank clears its own, and a barrier
    /// follows.
    pub(crate) fn tagged_turn(&self, lines: usize) -> Turn {
        self.assert_no_profile();
        let all = self.mpb_layout().tagged();
        let staging = &self.sequence().shared;
        let place = || staging.place(lines, all.len(), Contents::Tagged);
        let mut found = place();
        // To clear lines takes a barrier, too: after one there may be some that need not be cleared.
        let waits = |first| {
            staging.raw.get() & lines_bits(first, lines) != 0
                && free_lines(staging.raw.get(), lines, all.len()).is_some()
        };
        if found.is_none_or(waits) {
            self.synchronise();
            found = place();
        }
        debug_assert!(lines <= all.len());
        // After a barrier nothing is taken, so that any number fits.
        let mut first = found.unwrap_or(0);
        let bits = lines_bits(first, lines);
        if staging.raw.get() & bits != 0 {
            // Nobody reads or writes these lines of this rank's any more.
            let own = MpbLine::new(self.hal().core(), all.start + first);
            self.hal().put_made(lines * LINE_BYTES, own, |_, bytes| bytes.fill(0));
            self.synchronise();
            staging.raw.set(staging.raw.get() & !bits);
        } else if self.is_late() || lines > 0 && staging.kept.get() {
            self.synchronise();
            first = place().unwrap_or(0);
        }
        staging.take(lines_bits(first, lines));
        self.next_turn(all.start + first..all.start + first + lines)
    }

    /// A [tagged turn](Self::tagged_turn) for an operation, or a piece of one, that no rank leaves before all
    /// have come to where nobody looks at the lines of the one before any more, if that was one with the same places for the same
    /// lines. A communicator of some ranks, which has few lines, has them again rather than wait for all.
    fn repeatable_turn(&self, lines: usize, alike: [usize; 2]) -> Turn {
        let (all, sequence) = (self.mpb_layout().tagged(), self.sequence());
        let staging = &sequence.shared;
        let is_again = self.is_part()
            && staging.repeatable.get() == Some((sequence.begun.get(), alike))
            && !self.is_late()
            && staging.place(lines, all.len(), Contents::Tagged).is_none();
        let turn = if is_again {
            let first = all.start + staging.last.get().trailing_zeros() as usize;
            self.next_turn(first..first + lines)
        } else {
            self.tagged_turn(lines)
        };
        staging.repeatable.set(Some((sequence.begun.get(), alike)));
        turn
    }

    /// Begins piece `piece` of an operation of tagged data that has `written` lines of every MPB to which others write, and `read` lines
    /// to which its owner writes and where others read. No rank leaves before it has taken all that others write to its lines.
    /// `is_repeatable` says that no rank leaves before all have put what they put.
    ///
    /// Where the communicator has too few lines, others write to lines that are lent to it, after a barrier, before which
    /// every rank has cleared its own. They are quiescent when their owner leaves, so no barrier has to follow.
    pub(crate) fn slots_turn(&self, [written, read]: [usize; 2], is_repeatable: bool, piece: usize) -> SlotsTurn {
        let layout = self.mpb_layout();
        let is_lent = written + read > layout.tagged().len();
        // Whoever goes on to the next piece of a repeatable operation knows that all have taken what they had in these lines.
        if is_lent && !(is_repeatable && piece > 0) {
            assert!(!self.sequence().are_lent.get(), "others may still read the lines that are lent");
            self.clear_first_buffer(written);
            self.synchronise();
        }
        let lines = if is_lent { read } else { written + read };
        let turn = if is_repeatable { self.repeatable_turn(lines, [written, read]) } else { self.tagged_turn(lines) };
        let own = turn.staging.start;
        let [written, read] = if is_lent { [layout.lent().start, own] } else { [own, own + written] };
        SlotsTurn { tag: turn.tag, written, read }
    }
}

impl<C> Comm<'_, C> {
    /// What can refuse does so before; what is left would overwrite the payload, on all ranks alike.
    fn assert_no_profile(&self) {
        assert!(!self.profile_in_force(), "{}", Error::ProfileInForce);
    }
}

/// Operations are told apart by 32 bits. The one number that lines hold at first has another instead, which is that
/// of an operation far from it.
fn tag_of(number: u32) -> u32 {
    if number == 0 { 1 << 31 } else { number }
}
