//! Whether a machine keeps what `hal` promises: for whoever makes one, with messages that say what it got wrong.
//!
//! Every core of the machine calls [`check`] at the same time. It asks for each kind of memory whether it does what its
//! trait says after the coherence operations that its trait names, and never whether stale data is seen without them: a
//! machine may be better than it has to be. What a core waits for has to come within [`PATIENCE_S`] seconds by a clock that
//! is checked before, so that a check ends on a machine that loses stores, too. One that does not end has lost what ends a wait
//! without a deadline, or the clock stands still later, or wraps.
//!
//! ```
//! use hal::{Cached, Regions, Topology, conformance::{self, Room}, sim::Machine};
//!
//! let outcome = Machine::scc(5).run(|core| {
//!     let mut caches = core.take_caches().unwrap();
//!     // SAFETY: nothing else uses this machine.
//!     let regions = unsafe { Regions::new(core.layout().controllers()) };
//!     let room = Room::of_all(&regions, core.layout().cores());
//!     conformance::check(core, &mut caches, &regions, &room)
//! });
//! assert!(outcome.unwrap().cores.iter().all(|core| core.result == Ok(())));
//! ```

mod cached;
mod forbidden;
mod lines;
mod order;
mod registers;
mod time;
mod uncached;

use alloc::{format, string::String};
use core::{cell::Cell, fmt};

use crate::{
    Caches, Core, CoreId, Deadline, MpbLine, Place, Poll, Reason, Region, Regions, SharedAddress, TimedOut, kind,
};

pub use forbidden::{Attempt, FORBIDDEN, forbidden_access};

/// Seconds by the core's clock after which what has not come is not going to.
pub const PATIENCE_S: u64 = 20;

/// Seconds that what one core awaits from another may take: less than others wait for it to come to the next meeting.
const ARRIVES_S: u64 = PATIENCE_S / 2;

/// Bytes of shared memory that each core has for checks.
const PAGE_BYTES: usize = 4096;

/// The word of its page in which a core says whether it has found nothing so far.
const FOUND_NOTHING: usize = 620;

/// Lines of each MPB that checks use.
pub const LINES: usize = 9;

/// What checks may write to, on every core the same.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    memory: Region<kind::Uncached>,
    first_line: usize,
}

impl Room {
    /// Bytes of shared memory that checks need on `cores` cores.
    pub const fn bytes(cores: usize) -> usize {
        (cores + 1) * PAGE_BYTES
    }

    /// The place of all checks: as many zero bytes as [`bytes`](Self::bytes) says, and [`LINES`] lines of each MPB from `first_line` on.
    ///
    /// # Panics
    /// If `first_line` is line 0, the target of drains.
    pub const fn new(memory: Region<kind::Uncached>, first_line: usize) -> Self {
        assert!(first_line > 0, "line 0 of an MPB is the target of drains");
        Self { memory, first_line }
    }

    /// The first memory of the first controller, and the first lines of each MPB, on a machine that does nothing else and
    /// whose memory is clear.
    pub const fn of_all(regions: &Regions, cores: usize) -> Self {
        Self::new(regions.region(SharedAddress::new(0, 0), Self::bytes(cores)), 1)
    }
}

/// What a machine got wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect(String);

impl fmt::Display for Defect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl core::error::Error for Defect {}

/// Checks the machine of a core. Collective: every core calls it, and nothing else uses the room meanwhile.
///
/// # Errors
/// The first thing that is wrong, as far as this core can see; others may see something else, or nothing.
///
/// # Panics
/// If the room is too small.
pub fn check<C: Core>(core: &C, caches: &mut Caches, regions: &Regions, room: &Room) -> Result<(), Defect> {
    let needed_bytes = Room::bytes(core.layout().cores());
    assert!(room.memory.len_bytes() >= needed_bytes, "checks on so many cores need {needed_bytes} bytes");
    let stage = Stage { core, regions, room, meetings: Cell::new(0), under_way: Cell::new(""), found: Cell::new(None) };
    stage.begin("the clock");
    time::check(&stage)?;
    stage.begin("uncached words");
    uncached::check(&stage)?;
    stage.begin("what cores agree on");
    time::agreement(&stage)?;
    stage.begin("lines");
    if !lines::check(&stage)? {
        return stage.end();
    }
    stage.begin("the order of stores");
    if !order::check(&stage)? {
        return stage.end();
    }
    stage.begin("cached memory");
    cached::check(&stage, caches)?;
    stage.begin("registers");
    registers::check(&stage)?;
    stage.end()
}

