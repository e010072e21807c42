//! Seeing that a machine is stuck: all cores wait, and nothing was written since they last looked.
//!
//! Not a matter of time, since the host may be busy: every write to memory that cores share counts up a number. A
//! core whose poll found nothing notes the number it had before the poll. When every core has finished or noted the
//! present number, no poll can ever find anything, and the machine ends with a report of who waits for whom.
//!
//! On a cluster the number is the sum of what the nodes count, each for itself, and the notes of all cores are on the
//! [notice board](notices). A sum that is the same twice means that no node has counted in between, and a core that
//! waits no longer has said so before it writes anything; so the rule is the same. Every node finds out by itself and
//! reports its own cores.

use core::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
};

use crate::{
    CoreId, LineAddress, Reason,
    bare::{cpu, this_core::this_core},
    emulated::WaitInfo,
    kit::deadlock::Deadlock,
    qemu::{
        cluster::{nodes, notices},
        console,
        emulator::test_and_set,
        exit::{ending::is_ending, machine::exit},
        handed::facts,
        lock::EmulatorLock,
    },
};

/// Cores that the report has room for.
const CORES: usize = 256;

/// Writes to memory that cores share, where the machine is no cluster.
#[unsafe(link_section = ".emulator")]
static WRITES: AtomicU32 = AtomicU32::new(0);

/// For each core: the number of writes before its last fruitless poll, or [`RUNS`] or [`FINISHED`]. Where the machine
/// is no cluster.
#[unsafe(link_section = ".emulator")]
static STATES: [AtomicU32; CORES] = [const { AtomicU32::new(RUNS) }; CORES];

/// Cores of this node that do not run: an upper bound that saves looking at all states after every poll.
#[unsafe(link_section = ".emulator")]
static IDLE: AtomicU32 = AtomicU32::new(0);

#[unsafe(link_section = ".emulator")]
static WAITS: [EmulatorLock<Option<WaitInfo>>; CORES] = [const { EmulatorLock::new(None) }; CORES];

/// For each core: the register that it waits for, as a number from 1 on, or 0.
#[unsafe(link_section = ".emulator")]
static REGISTERS: [AtomicU32; CORES] = [const { AtomicU32::new(0) }; CORES];

/// Waits of cores of this node that have begun, and when each core's has.
#[unsafe(link_section = ".emulator")]
static BEGUN: AtomicU32 = AtomicU32::new(0);
#[unsafe(link_section = ".emulator")]
static SINCE: [AtomicU32; CORES] = [const { AtomicU32::new(0) }; CORES];

/// Whether a core has taken it upon itself to end the machine.
#[unsafe(link_section = ".emulator")]
static ENDED: AtomicBool = AtomicBool::new(false);

const RUNS: u32 = 0;
const FINISHED: u32 = u32::MAX;

/// Counts a write.
pub(crate) fn note_write() {
    notices::own().map_or(&WRITES, |own| &own.writes).fetch_add(1, SeqCst);
}

/// Writes so far, as a number that is neither [`RUNS`] nor [`FINISHED`].
pub(crate) fn writes() -> u32 {
    let count = match notices::nodes() {
        Some(nodes) => nodes.iter().fold(0u32, |sum, node| sum.wrapping_add(node.writes.load(SeqCst))),
        None => WRITES.load(SeqCst),
    };
    count % (FINISHED - 1) + 1
}

/// The states of all cores of the machine.
fn states() -> &'static [AtomicU32] {
    notices::states().unwrap_or_else(|| &STATES[..facts::core_count()])
}

/// The states of this node's cores.
fn own_states() -> &'static [AtomicU32] {
    &states()[nodes::global(0).index()..][..facts::core_count()]
}

/// Notes that a poll of this core, begun after `writes_before` writes, found nothing, or a register taken. Ends a
/// machine that is stuck.
pub(crate) fn wait_fruitlessly(writes_before: u32, info: &WaitInfo, register: Option<CoreId>) {
    *WAITS[this_core()].lock() = Some(*info);
    REGISTERS[this_core()].store(register.map_or(0, |register| register.index() as u32 + 1), SeqCst);
    if own_states()[this_core()].swap(writes_before, SeqCst) == RUNS {
        SINCE[this_core()].store(BEGUN.fetch_add(1, SeqCst), SeqCst);
        IDLE.fetch_add(1, SeqCst);
    }
    if IDLE.load(SeqCst) as usize == facts::core_count() && is_stuck() {
        report();
    }
}

