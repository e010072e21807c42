//! Signals: how a rank tells another that something is there, or done.
//!
//! Every MPB has one byte for each peer, and only that peer writes it. Six bits of it count the signals of collective
//! operations. A signal raises the count by one; the receiver knows how many signals it has taken from that peer and
//! waits for the next. Nothing is ever reset, so there is no reset to race with; nobody else writes the byte, so there
//! is no lock; and signals from one rank to another are taken in the order in which they were sent, whatever operation
//! they belong to. Six bits suffice because no operation lets a rank run more than a few signals ahead of its peer: in a
//! message one, in a gather one for each of the operations that may be under way, in a scan its slots, in OC-Bcast two
//! chunks for each root since all ranks met, which they do after 24 changes of the root; should it ever be more than 56, that is noticed.
//!
//! The other two bits are those of [messages](crate::two_sided) of the program, of which no rank is ahead.
//!
//! A signal is a byte store followed by a drain. The store hits another line than the data before it, which pushes
//! the data out of the write-combine buffer first: *data, then flag, then drain* (as RCCE and the SCC's Linux drivers
//! do it).

use alloc::boxed::Box;
use core::{cell::Cell, iter};

use hal::{CoreId, Deadline, LINE_BYTES, Mpb, MpbByte, MpbLine, MpbWords, Poll, Reason, TimedOut, Wait};

use super::{
    bytes::{IN_WORD, Words, repeated},
    layout::MpbLayout,
};
use crate::{
    Comm, Group,
    comm::{
        group::{OfLine, bits},
        members::Members,
    },
};

/// The bits that count the signals of collective operations.
const COUNT: u8 = 0b0011_1111;

/// Turns over with each chunk of a message.
pub(crate) const CHUNK: u8 = 0b0100_0000;

/// Turns over with each answer to a chunk.
pub(crate) const ANSWER: u8 = 0b1000_0000;

/// Signals that a rank can be ahead of its peer in any program that is right; more could be taken for fewer.
const FARTHEST: u8 = 56;

/// The counts in each byte of a word, and the bit above each of them.
const COUNTS: u32 = repeated(COUNT);
const ABOVE: u32 = repeated(COUNT + 1);

/// The signals between this rank and all others.
pub(crate) struct Signals {
    pairs: Box<[Pair]>,
    /// The counts of the other ranks in this rank's MPB, as far as this rank has taken what they say: a line of 32 in a value.
    taken: Box<[Counts]>,
    /// The lines of this rank's MPB that their bytes are in.
    here: Box<[MpbWords<{ LINE_BYTES / IN_WORD }>]>,
}

/// The counts that were taken of a line of ranks, word by word.
type Counts = [Cell<[u8; IN_WORD]>; LINE_BYTES / IN_WORD];

/// What this rank knows of another one, besides the signals that it has taken: all that a message needs, in one place.
pub(crate) struct Pair {
    /// The byte of this rank in the other one's MPB.
    there: MpbByte,
    /// The word of this rank's MPB that the byte of the other one is in, and how far that is from the lowest one, in bits.
    here: MpbWords<1>,
    shift: u8,
    /// The byte of this rank in the other one's MPB.
    sent: Cell<u8>,
    /// The [bits of messages](OF_MESSAGES) that were taken of the byte of the other one; and two bits that are in no MPB: how often
    /// messages went there, and came from there.
    messages: Cell<u8>,
}

impl Pair {
    /// Where the other one runs.
    #[inline]
    pub(crate) fn core(&self) -> CoreId {
        self.there.line().core
    }

    /// The byte of the other one, as a poll of the line with it shows.
    #[inline(always)]
    fn found(&self, poll: &Poll<'_>) -> u8 {
        let [word] = poll.words(self.here);
        (word >> self.shift) as u8
    }

    /// The word with the byte of the other one, as a place to look at.
    pub(crate) fn here(&self) -> MpbWords<1> {
        self.here
    }

    /// Whether the other one has turned a bit of messages since that was taken.
    #[inline]
    pub(crate) fn has_turned(&self, poll: &Poll<'_>, bit: u8) -> bool {
        (self.found(poll) ^ self.messages.get()) & bit != 0
    }

    /// The bits of messages that were taken of the byte of the other one.
    #[inline]
    fn taken(&self) -> u8 {
        self.messages.get() & OF_MESSAGES
    }

    /// Takes bits that the other one has turned.
    #[inline]
    pub(crate) fn take(&self, bits: u8) {
        self.messages.set(self.messages.get() ^ bits);
    }

