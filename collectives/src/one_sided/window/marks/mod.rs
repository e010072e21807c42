//! Our own synchronisation: single-writer marks in MPBs, no lock, no read-modify-write, nothing to reset.
//!
//! For each ordered pair of ranks there is one byte, the *mark* of the first for the second, of which only the first is
//! the writer. It holds two numbers that only ever rise: of exposure epochs posted, and of access epochs completed. A
//! rank can be at most one epoch ahead of its peer: a target posts again only after the origin has completed, and the
//! origin completes again only after that post. So two bits of each number suffice, whoever else posts early, and
//! however often the numbers wrap around.
//!
//! ```text
//! bit  7      6      5‥4         3      2      1‥0
//!      many   kept   completed   many   kept   posted
//! ```
//!
//! A mark can be in two places, and which is faster depends on both groups:
//!
//! * **pushed** to the peer, into a line that 32 ranks share: the writer pays a remote store for each peer, the
//!   waiter one look at its own MPB for 32 of them;
//! * **kept** in the writer's own MPB, side by side with those for 31 other peers: the writer pays one store for all of
//!   them, each waiter a remote look for each writer.
//!
//! One origin with many targets is told of their posts by pushes, and keeps its completion where all targets find it.
//! The writer decides, by [`Kept`], and *announces with each mark where the next one will be* (the bit
//! `kept`), so that no waiter looks in vain. If that is another place than now, the mark is written to both, to the
//! new one first, so that nobody finds a number from long ago there. The bit `many` says that the writer's group was
//! large, which is how many the peer's marks will be awaited together with. All of this changes where a mark is and
//! never what it means.
//!
//! Marks follow the data: the store hits another line than the data before it and so pushes that out of the
//! write-combine buffer.
//!
//! Where a window finds no room in the MPBs, its marks are in uncached memory, kept by their writer, four in a word.
//! Pushed, each would need a word of its own, because no read-modify-write is atomic there, and a look would show no
//! more of them.
//!
//! | call | remote accesses |
//! |---|---|
//! | START | none |
//! | POST | a line write for each origin, or none |
//! | COMPLETE | a line write for each target, or none; a line read for each target that kept its post |
//! | WAIT | a line read for each origin that kept its completion |

mod bytes;
mod half;

pub(super) use half::Told;

use alloc::boxed::Box;
use core::{
    cell::{Cell, RefCell},
    iter, slice,
};

use hal::{Core, Deadline, LINE_BYTES, Place, Poll, Reason, TimedOut};

use crate::{
    Comm, Group,
    comm::group::{OfLine, bits},
    mpb::bytes::{Words, words as words_of_line},
};

use bytes::{Bytes, RANKS};
use half::Half;

use super::{
    kept::{Kept, Least, MANY},
    peers::{Peers, Seen},
};

/// Where the marks of a window are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// In every MPB, from this line on: those that were pushed here, a byte for each rank, then those that are kept
    /// here.
    Mpb {
        /// First of [`lines`] lines.
        first: usize,
    },
    /// In the synchronisation data of every rank, kept: a byte for each rank.
    Words,
}

/// Lines of each MPB that the marks of one window take, for `ranks` ranks.
pub(crate) const fn lines(ranks: usize) -> usize {
    (2 * ranks).div_ceil(LINE_BYTES)
}

/// Marks in a word of uncached memory.
const MARKS_PER_WORD: usize = 4;

/// Words of each rank's synchronisation data that the marks of one window take where they are not in MPBs.
pub(super) const fn words(ranks: usize) -> usize {
    ranks.div_ceil(MARKS_PER_WORD)
}

/// Places of marks that changed when marks were raised last, a bit for each of 32 ranks.
#[derive(Clone, Copy, Default)]
struct Moves {
    /// Whose mark was kept here before.
    was_kept: u32,
    /// Whose will be from now on.
    will_be_kept: u32,
}

