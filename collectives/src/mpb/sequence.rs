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

use core::{cell::Cell, ops::Range};

use hal::{LINE_BYTES, Mpb, MpbCopy, MpbLine, Wait};

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

/// What an operation has in its staging lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Contents {
    /// Data without tags.
    Raw,
    /// Lines with tags.
    Tagged,
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

/// Staging lines that operations share over time.
#[derive(Default)]
struct Staging {
    /// The lines, by the bits of [`lines_bits`], that operations have which may not be complete.
    taken: Cell<u128>,
    /// Those of them that the last operation has.
    last: Cell<u128>,
    /// An operation that keeps its staging to itself may not be complete on other ranks.
    kept: Cell<bool>,
    /// The last operation, if it may be repeated in its lines, by its number, and what it had in these.
    repeatable: Cell<Option<(u32, [usize; 2])>>,
    /// The lines that may hold anything: whatever a message has where lines have their tags could be the tag of the next
    /// operation. The others hold 0, or tagged data of earlier operations.
    raw: Cell<u128>,
}

impl Staging {
    /// All operations so far are complete.
    fn end_all(&self) {
        self.taken.set(0);
        self.kept.set(false);
    }

    /// The first of `lines` staging lines of `room`; none if no such lines in a row are left by operations that may not be
    /// complete.
    fn place(&self, lines: usize, room: usize, contents: Contents) -> Option<usize> {
        let (taken, raw) = (self.taken.get(), self.raw.get());
        let others = if contents == Contents::Raw { !raw } else { raw };
        free_lines(taken | others, lines, room).or_else(|| free_lines(taken, lines, room))
    }
}