    /// Whether the next message to the other one is one of the odd ones.
    #[inline]
    pub(crate) fn turn_to(&self) -> bool {
        self.messages.get() & TO != 0
    }

    /// Whether the next message from it is one of the odd ones.
    #[inline]
    pub(crate) fn turn_from(&self) -> bool {
        self.messages.get() & FROM != 0
    }

    /// A message went there.
    #[inline]
    pub(crate) fn count_to(&self) {
        self.messages.set(self.messages.get() ^ TO);
    }

    /// A message came from there.
    #[inline]
    pub(crate) fn count_from(&self) {
        self.messages.set(self.messages.get() ^ FROM);
    }
}

/// The bits of a rank's byte that belong to messages.
const OF_MESSAGES: u8 = CHUNK | ANSWER;

/// The bits that turn over with each message of a program to a rank, and from it.
const TO: u8 = 1;
const FROM: u8 = 2;

/// The byte with one signal more in its count.
fn raised(byte: u8) -> u8 {
    byte & !COUNT | byte.wrapping_add(1) & COUNT
}

impl Signals {
    /// The signals between this rank and these, whose MPBs are laid out like that.
    pub(crate) fn new(hal: &impl Mpb, members: &Members, layout: &MpbLayout) -> Self {
        let (line, byte) = layout.signal_from(members.rank());
        let pairs = members.cores().iter().enumerate().map(|(rank, core)| {
            let (here, its_byte) = layout.signal_from(rank);
            Pair {
                there: hal.find_byte(MpbLine::new(*core, line), byte),
                here: hal.find_words(MpbLine::new(hal.core(), here), its_byte / IN_WORD),
                shift: (its_byte % IN_WORD * 8) as u8,
                sent: Cell::new(0),
                messages: Cell::new(0),
            }
        });
        let lines = layout.ranks().div_ceil(LINE_BYTES);
        let first_of = |line: usize| MpbLine::new(hal.core(), layout.signal_from(line * LINE_BYTES).0);
        let here = (0..lines).map(|line| hal.find_words(first_of(line), 0));
        let taken = iter::repeat_with(Default::default).take(lines);
        Self { pairs: pairs.collect(), taken: taken.collect(), here: here.collect() }
    }

    /// What this rank knows of another one.
    #[inline]
    pub(crate) fn pair(&self, rank: usize) -> &Pair {
        &self.pairs[rank]
    }

    /// The signals to and from a rank, if there is such a rank.
    #[inline]
    pub(crate) fn pair_if_any(&self, rank: usize) -> Option<&Pair> {
        self.pairs.get(rank)
    }

    /// How many signals rank `from` is ahead of those that were taken, by its byte now.
    #[inline]
    fn ahead(from: usize, taken: u8, found: u8) -> u8 {
        let ahead = found.wrapping_sub(taken) & COUNT;
        if ahead > FARTHEST {
            broken(from, ahead.into(), 0xFF);
        }
        ahead
    }

    /// Takes `count` signals from rank `from`.
    #[inline]
    fn raise_taken(&self, from: usize, count: u8) {
        let taken = self.count_taken(from);
        taken.set(taken.get().wrapping_add(count) & COUNT);
    }

    /// Changes the byte of this rank in the MPB of rank `to`. All that was put and stored before
    /// is visible to it when it sees the change.
    #[inline(always)]
    fn change(
        &self,
        comm: &Comm<'_, impl Mpb + Wait>,
        (to, Pair { there, sent, .. }): (usize, &Pair),
        change: impl FnOnce(u8) -> u8,
    ) {
        let value = change(sent.get());
        sent.set(value);
        if let Some(elsewhere) = comm.elsewhere() {
            return elsewhere.set(comm, to, value);
        }
        comm.hal().set(*there, value);
    }

    /// Signals rank `to`.
    pub(crate) fn send(&self, comm: &Comm<'_, impl Mpb + Wait>, to: usize) {
        self.change(comm, (to, self.pair(to)), raised);
    }

    /// Turns bits of messages over for rank `to`.
    #[inline(always)]
    pub(crate) fn turn(&self, comm: &Comm<'_, impl Mpb + Wait>, bits: u8, to: (usize, &Pair)) {
        self.change(comm, to, |byte| byte ^ bits);
    }

