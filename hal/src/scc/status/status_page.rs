//! How far each core is, in a page of core 0's private memory that all reach uncached.
//!
//! Each core has a line of the page, which it alone writes. The last line has two words that any may write: the alarm,
//! which ends the machine, and who reports that all wait.
//!
//! Who waits here looks seldom: all looks go to one memory controller, behind which core 0 has all else of its own,
//! while it may be copying itself to those that are waited for.

use core::{
    ptr::NonNull,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use descriptions::{
    MOST_CONTROLLERS,
    boards::map::{LINE_BYTES, MOST_CORES, STATUS},
};
use volatile::VolatilePtr;

use crate::{
    CoreId, Home, LineAddress, MPB_LINES, MpbLine, Reason, SharedAddress,
    bare::{cpu, this_core::this_core},
    scc::{
        handed::{core_count, handed},
        memory::{image, lookup_table},
        registers::tile::slot_address,
        status::backoff::pause,
    },
};

/// The most cores that the page has lines for; the line behind theirs is the alarm's.
pub(crate) const MAX_CORES: usize = MOST_CORES as usize;

/// How far a core is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum State {
    /// The core has not been heard of.
    Absent = 0,
    /// The core is ready.
    Arrived = 1,
    /// The core's program has ended.
    Finished = 2,
    /// The core's program has failed.
    Failed = 3,
    /// The core has ended the machine.
    Died = 4,
    /// The core's program has ended, and the core has said its last words.
    FinishedAndSaid = 5,
    /// The core's program has failed, and the core has said its last words.
    FailedAndSaid = 6,
}

impl State {
    fn from_word(word: u32) -> Self {
        match word {
            0 => Self::Absent,
            1 => Self::Arrived,
            2 => Self::Finished,
            3 => Self::Failed,
            5 => Self::FinishedAndSaid,
            6 => Self::FailedAndSaid,
            _ => Self::Died,
        }
    }

    /// Whether the core's program has not ended well.
    pub fn has_failed(self) -> bool {
        matches!(self, Self::Failed | Self::Died | Self::FailedAndSaid)
    }
}

static IS_REACHED: AtomicBool = AtomicBool::new(false);

/// The line that a core has stored to and not drained, in words of its line: of what kind and whose it is, and where.
const UNDRAINED: [usize; 2] = [5, 6];

/// Kinds of lines there.
const OF_MPB: u32 = 1 << 16;
const OF_CONTROLLER: u32 = 2 << 16;
const OF_CORE: u32 = 3 << 16;

/// What a core waits for, in words of its line behind its state: a core that has to act, the text's address and length,
/// and the number, each from 1 on where there is one. Texts are in the image, which is the same on all cores.
const WAIT: [usize; 4] = [1, 2, 3, 4];

fn word(line: usize) -> VolatilePtr<'static, u32> {
    word_of(line, 0)
}

fn word_of(line: usize, index: usize) -> VolatilePtr<'static, u32> {
    let slot = slot_address(handed().setting.private_slots);
    let address = slot + STATUS as usize + line * LINE_BYTES as usize + 4 * index;
    let word = core::ptr::with_exposed_provenance_mut::<u32>(address);
    // SAFETY: the page is mapped uncached, of no use for anything else, and its lines are words; others write them as
    // devices do, so every access is volatile. A slot above the private ones does not begin at address 0.
    unsafe { VolatilePtr::new(NonNull::new_unchecked(word)) }
}

/// Points this core's first foreign slot at core 0's memory, as core 0's own lookup table has it.
///
/// Nothing of the slot is in a cache: it is seen uncached only.
pub(crate) fn reach() {
    // SAFETY: 1. it is done once, before the slot is used; 2. see above; 3. only the page of status words is mapped.
    unsafe { lookup_table::point(handed().setting.private_slots, 0, 0) };
    IS_REACHED.store(true, Relaxed);
}

/// Whether the page can be reached.
pub(crate) fn is_reached() -> bool {
    IS_REACHED.load(Relaxed)
}

/// Says how far this core is.
pub fn set(state: State) {
    if is_reached() {
        word(this_core()).write(state as u32);
    }
}

/// How far a core is.
///
/// # Panics
/// If the page cannot be reached yet, or has no line for the core.
pub fn of(core: CoreId) -> State {
    assert!(is_reached() && core.index() < MAX_CORES, "the state of {core} cannot be known");
    State::from_word(word(core.index()).read())
}

