//! Waiting for marks of peers, and looking whether they are there.

use alloc::rc::Rc;
use core::{array, slice};

use hal::{Core, Deadline, MpbWords, Place, Poll, Reason, TimedOut};

use super::{Among, Home, MARKS_PER_WORD, Marks, Told, bytes::RANKS, half::Half, place};
use crate::{
    Comm, Group,
    comm::group::OfLine,
    mpb::bytes::{Words, repeated, words as words_of_line},
    one_sided::window::peers::{Peers, Seen},
};

/// A group whose next marks are alike.
pub(super) struct Expected {
    group: Group,
    look: Look,
}

/// Where the next marks of a group will be.
enum Look {
    /// The one of its only member, in a byte of this word of a line. Shared with whoever waits for it, so that it need not be copied.
    AtOne(Rc<AtOne>),
    /// Pushed here.
    Here,
    /// Kept by each member.
    AtEach,
}

/// Where the next mark of a peer will be: in a word of a line, `shift` bits above its lowest bit.
struct AtOne {
    peer: usize,
    among: Among,
    word: MpbWords<1>,
    shift: u32,
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

/// Where the next marks of a group will be, if that is known and none was taken. What is borrowed is given back before a mark is
/// awaited, which may change it.
#[inline(always)]
fn look_for<'e>(expected: &'e Option<Expected>, peers: &Group, seen: &Seen) -> Option<&'e Look> {
    let expected = expected.as_ref().filter(|expected| expected.group.is(peers) && seen.is_empty())?;
    Some(&expected.look)
}

