//! How far each core is, in a page of core 0's private memory that all reach uncached.
//!
//! Each core has a line of the page, which it alone writes. The last line has one word that any may write: the alarm,
//! which ends the machine.
//!
//! Who waits here looks seldom: all looks go to one memory controller, behind which core 0 has all else of its own,
//! while it may be copying itself to those that are waited for.

use core::{
    ptr::NonNull,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use boards::map::{LINE_BYTES, MOST_CORES, STATUS};
use volatile::VolatilePtr;

use crate::{CoreId, bare::cpu};

use super::{backoff::Backoff, boot, exit, lut, registers::slot_address, this_core};

/// The most cores that the page has lines for; the line behind theirs is the alarm's.
pub(super) const MAX_CORES: usize = MOST_CORES as usize;

/// How far a core is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum State {
    /// It has not been heard of.
    Absent = 0,
    /// It is ready.
    Arrived = 1,
    /// Its program has ended.
    Finished = 2,
    /// Its program has failed.
    Failed = 3,
    /// It has ended the machine.
    Died = 4,
    /// Its program has ended, and it has said its last words.
    FinishedAndSaid = 5,
    /// Its program has failed, and it has said its last words.
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

/// Whether the page can be reached.
static IS_REACHED: AtomicBool = AtomicBool::new(false);

fn word(line: usize) -> VolatilePtr<'static, u32> {
    let slot = slot_address(boot::handed().setting.private_slots);
    let address = slot + STATUS as usize + line * LINE_BYTES as usize;
    let word = core::ptr::with_exposed_provenance_mut::<u32>(address);
    // SAFETY: the page is mapped uncached, of no use for anything else, and its lines are words; others write them as
    // devices do, so every access is volatile. A slot above the private ones does not begin at address 0.
    unsafe { VolatilePtr::new(NonNull::new_unchecked(word)) }
}

/// Points this core's first foreign slot at core 0's memory, as core 0's own lookup table has it.
///
/// Nothing of the slot is in a cache: it is seen uncached only.
pub(super) fn reach() {
    // SAFETY: 1. it is done once, before the slot is used; 2. see above; 3. only the page of status words is mapped.
    unsafe { lut::point(boot::handed().setting.private_slots, 0, 0) };
    IS_REACHED.store(true, Relaxed);
}

/// Says how far this core is.
pub fn set(state: State) {
    if IS_REACHED.load(Relaxed) {
        word(this_core()).write(state as u32);
    }
}

/// How far a core is.
pub fn of(core: CoreId) -> State {
    State::from_word(word(core.index()).read())
}

pub(super) fn raise_alarm() {
    if IS_REACHED.load(Relaxed) {
        word(MAX_CORES).write(this_core() as u32 + 1);
    }
}

pub(super) fn has_alarm() -> bool {
    IS_REACHED.load(Relaxed) && word(MAX_CORES).read() != 0
}

/// Says that this core is ready, and waits for all others.
pub(super) fn gather() {
    set(State::Arrived);
    let begin = cpu::rdtsc();
    let limit = boot::stuck_cycles().filter(|_| this_core() == 0);
    let cores = (0..boot::core_count()).map(CoreId::new);
    let mut backoff = Backoff::new(this_core() as u32);
    for core in cores.clone() {
        while of(core) == State::Absent {
            exit::stop_if_ending();
            if limit.is_some_and(|limit| cpu::rdtsc() - begin > limit) {
                let missing = cores.clone().filter(|&core| of(core) == State::Absent).count();
                boot::fail(format_args!(
                    "{missing} of {} cores did not start, the first of them core {}",
                    boot::core_count(),
                    core.index()
                ));
            }
            backoff.wait();
        }
    }
}

/// Waits until all cores are as they should be; stops this core if the machine ends before.
pub(super) fn await_all(is_right: impl Fn(State) -> bool) {
    let mut backoff = Backoff::new(this_core() as u32);
    for core in 0..boot::core_count() {
        while !is_right(of(CoreId::new(core))) {
            exit::stop_if_ending();
            backoff.wait();
        }
    }
}
