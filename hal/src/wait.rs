//! Waiting: the one primitive by which a core spins.
//!
//! A spin loop that a program writes itself starves a machine that runs 48 cores on two, cannot be fast-forwarded by
//! a simulator, and when it never ends nobody can say why. So a wait names the places that it reads, whom it waits
//! for and what for; the backend polls, hands over between polls, and reports who waits for whom when nothing can
//! move any more.

use alloc::vec::Vec;
use core::{cell::Cell, fmt};

use crate::{
    Clock, CoreId, Trace,
    address::{Line, MpbLine, Region, kind},
    counters::COUNTS,
    mpb::MpbWords,
};

/// A place that a waiting core reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of an MPB.
    Line(MpbLine),
    /// A word of uncached memory: region and index.
    Word(Region<kind::Uncached>, usize),
    /// An [atomic counter](crate::AtomicCounters) of the board.
    Counter(usize),
}

/// What a wait looks at: any number of places; or a line, or words of one, which need not be in memory as a place unless the wait goes on.
pub trait Places: Copy {
    /// The places.
    fn list(self) -> impl AsRef<[Place]>;
}

impl Places for &[Place] {
    #[inline(always)]
    fn list(self) -> impl AsRef<[Place]> {
        self
    }
}

impl<const PLACES: usize> Places for &[Place; PLACES] {
    #[inline(always)]
    fn list(self) -> impl AsRef<[Place]> {
        self
    }
}

impl Places for &Vec<Place> {
    #[inline(always)]
    fn list(self) -> impl AsRef<[Place]> {
        self.as_slice()
    }
}

impl Places for MpbLine {
    #[inline(always)]
    fn list(self) -> impl AsRef<[Place]> {
        [Place::Line(self)]
    }
}

/// By reference: a wait whose first poll succeeds loads no more of this than where the line is.
impl<const WORDS: usize> Places for &MpbWords<WORDS> {
    #[inline(always)]
    fn list(self) -> impl AsRef<[Place]> {
        [Place::Line(self.line())]
    }
}

/// Why a core waits, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reason {
    /// What is awaited, as the end of the sentence "waits for …", for example `"the post of a window"`.
    pub what: &'static str,
    /// The core that has to act, where it is one in particular.
    pub peer: Option<CoreId>,
    /// A number that tells this wait from others of its kind (window, round, chunk), where there is one.
    pub detail: Option<u32>,
}

impl Reason {
    /// A wait for `what`, by nobody in particular.
    pub const fn new(what: &'static str) -> Self {
        Self { what, peer: None, detail: None }
    }

    /// This reason, naming the core that has to act.
    pub const fn from(self, peer: CoreId) -> Self {
        Self { peer: Some(peer), ..self }
    }

    /// This reason with the number of the window, round or chunk that is awaited.
    pub const fn number(self, detail: u32) -> Self {
        Self { detail: Some(detail), ..self }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.what)?;
        if let Some(detail) = self.detail {
            write!(out, " {detail}")?;
        }
        if let Some(peer) = self.peer {
            write!(out, " from {peer}")?;
        }
        Ok(())
    }
}

/// How long a wait may last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deadline {
    /// As long as any core of the machine can still move.
    Never,
    /// Until the clock shows this many ticks.
    At(u64),
}

/// A wait reached its deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimedOut {
    /// What the core waited for, with the peer that was missing last.
    pub reason: Reason,
}

impl fmt::Display for TimedOut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "timed out waiting for {}", self.reason)
    }
}

impl core::error::Error for TimedOut {}

/// What reads the places of a wait; implemented by backends, and called within their waits only: interrupts are kept away
/// there.
pub(crate) trait PollSource {
    /// A fresh copy of an MPB line.
    fn poll_line(&self, at: MpbLine) -> Line;
    /// What is read from now on is what others have written until then.
    fn poll_anew(&self);
    /// Words of a fresh copy of an MPB line, from word `first` on.
    fn poll_line_words(&self, at: MpbLine, first: usize, words: &mut [u32]);
    /// Words of a fresh copy of an MPB line, from word `first` on.
    ///
    /// # Safety
    /// A core of this machine has found as many there, at this address.
    unsafe fn poll_found_words(&self, at: MpbLine, first: usize, address: usize, words: &mut [u32]);
    /// The current value of an uncached word.
    fn poll_word(&self, region: Region<kind::Uncached>, index: usize) -> u32;
    /// The current value of an atomic counter.
    fn poll_counter(&self, counter: usize) -> u32;
}

/// One look at the places of a wait. Each access reads anew and costs a read, but no call overhead.
pub struct Poll<'p> {
    source: &'p dyn PollSource,
    places: &'p [Place],
    reads: Cell<PollReads>,
    missing: Cell<Option<CoreId>>,
}

/// How much one poll read.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PollReads {
    /// MPB lines.
    pub lines: u32,
    /// Uncached words.
    pub words: u32,
    /// Atomic counters.
    pub counters: u32,
}

impl<'p> Poll<'p> {
    /// A poll of `places`; for backends.
    pub(crate) fn new(source: &'p dyn PollSource, places: &'p [Place]) -> Self {
        Self { source, places, reads: Cell::default(), missing: Cell::new(None) }
    }