/// Says what this core waits for, or that it waits no longer.
pub(crate) fn set_wait(reason: Option<Reason>) {
    let words = reason.map_or([0; 4], |reason| {
        let number = |number: u32| number.wrapping_add(1);
        let peer = reason.peer.map_or(0, |peer| number(peer.index() as u32));
        [peer, reason.what.as_ptr().addr() as u32, reason.what.len() as u32, reason.detail.map_or(0, number)]
    });
    for (index, value) in WAIT.into_iter().zip(words) {
        word_of(this_core(), index).write(value);
    }
}

/// Says which line this core has stored to and not drained.
pub(crate) fn set_undrained(line: Option<LineAddress>) {
    let words = line.map_or([0; 2], |line| match line {
        LineAddress::Mpb(line) => [OF_MPB | line.core.index() as u32, line.line.into()],
        LineAddress::Shared(address) => match address.home() {
            Home::Controller(controller) => [OF_CONTROLLER | u32::from(controller), address.offset() as u32],
            Home::Core(core) => [OF_CORE | core.index() as u32, address.offset() as u32],
        },
    });
    for (index, value) in UNDRAINED.into_iter().zip(words) {
        word_of(this_core(), index).write(value);
    }
}

/// The line that a core has stored to and not drained, if it has said so.
pub(crate) fn undrained_of(core: usize) -> Option<LineAddress> {
    let [home, place] = UNDRAINED.map(|index| word_of(core, index).read() as usize);
    let owner = home & 0xFFFF;
    match (home & !0xFFFF) as u32 {
        OF_MPB if place < MPB_LINES => Some(LineAddress::Mpb(MpbLine::new(CoreId::new(owner), place))),
        OF_CONTROLLER if owner < MOST_CONTROLLERS => Some(LineAddress::Shared(SharedAddress::new(owner, place))),
        OF_CORE => Some(LineAddress::Shared(SharedAddress::exposed(CoreId::new(owner), place))),
        _ => None,
    }
}

/// What a core waits for, if it has said so.
pub(crate) fn wait_of(core: usize) -> Option<Reason> {
    let [peer, start, len, detail] = WAIT.map(|index| word_of(core, index).read());
    let (start, len) = (start as usize, len as usize);
    let texts = image::rodata_start()..image::rodata_end();
    if !texts.contains(&start) || len > texts.end - start {
        return None;
    }
    // SAFETY: the range lies in the image's constants, which are mapped and never written to.
    let what = unsafe { core::slice::from_raw_parts(core::ptr::with_exposed_provenance(start), len) };
    let what = core::str::from_utf8(what).ok()?;
    let peer = peer.checked_sub(1).map(|peer| CoreId::new(peer as usize));
    Some(Reason { what, peer, detail: detail.checked_sub(1) })
}

/// Cores that have said which line they have not drained.
pub(crate) fn undrained() -> impl Iterator<Item = (CoreId, LineAddress)> {
    (0..core_count()).filter_map(|core| Some((CoreId::new(core), undrained_of(core)?)))
}

/// Who reports that all wait, in words of the alarm's line; from 1 on.
const REPORTER: usize = 1;

/// Rounds of a pause that is much longer than it takes a core to store what it has found free.
const SETTLED: u32 = 100_000;

/// Whether this core is the one that reports for all that they wait. Several cores lose their patience at about the same time,
/// and their lines would mix. A word that is not written atomically is enough for that (Fischer's algorithm): who finds it
/// free stores itself, and has it if that is still so when all others who found it free have stored, too.
pub(crate) fn is_reporter() -> bool {
    if !is_reached() {
        return true;
    }
    let (reporter, this) = (word_of(MAX_CORES, REPORTER), this_core() as u32 + 1);
    {
        let _interrupts = cpu::InterruptsOff::new();
        if reporter.read() != 0 {
            return false;
        }
        reporter.write(this);
    }
    pause(SETTLED);
    reporter.read() == this
}

pub(crate) fn raise_alarm() {
    if is_reached() {
        word(MAX_CORES).write(this_core() as u32 + 1);
    }
}

pub(crate) fn has_alarm() -> bool {
    is_reached() && word(MAX_CORES).read() != 0
}
