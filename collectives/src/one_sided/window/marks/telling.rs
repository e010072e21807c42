//! Raising marks: where they are written, and whether that is where they were written before.

use alloc::{boxed::Box, vec::Vec};
use core::cell::Cell;

use hal::{Core, LINE_BYTES, MpbByte};

use super::{Among, Home, MARKS_PER_WORD, Marks, Told, bytes::RANKS, place};
use crate::{
    Comm, Group,
    comm::group::bits,
    one_sided::window::{
        kept::{Least, MANY},
        peers::Peers,
    },
};

/// Places of marks that changed when marks were raised last, a bit for each of 32 ranks.
#[derive(Clone, Copy, Default)]
pub(super) struct Moves {
    /// Whose mark was kept here before.
    was_kept: u32,
    /// Whose will be from now on.
    will_be_kept: u32,
}

/// A group whose marks will be told where they were told before.
pub(super) struct Settled {
    group: Group,
    way: Way,
}

/// Where the marks for a group are told.
enum Way {
    /// Pushed to its only member, into this line.
    PushedToOne { peer: Among, at: MpbByte },
    /// Pushed to each.
    Pushed,
    /// Kept there.
    Kept(Box<[Span]>),
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

impl Marks {
    /// Raises the mark for each of `peers`. All that was written before is visible to whoever takes it.
    #[inline(always)]
    pub(in crate::one_sided::window) fn tell<C: Core>(&self, at: &Peers<'_, C>, peers: &Group, told: Told) {
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
            let mark = self.told(peer.line).raise_number(peer.word, peer.shift, told);
            return comm.hal().set(at, mark);
        }
        for line in settled.group.lines() {
            self.told(line.index).raise_numbers(line, told);
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
                    hal.store_word(at.class_words(at.comm.rank()), word, self.packed()[word].get());
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
                let (peer, (line, byte)) = (usize::from(peer), self.pushed_at);
                let at = comm.hal().find_byte(comm.mpb_line(peer, line), byte);
                Some(Way::PushedToOne { peer: Among::new(peer), at })
            }
            _ => all_stay_pushed.then_some(Way::Pushed),
        };
        *self.settled[told as usize].borrow_mut() = way.map(|way| Settled { group: peers.clone(), way });
    }

    /// Writes the mark for `peer` to its MPB.
    fn push<C: Core>(&self, comm: &Comm<'_, C>, peer: usize) {
        let (line, byte) = self.pushed_at;
        comm.hal().store(comm.mpb_line(peer, line), byte, &[self.told(peer / RANKS).byte(peer % RANKS)]);
    }

    /// Writes the marks for all of a group to their MPBs, and drains the last one.
    #[inline(always)]
    fn push_all<C: Core>(&self, comm: &Comm<'_, C>, peers: &Group) {
        let Some((last, others)) = peers.ranks().split_last() else { return comm.hal().drain() };
        others.iter().for_each(|peer| self.push(comm, usize::from(*peer)));
        let (peer, (line, byte)) = (usize::from(*last), self.pushed_at);
        comm.hal().set_flag(comm.mpb_line(peer, line), byte, self.told(peer / RANKS).byte(peer % RANKS));
    }

    /// Raises the marks for some of 32 ranks, as those of a group of `count`; nobody can see it yet. They are kept next
    /// if `least` says so.
    fn raise(&self, index: usize, members: u32, told: Told, least: Least, count: usize) -> Moves {
        let marks = self.told(index);
        let [few, many] = [false, true].map(|many| if least.is_reached(count, many) { u32::MAX } else { 0 });
        let wait_for_many = if few == many { 0 } else { self.next(index).many(members, told.answer()) };
        let moves = Moves {
            was_kept: marks.kept(members, told),
            will_be_kept: (wait_for_many & many | !wait_for_many & few) & members,
        };
        marks.raise(members, told, moves.will_be_kept, count >= MANY);
        self.moves[index].set(moves);
        moves
    }

    /// The marks for all peers, four in a word.
    #[inline]
    fn packed(&self) -> &[Cell<u32>] {
        self.told.as_flattened()
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
            let words = &self.packed()[span.from / MARKS_PER_WORD..=span.to / MARKS_PER_WORD];
            return comm.hal().store_words(at, span.byte / MARKS_PER_WORD, words.iter().map(Cell::get));
        }
        let mut bytes = [0; LINE_BYTES];
        for (byte, peer) in bytes.iter_mut().zip(span.from..=span.to) {
            *byte = self.told(peer / RANKS).byte(peer % RANKS);
        }
        comm.hal().store(at, span.byte, &bytes[..=span.to - span.from]);
    }
}