/// What all checks use.
struct Stage<'c, C> {
    core: &'c C,
    regions: &'c Regions,
    room: &'c Room,
    /// How often the cores have met.
    meetings: Cell<u32>,
    /// What is checked.
    under_way: Cell<&'static str>,
    /// What was wrong first.
    found: Cell<Option<Defect>>,
}

impl<C: Core> Stage<'_, C> {
    fn me(&self) -> usize {
        self.core.core().index()
    }

    fn cores(&self) -> usize {
        self.core.layout().cores()
    }

    fn begin(&self, what: &'static str) {
        self.under_way.set(what);
    }

    /// The next core, around the machine.
    fn right(&self) -> CoreId {
        CoreId::new((self.me() + 1) % self.cores())
    }

    /// The core before this one.
    fn left(&self) -> CoreId {
        CoreId::new((self.me() + self.cores() - 1) % self.cores())
    }

    /// The shared memory that a core has for checks.
    fn page<K: kind::Kind>(&self, of: CoreId) -> Region<K> {
        self.nth_page(1 + of.index())
    }

    fn nth_page<K: kind::Kind>(&self, page: usize) -> Region<K> {
        self.room.memory.mapped().lines_around(page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
    }

    /// One of the lines that checks have of a core's MPB.
    fn line(&self, of: CoreId, index: usize) -> MpbLine {
        MpbLine::new(of, self.room.first_line + index)
    }

    /// Notes what is wrong unless `holds`. The check goes on, so that other cores do not wait for this one.
    fn expect(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            let first = self.found.take().unwrap_or_else(|| Defect(format!("core {}: {}", self.me(), what())));
            self.found.set(Some(first));
        }
    }

    /// Notes what is wrong unless these bytes are equal: `what` is told the first one that differs, counted from `first` on.
    fn expect_bytes(&self, found: &[u8], expected: &[u8], first: usize, what: impl FnOnce(String) -> String) {
        let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
        if let Some(at) = differs {
            let which = format!("byte {} is {} and not {}", first + at, found[at], expected[at]);
            self.expect(false, || what(which));
        }
    }

    /// What was wrong first, if anything was.
    fn end(&self) -> Result<(), Defect> {
        self.found.take().map_or(Ok(()), Err)
    }

    /// Whether nothing was wrong so far.
    fn found_nothing(&self) -> bool {
        let found = self.found.take();
        let nothing = found.is_none();
        self.found.set(found);
        nothing
    }

    /// Whether no core has found anything so far. Collective.
    fn nobody_found_anything(&self) -> Result<bool, Defect> {
        let page = |of| self.page::<kind::Uncached>(of);
        self.core.store_word(page(self.core.core()), FOUND_NOTHING, self.found_nothing().into());
        self.meet()?;
        let found_nothing = |core| self.core.load_word(page(CoreId::new(core)), FOUND_NOTHING) == 1;
        Ok((0..self.cores()).all(found_nothing))
    }

    /// Waits for what another core does, as long as that may take.
    fn await_from<R>(
        &self,
        from: CoreId,
        what: &'static str,
        place: Place,
        check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        let late = Deadline::At(self.after(ARRIVES_S));
        self.core.wait_until(&[place], late, Reason::new(what).from(from), check)
    }

    /// The time in `seconds` seconds.
    fn after(&self, seconds: u64) -> u64 {
        self.core.now() + seconds * self.core.ticks_per_second()
    }

    /// Returns when all cores have come here, which they say by uncached words.
    ///
    /// # Errors
    /// What was wrong before, or a core that does not come.
    fn meet(&self) -> Result<(), Defect> {
        let meeting = self.meetings.get() + 1;
        self.meetings.set(meeting);
        let words = self.nth_page(0);
        self.core.store_word(words, self.me(), meeting);
        for other in 0..self.cores() {
            let reason = Reason::new("a core that comes to a check").from(CoreId::new(other));
            let has_come = self.core.wait_until(
                &[Place::Word(words, other)],
                Deadline::At(self.after(PATIENCE_S)),
                reason,
                |poll| (poll.word(0) >= meeting).then_some(()),
            );
            self.expect(has_come.is_ok(), || {
                format!(
                    "core {other} has not come to meeting {meeting}, in the check of {}, within {PATIENCE_S} s: its store \
                     of an uncached word is not seen, or a wait does not look again, or two cores have its number, or it \
                     waits for a register that somebody took and nobody freed",
                    self.under_way.get()
                )
            });
            if has_come.is_err() {
                return self.end();
            }
        }
        Ok(())
    }
}