/// Notes that this core waits no longer.
pub(crate) fn stop_waiting() {
    if own_states()[this_core()].swap(RUNS, SeqCst) != RUNS {
        IDLE.fetch_sub(1, SeqCst);
    }
}

/// What core `core` of this node waits for, if its last poll found nothing and nobody is writing that down just now.
pub(crate) fn waits_for(core: usize) -> Option<WaitInfo> {
    let waits = ![RUNS, FINISHED].contains(&own_states()[core].load(SeqCst));
    if waits { *WAITS[core].try_lock()? } else { None }
}

/// Notes that this core has finished its program, with a line in its write-combine buffer or without. Returns true to
/// the last one of the node.
pub(crate) fn finish(undrained: Option<LineAddress>) -> bool {
    *WAITS[this_core()].lock() = Some(WaitInfo { reason: Reason::new("nothing"), undrained });
    own_states()[this_core()].store(FINISHED, SeqCst);
    IDLE.fetch_add(1, SeqCst);
    own_states().iter().all(|state| state.load(SeqCst) == FINISHED) && claim_end()
}

/// Returns when all cores of this node have finished their programs; not at all if the machine ends before.
pub(crate) fn await_finish_of_all() {
    while own_states().iter().any(|state| state.load(SeqCst) != FINISHED) {
        if is_ending() {
            cpu::park();
        }
        cpu::pause();
    }
}

/// Whether this core is the one that ends the machine: several may see the same end at a time.
fn claim_end() -> bool {
    !ENDED.swap(true, SeqCst)
}

fn is_stuck() -> bool {
    let now = writes();
    let all_wait = states().iter().all(|state| [now, FINISHED].contains(&state.load(SeqCst)));
    all_wait && writes() == now
}

fn report() -> ! {
    if !claim_end() {
        cpu::park();
    }
    console::write_urgent(format_args!("deadlock: every core waits, and nothing was written since\n"));
    for (local, state) in own_states().iter().enumerate() {
        let Some(info) = *WAITS[local].lock() else { continue };
        let core = nodes::global(local).index();
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
    let line = Deadlock {
        cores: states().len(),
        awaits: &awaited_by,
        since: &|core| {
            local(core).filter(|local| waits_for(*local).is_some()).map(|local| SINCE[local].load(SeqCst).into())
        },
        reason: &|core, out| local(core).and_then(waits_for).map_or(Ok(()), |info| write!(out, "{}", info.reason)),
        undrained: &|core| (*WAITS[local(core)?].lock())?.undrained,
    };
    console::write_urgent(format_args!(
        "@done failed deadlock: every core waits, and nothing was written since{line}\n"
    ));
    exit(false)
}

/// The number within this node of core `core` of the whole machine, if it is one of this node.
fn local(core: usize) -> Option<usize> {
    core.checked_sub(nodes::global(0).index()).filter(|local| *local < facts::core_count())
}

/// The core that has to act for core `core` of the whole machine to go on, if that is one of this node: who holds the
/// register that it waits for, or who was named.
fn awaited_by(core: usize) -> Option<usize> {
    let local = local(core)?;
    let info = waits_for(local)?;
    match REGISTERS[local].load(SeqCst).checked_sub(1) {
        Some(register) => test_and_set::holder(CoreId::new(register as usize)),
        None => info.reason.peer,
    }
    .map(CoreId::index)
}

/// Prints what the cores of this node wait for.
pub(crate) fn tell_who_waits() {
    for core in 0..facts::core_count() {
        if let Some(info) = waits_for(core) {
            let core = nodes::global(core).index();
            console::write_urgent(format_args!("  core {core} waits for {}\n", info.reason));
        }
    }
}

/// Says of a core of this node what it waits for, of one that waits for a core of node `on` if there is one. Nothing if
/// no core waits.
pub(crate) struct Waiting {
    pub(crate) on: usize,
}

impl fmt::Display for Waiting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waits = || (0..facts::core_count()).filter_map(|core| Some((core, waits_for(core)?.reason)));
        let is_wanted = |peer| nodes::node_of(peer) == self.on;
        match waits().find(|(_, reason)| reason.peer.is_some_and(is_wanted)).or_else(|| waits().next()) {
            Some((core, reason)) => write!(out, "; {} waits for {reason}", nodes::global(core)),
            None => Ok(()),
        }
    }
}
