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

use alloc::boxed::Box;
use core::cell::Cell;

use hal::{Core, Deadline, LINE_BYTES, Line, Place, Poll, Reason, TimedOut};

use crate::{Comm, Group};

use super::{
    kept::{Kept, MANY},
    peers::{Peers, Seen},
};

/// What a mark tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Told {
    /// The writer's part is exposed.
    Posted,
    /// The writer's accesses are complete.
    Completed,
}

impl Told {
    const fn shift(self) -> u8 {
        match self {
            Self::Posted => 0,
            Self::Completed => 4,
        }
    }

    /// What the peer tells in return, and waits for together with the rest of its group.
    const fn answer(self) -> Self {
        match self {
            Self::Posted => Self::Completed,
            Self::Completed => Self::Posted,
        }
    }
}

/// Half a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Half(u8);

impl Half {
    const NUMBERS: u8 = 4;
    const KEPT: u8 = 4;
    const MANY: u8 = 8;

    fn new(number: u8, next_is_kept: bool, many: bool) -> Self {
        Self((number % Self::NUMBERS) | (u8::from(next_is_kept) * Self::KEPT) | (u8::from(many) * Self::MANY))
    }

    fn of(mark: u8, told: Told) -> Self {
        Self(mark >> told.shift() & 0xF)
    }

    /// The mark with this half put in.
    fn into(self, mark: u8, told: Told) -> u8 {
        mark & !(0xF << told.shift()) | self.0 << told.shift()
    }

    fn number(self) -> u8 {
        self.0 % Self::NUMBERS
    }

    fn next_is_kept(self) -> bool {
        self.0 & Self::KEPT != 0
    }

    fn many(self) -> bool {
        self.0 & Self::MANY != 0
    }

    /// Whether this is one further than `taken`.
    fn follows(self, taken: Self) -> bool {
        let ahead = self.number().wrapping_sub(taken.number()) % Self::NUMBERS;
        assert!(ahead <= 1, "a peer is {ahead} epochs ahead: a protocol is broken");
        ahead == 1
    }
}

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

/// What this rank knows of the marks between it and a peer.
#[derive(Default)]
struct Pair {
    /// The mark for the peer, as it is now.
    told: Cell<u8>,
    /// Where it was before it was raised last.
    was_kept: Cell<bool>,
    /// The halves of the peer's mark that were taken last.
    taken: Cell<u8>,
}

/// The marks of one window.
pub(super) struct Marks {
    home: Home,
    kept: Kept,
    pairs: Box<[Pair]>,
}

impl Marks {
    pub(super) fn new<C: Core>(home: Home, comm: &Comm<'_, C>) -> Self {
        let pairs = core::iter::repeat_with(Pair::default).take(comm.size()).collect();
        Self { home, kept: Kept::new(comm.choices().terms()), pairs }
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
                peers.iter().for_each(|peer| self.raise(peer, told, peers.len(), true));
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
        let kept = self.kept.for_peers(comm.hal().layout(), comm.core_of(comm.rank()), peers);
        for peer in peers.iter() {
            let pair = &self.pairs[peer];
            pair.was_kept.set(Half::of(pair.told.get(), told).next_is_kept());
            let waits_for_many = Half::of(pair.taken.get(), told.answer()).many();
            self.raise(peer, told, peers.len(), kept.is_reached(peers.len(), waits_for_many));
        }
        let was_kept = |peer: usize| self.pairs[peer].was_kept.get();
        let will_be_kept = |peer: usize| Half::of(self.pairs[peer].told.get(), told).next_is_kept();
        peers
            .iter()
            .filter(|peer| was_kept(*peer) && !will_be_kept(*peer))
            .for_each(|peer| self.push(comm, first, peer));
        let line = |peer| place(first, comm.size() + peer).0;
        let mut span = Span::default();
        for peer in peers.iter().filter(|peer| was_kept(*peer) || will_be_kept(*peer)) {
            if !span.extend(peer, |from| line(from) == line(peer)) {
                self.keep(comm, first, span.restart(peer));
            }
        }
        self.keep(comm, first, span);
        peers.iter().filter(|peer| !was_kept(*peer)).for_each(|peer| self.push(comm, first, peer));
    }

