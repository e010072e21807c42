//! Lines of the MPBs that a program has for itself: puts, gets and flags of its own protocols.
//!
//! All ranks reserve the same lines of every MPB, so that a place in one MPB is that place in all of them, as
//! RCCE's `RCCE_malloc` has it. What is read may be what a rank put there before others did; what orders accesses is the
//! program's affair: flags, that is, words that it stores after its data and waits for; or barriers.
//!
//! The lines come from those that are spare. If these do not suffice, staging gives lines away for good, so that
//! messages go in smaller chunks. A program that sends no messages can have [the payload of RCCE](RcceProfile::into_lines)
//! instead: nearly everything.

use alloc::vec;

use hal::{Deadline, LINE_BYTES, MPB_LINES, Messenger, MpbLine, Place, Reason, TimedOut};

use crate::{
    Comm, Error, RcceProfile,
    collective::call::{Call, Collective},
};

/// What the lines are.
const PROGRAM: &str = "the program's";

/// Bytes of the words that flags are.
const WORD: usize = 4;

/// Lines of every MPB that the program has for itself, as bytes from 0 on. Dropping it gives them back, which is
/// collective: a barrier.
///
/// ```
/// # use collectives::{Comm, Error};
/// # use hal::{Core, Reason};
/// /// Each rank puts its number to its right neighbour, and tells it.
/// fn ring<C: Core>(comm: &Comm<'_, C>) -> Result<u8, Error> {
///     let right = (comm.rank() + 1) % comm.size();
///     let lines = comm.reserve_lines(2)?;
///     lines.put(&[comm.rank() as u8; 3], right, 5)?;
///     lines.store_word(right, 8, 1)?; // the first word of the second line: the flag
///     lines.wait_for_word(8, Reason::new("a neighbour's number"), |flag| flag == 1)?;
///     let mut number = [0];
///     lines.get(comm.rank(), 7, &mut number)?;
///     Ok(number[0])
/// }
/// # let outcome = hal::sim::Machine::scc(5).run(|core| ring(&Comm::world(core, regions::of_a_test()).unwrap()).unwrap());
/// # assert_eq!(outcome.unwrap().results(), [4, 0, 1, 2, 3]);
/// ```
#[must_use = "the lines are given back when this is dropped"]
pub struct ProgramLines<'l, 'c, C: Messenger> {
    comm: &'l Comm<'c, C>,
    first: usize,
    count: usize,
    /// Whose payload the lines are of; they are spare ones without.
    profile: Option<RcceProfile<'l, 'c, C>>,
}

impl<'c, C: Messenger> Comm<'c, C> {
    /// Reserves `count` lines of every MPB, with zeros in them. Collective; all ranks name the same number.
    ///
    /// # Errors
    /// On every rank alike: [`Error::NoSpareLines`] if there are fewer, [`Error::ProfileInForce`]. On a rank that
    /// [sends a message in steps](Comm::start_sending), whose lines may move: [`Error::RequestsOutstanding`].
    pub fn reserve_lines(&self, count: usize) -> Result<ProgramLines<'_, 'c, C>, Error> {
        self.check_nothing_in_steps()?;
        self.check_call(|| Call::new(Collective::ReserveLines).len(count))?;
        self.check_no_profile()?;
        check_count(count)?;
        let first = self.take_spare_lines(count, PROGRAM).or_else(|| {
            let free = self.free_spare_end();
            self.spare_up_to(free.start + count).then(|| self.take_spare_lines(count, PROGRAM))?
        });
        let first = first.ok_or(Error::NoSpareLines { wanted: count })?;
        let lines = ProgramLines { comm: self, first, count, profile: None };
        lines.clear_from(0);
        Ok(lines)
    }

    /// Makes lines up to `end` spare that are staging's, and says whether it could. All ranks do the same, and a barrier
    /// has to follow.
    pub(crate) fn spare_up_to(&self, end: usize) -> bool {
        let layout = self.mpb_layout().with_spare_to(end);
        if let Some(layout) = layout {
            self.set_mpb_layout(layout);
            self.spare_lines().set_end(layout.spare().end);
        }
        layout.is_some()
    }
}

/// Refuses what no MPB has, before anything is calculated with it.
fn check_count(count: usize) -> Result<(), Error> {
    if count > MPB_LINES { Err(Error::NoSpareLines { wanted: count }) } else { Ok(()) }
}

impl<'p, 'c, C: Messenger> RcceProfile<'p, 'c, C> {
    /// Lines for the program at the front of the payload, none at first: [`extend`](ProgramLines::extend) takes some from
    /// messages, all but one.
    pub fn into_lines(self) -> ProgramLines<'p, 'c, C> {
        let comm = self.comm();
        ProgramLines { comm, first: comm.mpb_layout().rcce_lines().start, count: 0, profile: Some(self) }
    }
}