    /// Waits until rank `from` has turned one of these bits since it was taken, takes it, and returns all that it has turned.
    /// Signals come through MPBs.
    ///
    /// # Errors
    /// [`TimedOut`] on a dying machine.
    #[inline(always)]
    pub(crate) fn take_turned_by<C: Mpb + Wait>(
        comm: &Comm<'_, C>,
        bit: u8,
        pair: &Pair,
        reason: Reason,
    ) -> Result<u8, TimedOut> {
        let turned = comm.wait_until(&pair.here, Deadline::Never, reason.from(pair.core()), move |poll| {
            let turned = pair.found(poll) ^ pair.messages.get();
            (turned & bit != 0).then_some(turned)
        })?;
        pair.take(bit);
        Ok(turned & OF_MESSAGES)
    }

    /// The count of rank `from` that was taken.
    #[inline]
    fn count_taken(&self, from: usize) -> &Cell<u8> {
        &self.taken.as_flattened()[from / IN_WORD].as_array_of_cells()[from % IN_WORD]
    }

    /// The byte of rank `from`, as far as this rank has taken what it says.
    pub(crate) fn taken_from(&self, from: usize) -> u8 {
        self.count_taken(from).get() | self.pair(from).taken()
    }

    /// Takes bits that rank `from` has turned.
    pub(crate) fn take_turned(&self, from: usize, bits: u8) {
        self.pair(from).take(bits);
    }

    /// Takes `count` signals from each of `ranks` (ascending), waiting until they are there. One line is polled at a
    /// time, and all ranks that share it are awaited together.
    fn take<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, ranks: impl Iterator<Item = usize>, count: u8, reason: Reason) {
        let mut rest = ranks.peekable();
        while let Some(first) = rest.next() {
            let (index, mut mask) = (first / LINE_BYTES, 1 << (first % LINE_BYTES));
            while let Some(rank) = rest.next_if(|rank| rank / LINE_BYTES == index) {
                mask |= 1 << (rank % LINE_BYTES);
            }
            if !self.take_of_line(comm, &OfLine::new(index, mask), count, reason) {
                return;
            }
        }
    }

    /// Takes `count` signals of each member of a line. False on a machine that is dying, of a destructor.
    #[inline]
    fn take_of_line<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, members: &OfLine, count: u8, reason: Reason) -> bool {
        if comm.elsewhere().is_some() {
            return self.take_all_elsewhere(comm, members, count, (reason.what, reason.detail));
        }
        let (taken, here, count) = (&self.taken[members.index], &self.here[members.index], repeated(count));
        let all_there = move |poll: &Poll<'_>| {
            let line = poll.words(*here);
            let (mut there, mut far) = (ABOVE, 0);
            for (word, bytes) in members.words() {
                let ahead = ahead(line[word], u32::from_le_bytes(taken[word].get()));
                there &= ((ahead | ABOVE) - count) | !bytes;
                far |= (ahead + repeated(COUNT - FARTHEST)) & bytes & ABOVE;
            }
            if there == ABOVE && far == 0 {
                return Some(());
            }
            let late = first_late(line, taken, members, count);
            poll.missing(comm.core_of(late));
            None
        };
        if comm.wait_until(here, Deadline::Never, reason, all_there).is_err() {
            return false;
        }
        for (word, bytes) in members.words() {
            let before = u32::from_le_bytes(taken[word].get());
            let counts = bytes & COUNTS;
            taken[word].set((before & !counts | (before + count) & counts).to_le_bytes());
        }
        true
    }

    /// Takes signals that do not come through MPBs, from each member of a line.
    #[cold]
    fn take_all_elsewhere<C: Mpb + Wait>(
        &self,
        comm: &Comm<'_, C>,
        members: &OfLine,
        count: u8,
        awaited: (&'static str, Option<u32>),
    ) -> bool {
        bits(members.ranks).all(|rank| self.take_elsewhere(comm, members.index * LINE_BYTES + rank, count, awaited))
    }

    /// Takes signals of one rank that do not come through MPBs. What is awaited comes in parts, so that it need not be in memory where
    /// signals come through MPBs.
    #[cold]
    fn take_elsewhere<C: Mpb + Wait>(
        &self,
        comm: &Comm<'_, C>,
        from: usize,
        count: u8,
        (what, detail): (&'static str, Option<u32>),
    ) -> bool {
        let reason = Reason { what, peer: None, detail };
        let before = self.taken_from(from);
        let is_there = |found: u8| Self::ahead(from, before, found) >= count;
        if comm.await_signal_elsewhere(from, reason, |found| is_there(found).then_some(())).is_none() {
            return false;
        }
        self.raise_taken(from, count);
        true
    }

    /// Takes `count` signals of one rank, of whose line no more than a word is looked at.
    #[inline(always)]
    fn take_from<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, from: usize, count: u8, reason: Reason) {
        if comm.elsewhere().is_some() {
            self.take_elsewhere(comm, from, count, (reason.what, reason.detail));
            return;
        }
        let pair = self.pair(from);
        let is_there = |poll: &Poll<'_>| {
            if Self::ahead(from, self.count_taken(from).get(), pair.found(poll)) < count {
                poll.missing(pair.core());
                return None;
            }
            Some(())
        };
        if comm.wait_until(&pair.here, Deadline::Never, reason, is_there).is_ok() {
            self.raise_taken(from, count);
        }
    }
}