/// The marks of one window. What this rank knows of them is in the order of ranks, [`RANKS`] in a value, as in a line of
/// an MPB, so that they are compared with a line as they are.
pub(super) struct Marks {
    home: Home,
    kept: Kept,
    /// The marks for peers, as they are now.
    told: Box<[Bytes]>,
    /// The halves of peers' marks that were taken last.
    taken: Box<[Bytes]>,
    moves: Box<[Cell<Moves>]>,
    /// The group that was told last, of each kind, if the marks for all of it are where they were before, and whether they are
    /// kept: then they need not be looked at.
    settled: [RefCell<Option<(Group, bool)>>; 2],
    /// The group whose marks were taken last, of each kind, if all of them are pushed next time.
    pushed_next: [RefCell<Option<Group>>; 2],
}

impl Marks {
    pub(super) fn new<C: Core>(home: Home, comm: &Comm<'_, C>) -> Self {
        let none = || iter::repeat_with(Bytes::default).take(comm.size().div_ceil(RANKS)).collect();
        let moves = iter::repeat_with(Cell::default).take(comm.size().div_ceil(RANKS)).collect();
        Self {
            home,
            kept: Kept::new(comm.choices().terms()),
            told: none(),
            taken: none(),
            moves,
            settled: Default::default(),
            pushed_next: Default::default(),
        }
    }

    pub(super) fn home(&self) -> Home {
        self.home
    }

    /// Clears the places on this rank.
    pub(super) fn clear<C: Core>(&self, at: &Peers<'_, C>) {
        let (comm, hal) = (at.comm, at.comm.hal());
        match self.home {
            Home::Mpb { first } => {
                for line in first..first + lines(comm.size()) {
                    hal.store(comm.mpb_line(comm.rank(), line), 0, &[0; LINE_BYTES]);
                }
                hal.drain();
            }
            Home::Words => {
                (0..words(comm.size())).for_each(|word| hal.store_word(at.class_words(comm.rank()), word, 0));
            }
        }
    }

    /// Raises the mark for each of `peers`. All that was written before is visible to whoever takes it.
    pub(super) fn tell<C: Core>(&self, at: &Peers<'_, C>, peers: &Group, told: Told) {
        let hal = at.comm.hal();
        match self.home {
            Home::Mpb { first } => {
                self.tell_in_mpbs(at.comm, first, peers, told);
                hal.drain();
            }
            Home::Words => {
                // Uncached stores do not push the write-combine buffer out.
                hal.drain();
                let keep = Least::always();
                peers.words().iter().enumerate().for_each(|(index, members)| {
                    self.raise(index, *members, told, keep, peers.len());
                });
                let mut words = peers.iter().map(|peer| peer / MARKS_PER_WORD).peekable();
                while let Some(word) = words.next() {
                    while words.next_if_eq(&word).is_some() {}
                    hal.store_word(at.class_words(at.comm.rank()), word, self.packed(word));
                }
            }
        }
    }

    /// Whoever finds a mark that announces another place goes there next, so what changes place is written to the new
    /// one first: to the peers, then here, then to those peers where it was before.
    fn tell_in_mpbs<C: Core>(&self, comm: &Comm<'_, C>, first: usize, peers: &Group, told: Told) {
        let count = peers.len();
        let least = self.kept.for_peers(comm.hal().layout(), comm.members(), peers);
        if self.tell_where_they_are(comm, first, peers, told, least) {
            return;
        }
        *self.settled[told as usize].borrow_mut() = None;
        for (index, members) in peers.words().iter().enumerate() {
            let Moves { was_kept, will_be_kept } = self.raise(index, *members, told, least, count);
            bits(was_kept & !will_be_kept).for_each(|bit| self.push(comm, first, index * RANKS + bit));
        }
        self.keep_all(comm, first, peers);
        for (index, members) in peers.words().iter().enumerate() {
            let was_pushed = members & !self.moves[index].get().was_kept;
            bits(was_pushed).for_each(|bit| self.push(comm, first, index * RANKS + bit));
        }
    }