impl<'l, 'c, C: Messenger> ProgramLines<'l, 'c, C> {
    /// The communicator whose MPBs they are of.
    pub fn comm(&self) -> &'l Comm<'c, C> {
        self.comm
    }

    /// Bytes that there are in each MPB.
    pub fn len_bytes(&self) -> usize {
        self.count * LINE_BYTES
    }

    /// Bytes that there can be at most, if nothing else takes lines. On a communicator of some ranks staging gives none away.
    pub fn limit_bytes(&self) -> usize {
        let layout = self.comm.world_of().mpb_layout();
        let end = match &self.profile {
            Some(_) => layout.rcce_lines().end - 1,
            None if self.comm.is_part() => layout.spare().end,
            None => layout.most_spare().end,
        };
        (end - self.first) * LINE_BYTES
    }

    /// The lines are `count` from now on; what is added contains zeros. Collective; all ranks name the same number.
    ///
    /// # Errors
    /// On every rank alike, with nothing changed: [`Error::NoSpareLines`] if there are not so many. On a rank that [sends a
    /// message in steps](Comm::start_sending), whose lines may move: [`Error::RequestsOutstanding`].
    pub fn extend(&mut self, count: usize) -> Result<(), Error> {
        let comm = self.comm;
        comm.check_nothing_in_steps()?;
        comm.check_call(|| Call::new(Collective::ReserveLines).len(count))?;
        check_count(count)?;
        let (before, refused) = (self.count, Error::NoSpareLines { wanted: count });
        if count <= before {
            return Ok(());
        }
        if self.profile.is_some() {
            let layout = comm.mpb_layout().with_program_lines(count).ok_or(refused)?;
            comm.buffers().set_layout(layout);
        } else {
            let added = self.first + before..self.first + count;
            let is_there = || comm.take_spare_lines_at(added.clone(), PROGRAM);
            if !is_there() {
                // All that is behind these lines has to be free.
                let free = comm.free_spare_end();
                if free.start > added.start || !comm.spare_up_to(added.end) || !is_there() {
                    return Err(refused);
                }
            }
        }
        self.count = count;
        self.clear_from(before);
        Ok(())
    }

    /// Clears this rank's own lines from `first` on, before any rank uses them.
    fn clear_from(&self, first: usize) {
        // Whoever read or wrote there before has finished.
        self.comm.synchronise();
        let hal = self.comm.hal();
        if first < self.count {
            let at = self.comm.mpb_line(self.comm.rank(), self.first + first);
            hal.put_made((self.count - first) * LINE_BYTES, at, |_, bytes| bytes.fill(0));
            hal.drain();
        }
        self.comm.synchronise();
    }

    /// Line and byte of byte `offset` of `rank`'s MPB, of which `len` are meant.
    fn place(&self, rank: usize, offset: usize, len: usize) -> Result<(MpbLine, usize), Error> {
        self.comm.check_rank(rank)?;
        match offset.checked_add(len) {
            Some(end) if end <= self.len_bytes() => {
                // Nothing at all may be behind the last line.
                let line = (self.first + offset / LINE_BYTES).min(MPB_LINES - 1);
                Ok((self.comm.mpb_line(rank, line), offset % LINE_BYTES))
            }
            end => Err(Error::BeyondLines { end: end.unwrap_or(usize::MAX), len_bytes: self.len_bytes() }),
        }
    }

    /// Puts bytes to `rank`'s MPB, from byte `offset` on. Others see them when it returns.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::BeyondLines`].
    pub fn put(&self, source: &[u8], rank: usize, offset: usize) -> Result<(), Error> {
        let (at, within) = self.place(rank, offset, source.len())?;
        let hal = self.comm.hal();
        let (head, rest) = source.split_at(if within == 0 { 0 } else { source.len().min(LINE_BYTES - within) });
        if !head.is_empty() {
            hal.account_memory(1, 0);
            hal.store(at, within, head);
        }
        if !rest.is_empty() {
            hal.put(rest, if within == 0 { at } else { at.plus(1) });
        }
        // Whole lines leave the write-combine buffer by themselves.
        let last = if rest.is_empty() { head.len() } else { rest.len() % LINE_BYTES };
        if last != 0 {
            hal.drain();
        }
        Ok(())
    }

    /// Gets bytes of `rank`'s MPB, from byte `offset` on, as they are now.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::BeyondLines`].
    pub fn get(&self, rank: usize, offset: usize, target: &mut [u8]) -> Result<(), Error> {
        let (at, within) = self.place(rank, offset, target.len())?;
        let hal = self.comm.hal();
        hal.invalidate_mpb();
        if target.is_empty() {
            return Ok(());
        }
        if within == 0 {
            hal.get(at, target);
            return Ok(());
        }
        hal.account_memory(0, target.len().div_ceil(LINE_BYTES));
        hal.bring_in(target);
        let mut rest = target;
        hal.get_used(at, within + rest.len(), |index, line| {
            let bytes = if index == 0 { &line[within..] } else { line };
            let (now, later) = core::mem::take(&mut rest).split_at_mut(bytes.len());
            now.copy_from_slice(bytes);
            rest = later;
        });
        Ok(())
    }