/// The first of `lines` lines in a row that are among the first `room` and not among the `others`.
fn free_lines(others: u128, lines: usize, room: usize) -> Option<usize> {
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
fn lines_bits(first: usize, lines: usize) -> u128 {
    !(u128::MAX << lines) << first
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
        let turn = self.begin(lines, writers, Contents::Raw);
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
    fn begin(&self, lines: usize, writers: Writers, contents: Contents) -> Turn {
        self.assert_no_profile();
        let sequence = self.sequence();
        // Tagged data is in staging lines only.
        let (all, has_cells) = match contents {
            Contents::Raw => (self.staging_for(lines), self.is_part()),
            Contents::Tagged => (self.mpb_layout().tagged(), false),
        };
        let staging = if contents == Contents::Raw { sequence.staging() } else { &sequence.shared };
        debug_assert!(lines <= all.len());
        let foreign = writers == Writers::Anyone && lines > 0 && staging.kept.get();
        let no_cells = || has_cells && sequence.shared.taken.get() & self.next_cells() != 0;
        let no_lines = || lines > 0 && staging.place(lines, all.len(), contents).is_none();
        if self.is_late() || foreign || no_cells() || no_lines() {
            self.synchronise();
        }
        let mut first = all.start;
        if lines > 0 {
            // After a barrier nothing is taken, so that any number fits.
            let place = staging.place(lines, all.len(), contents).unwrap_or(0);
            first += place;
            let bits = lines_bits(place, lines);
            staging.taken.set(staging.taken.get() | bits);
            staging.last.set(bits);
        } else if staging.last.get() != 0 {
            // Looked at first: stores to a line that no cache has would go out to memory, one by one, each time.
            staging.last.set(0);
        }
        if has_cells {
            self.take_cells();
        }
        self.next_turn(first..first + lines)
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
        let raw = |first: usize| staging.raw.get() & lines_bits(first, lines);
        // To clear lines takes a barrier, too: after one there may be some that need not be cleared.
        let waits = |first| raw(first) != 0 && free_lines(staging.raw.get(), lines, all.len()).is_some();
        if place().is_none_or(waits) {
            self.synchronise();
        }
        let first = place().unwrap_or(0);
        if raw(first) != 0 {
            // Nobody reads or writes these lines of this rank's any more.
            let own = MpbLine::new(self.hal().core(), all.start + first);
            self.hal().put_made(lines * LINE_BYTES, own, |_, bytes| bytes.fill(0));
            self.synchronise();
            staging.raw.set(staging.raw.get() & !raw(first));
        }
        let turn = self.begin(lines, Writers::Anyone, Contents::Tagged);
        debug_assert_eq!(raw(turn.staging.start - all.start), 0);
        turn
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        MpbLayout,
        testing::{Random, run},
    };
    use hal::sim::{Machine, SimCore};
    use std::vec::Vec;

    /// What `program` returns on all of five ranks, which has to be the same.
    fn on_all<R: PartialEq + core::fmt::Debug + Clone>(program: impl Fn(&Comm<'_, SimCore>) -> R) -> R {
        let results = run(&Machine::scc(5), program);
        assert!(results.iter().all(|result| *result == results[0]), "ranks disagree: {results:?}");
        results[0].clone()
    }

    /// Begins an operation; whether that took a barrier is told by what was signalled.
    fn begin(comm: &Comm<'_, SimCore>, lines: usize, writers: Writers) -> (Turn, bool) {
        use hal::Counted;
        let before = comm.hal().counters().drains;
        let turn = comm.turn(lines, writers);
        (turn, comm.hal().counters().drains > before)
    }

    #[test]
    fn cells_come_around_after_a_barrier() {
        let turns = on_all(|comm| (0..3 * TURNS).map(|_| begin(comm, 0, Writers::Owner)).collect::<Vec<_>>());
        for (number, (turn, barrier)) in turns.iter().enumerate() {
            let number = number as u32;
            assert_eq!((turn.tag, *barrier), (number + 1, number > 0 && number.is_multiple_of(TURNS)));
            assert!(turn.staging.is_empty());
            for (other, _) in &turns[number as usize + 1..] {
                let together = other.tag < turn.tag + TURNS;
                assert_eq!(turn.cells == other.cells, other.tag % TURNS == turn.tag % TURNS);
                assert!(!together || turn.cells.iter().all(|cell| !other.cells.contains(cell)));
            }
        }
    }

    #[test]
    fn a_barrier_of_the_program_serves_as_well() {
        let barriers = on_all(|comm| {
            let turn = |number: u32| {
                if number.is_multiple_of(5) {
                    comm.barrier();
                }
                begin(comm, 10, Writers::Anyone).1
            };
            (0..40).map(turn).collect::<Vec<_>>()
        });
        assert_eq!(barriers, [false; 40]);
    }

    #[test]
    fn staging_lines_of_operations_under_way_differ() {
        let sizes = [0, 40, 30, 26, 1, 96, 95, 1, 1, 50, 50, 0, 20, 90, 7, 7, 7, 7, 7, 7, 7, 7];
        let turns = on_all(|comm| sizes.map(|lines| begin(comm, lines, Writers::Anyone)));
        let second = MpbLayout::new(5).unwrap().buffer(1)..hal::MPB_LINES;
        let mut under_way: Vec<&Turn> = Vec::new();
        for ((turn, barrier), lines) in turns.iter().zip(sizes) {
            if *barrier {
                under_way.clear();
            }
            let lines_of = |turn: &Turn| turn.staging.clone();
            assert_eq!(turn.staging.len(), lines);
            assert!(lines == 0 || second.start <= turn.staging.start && turn.staging.end <= second.end);
            let overlaps = |other: &&Turn| lines_of(other).any(|line| turn.staging.contains(&line));
            assert!(!under_way.iter().any(overlaps), "{turn:?} of {under_way:?}");
            under_way.push(turn);
        }
        // 96 lines in 40, 30 and 26; then one, or what does not fit any more, is for after a barrier.
        let barriers: Vec<_> = turns.iter().map(|(_, barrier)| *barrier).take(7).collect();
        assert_eq!(barriers, [false, false, false, false, true, true, true]);
    }

    #[test]
    fn staging_lines_differ_however_operations_are_told_complete() {
        for seed in 0..40_usize {
            on_all(|comm| {
                let mut random = Random(seed as u32 + 1);
                let mut under_way: Vec<Turn> = Vec::new();
                for _ in 0..100 {
                    let lines = random.below([97, 40, 12][seed % 3]);
                    let (turn, barrier) = begin(comm, lines, Writers::Owner);
                    if barrier {
                        under_way.clear();
                    }
                    let overlaps = |other: &Turn| other.staging.clone().any(|line| turn.staging.contains(&line));
                    assert!(!under_way.iter().any(overlaps), "{turn:?} of {under_way:?} with seed {seed}");
                    under_way.push(turn);
                    match random.below(6) {
                        0 => {
                            comm.barrier();
                            under_way.clear();
                        }
                        1..=3 => {
                            comm.sequence().earlier_complete();
                            under_way.drain(..under_way.len() - 1);
                        }
                        _ => {}
                    }
                }
            });
        }
    }

    /// On a communicator of some ranks: tagged data has cells as well.
    #[test]
    fn nobody_has_the_cells_that_tagged_data_is_in() {
        use hal::Counted;
        for seed in 0..40_usize {
            let borrowed = on_all(|world| {
                let (comm, mut random) = (world.dup().unwrap(), Random(seed as u32 + 1));
                let (own, tagged) = (comm.mpb_layout().shared().len(), comm.mpb_layout().tagged());
                let (mut under_way, mut borrowed): (Vec<Vec<usize>>, usize) = (Vec::new(), 0);
                for _ in 0..100 {
                    let before = comm.hal().counters().drains;
                    let lines: Vec<_> = match random.below(3) {
                        0 => {
                            let turn = comm.slots_turn([random.below(tagged.len() - 2), 2], false, 0);
                            (turn.written..turn.read + 2).collect()
                        }
                        lines => {
                            let turn = comm.turn((lines - 1) * random.below(own + 1), Writers::Anyone);
                            assert!(turn.staging.end <= comm.mpb_layout().cells().start);
                            turn.staging.chain(turn.cells).collect()
                        }
                    };
                    if comm.hal().counters().drains > before {
                        under_way.clear();
                    }
                    let is_taken = |line: &usize| under_way.iter().any(|other| other.contains(line));
                    assert!(!lines.iter().any(is_taken), "{lines:?} of {under_way:?} with seed {seed}");
                    borrowed += usize::from(lines.len() > own + CELLS);
                    under_way.push(lines);
                    match random.below(6) {
                        0 => {
                            comm.barrier();
                            under_way.clear();
                        }
                        1..=3 => {
                            comm.sequence().earlier_complete();
                            under_way.drain(..under_way.len() - 1);
                        }
                        _ => {}
                    }
                }
                core::mem::forget(comm);
                borrowed
            });
            assert!(borrowed > 0);
        }
    }

    #[test]
    fn an_operation_that_all_have_entered_keeps_its_own_cells() {
        let barriers = on_all(|comm| {
            begin(comm, 0, Writers::Owner);
            comm.sequence().earlier_complete();
            (0..TURNS).map(|_| begin(comm, 0, Writers::Owner).1).collect::<Vec<_>>()
        });
        assert_eq!(barriers.iter().position(|barrier| *barrier), Some(TURNS as usize - 1));
    }

    #[test]
    fn staging_that_was_kept_is_waited_for_by_those_who_write_to_others() {
        let (owner, anyone, after) = on_all(|comm| {
            comm.own_staging_turn(2 * comm.mpb_layout().buffer_lines());
            let owner = begin(comm, 4, Writers::Owner).1;
            let anyone = begin(comm, 4, Writers::Anyone).1;
            (owner, anyone, begin(comm, 4, Writers::Anyone).1)
        });
        assert_eq!((owner, anyone, after), (false, true, false));
    }

    #[test]
    fn tags_are_not_looked_for_among_other_data() {
        let barriers = on_all(|comm| {
            let tagged = |lines| {
                use hal::{Counted, MpbCoherence};
                let before = comm.hal().counters().drains;
                let turn = comm.tagged_turn(lines);
                comm.hal().invalidate_mpb();
                let looks_like = turn.staging.clone().any(|line| {
                    let line = comm.hal().load_line(comm.mpb_line(comm.rank(), line));
                    crate::mpb::tagged::tagged_data(&line, turn.tag).is_some()
                });
                assert!(!looks_like, "{turn:?}");
                comm.hal().counters().drains > before
            };
            let fill = |turn: Turn| {
                for tag in 0..8 {
                    let line = [turn.tag + tag; hal::LINE_BYTES / 4];
                    let bytes: &[u8] = bytemuck::cast_slice(&line);
                    for at in turn.staging.clone().filter(|line| line % 8 == tag as usize) {
                        comm.hal().put(bytes, comm.mpb_line(comm.rank(), at));
                    }
                }
            };
            let mut barriers = Vec::from([tagged(20)]);
            fill(comm.turn(30, Writers::Owner));
            barriers.extend([tagged(46), tagged(20), tagged(30), tagged(47)]);
            comm.own_staging_turn(2 * comm.mpb_layout().buffer_lines());
            barriers.extend([tagged(10), tagged(10)]);
            comm.barrier();
            barriers.extend([tagged(60), tagged(20), tagged(10)]);
            barriers
        });
        // The first two turns get lines that were always clean. Then there is no room; then what was put is skipped, and then
        // it is in the way. The last turn gets lines that were cleared before.
        assert_eq!(barriers, [false, false, true, false, true, true, true, true, true, false]);
    }

    #[test]
    fn a_first_buffer_is_no_matter_of_the_second_one() {
        let (before, after) = on_all(|comm| {
            let before = begin(comm, 4, Writers::Anyone).1;
            comm.own_staging_turn(comm.mpb_layout().buffer_lines());
            (before, begin(comm, 4, Writers::Anyone).1 || comm.sequence().shared.raw.get().count_ones() > 8)
        });
        assert_eq!((before, after), (false, false));
    }

    #[test]
    fn operations_of_both_kinds_take_turns_without_clearing_lines() {
        let cleared = on_all(|comm| {
            use hal::Counted;
            let mut cleared = Vec::new();
            for _ in 0..12 {
                comm.turn(30, Writers::Owner);
                let before = comm.hal().counters().mpb_lines_written;
                comm.tagged_turn(30);
                let written = comm.hal().counters().mpb_lines_written - before;
                comm.sequence().earlier_complete();
                cleared.push(written);
            }
            cleared
        });
        assert_eq!(cleared, [0; 12], "lines cleared, and flags of barriers");
    }

    #[test]
    fn lines_are_found_between_others() {
        let others = lines_bits(0, 1) | lines_bits(5, 2) | lines_bits(95, 1);
        let found = |lines| free_lines(others, lines, 96);
        assert_eq!([1, 4, 5, 88, 89].map(found), [Some(1), Some(1), Some(7), Some(7), None]);
        assert_eq!([free_lines(others, 87, 95), free_lines(others, 5, 91)], [Some(7), Some(7)]);
        assert_eq!([free_lines(0, 96, 96), free_lines(u128::MAX, 1, 96)], [Some(0), None]);
    }

    #[test]
    fn an_operation_that_all_have_entered_completes_those_before() {
        let barriers = on_all(|comm| {
            let turns = (0..4 * TURNS).map(|_| {
                let barrier = begin(comm, 48, Writers::Anyone).1;
                comm.sequence().earlier_complete();
                barrier
            });
            turns.collect::<Vec<_>>()
        });
        // Of two halves, the last operation's and the next one's.
        assert_eq!(barriers, [false; 4 * TURNS as usize]);
    }

    #[test]
    fn tags_wrap_around_past_zero() {
        let turns = on_all(|comm| {
            comm.sequence().begun.set(u32::MAX - 2);
            comm.sequence().complete.set(u32::MAX - 2);
            [(); 6].map(|()| begin(comm, 0, Writers::Owner).0)
        });
        let tags = turns.clone().map(|turn| turn.tag);
        assert_eq!(tags[..2], [u32::MAX - 1, u32::MAX]);
        assert!(!tags.contains(&0));
        for pair in turns.windows(2) {
            assert!(pair[0].cells != pair[1].cells && pair[0].tag != pair[1].tag, "{turns:?}");
        }
    }
}
