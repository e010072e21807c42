//! Carrying out schedules: flags in MPB lines.
//!
//! A flag is set by storing the number of the barrier, a byte that counts on; so nothing is ever reset. A rank that
//! looks for a flag may find that its peer has come further: it may have entered the next barrier already, but not the
//! one after that, which it cannot enter before everybody has entered the next. One that has not come has the number of the
//! barrier before. So a byte suffices, and four are compared at a time.
//!
//! All that a rank stored before is visible to others when they find its flag: a store to another line pushes it out of
//! the write-combine buffer, and the flag itself is drained before the rank waits for anything.

use alloc::boxed::Box;
use core::{cell::Cell, ops::Range};

use hal::{Core, CoreId, Deadline, LINE_BYTES, Mpb, MpbLine, Poll, Reason, Wait};

use super::{
    mechanism::Mechanism,
    schedule::{Action, Schedule},
};
use crate::{
    Comm,
    mpb::bytes::{IN_WORD, Words, first_zero, repeated, spread, words_of},
};

/// A barrier that is a [`Schedule`], on lines of the MPBs of its members. All that can be known of its actions is worked out
/// when it is made.
pub(crate) struct FlagBarrier {
    steps: Box<[Step]>,
    lines: Range<usize>,
    number: Cell<u8>,
    /// The next step of the barrier that is under way.
    next: Cell<usize>,
}

/// An action, by cores and lines.
enum Step {
    /// Sets the flag in a byte of a line, which others may follow.
    Set { at: MpbLine, byte: usize },
    /// Sets it, and drains: it is the last one before the rank waits, or at all.
    SetLast { at: MpbLine, byte: usize },
    /// Waits for flags of a line.
    Await(Awaited),
}

/// Flags that a rank waits for. One that is not set has the number of the barrier before.
struct Awaited {
    at: MpbLine,
    flags: Flags,
}

/// Which bytes of a line are flags, and the cores that set them.
enum Flags {
    /// One: its word, and how far it is from the lowest byte of that, in bits. Of a line no more than the word is looked at.
    One { word: usize, shift: u32, writer: CoreId },
    /// Some: words, and which bytes of them are flags; the core that sets each byte.
    Some { words: Box<[(usize, u32)]>, writers: [CoreId; LINE_BYTES] },
}

impl Awaited {
    fn new(at: MpbLine, mask: u32, writers: impl Iterator<Item = CoreId>) -> Self {
        let mut of_bytes = [at.core; LINE_BYTES];
        let bytes = (0..LINE_BYTES).filter(|byte| mask >> byte & 1 == 1);
        bytes.zip(writers).for_each(|(byte, writer)| of_bytes[byte] = writer);
        let flags = if mask.is_power_of_two() {
            let byte = mask.trailing_zeros() as usize;
            Flags::One { word: byte / IN_WORD, shift: (byte % IN_WORD * 8) as u32, writer: of_bytes[byte] }
        } else {
            let words = words_of(mask).map(|(word, four)| (word, spread(four))).collect();
            Flags::Some { words, writers: of_bytes }
        };
        Self { at, flags }
    }

    /// Waits until all are set. False at the deadline.
    #[inline(always)]
    fn wait<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, before: u8, deadline: Deadline) -> bool {
        comm.wait_until(self.at, deadline, Reason::new("a barrier"), move |poll| self.are_set(poll, before)).is_ok()
    }

    /// Whether all are set, as a poll shows.
    #[inline(always)]
    fn are_set(&self, poll: &Poll<'_>, before: u8) -> Option<()> {
        match &self.flags {
            Flags::One { word, shift, writer } => {
                if (poll.line_word(0, *word) >> shift) as u8 != before {
                    return Some(());
                }
                poll.missing(*writer);
            }
            Flags::Some { words, writers } => match first_late(&poll.line_words(0, 0), words, before) {
                None => return Some(()),
                Some(byte) => poll.missing(writers[byte]),
            },
        }
        None
    }
}

/// The first byte of some words of a line that has the number of the barrier before.
#[inline]
fn first_late(line: &Words, words: &[(usize, u32)], before: u8) -> Option<usize> {
    words.iter().find_map(|&(word, flags)| {
        let byte = first_zero((line[word] ^ repeated(before)) | !flags)?;
        Some(word * IN_WORD + byte)
    })
}

impl FlagBarrier {
    /// A barrier of members on these cores, by position, whose flags are in these lines of each one's MPB, which are all zero.
    pub(crate) fn new(schedule: &Schedule, core_of: impl Fn(usize) -> CoreId, lines: Range<usize>) -> Self {
        let actions = schedule.actions();
        let steps = actions.iter().enumerate().map(|(index, action)| match *action {
            Action::Set { position, slot } => {
                let at = MpbLine::new(core_of(position), lines.start + slot / LINE_BYTES);
                let byte = slot % LINE_BYTES;
                match actions.get(index + 1) {
                    Some(Action::Set { .. }) => Step::Set { at, byte },
                    Some(Action::Await { .. }) | None => Step::SetLast { at, byte },
                }
            }
            Action::Await { position, line, mask, writers } => {
                let writers = &schedule.writers()[writers..][..mask.count_ones() as usize];
                let writers = writers.iter().map(|writer| core_of(usize::from(*writer)));
                Step::Await(Awaited::new(MpbLine::new(core_of(position), lines.start + line), mask, writers))
            }
        });
        Self { steps: steps.collect(), lines, number: Cell::new(0), next: Cell::new(0) }
    }

    /// Arrives and waits.
    pub(crate) fn run<C: Mpb + Wait>(&self, comm: &Comm<'_, C>) {
        self.begin();
        let number = self.number.get();
        for step in &self.steps {
            if !step.carry_out(comm, number, Deadline::Never) {
                return;
            }
        }
    }

    fn begin(&self) {
        self.number.set(self.number.get().wrapping_add(1));
        self.next.set(0);
    }

    /// Goes on until the deadline, or without one up to the first flag that is awaited. Says whether all have arrived.
    fn advance<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, deadline: Option<Deadline>) -> bool {
        let (number, first) = (self.number.get(), self.next.get());
        for (index, step) in self.steps[first..].iter().enumerate() {
            let is_done = match (step, deadline) {
                (Step::Await(_), None) => false,
                _ => step.carry_out(comm, number, deadline.unwrap_or(Deadline::Never)),
            };
            if !is_done {
                self.next.set(first + index);
                return false;
            }
        }
        self.next.set(self.steps.len());
        true
    }
}

impl Step {
    /// Does it, in the barrier with this number. False at the deadline.
    #[inline(always)]
    fn carry_out<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, number: u8, deadline: Deadline) -> bool {
        match self {
            Self::Set { at, byte } => comm.hal().store(*at, *byte, &[number]),
            Self::SetLast { at, byte } => comm.hal().set_flag(*at, *byte, number),
            Self::Await(awaited) => return awaited.wait(comm, number.wrapping_sub(1), deadline),
        }
        true
    }
}

impl<C: Core> Mechanism<C> for FlagBarrier {
    fn arrive(&self, comm: &Comm<'_, C>) {
        self.begin();
        self.advance(comm, None);
    }

    fn go_on(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        self.advance(comm, Some(deadline))
    }

    fn end(&self, comm: &Comm<'_, C>) {
        comm.give_back_lines(self.lines.start, self.lines.len());
    }
}