    /// Puts `len` bytes of this rank's own MPB, from byte `from` on, to `rank`'s, from byte `to` on.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::BeyondLines`].
    pub fn put_own(&self, from: usize, rank: usize, to: usize, len: usize) -> Result<(), Error> {
        let (source, target) = (self.place(self.comm.rank(), from, len)?, self.place(rank, to, len)?);
        if source.1 == 0 && target.1 == 0 && len.is_multiple_of(LINE_BYTES) {
            self.comm.hal().invalidate_mpb();
            self.comm.hal().put_from_own_mpb(source.0.line.into(), target.0, len / LINE_BYTES);
            return Ok(());
        }
        let mut bytes = vec![0; len];
        self.get(self.comm.rank(), from, &mut bytes)?;
        self.put(&bytes, rank, to)
    }

    /// Gets `len` bytes of `rank`'s MPB, from byte `from` on, into this rank's own, from byte `to` on.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::BeyondLines`].
    pub fn get_to_own(&self, rank: usize, from: usize, to: usize, len: usize) -> Result<(), Error> {
        let (source, target) = (self.place(rank, from, len)?, self.place(self.comm.rank(), to, len)?);
        if source.1 == 0 && target.1 == 0 && len.is_multiple_of(LINE_BYTES) {
            self.comm.hal().invalidate_mpb();
            self.comm.hal().get_to_own_mpb(source.0, target.0.line.into(), len / LINE_BYTES);
            return Ok(());
        }
        let mut bytes = vec![0; len];
        self.get(rank, from, &mut bytes)?;
        self.put(&bytes, self.comm.rank(), to)
    }

    /// Stores a word to `rank`'s MPB. All that was put and stored before is seen by whoever sees the word.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::BeyondLines`].
    pub fn store_word(&self, rank: usize, word: usize, value: u32) -> Result<(), Error> {
        self.store(rank, word.saturating_mul(WORD), &value.to_le_bytes())
    }

    /// Stores a byte, as [`store_word`](Self::store_word) a word.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::BeyondLines`].
    pub fn store_byte(&self, rank: usize, offset: usize, value: u8) -> Result<(), Error> {
        self.store(rank, offset, &[value])
    }

    /// Stores what is within one line.
    fn store(&self, rank: usize, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        let (at, within) = self.place(rank, offset, bytes.len())?;
        self.comm.hal().store(at, within, bytes);
        self.comm.hal().drain();
        Ok(())
    }

    /// The word of `rank`'s MPB, as it is now.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::BeyondLines`].
    pub fn load_word(&self, rank: usize, word: usize) -> Result<u32, Error> {
        let (at, within) = self.place(rank, word.saturating_mul(WORD), WORD)?;
        self.comm.hal().invalidate_mpb();
        let line = self.comm.hal().load_line(at);
        Ok(line.0[within..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    /// Waits for a word of this rank's own MPB that `check` accepts, and returns it.
    ///
    /// # Errors
    /// [`Error::BeyondLines`].
    pub fn wait_for_word(&self, word: usize, reason: Reason, check: impl Fn(u32) -> bool) -> Result<u32, Error> {
        self.wait_for_word_of(self.comm.rank(), word, reason, Deadline::Never, check)
    }

    /// Waits until the deadline for a word of `rank`'s MPB that `check` accepts, and returns it.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::BeyondLines`], [`Error::TimedOut`].
    pub fn wait_for_word_of(
        &self,
        rank: usize,
        word: usize,
        reason: Reason,
        deadline: Deadline,
        check: impl Fn(u32) -> bool,
    ) -> Result<u32, Error> {
        let (at, within) = self.place(rank, word.saturating_mul(WORD), WORD)?;
        let found = self.comm.wait_until(&[Place::Line(at)], deadline, reason, |poll| {
            Some(poll.line_word(0, within / WORD)).filter(|value| check(*value))
        });
        found.map_err(|TimedOut { reason }| Error::TimedOut { reason })
    }
}

impl<C: Messenger> Drop for ProgramLines<'_, '_, C> {
    fn drop(&mut self) {
        let comm = self.comm;
        if !comm.hal().is_dying() {
            // Others may still access them.
            comm.barrier();
        }
        if self.profile.is_some() {
            if let Some(layout) = comm.mpb_layout().with_program_lines(0) {
                comm.buffers().set_layout(layout);
            }
            // The profile ends next.
            return;
        }
        comm.give_back_lines(self.first, self.count);
    }
}