impl Marks {
    /// Waits until each of `peers` has raised its mark, and takes them. Whoever is in `seen` was taken before; nobody is then. If it
    /// fails, those are who were taken.
    #[inline(always)]
    pub(in crate::one_sided::window) fn take_all<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peers: &Group,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let expected = self.expected[told as usize].borrow();
        match look_for(&expected, peers, seen) {
            Some(Look::AtOne(one)) => {
                let one = Rc::clone(one);
                drop(expected);
                self.take_the_one(at, &one, told, deadline)
            }
            Some(Look::Here) => {
                drop(expected);
                // Nobody enters who would leave at once.
                self.take_here(at, seen, peers, told, deadline)
            }
            _ => {
                drop(expected);
                self.take(at, seen, peers, told, deadline)?;
                seen.clear();
                Ok(())
            }
        }
    }

    /// Waits until each of `peers` has raised its mark, and takes them: those pushed here, a line at a time, then those kept
    /// elsewhere. Whoever is in `seen` was taken before; who is taken enters it.
    #[inline(never)]
    pub(in crate::one_sided::window) fn take<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peers: &Group,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let expected = self.expected[told as usize].borrow();
        match look_for(&expected, peers, seen) {
            Some(Look::Here) => {
                drop(expected);
                self.take_here(at, seen, peers, told, deadline)?;
                seen.insert_lines(peers.lines());
                Ok(())
            }
            Some(Look::AtEach) => {
                drop(expected);
                peers.iter().try_for_each(|peer| self.take_one(at, seen, peer, told, deadline))
            }
            _ => {
                drop(expected);
                self.take_anew(at, seen, peers, told, deadline)
            }
        }
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
                let wanted = missing & !self.next(index).kept(missing, told);
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
        let kept = |index: usize, members: u32| self.next(index).kept(members, told);
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
                let word = comm.hal().find_words(comm.mpb_line(whose, line), byte / MARKS_PER_WORD);
                let shift = (byte % MARKS_PER_WORD * 8) as u32;
                Some(Look::AtOne(Rc::new(AtOne { peer, among: Among::new(peer), word, shift })))
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
        one: &AtOne,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let (comm, next) = (at.comm, self.next(one.among.line));
        let is_as_expected = comm.wait_until(&one.word, deadline, told.awaited(at.number), move |poll| {
            let [found] = poll.words(one.word);
            self.check_mark(at, one.peer, &one.among, told, (found >> one.shift) as u8, poll)
        })?;
        if is_as_expected {
            next.raise_number(one.among.word, one.among.shift, told);
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
        let (comm, among) = (at.comm, &Among::new(peer));
        let is_as_expected =
            comm.wait_until(slice::from_ref(&place), deadline, told.awaited(at.number), move |poll| {
                self.check_mark(at, peer, among, told, self.kept_mark(comm, poll), poll)
            })?;
        if is_as_expected {
            self.next(among.line).raise_number(among.word, among.shift, told);
        }
        seen.insert(peer);
        Ok(())
    }

    /// Whether the mark of `peer` that a poll has found is the next number; nothing if it is not there yet.
    #[inline(always)]
    fn check_mark<C: Core>(
        &self,
        at: &Peers<'_, C>,
        peer: usize,
        among: &Among,
        told: Told,
        mark: u8,
        poll: &Poll<'_>,
    ) -> Option<bool> {
        let next = self.next(among.line).word(among.word) >> among.shift;
        if (mark ^ next as u8) & told.half() == 0 {
            return Some(true);
        }
        self.take_other(peer, mark, told).or_missing(at.comm, poll)
    }

    /// What a mark means that is not the next number: it is missing, or says more and is taken here.
    #[cold]
    #[inline(never)]
    fn take_other(&self, peer: usize, mark: u8, told: Told) -> Other {
        if !Half::of(mark, told).reaches(Half::of(self.next(peer / RANKS).byte(peer % RANKS), told)) {
            return Other::Missing { peer };
        }
        self.expect_next(peer, mark, told);
        Other::Taken
    }

    /// Waits for the marks of all members, which are pushed here, a line at a time. Whose were taken before one did not come enter
    /// `seen`, and nobody otherwise.
    #[inline(always)]
    fn take_here<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peers: &Group,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        for (taken, line) in peers.lines().iter().enumerate() {
            if let Err(late) = self.take_line(at, line, told, deadline) {
                seen.insert_lines(&peers.lines()[..taken]);
                return Err(late);
            }
        }
        Ok(())
    }

    /// Waits for the marks of all members of one line, which are pushed here.
    #[inline(always)]
    fn take_line<C: Core>(
        &self,
        at: &Peers<'_, C>,
        members: &OfLine,
        told: Told,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let (comm, index, next) = (at.comm, members.index, self.next(members.index));
        let here = &self.here[index];
        let are_as_expected = comm.wait_until(here, deadline, told.awaited(at.number), move |poll| {
            let line = poll.words(*here);
            if next.all_are(&line, members, told) {
                return Some(true);
            }
            self.take_others(line, members, told).or_missing(comm, poll)
        })?;
        if are_as_expected {
            next.raise_numbers(members, told);
        }
        Ok(())
    }

    /// What marks of a line mean that are not all the next numbers: one is missing, or they say more and are taken here. The line is
    /// a value, so that it is not in memory before.
    #[cold]
    #[inline(never)]
    fn take_others(&self, line: Words, &OfLine { index, ranks, .. }: &OfLine, told: Told) -> Other {
        let late = ranks & !self.raised(index, &line, ranks, told);
        if late != 0 {
            return Other::Missing { peer: index * RANKS + late.trailing_zeros() as usize };
        }
        self.expect_all_next(index, &line, ranks, told);
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
    pub(in crate::one_sided::window) fn look<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peer: usize,
        peers: &Group,
        told: Told,
    ) {
        let (index, bit) = (peer / RANKS, 1 << (peer % RANKS));
        let place = self.place_of(at, peer, told);
        let (look, reason) = (Deadline::At(0), Reason::new("a look at a mark"));
        let next = self.next(index);
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
        let (raised, others) = self.next(index).reached(line, wanted, told);
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
        if self.next(index).expect_next(line, raised, told) {
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
            Home::Mpb { .. } => mark_in(poll, self.kept_at.1),
            Home::Words => (poll.word(0) >> (comm.rank() % MARKS_PER_WORD * 8)) as u8,
        }
    }

    /// Where the next such mark of `peer` for this rank will be.
    fn place_of<C: Core>(&self, at: &Peers<'_, C>, peer: usize, told: Told) -> Place {
        let is_kept = |peer: usize| self.next(peer / RANKS).kept(1 << (peer % RANKS), told) != 0;
        match self.home {
            Home::Mpb { .. } if is_kept(peer) => Place::Line(at.comm.mpb_line(peer, self.kept_at.0)),
            Home::Mpb { first } => Place::Line(at.comm.mpb_line(at.comm.rank(), place(first, peer).0)),
            Home::Words => Place::Word(at.class_words(peer), at.comm.rank() / MARKS_PER_WORD),
        }
    }
}

/// The mark in a byte of the line that is polled.
#[inline(always)]
fn mark_in(poll: &Poll<'_>, byte: usize) -> u8 {
    (poll.line_word(0, byte / MARKS_PER_WORD) >> (byte % MARKS_PER_WORD * 8)) as u8
}