    /// Writes the mark for `peer` to its MPB.
    fn push<C: Core>(&self, comm: &Comm<'_, C>, first: usize, peer: usize) {
        let (line, byte) = place(first, comm.rank());
        comm.hal().store(comm.mpb_line(peer, line), byte, &[self.pairs[peer].told.get()]);
    }

    /// Raises the mark for `peer`, as one of a group of `count`; nobody can see it yet.
    fn raise(&self, peer: usize, told: Told, count: usize, keep_next: bool) {
        let mark = &self.pairs[peer].told;
        let next = Half::new(Half::of(mark.get(), told).number() + 1, keep_next, count >= MANY);
        mark.set(next.into(mark.get(), told));
    }

    /// The marks of a word of uncached memory.
    fn packed(&self, word: usize) -> u32 {
        let marks = self.pairs[word * MARKS_PER_WORD..].iter().take(MARKS_PER_WORD);
        marks.enumerate().fold(0, |packed, (index, pair)| packed | u32::from(pair.told.get()) << (index * 8))
    }

    /// Writes the marks that this rank keeps for the peers of a span, in one store.
    fn keep<C: Core>(&self, comm: &Comm<'_, C>, first: usize, span: Span) {
        let Some((from, to)) = span.0 else { return };
        let mut marks = [0; LINE_BYTES];
        for (mark, pair) in marks.iter_mut().zip(&self.pairs[from..=to]) {
            *mark = pair.told.get();
        }
        let (line, byte) = place(first, comm.size() + from);
        comm.hal().store(comm.mpb_line(comm.rank(), line), byte, &marks[..=to - from]);
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
        let shares_its_line = |peer: &usize| self.home != Home::Words && !self.is_kept(*peer, told);
        while let Some(first) = seen.missing(peers).find(shares_its_line) {
            let place = self.place_of(at, first, told);
            let here = seen.missing(peers).filter(|peer| self.place_of(at, *peer, told) == place);
            let sight = self.await_at(at, place, here, told, deadline, reason)?;
            self.note_all(at, seen, peers, &sight, place, told);
        }
        for peer in seen.missing(peers) {
            let place = self.place_of(at, peer, told);
            let sight = self.await_at(at, place, core::iter::once(peer), told, deadline, reason)?;
            self.note(at, seen, peer, &sight, told);
        }
        Ok(())
    }

    /// Waits until marks that are all in one place have been raised.
    fn await_at<C: Core>(
        &self,
        at: &Peers<'_, C>,
        place: Place,
        peers: impl Iterator<Item = usize> + Clone,
        told: Told,
        deadline: Deadline,
        reason: Reason,
    ) -> Result<Sight, TimedOut> {
        at.comm.wait_until(&[place], deadline, reason, |poll| {
            let sight = Sight::of(poll, &place);
            let late = peers.clone().find(|peer| !self.is_raised(at, &sight, *peer, told));
            late.inspect(|peer| poll.missing(at.comm.core_of(*peer))).is_none().then_some(sight)
        })
    }

