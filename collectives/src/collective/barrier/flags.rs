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

use hal::{Core, CoreId, Deadline, LINE_BYTES, Mpb, MpbByte, MpbLine, MpbWords, Poll, Reason, Wait};

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

/// An action, by bytes and words of lines that were found when the barrier was made.
enum Step {
    /// Sets a flag, which others may follow.
    Set(MpbByte),
    /// Sets it, and drains: it is the last one before the rank waits, or at all.
    SetLast(MpbByte),
    /// Waits for one flag.
    AwaitOne(AwaitedOne),
    /// Waits for flags of a line.
    AwaitSome(Box<Awaited>),
}

/// A flag that a rank waits for: its word, and how far it is from the lowest byte of that, in bits. Of a line no more than the word is
/// looked at.
struct AwaitedOne {
    word: MpbWords<1>,
    shift: u8,
    /// The core that sets it.
    writer: CoreId,
}

/// Flags that a rank waits for. One that is not set has the number of the barrier before.
struct Awaited {
    line: MpbWords<WORDS>,
    /// Words, and which bytes of them are flags.
    flags: Box<[(usize, u32)]>,
    /// The core that sets each byte.
    writers: [CoreId; LINE_BYTES],
}

/// Words of a line.
const WORDS: usize = LINE_BYTES / IN_WORD;

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
    pub(crate) fn new(
        hal: &impl Mpb,
        schedule: &Schedule,
        core_of: impl Fn(usize) -> CoreId,
        lines: Range<usize>,
    ) -> Self {
        let actions = schedule.actions();
        let steps = actions.iter().enumerate().map(|(index, action)| match *action {
            Action::Set { position, slot } => {
                let at = MpbLine::new(core_of(position), lines.start + slot / LINE_BYTES);
                let flag = hal.find_byte(at, slot % LINE_BYTES);
                match actions.get(index + 1) {
                    Some(Action::Set { .. }) => Step::Set(flag),
                    Some(Action::Await { .. }) | None => Step::SetLast(flag),
                }
            }
            Action::Await { position, line, mask, writers } => {
                let writers = &schedule.writers()[writers..][..mask.count_ones() as usize];
                let writers = writers.iter().map(|writer| core_of(usize::from(*writer)));
                Step::awaiting(hal, MpbLine::new(core_of(position), lines.start + line), mask, writers)
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

    /// Goes on until the deadline. Says whether all have arrived.
    #[inline]
    fn advance<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        let (number, first) = (self.number.get(), self.next.get());
        for (index, step) in self.steps[first..].iter().enumerate() {
            if !step.carry_out(comm, number, deadline) {
                self.next.set(first + index);
                return false;
            }
        }
        self.next.set(self.steps.len());
        true
    }
}

impl Step {
    fn awaiting(hal: &impl Mpb, at: MpbLine, mask: u32, writers: impl Iterator<Item = CoreId>) -> Self {
        let mut of_bytes = [at.core; LINE_BYTES];
        let bytes = (0..LINE_BYTES).filter(|byte| mask >> byte & 1 == 1);
        bytes.zip(writers).for_each(|(byte, writer)| of_bytes[byte] = writer);
        if mask.is_power_of_two() {
            let byte = mask.trailing_zeros() as usize;
            let (word, shift) = (hal.find_words(at, byte / IN_WORD), (byte % IN_WORD * 8) as u8);
            return Self::AwaitOne(AwaitedOne { word, shift, writer: of_bytes[byte] });
        }
        let flags = words_of(mask).map(|(word, four)| (word, spread(four))).collect();
        Self::AwaitSome(Box::new(Awaited { line: hal.find_words(at, 0), flags, writers: of_bytes }))
    }

    /// Does it, in the barrier with this number. False at the deadline.
    #[inline(always)]
    fn carry_out<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, number: u8, deadline: Deadline) -> bool {
        let (before, reason) = (number.wrapping_sub(1), Reason::new("a barrier"));
        match self {
            Self::Set(flag) => comm.hal().store_byte(*flag, number),
            Self::SetLast(flag) => comm.hal().set(*flag, number),
            Self::AwaitOne(awaited) => {
                let is_set = move |poll: &Poll<'_>| {
                    let [found] = poll.words(awaited.word);
                    let is_set = (found >> awaited.shift) as u8 != before;
                    if !is_set {
                        poll.missing(awaited.writer);
                    }
                    is_set.then_some(())
                };
                return comm.wait_until(&awaited.word, deadline, reason, is_set).is_ok();
            }
            Self::AwaitSome(awaited) => {
                let awaited = &**awaited;
                let are_set = move |poll: &Poll<'_>| {
                    let late = first_late(&poll.words(awaited.line), &awaited.flags, before);
                    if let Some(byte) = late {
                        poll.missing(awaited.writers[byte]);
                    }
                    late.is_none().then_some(())
                };
                return comm.wait_until(&awaited.line, deadline, reason, are_set).is_ok();
            }
        }
        true
    }
}

impl<C: Core> Mechanism<C> for FlagBarrier {
    /// Sets flags, up to the first that is awaited.
    fn arrive(&self, comm: &Comm<'_, C>) {
        self.begin();
        let number = self.number.get();
        let first = self.steps.iter().position(|step| match step {
            Step::Set(flag) => {
                comm.hal().store_byte(*flag, number);
                false
            }
            Step::SetLast(flag) => {
                comm.hal().set(*flag, number);
                false
            }
            Step::AwaitOne(_) | Step::AwaitSome(_) => true,
        });
        self.next.set(first.unwrap_or(self.steps.len()));
    }

    fn go_on(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        // Most wait for ever, and nothing about a deadline is to be known where they do.
        match deadline {
            Deadline::Never => self.advance(comm, Deadline::Never),
            Deadline::At(_) => self.advance(comm, deadline),
        }
    }

    fn end(&self, comm: &Comm<'_, C>) {
        comm.give_back_lines(self.lines.start, self.lines.len());
    }
}
