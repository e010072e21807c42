//! Seeing that a machine is stuck: all cores wait, and nothing was written since they last looked.
//!
//! Not a matter of time, since the host may be busy: every write to memory that cores share counts up a number. A
//! core whose poll found nothing notes the number it had before the poll. When every core has finished or noted the
//! present number, no poll can ever find anything, and the machine ends with a report of who waits for whom.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use crate::{CoreId, LineAddress, Reason, emulated::WaitInfo};

use super::{boot, console, cpu, exit, lock::EmulatorLock};

/// Cores that the report has room for.
const CORES: usize = 256;

/// Writes to memory that cores share.
#[unsafe(link_section = ".emulator")]
static WRITES: AtomicU32 = AtomicU32::new(1);

/// For each core: the number of writes before its last fruitless poll, or [`RUNS`] or [`FINISHED`].
#[unsafe(link_section = ".emulator")]
static STATES: [AtomicU32; CORES] = [const { AtomicU32::new(RUNS) }; CORES];

/// Cores that do not run: an upper bound that saves looking at all states after every poll.
#[unsafe(link_section = ".emulator")]
static IDLE: AtomicU32 = AtomicU32::new(0);

#[unsafe(link_section = ".emulator")]
static WAITS: [EmulatorLock<Option<WaitInfo>>; CORES] = [const { EmulatorLock::new(None) }; CORES];

/// Whether a core has taken it upon itself to end the machine.
#[unsafe(link_section = ".emulator")]
static ENDED: AtomicBool = AtomicBool::new(false);

const RUNS: u32 = 0;
const FINISHED: u32 = u32::MAX;

/// Counts a write.
pub(super) fn note_write() {
    // The numbers that stand for states are passed over.
    while [RUNS, FINISHED].contains(&WRITES.fetch_add(1, SeqCst).wrapping_add(1)) {}
}

/// Writes so far.
pub(super) fn writes() -> u32 {
    WRITES.load(SeqCst)
}

/// Notes that a poll of `core`, begun after `writes_before` writes, found nothing. Ends a machine that is stuck.
pub(super) fn wait_fruitlessly(core: CoreId, writes_before: u32, info: &WaitInfo) {
    *WAITS[core.index()].lock() = Some(*info);
    if STATES[core.index()].swap(writes_before, SeqCst) == RUNS {
        IDLE.fetch_add(1, SeqCst);
    }
    if IDLE.load(SeqCst) as usize == boot::core_count() && is_stuck() {
        report();
    }
}

/// Notes that `core` waits no longer.
pub(super) fn stop_waiting(core: CoreId) {
    if STATES[core.index()].swap(RUNS, SeqCst) != RUNS {
        IDLE.fetch_sub(1, SeqCst);
    }
}

/// What `core` waits for, if its last poll found nothing and nobody is writing that down just now.
pub(super) fn waits_for(core: usize) -> Option<WaitInfo> {
    let waits = ![RUNS, FINISHED].contains(&STATES[core].load(SeqCst));
    if waits { *WAITS[core].try_lock()? } else { None }
}

/// Notes that `core` has finished its program, with a line in its write-combine buffer or without. Returns true to
/// the last one.
pub(super) fn finish(core: CoreId, undrained: Option<LineAddress>) -> bool {
    *WAITS[core.index()].lock() = Some(WaitInfo { reason: Reason::new("nothing"), undrained });
    STATES[core.index()].store(FINISHED, SeqCst);
    IDLE.fetch_add(1, SeqCst);
    STATES[..boot::core_count()].iter().all(|state| state.load(SeqCst) == FINISHED) && claim_end()
}

/// Whether this core is the one that ends the machine: several may see the same end at a time.
fn claim_end() -> bool {
    !ENDED.swap(true, SeqCst)
}

fn is_stuck() -> bool {
    let now = writes();
    let all_wait = STATES[..boot::core_count()].iter().all(|state| [now, FINISHED].contains(&state.load(SeqCst)));
    all_wait && writes() == now
}

fn report() -> ! {
    if !claim_end() {
        cpu::park();
    }
    console::write_urgent(format_args!("deadlock: every core waits, and nothing was written since\n"));
    for (core, state) in STATES[..boot::core_count()].iter().enumerate() {
        let Some(info) = *WAITS[core].lock() else { continue };
        if state.load(SeqCst) == FINISHED {
            console::write_urgent(format_args!("  core {core} has finished\n"));
        } else {
            console::write_urgent(format_args!("  core {core} waits for {}\n", info.reason));
        }
        if let Some(line) = info.undrained {
            console::write_urgent(format_args!(
                "  core {core} has not drained its write-combine buffer: nobody has seen what it stored to {line}\n"
            ));
        }
    }
    console::write_urgent(format_args!("@done failed deadlock\n"));
    exit::exit(false)
}