    /// The line at place `index`.
    ///
    /// # Panics
    /// If that place is not a line.
    #[inline]
    pub fn line(&self, index: usize) -> Line {
        let Place::Line(at) = self.places[index] else { panic!("place {index} of the wait is not a line") };
        self.count(|reads| reads.lines += 1);
        self.source.poll_line(at)
    }

    /// Lets a check look once more at some of the places, sooner than the next poll would: what it reads from now on is what others have
    /// written until then.
    #[inline]
    pub fn anew(&self) {
        self.source.poll_anew();
    }

    /// A word of the line at place `index`, of eight: where that is all that is asked for, no more is loaded.
    ///
    /// # Panics
    /// If that place is not a line, or has no such word.
    #[inline]
    pub fn line_word(&self, index: usize, word: usize) -> u32 {
        let [word] = self.line_words(index, word);
        word
    }

    /// Some words of the line at place `index`, from word `first` on: those of one copy of it, of which no more is loaded.
    ///
    /// # Panics
    /// If that place is not a line, or has no such words.
    #[inline]
    pub fn line_words<const WORDS: usize>(&self, index: usize, first: usize) -> [u32; WORDS] {
        let Place::Line(at) = self.places[index] else { panic!("place {index} of the wait is not a line") };
        self.count(|reads| reads.lines += 1);
        let mut words = [0; WORDS];
        self.source.poll_line_words(at, first, &mut words);
        words
    }

    /// Words that were found in a line, which is one of the places: those of one copy of it, of which no more is loaded.
    ///
    /// # Panics
    /// If the wait is not for that line, where the core counts.
    #[inline(always)]
    pub fn words<const WORDS: usize>(&self, at: MpbWords<WORDS>) -> [u32; WORDS] {
        assert!(!COUNTS || self.places.contains(&Place::Line(at.line())), "{} is no place of the wait", at.line());
        self.count(|reads| reads.lines += 1);
        let mut words = [0; WORDS];
        // SAFETY: they were found, as many, and by condition 3 of `Hardware` they are there for all cores that there are.
        unsafe { self.source.poll_found_words(at.line(), at.first(), at.address(), &mut words) };
        words
    }

    /// The word at place `index`.
    ///
    /// # Panics
    /// If that place is not a word.
    #[inline]
    pub fn word(&self, index: usize) -> u32 {
        let Place::Word(region, word) = self.places[index] else { panic!("place {index} of the wait is not a word") };
        self.count(|reads| reads.words += 1);
        self.source.poll_word(region, word)
    }

    /// The atomic counter at place `index`.
    ///
    /// # Panics
    /// If that place is not a counter.
    pub fn counter(&self, index: usize) -> u32 {
        let Place::Counter(counter) = self.places[index] else { panic!("place {index} of the wait is not a counter") };
        self.count(|reads| reads.counters += 1);
        self.source.poll_counter(counter)
    }

    #[inline]
    fn count(&self, read: impl FnOnce(&mut PollReads)) {
        if COUNTS {
            let mut reads = self.reads.get();
            read(&mut reads);
            self.reads.set(reads);
        }
    }

    /// Notes that `core` is the one still missing, for the report.
    pub fn missing(&self, core: CoreId) {
        self.missing.set(Some(core));
    }

    /// What was read so far, where the core [counts](COUNTS); for backends.
    pub fn reads(&self) -> PollReads {
        self.reads.get()
    }

    /// Who was noted as missing; for backends.
    pub fn noted_missing(&self) -> Option<CoreId> {
        self.missing.get()
    }
}

/// Waiting for other cores. Whoever can wait can be [traced](Trace), too, and has a [clock](Clock): whoever serves other cores while
/// it waits has to know whether the [deadline](Deadline) has passed meanwhile.
///
/// A wait that succeeded is also an acquire for MPB and combined memory: its last poll invalidated L1 before it read
/// the place, so what the peer had written and drained before it wrote the place is read fresh afterwards.
pub trait Wait: Trace + Clock {
    /// Polls `places` until `check` returns a value: invalidates MPB lines, looks, hands over, looks again.
    ///
    /// `check` must decide by the places, and by what this core's [interrupt handler](crate::Interrupt) changes, which
    /// runs between polls: nothing else wakes the core up. A wait for the handler alone names no places. A machine on
    /// which all cores wait and nothing was written since reports who waits for whom and ends; such a wait does not
    /// return.
    ///
    /// # Errors
    /// [`TimedOut`] if the deadline passes first, or at once if the machine is dying.
    fn wait_until<R>(
        &self,
        places: impl Places,
        deadline: Deadline,
        reason: Reason,
        check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut>;

    /// Whether the machine is coming to its end after a failure, so that no operation has an effect any more. Guards
    /// and epochs that would communicate when they are dropped ask first, and let it be.
    fn is_dying(&self) -> bool;

    /// Lets other cores run, where cores share a processor; for loops that look at something else than places.
    fn relax(&self);

    /// [`wait_until`](Self::wait_until) without a deadline.
    ///
    /// # Panics
    /// If the machine is dying: a destructor that has to wait asks [`is_dying`](Self::is_dying) first, or uses
    /// `wait_until`.
    fn wait<R>(&self, places: impl Places, reason: Reason, check: impl FnMut(&Poll<'_>) -> Option<R>) -> R {
        match self.wait_until(places, Deadline::Never, reason, check) {
            Ok(value) => value,
            Err(_) => panic!("a wait on a machine that is dying: {reason}"),
        }
    }
}
