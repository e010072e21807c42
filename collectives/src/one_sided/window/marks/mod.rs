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
#[cfg(test)]
mod tests;

pub(super) use half::Told;

use alloc::{boxed::Box, vec::Vec};
use core::{
    array,
    cell::{Cell, RefCell},
    iter, slice,
};

use hal::{Core, Deadline, LINE_BYTES, MpbLine, Place, Poll, Reason, TimedOut};

use crate::{
    Comm, Group,
    comm::group::{OfLine, bits},
    mpb::bytes::{Words, repeated, words as words_of_line},
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
///
/// Most groups are told, and taken from, again and again, with all marks where they were before. So what was found out
/// about the group that came last is kept, until something changes that it depends on: where marks are, or who is one of
/// many. Then numbers are all that changes, and no mark is looked at for more than that.
pub(super) struct Marks {
    home: Home,
    /// Line and byte, in MPBs, of the marks that this rank pushes, and of those that peers keep for it.
    pushed_at: (usize, usize),
    kept_at: (usize, usize),
    kept: Kept,
    /// The marks for peers, as they are now.
    told: Box<[Bytes]>,
    /// The halves of peers' marks that are expected next: those that were taken last, with numbers that are one further.
    next: Box<[Bytes]>,
    moves: Box<[Cell<Moves>]>,
    /// The group that was told last, of each kind, if all its marks stay where they are.
    settled: [RefCell<Option<Settled>>; 2],
    /// The group whose marks were taken last, of each kind, if the next ones are all pushed or all kept.
    expected: [RefCell<Option<Expected>>; 2],
}

/// A group whose marks will be told where they were told before.
struct Settled {
    group: Group,
    way: Way,
}

/// Where the marks for a group are told.
enum Way {
    /// Pushed to its only member, into this line.
    PushedToOne { peer: usize, at: MpbLine },
    /// Pushed to each.
    Pushed,
    /// Kept there.
    Kept(Box<[Span]>),
}

/// A group whose next marks are alike.
struct Expected {
    group: Group,
    look: Look,
}

/// Where the next marks of a group will be.
#[derive(Clone, Copy)]
enum Look {
    /// The one of its only member, in this byte of a line.
    AtOne { peer: usize, at: MpbLine, byte: usize },
    /// Pushed here.
    Here,
    /// Kept by each member.
    AtEach,
}

/// What became of marks that were not as expected.
enum Other {
    Taken,
    /// The mark of this peer is not there yet.
    Missing {
        peer: usize,
    },
}

impl Other {
    /// What a poll finds: marks that were taken already, or nothing. The poll itself stays where it is, in registers.
    #[inline(always)]
    fn or_missing<C>(self, comm: &Comm<'_, C>, poll: &Poll<'_>) -> Option<bool> {
        match self {
            Self::Taken => Some(false),
            Self::Missing { peer } => {
                poll.missing(comm.core_of(peer));
                None
            }
        }
    }
}

impl Marks {
    pub(super) fn new<C: Core>(home: Home, comm: &Comm<'_, C>) -> Self {
        let lines = comm.size().div_ceil(RANKS);
        let first = if let Home::Mpb { first } = home { first } else { 0 };
        Self {
            home,
            pushed_at: place(first, comm.rank()),
            kept_at: place(first, comm.size() + comm.rank()),
            kept: Kept::new(comm.choices().terms()),
            told: iter::repeat_with(Bytes::default).take(lines).collect(),
            next: iter::repeat_with(Bytes::first).take(lines).collect(),
            moves: iter::repeat_with(Cell::default).take(lines).collect(),
            settled: Default::default(),
            expected: Default::default(),
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
    #[inline(always)]
    pub(super) fn tell<C: Core>(&self, at: &Peers<'_, C>, peers: &Group, told: Told) {
        if let Some(settled) = &*self.settled[told as usize].borrow()
            && settled.group.is(peers)
        {
            return self.tell_again(at.comm, settled, told);
        }
        self.tell_anew(at, peers, told);
    }

    /// Tells a group that is settled: numbers are raised, and nothing else changes.
    #[inline(always)]
    fn tell_again<C: Core>(&self, comm: &Comm<'_, C>, settled: &Settled, told: Told) {
        if let Way::PushedToOne { peer, at } = settled.way {
            let mark = self.told[peer / RANKS].raise_number(peer % RANKS, told);
            let (_, byte) = self.pushed_at;
            return comm.hal().set_flag(at, byte, mark);
        }
        for line in settled.group.lines() {
            self.told[line.index].raise_numbers(&line.bytes, told);
        }
        let Way::Kept(spans) = &settled.way else { return self.push_all(comm, &settled.group) };
        spans.iter().for_each(|span| self.keep(comm, span));
        comm.hal().drain();
    }

    /// Tells a group of which nothing is known.
    #[cold]
    #[inline(never)]
    fn tell_anew<C: Core>(&self, at: &Peers<'_, C>, peers: &Group, told: Told) {
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
        let [mut all_stay_kept, mut all_stay_pushed] = [true; 2];
        for (index, members) in peers.words().iter().enumerate() {
            let Moves { was_kept, will_be_kept } = self.raise(index, *members, told, least, count);
            all_stay_kept &= was_kept & will_be_kept == *members;
            all_stay_pushed &= was_kept | will_be_kept == 0;
            bits(was_kept & !will_be_kept).for_each(|bit| self.push(comm, index * RANKS + bit));
        }
        let mut spans = Vec::new();
        self.each_span(comm, first, peers, |span| {
            self.keep(comm, &span);
            spans.push(span);
        });
        for (index, members) in peers.words().iter().enumerate() {
            let was_pushed = members & !self.moves[index].get().was_kept;
            bits(was_pushed).for_each(|bit| self.push(comm, index * RANKS + bit));
        }
        let way = match *peers.ranks() {
            _ if all_stay_kept => Some(Way::Kept(spans.into_boxed_slice())),
            [peer] if all_stay_pushed => {
                let (peer, (line, _)) = (usize::from(peer), self.pushed_at);
                Some(Way::PushedToOne { peer, at: comm.mpb_line(peer, line) })
            }
            _ => all_stay_pushed.then_some(Way::Pushed),
        };
        *self.settled[told as usize].borrow_mut() = way.map(|way| Settled { group: peers.clone(), way });
    }

    /// Writes the mark for `peer` to its MPB.
    fn push<C: Core>(&self, comm: &Comm<'_, C>, peer: usize) {
        let (line, byte) = self.pushed_at;
        comm.hal().store(comm.mpb_line(peer, line), byte, &[self.told[peer / RANKS].byte(peer % RANKS)]);
    }

    /// The same for all of a group, the last of which is drained.
    #[inline(always)]
    fn push_all<C: Core>(&self, comm: &Comm<'_, C>, peers: &Group) {
        let Some((last, others)) = peers.ranks().split_last() else { return comm.hal().drain() };
        others.iter().for_each(|peer| self.push(comm, usize::from(*peer)));
        let (peer, (line, byte)) = (usize::from(*last), self.pushed_at);
        comm.hal().set_flag(comm.mpb_line(peer, line), byte, self.told[peer / RANKS].byte(peer % RANKS));
    }

    /// Raises the marks for some of 32 ranks, as those of a group of `count`; nobody can see it yet. They are kept next
    /// if `least` says so.
    fn raise(&self, index: usize, members: u32, told: Told, least: Least, count: usize) -> Moves {
        let marks = &self.told[index];
        let [few, many] = [false, true].map(|many| if least.is_reached(count, many) { u32::MAX } else { 0 });
        let wait_for_many = if few == many { 0 } else { self.next[index].many(members, told.answer()) };
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

    /// Calls `visit` with where the marks are that this rank keeps for `peers`, or has kept so far: once for each line.
    fn each_span<C: Core>(&self, comm: &Comm<'_, C>, first: usize, peers: &Group, mut visit: impl FnMut(Span)) {
        let moves = |index: usize| {
            let Moves { was_kept, will_be_kept } = self.moves[index].get();
            was_kept | will_be_kept
        };
        let mut span: Option<Span> = None;
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
                match &mut span {
                    Some(span) if span.line == line => span.to = to,
                    _ => span.replace(Span { line, byte, from, to }).into_iter().for_each(&mut visit),
                }
                rest &= !here;
            }
        }
        span.into_iter().for_each(visit);
    }

    /// Writes the marks of a span, in one store.
    #[inline]
    fn keep<C: Core>(&self, comm: &Comm<'_, C>, span: &Span) {
        let at = comm.own_line(span.line);
        if span.byte % MARKS_PER_WORD == span.from % MARKS_PER_WORD {
            // Others in the same words are this rank's, too, and stay what they are.
            let words = span.from / MARKS_PER_WORD..span.to / MARKS_PER_WORD + 1;
            let words = words.map(|word| self.packed(word));
            return comm.hal().store_words(at, span.byte / MARKS_PER_WORD, words);
        }
        let mut bytes = [0; LINE_BYTES];
        for (byte, peer) in bytes.iter_mut().zip(span.from..=span.to) {
            *byte = self.told[peer / RANKS].byte(peer % RANKS);
        }
        comm.hal().store(at, span.byte, &bytes[..=span.to - span.from]);
    }

    /// Waits until each of `peers` has raised its mark, and takes them. Whoever is in `seen` was taken before; nobody is then. If it
    /// fails, those are who were taken.
    #[inline(always)]
    pub(super) fn take_all<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peers: &Group,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        if let Some(Look::AtOne { peer, at: line, byte }) = self.look_for(peers, seen, told) {
            return self.take_the_one(at, (peer, line, byte), told, deadline);
        }
        self.take(at, seen, peers, told, deadline)?;
        seen.clear();
        Ok(())
    }

    /// Where the next marks of a group will be, if that is known and none was taken.
    #[inline(always)]
    fn look_for(&self, peers: &Group, seen: &Seen, told: Told) -> Option<Look> {
        match &*self.expected[told as usize].borrow() {
            Some(expected) if expected.group.is(peers) && seen.is_empty() => Some(expected.look),
            _ => None,
        }
    }

    /// Waits until each of `peers` has raised its mark, and takes them: those pushed here, a line at a time, then those kept
    /// elsewhere. Whoever is in `seen` was taken before; who is taken enters it.
    #[inline(always)]
    pub(super) fn take<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peers: &Group,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        match (self.look_for(peers, seen, told), self.home) {
            (Some(Look::Here), Home::Mpb { first }) => {
                for line in peers.lines() {
                    self.take_line(at, seen, first, line, told, deadline)?;
                }
            }
            (Some(Look::AtEach), _) => {
                for peer in peers.iter() {
                    self.take_one(at, seen, peer, told, deadline)?;
                }
            }
            _ => self.take_anew(at, seen, peers, told, deadline)?,
        }
        Ok(())
    }

    /// Takes the marks of a group of which nothing is known.
    #[cold]
    #[inline(never)]
    fn take_anew<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peers: &Group,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        if let Home::Mpb { first } = self.home {
            for (index, members) in peers.words().iter().enumerate() {
                let missing = members & !seen.word(index);
                let wanted = missing & !self.next[index].kept(missing, told);
                if wanted != 0 {
                    let place = Place::Line(at.comm.mpb_line(at.comm.rank(), first + index));
                    let line = at.comm.wait_until(&[place], deadline, told.awaited(at.number), |poll| {
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
        missing.try_for_each(|peer| self.take_one(at, seen, peer, told, deadline))?;
        self.look_ahead(at.comm, peers, told);
        Ok(())
    }

    /// Finds out whether the next marks of a group are alike, unless that is known.
    fn look_ahead<C: Core>(&self, comm: &Comm<'_, C>, peers: &Group, told: Told) {
        let mut expected = self.expected[told as usize].borrow_mut();
        if expected.as_ref().is_some_and(|expected| expected.group.is(peers)) {
            return;
        }
        let kept = |index: usize, members: u32| self.next[index].kept(members, told);
        let mut words = peers.words().iter().enumerate();
        let look = match (self.home, peers.ranks()) {
            (Home::Words, _) => Some(Look::AtEach),
            (Home::Mpb { first }, [peer]) => {
                let peer = usize::from(*peer);
                let ((line, byte), whose) = if kept(peer / RANKS, 1 << (peer % RANKS)) == 0 {
                    (place(first, peer), comm.rank())
                } else {
                    (self.kept_at, peer)
                };
                Some(Look::AtOne { peer, at: comm.mpb_line(whose, line), byte })
            }
            _ if words.clone().all(|(index, members)| kept(index, *members) == 0) => Some(Look::Here),
            _ => words.all(|(index, members)| kept(index, *members) == *members).then_some(Look::AtEach),
        };
        *expected = look.map(|look| Expected { group: peers.clone(), look });
    }

    /// Waits for the mark of a group's only member.
    #[inline(always)]
    fn take_the_one<C: Core>(
        &self,
        at: &Peers<'_, C>,
        (peer, line, byte): (usize, MpbLine, usize),
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let (comm, next) = (at.comm, &self.next[peer / RANKS]);
        let is_as_expected = comm.wait_until(line, deadline, told.awaited(at.number), move |poll| {
            let mark = (poll.line_word(0, byte / MARKS_PER_WORD) >> (byte % MARKS_PER_WORD * 8)) as u8;
            if (mark ^ next.byte(peer % RANKS)) & told.half() == 0 {
                return Some(true);
            }
            self.take_other(peer, mark, told).or_missing(comm, poll)
        })?;
        if is_as_expected {
            next.raise_number(peer % RANKS, told);
        }
        Ok(())
    }

    /// Waits for the mark of one peer, which is where that keeps it.
    #[inline(always)]
    fn take_one<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peer: usize,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let place = match self.home {
            Home::Mpb { .. } => Place::Line(at.comm.mpb_line(peer, self.kept_at.0)),
            Home::Words => Place::Word(at.class_words(peer), at.comm.rank() / MARKS_PER_WORD),
        };
        let next = &self.next[peer / RANKS];
        let is_as_expected =
            at.comm.wait_until(slice::from_ref(&place), deadline, told.awaited(at.number), |poll| {
                let mark = self.kept_mark(at.comm, poll);
                if (mark ^ next.byte(peer % RANKS)) & told.half() == 0 {
                    return Some(true);
                }
                self.take_other(peer, mark, told).or_missing(at.comm, poll)
            })?;
        if is_as_expected {
            next.raise_number(peer % RANKS, told);
        }
        seen.insert(peer);
        Ok(())
    }

    /// The same where the mark is missing, or says more than the next number: then it is taken here.
    #[cold]
    #[inline(never)]
    fn take_other(&self, peer: usize, mark: u8, told: Told) -> Other {
        if !Half::of(mark, told).reaches(Half::of(self.next[peer / RANKS].byte(peer % RANKS), told)) {
            return Other::Missing { peer };
        }
        self.expect_next(peer, mark, told);
        Other::Taken
    }

    /// Waits for the marks of all members of one line, which are pushed here.
    #[inline(always)]
    fn take_line<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        first: usize,
        members: &OfLine,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let (comm, index, next) = (at.comm, members.index, &self.next[members.index]);
        let place = comm.own_line(first + index);
        let are_as_expected = comm.wait_until(place, deadline, told.awaited(at.number), move |poll| {
            let line = poll.line_words(0, 0);
            if next.all_are(&line, &members.bytes, told) {
                return Some(true);
            }
            self.take_others(&line, members, told).or_missing(comm, poll)
        })?;
        if are_as_expected {
            next.raise_numbers(&members.bytes, told);
        }
        seen.insert_word(index, members.ranks);
        Ok(())
    }

    /// The same where a mark is missing, or says more than the next number: then they are taken here.
    #[cold]
    #[inline(never)]
    fn take_others(&self, line: &Words, &OfLine { index, ranks, .. }: &OfLine, told: Told) -> Other {
        let late = ranks & !self.raised(index, line, ranks, told);
        if late != 0 {
            return Other::Missing { peer: index * RANKS + late.trailing_zeros() as usize };
        }
        self.expect_all_next(index, line, ranks, told);
        Other::Taken
    }

    /// A mark was taken that says more than the next number: what was found out does not hold any more.
    #[cold]
    fn forget(&self, told: Told) {
        *self.expected[told as usize].borrow_mut() = None;
        // Who is told next is told where those look that are one of many.
        *self.settled[told.answer() as usize].borrow_mut() = None;
    }

    /// Looks once whether `peer` has raised its mark, and takes it then, together with those of `peers` that the look
    /// shows, too.
    pub(super) fn look<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, peer: usize, peers: &Group, told: Told) {
        let (index, bit) = (peer / RANKS, 1 << (peer % RANKS));
        let place = self.place_of(at, peer, told);
        let (look, reason) = (Deadline::At(0), Reason::new("a look at a mark"));
        let next = &self.next[index];
        if self.home == Home::Words || next.kept(bit, told) != 0 {
            let expected = Half::of(next.byte(peer % RANKS), told);
            let found = at.comm.wait_until(&[place], look, reason, |poll| {
                let mark = self.kept_mark(at.comm, poll);
                Half::of(mark, told).reaches(expected).then_some(mark)
            });
            if let Ok(mark) = found {
                self.expect_next(peer, mark, told);
                seen.insert(peer);
            }
            return;
        }
        let members = peers.words().get(index).copied().unwrap_or_default() | bit;
        let missing = members & !seen.word(index);
        let wanted = missing & !next.kept(missing, told);
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
        let (raised, others) = self.next[index].reached(line, wanted, told);
        assert!(others == 0, "a peer is more than one epoch ahead: a protocol is broken");
        raised
    }

    /// Takes the marks of some of 32 ranks, which a line shows to be raised.
    fn note(&self, seen: &Seen, index: usize, line: &Words, raised: u32, told: Told) {
        self.expect_all_next(index, line, raised, told);
        seen.insert_word(index, raised);
    }

    /// The marks of some of 32 ranks were taken.
    fn expect_all_next(&self, index: usize, line: &Words, raised: u32, told: Told) {
        if self.next[index].expect_next(line, raised, told) {
            self.forget(told);
        }
    }

    /// The mark of one peer was taken.
    fn expect_next(&self, peer: usize, mark: u8, told: Told) {
        let bit = peer % RANKS;
        let line = array::from_fn(|word| if word == bit / MARKS_PER_WORD { repeated(mark) } else { 0 });
        self.expect_all_next(peer / RANKS, &line, 1 << bit, told);
    }

    /// The mark that a peer keeps for this rank, as a poll of its place shows it.
    #[inline]
    fn kept_mark<C: Core>(&self, comm: &Comm<'_, C>, poll: &Poll<'_>) -> u8 {
        match self.home {
            Home::Mpb { .. } => {
                let (_, byte) = self.kept_at;
                (poll.line_word(0, byte / MARKS_PER_WORD) >> (byte % MARKS_PER_WORD * 8)) as u8
            }
            Home::Words => (poll.word(0) >> (comm.rank() % MARKS_PER_WORD * 8)) as u8,
        }
    }

    /// Where the next such mark of `peer` for this rank will be.
    fn place_of<C: Core>(&self, at: &Peers<'_, C>, peer: usize, told: Told) -> Place {
        let is_kept = |peer: usize| self.next[peer / RANKS].kept(1 << (peer % RANKS), told) != 0;
        match self.home {
            Home::Mpb { .. } if is_kept(peer) => Place::Line(at.comm.mpb_line(peer, self.kept_at.0)),
            Home::Mpb { first } => Place::Line(at.comm.mpb_line(at.comm.rank(), place(first, peer).0)),
            Home::Words => Place::Word(at.class_words(peer), at.comm.rank() / MARKS_PER_WORD),
        }
    }
}

/// Peers whose kept marks lie in one line.
struct Span {
    line: usize,
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