    /// Looks once whether `peer` has raised its mark, and takes it then, together with those of `peers` that the look
    /// shows, too.
    pub(super) fn look<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, peer: usize, peers: &Group, told: Told) {
        let place = self.place_of(at, peer, told);
        let one_look = |poll: &Poll<'_>| {
            let sight = Sight::of(poll, &place);
            self.is_raised(at, &sight, peer, told).then_some(sight)
        };
        let reason = Reason::new("a look at a mark");
        if let Ok(sight) = at.comm.wait_until(&[place], Deadline::At(0), reason, one_look) {
            self.note_all(at, seen, peers, &sight, place, told);
        }
    }

    /// Takes the marks of all `peers` that a sight of `place` shows to be raised.
    fn note_all<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        peers: &Group,
        sight: &Sight,
        place: Place,
        told: Told,
    ) {
        for peer in peers.iter().filter(|peer| !seen.contains(*peer)) {
            if self.place_of(at, peer, told) == place && self.is_raised(at, sight, peer, told) {
                self.note(at, seen, peer, sight, told);
            }
        }
    }

    /// Takes the mark of one peer, which a sight of its place shows to be raised.
    fn note<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, peer: usize, sight: &Sight, told: Told) {
        let taken = &self.pairs[peer].taken;
        taken.set(self.half_in(at, sight, peer, told).into(taken.get(), told));
        seen.insert(peer);
    }

    fn is_raised<C: Core>(&self, at: &Peers<'_, C>, sight: &Sight, peer: usize, told: Told) -> bool {
        self.half_in(at, sight, peer, told).follows(Half::of(self.pairs[peer].taken.get(), told))
    }

    fn half_in<C: Core>(&self, at: &Peers<'_, C>, sight: &Sight, peer: usize, told: Told) -> Half {
        let mark = match *sight {
            Sight::Line(ref line) if self.is_kept(peer, told) => line.0[(at.comm.size() + at.comm.rank()) % LINE_BYTES],
            Sight::Line(ref line) => line.0[peer % LINE_BYTES],
            Sight::Word(word) => (word >> (at.comm.rank() % MARKS_PER_WORD * 8)) as u8,
        };
        Half::of(mark, told)
    }

    /// Whether the next such mark of `peer` for this rank will be kept at the peer.
    fn is_kept(&self, peer: usize, told: Told) -> bool {
        Half::of(self.pairs[peer].taken.get(), told).next_is_kept()
    }

    /// Where the next such mark of `peer` for this rank will be.
    fn place_of<C: Core>(&self, at: &Peers<'_, C>, peer: usize, told: Told) -> Place {
        match self.home {
            Home::Mpb { first } if self.is_kept(peer, told) => {
                let (line, _) = place(first, at.comm.size() + at.comm.rank());
                Place::Line(at.comm.mpb_line(peer, line))
            }
            Home::Mpb { first } => Place::Line(at.comm.mpb_line(at.comm.rank(), place(first, peer).0)),
            Home::Words => Place::Word(at.class_words(peer), at.comm.rank() / MARKS_PER_WORD),
        }
    }
}

/// What a poll saw.
enum Sight {
    Line(Line),
    Word(u32),
}

impl Sight {
    fn of(poll: &Poll<'_>, place: &Place) -> Self {
        match place {
            Place::Line(_) => Self::Line(poll.line(0)),
            Place::Word(..) => Self::Word(poll.word(0)),
            Place::Counter(_) => unreachable!("marks are in lines and words"),
        }
    }
}

/// Peers whose kept marks lie in one line: the first and the last of them.
#[derive(Clone, Copy, Default)]
struct Span(Option<(usize, usize)>);

impl Span {
    /// Adds `peer` at the end, if the span is empty or `in_line_with` its first.
    fn extend(&mut self, peer: usize, in_line_with: impl Fn(usize) -> bool) -> bool {
        let from = self.0.map_or(peer, |(from, _)| from);
        let fits = in_line_with(from);
        if fits {
            self.0 = Some((from, peer));
        }
        fits
    }

    /// Begins again with `peer`; returns what there was.
    fn restart(&mut self, peer: usize) -> Self {
        core::mem::replace(self, Self(Some((peer, peer))))
    }
}

/// Line and byte of the mark at `index`, counted from line `first`.
const fn place(first: usize, index: usize) -> (usize, usize) {
    (first + index / LINE_BYTES, index % LINE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_do_not_touch_each_other() {
        let posted = Half::new(3, true, false).into(0, Told::Posted);
        let both = Half::new(6, false, true).into(posted, Told::Completed);
        assert_eq!(Half::of(both, Told::Posted), Half::new(3, true, false));
        let completed = Half::of(both, Told::Completed);
        assert_eq!((completed.number(), completed.next_is_kept(), completed.many()), (2, false, true));
    }

    #[test]
    fn numbers_wrap_around() {
        for number in 0..9 {
            let (now, next) = (Half::new(number, false, false), Half::new(number + 1, true, true));
            assert!(next.follows(now) && !now.follows(now));
        }
    }

    #[test]
    #[should_panic(expected = "2 epochs ahead")]
    fn a_peer_that_is_too_far_ahead_is_noticed() {
        Half::new(2, false, false).follows(Half::new(0, false, false));
    }
}