    /// The same for groups as they mostly are: the marks for all 32 ranks of a line, or fewer, stay where they are, all of them
    /// kept or all pushed. False if they are not like that; nothing has happened then.
    #[inline]
    fn tell_where_they_are<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        first: usize,
        peers: &Group,
        told: Told,
        least: Least,
    ) -> bool {
        let [line] = peers.lines() else { return false };
        let (marks, count) = (&self.told[line.index], peers.len());
        let [few, many] = [false, true].map(|many| least.is_reached(count, many));
        let wait_for_many =
            if few == many { Some(many) } else { self.taken[line.index].all_many(&line.words, told.answer()) };
        let Some(will_be_kept) = wait_for_many.map(|is_so| if is_so { many } else { few }) else { return false };
        let mut settled = self.settled[told as usize].borrow_mut();
        let is_settled = settled.as_ref().is_some_and(|(group, kept)| group.is(peers) && *kept == will_be_kept);
        if !is_settled {
            if marks.all_kept(&line.words, told) != Some(will_be_kept) {
                return false;
            }
            *settled = Some((peers.clone(), will_be_kept));
        }
        drop(settled);
        marks.raise_all(&line.words, told, will_be_kept, count >= MANY);
        if !will_be_kept {
            peers.iter().for_each(|peer| self.push(comm, first, peer));
            return true;
        }
        let [lowest, highest] = [line.ranks.trailing_zeros() as usize, line.ranks.ilog2() as usize];
        let all = marks.line();
        // They may go on in a second line.
        let (at, byte) = place(first, comm.size() + line.index * RANKS + lowest);
        let end = (lowest + LINE_BYTES - byte).min(highest + 1);
        comm.hal().store(comm.mpb_line(comm.rank(), at), byte, &all[lowest..end]);
        if end <= highest {
            comm.hal().store(comm.mpb_line(comm.rank(), at + 1), 0, &all[end..=highest]);
        }
        true
    }

    /// Writes the mark for `peer` to its MPB.
    fn push<C: Core>(&self, comm: &Comm<'_, C>, first: usize, peer: usize) {
        let (line, byte) = place(first, comm.rank());
        comm.hal().store(comm.mpb_line(peer, line), byte, &[self.told[peer / RANKS].byte(peer % RANKS)]);
    }

    /// Raises the marks for some of 32 ranks, as those of a group of `count`; nobody can see it yet. They are kept next
    /// if `least` says so.
    fn raise(&self, index: usize, members: u32, told: Told, least: Least, count: usize) -> Moves {
        let marks = &self.told[index];
        let [few, many] = [false, true].map(|many| if least.is_reached(count, many) { u32::MAX } else { 0 });
        let wait_for_many = if few == many { 0 } else { self.taken[index].many(members, told.answer()) };
        let moves = Moves {
            was_kept: marks.kept(members, told),
            will_be_kept: (wait_for_many & many | !wait_for_many & few) & members,
        };
        marks.raise(members, told, moves.will_be_kept, count >= MANY);
        self.moves[index].set(moves);
        moves
    }

    /// The marks of a word of uncached memory.
    fn packed(&self, word: usize) -> u32 {
        self.told[word * MARKS_PER_WORD / RANKS].word(word % (RANKS / MARKS_PER_WORD))
    }

    /// Writes the marks that this rank keeps for `peers`, or has kept so far, in one store for each line.
    fn keep_all<C: Core>(&self, comm: &Comm<'_, C>, first: usize, peers: &Group) {
        let moves = |index: usize| {
            let Moves { was_kept, will_be_kept } = self.moves[index].get();
            was_kept | will_be_kept
        };
        let mut span = Span::default();
        for index in 0..peers.words().len() {
            let mut rest = moves(index);
            while rest != 0 {
                // The kept marks of these ranks are in one line up to the next one whose index begins a line.
                let from = index * RANKS + rest.trailing_zeros() as usize;
                let (line, byte) = place(first, comm.size() + from);
                let in_line = LINE_BYTES - byte;
                let end = (from % RANKS + in_line).min(RANKS);
                let here = if end == RANKS { rest } else { rest & ((1 << end) - 1) };
                let to = index * RANKS + here.ilog2() as usize;
                if span.line != Some(line) {
                    self.keep(comm, &span);
                    span = Span { line: Some(line), byte, from, to };
                }
                span.to = to;
                rest &= !here;
            }
        }
        self.keep(comm, &span);
    }

    /// Writes the marks of a span, in one store.
    fn keep<C: Core>(&self, comm: &Comm<'_, C>, span: &Span) {
        let Some(line) = span.line else { return };
        let (mut marks, count) = ([0; LINE_BYTES], span.to - span.from + 1);
        for (mark, peer) in marks.iter_mut().zip(span.from..=span.to) {
            *mark = self.told[peer / RANKS].byte(peer % RANKS);
        }
        comm.hal().store(comm.mpb_line(comm.rank(), line), span.byte, &marks[..count]);
    }

    /// Waits until each of `peers` has raised its mark, and takes them: those pushed here, a line at a time, then those
    /// kept elsewhere. Whoever is in `seen` was taken before; who is taken enters it.
    pub(super) fn take<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peers: &Group,
        told: Told,
        deadline: Deadline,
        reason: Reason,
    ) -> Result<(), TimedOut> {
        if let Home::Mpb { first } = self.home {
            if let [line] = peers.lines()
                && seen.word(line.index) & line.ranks == 0
            {
                let is_pushed = self.pushed_next[told as usize].borrow().as_ref().is_some_and(|group| group.is(peers));
                let kept = if is_pushed { Some(false) } else { self.taken[line.index].all_kept(&line.words, told) };
                match kept {
                    Some(false) => {
                        let is_pushed_next = self.take_line(at, seen, first, line, told, (deadline, reason))?;
                        if !(is_pushed && is_pushed_next) {
                            *self.pushed_next[told as usize].borrow_mut() = is_pushed_next.then(|| peers.clone());
                        }
                        return Ok(());
                    }
                    Some(true) => {
                        return peers.iter().try_for_each(|peer| self.take_one(at, seen, peer, told, deadline, reason));
                    }
                    None => {}
                }
            }
            for (index, members) in peers.words().iter().enumerate() {
                let missing = members & !seen.word(index);
                let wanted = missing & !self.taken[index].kept(missing, told);
                if wanted != 0 {
                    let place = Place::Line(at.comm.mpb_line(at.comm.rank(), first + index));
                    let line = at.comm.wait_until(&[place], deadline, reason, |poll| {
                        let line = words_of_line(poll.line(0));
                        let late = wanted & !self.raised(index, &line, wanted, told);
                        if late != 0 {
                            poll.missing(at.comm.core_of(index * RANKS + late.trailing_zeros() as usize));
                        }
                        (late == 0).then_some(line)
                    })?;
                    self.note(seen, index, &line, wanted, told);
                }
            }
        }
        let mut missing = seen.missing(peers);
        missing.try_for_each(|peer| self.take_one(at, seen, peer, told, deadline, reason))
    }

    /// Waits for the mark of one peer, which is where that keeps it.
    fn take_one<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peer: usize,
        told: Told,
        deadline: Deadline,
        reason: Reason,
    ) -> Result<(), TimedOut> {
        let place = match self.home {
            Home::Mpb { first } => Place::Line(at.comm.mpb_line(peer, place(first, at.comm.size() + at.comm.rank()).0)),
            Home::Words => Place::Word(at.class_words(peer), at.comm.rank() / MARKS_PER_WORD),
        };
        let mark = at.comm.wait_until(slice::from_ref(&place), deadline, reason, |poll| {
            let mark = self.mark_in(at, poll, peer, told);
            if mark.is_none() {
                poll.missing(at.comm.core_of(peer));
            }
            mark
        })?;
        self.note_one(seen, peer, mark, told);
        Ok(())
    }

    /// Waits for the marks of all members of one line, which are pushed here. Returns whether they all will be next time, too.
    #[inline]
    fn take_line<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        first: usize,
        members: &OfLine,
        told: Told,
        (deadline, reason): (Deadline, Reason),
    ) -> Result<bool, TimedOut> {
        let (comm, index, taken) = (at.comm, members.index, &self.taken[members.index]);
        let place = [Place::Line(comm.mpb_line(comm.rank(), first + index))];
        let is_pushed_next = comm.wait_until(&place, deadline, reason, |poll| {
            let line = words_of_line(poll.line(0));
            if !taken.all_follow(&line, &members.words, told) {
                let late = members.ranks & !self.raised(index, &line, members.ranks, told);
                poll.missing(comm.core_of(index * RANKS + late.trailing_zeros() as usize));
                return None;
            }
            Some(taken.take_all(&line, &members.words, told))
        })?;
        seen.insert_word(index, members.ranks);
        Ok(is_pushed_next)
    }

    /// Looks once whether `peer` has raised its mark, and takes it then, together with those of `peers` that the look
    /// shows, too.
    pub(super) fn look<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, peer: usize, peers: &Group, told: Told) {
        let (index, bit) = (peer / RANKS, 1 << (peer % RANKS));
        let place = self.place_of(at, peer, told);
        let (look, reason) = (Deadline::At(0), Reason::new("a look at a mark"));
        let taken = &self.taken[index];
        if self.home == Home::Words || taken.kept(bit, told) != 0 {
            let found = at.comm.wait_until(&[place], look, reason, |poll| self.mark_in(at, poll, peer, told));
            if let Ok(mark) = found {
                self.note_one(seen, peer, mark, told);
            }
            return;
        }
        let members = peers.words().get(index).copied().unwrap_or_default() | bit;
        let missing = members & !seen.word(index);
        let wanted = missing & !taken.kept(missing, told);
        let found = at.comm.wait_until(&[place], look, reason, |poll| {
            let line = words_of_line(poll.line(0));
            let raised = self.raised(index, &line, wanted, told);
            (raised & bit != 0).then_some((line, raised))
        });
        if let Ok((line, raised)) = found {
            self.note(seen, index, &line, raised, told);
        }
    }

    /// Who of `wanted` among 32 ranks has raised the mark that it pushes here, by a line of them.
    fn raised(&self, index: usize, line: &Words, wanted: u32, told: Told) -> u32 {
        let (one, more) = self.taken[index].behind(line, wanted, told);
        assert!(more == 0, "a peer is more than one epoch ahead: a protocol is broken");
        one
    }

    /// Takes the marks of some of 32 ranks, which a line shows to be raised.
    fn note(&self, seen: &Seen, index: usize, line: &Words, raised: u32, told: Told) {
        *self.pushed_next[told as usize].borrow_mut() = None;
        self.taken[index].take(line, raised, told);
        seen.insert_word(index, raised);
    }

    /// Takes the mark of one peer, which is raised.
    fn note_one(&self, seen: &Seen, peer: usize, mark: u8, told: Told) {
        *self.pushed_next[told as usize].borrow_mut() = None;
        let taken = &self.taken[peer / RANKS];
        taken.set_byte(peer % RANKS, Half::of(mark, told).into(taken.byte(peer % RANKS), told));
        seen.insert(peer);
    }

    /// The mark that a peer keeps, if it is raised, as a poll of its place shows it.
    fn mark_in<C: Core>(&self, at: &Peers<'_, C>, poll: &Poll<'_>, peer: usize, told: Told) -> Option<u8> {
        let mark = match self.home {
            Home::Mpb { .. } => {
                let byte = (at.comm.size() + at.comm.rank()) % LINE_BYTES;
                (poll.line_word(0, byte / MARKS_PER_WORD) >> (byte % MARKS_PER_WORD * 8)) as u8
            }
            Home::Words => (poll.word(0) >> (at.comm.rank() % MARKS_PER_WORD * 8)) as u8,
        };
        let taken = self.taken[peer / RANKS].byte(peer % RANKS);
        Half::of(mark, told).follows(Half::of(taken, told)).then_some(mark)
    }

    /// Where the next such mark of `peer` for this rank will be.
    fn place_of<C: Core>(&self, at: &Peers<'_, C>, peer: usize, told: Told) -> Place {
        let is_kept = |peer: usize| self.taken[peer / RANKS].kept(1 << (peer % RANKS), told) != 0;
        match self.home {
            Home::Mpb { first } if is_kept(peer) => {
                let (line, _) = place(first, at.comm.size() + at.comm.rank());
                Place::Line(at.comm.mpb_line(peer, line))
            }
            Home::Mpb { first } => Place::Line(at.comm.mpb_line(at.comm.rank(), place(first, peer).0)),
            Home::Words => Place::Word(at.class_words(peer), at.comm.rank() / MARKS_PER_WORD),
        }
    }
}

/// Peers whose kept marks lie in one line.
#[derive(Default)]
struct Span {
    line: Option<usize>,
    /// Of the first of them.
    byte: usize,
    /// The first and the last of them.
    from: usize,
    to: usize,
}

/// Line and byte of the mark at `index`, counted from line `first`.
const fn place(first: usize, index: usize) -> (usize, usize) {
    (first + index / LINE_BYTES, index % LINE_BYTES)
}