/// How far each byte's count is ahead of what was taken of it. The bits above keep bytes from borrowing, and say whether they had
/// to.
#[inline]
const fn ahead(found: u32, taken: u32) -> u32 {
    ((found | ABOVE) - taken) & COUNTS
}

/// The first member of a line who has not sent as many signals, in each byte, as are awaited; there is one, unless one is further
/// ahead than any may be.
#[cold]
#[inline(never)]
fn first_late(line: Words, taken: &Counts, members: &OfLine, count: u32) -> usize {
    let mut first_late = None;
    for (word, bytes) in members.words() {
        let ahead = ahead(line[word], u32::from_le_bytes(taken[word].get()));
        let first = members.index * LINE_BYTES + word * IN_WORD;
        if (ahead + repeated(COUNT - FARTHEST)) & bytes & ABOVE != 0 {
            broken(first, ahead, bytes);
        }
        let late = !((ahead | ABOVE) - count) & bytes & ABOVE;
        if late != 0 {
            first_late = first_late.or(Some(first + late.trailing_zeros() as usize / 8));
        }
    }
    first_late.expect("a member is late")
}

/// Of some ranks, from `first` on, one is further ahead than any may be.
#[cold]
fn broken(first: usize, ahead: u32, bytes: u32) -> ! {
    let far = |byte: &usize| (bytes & ahead) >> (8 * byte) & u32::from(COUNT) > u32::from(FARTHEST);
    let byte = (0..IN_WORD).find(far).unwrap_or_default();
    let (rank, ahead) = (first + byte, ahead >> (8 * byte) & u32::from(COUNT));
    panic!("rank {rank} is {ahead} signals ahead: a protocol is broken")
}

impl<C> Comm<'_, C> {
    /// The signals between this rank and all others.
    pub(crate) fn signals(&self) -> &Signals {
        &self.buffers().signals
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// Signals `rank`, after all that was put and stored before.
    pub(crate) fn signal(&self, rank: usize) {
        self.signals().send(self, rank);
    }

    /// Turns these bits of messages over for `rank`, after all that was put and stored before.
    #[inline(always)]
    pub(crate) fn turn_signal(&self, bits: u8, rank: usize) {
        self.signals().turn(self, bits, (rank, self.signals().pair(rank)));
    }

    /// Waits until `check` returns a value for the byte of rank `from`, which does not come through MPBs. Nothing comes back from
    /// a machine that is dying.
    #[cold]
    pub(crate) fn await_signal_elsewhere<R>(
        &self,
        from: usize,
        reason: Reason,
        check: impl Fn(u8) -> Option<R>,
    ) -> Option<R> {
        let place = [self.elsewhere()?.place(self.rank(), from)];
        let reason = reason.from(self.core_of(from));
        self.wait_until(&place, Deadline::Never, reason, |poll| check(poll.word(0) as u8)).ok()
    }

    /// Takes the next signal from `rank`.
    #[inline]
    pub(crate) fn take_signal(&self, rank: usize, reason: Reason) {
        self.signals().take_from(self, rank, 1, reason);
    }

    /// Takes the next `count` signals from `rank`.
    #[inline]
    pub(crate) fn take_signals_from(&self, rank: usize, count: u8, reason: Reason) {
        self.signals().take_from(self, rank, count, reason);
    }

    /// Takes the next signal from each of `ranks`, which ascend.
    pub(crate) fn take_signals(&self, ranks: impl Iterator<Item = usize>, reason: Reason) {
        self.signals().take(self, ranks, 1, reason);
    }

    /// Takes the next `count` signals from each member of a group.
    pub(crate) fn take_signals_of(&self, group: &Group, count: u8, reason: Reason) {
        for line in group.lines() {
            if !self.signals().take_of_line(self, line, count, reason) {
                return;
            }
        }
    }
}
