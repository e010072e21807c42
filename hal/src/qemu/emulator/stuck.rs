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
        emulator::{
            note::{FINISHED, Note, RUNS},
            test_and_set,
        },
        exit::{ending::is_ending, machine::exit},
        handed::facts,
        lock::EmulatorLock,
        memory::image,
    },
};

/// Cores that the report has room for.
const CORES: usize = 256;

/// Writes to memory that cores share, where the machine is no cluster.
#[unsafe(link_section = ".emulator")]
static WRITES: AtomicU32 = AtomicU32::new(0);

/// The notes of all cores where the machine is no cluster.
#[unsafe(link_section = ".emulator")]
static NOTES: [Note; CORES] = [const { Note::none() }; CORES];

/// Cores of this node that do not run: an upper bound that saves looking at all states after every poll.
#[unsafe(link_section = ".emulator")]
static IDLE: AtomicU32 = AtomicU32::new(0);

#[unsafe(link_section = ".emulator")]
static WAITS: [EmulatorLock<Option<WaitInfo>>; CORES] = [const { EmulatorLock::new(None) }; CORES];

/// Waits that have begun, where the machine is no cluster.
#[unsafe(link_section = ".emulator")]
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// Whether a core has taken it upon itself to end the machine.
#[unsafe(link_section = ".emulator")]
static ENDED: AtomicBool = AtomicBool::new(false);

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

/// When a wait begins: later than all that have begun, as far as this node knows of them.
fn begin() -> u32 {
    let (Some(nodes), Some(own)) = (notices::nodes(), notices::own()) else { return BEGUN.fetch_add(1, SeqCst) };
    let now = nodes.iter().map(|node| node.begun.load(SeqCst)).fold(0, u32::max).wrapping_add(1);
    own.begun.fetch_max(now, SeqCst);
    now
}

/// The notes of all cores of the machine.
fn notes() -> &'static [Note] {
    notices::notes().unwrap_or_else(|| &NOTES[..facts::core_count()])
}

/// The notes of this node's cores.
fn own_notes() -> &'static [Note] {
    &notes()[nodes::global(0).index()..][..facts::core_count()]
}

/// Notes that a poll of this core, begun after `writes_before` writes, found nothing, or a register taken. Ends a
/// machine that is stuck.
pub(crate) fn wait_fruitlessly(writes_before: u32, info: &WaitInfo, register: Option<CoreId>) {
    let mut told = *info;
    told.reason.what = image::seen_by_all(told.reason.what);
    *WAITS[this_core()].lock() = Some(told);
    let awaits = register.map_or(info.reason.peer, test_and_set::holder);
    let note = &own_notes()[this_core()];
    note.awaits.store(awaits.map_or(0, |core| core.index() as u32 + 1), SeqCst);
    if note.state.load(SeqCst) == RUNS {
        note.since.store(begin(), SeqCst);
        IDLE.fetch_add(1, SeqCst);
    }
    note.state.store(writes_before, SeqCst);
    if IDLE.load(SeqCst) as usize == facts::core_count() && is_stuck() {
        report();
    }
}

/// Notes that this core waits no longer.
pub(crate) fn stop_waiting() {
    if own_notes()[this_core()].state.swap(RUNS, SeqCst) != RUNS {
        IDLE.fetch_sub(1, SeqCst);
    }
}

/// What core `core` of this node waits for, if its last poll found nothing and nobody is writing that down just now.
pub(crate) fn waits_for(core: usize) -> Option<WaitInfo> {
    if own_notes()[core].waits() { *WAITS[core].try_lock()? } else { None }
}

/// Notes that this core has finished its program, with a line in its write-combine buffer or without. Returns true to
/// the last one of the node.
pub(crate) fn finish(undrained: Option<LineAddress>) -> bool {
    *WAITS[this_core()].lock() = Some(WaitInfo { reason: Reason::new("nothing"), undrained });
    own_notes()[this_core()].state.store(FINISHED, SeqCst);
    IDLE.fetch_add(1, SeqCst);
    own_notes().iter().all(|note| note.state.load(SeqCst) == FINISHED) && claim_end()
}

/// Returns when all cores of this node have finished their programs; not at all if the machine ends before.
pub(crate) fn await_finish_of_all() {
    while own_notes().iter().any(|note| note.state.load(SeqCst) != FINISHED) {
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
    let all_wait = notes().iter().all(|note| [now, FINISHED].contains(&note.state.load(SeqCst)));
    all_wait && writes() == now
}

fn report() -> ! {
    if !claim_end() {
        cpu::park();
    }
    console::write_urgent(format_args!("deadlock: every core waits, and nothing was written since\n"));
    for (local, note) in own_notes().iter().enumerate() {
        let Some(info) = *WAITS[local].lock() else { continue };
        let core = nodes::global(local).index();
        if note.state.load(SeqCst) == FINISHED {
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
    let waiting = |core: usize| Some(&notes()[core]).filter(|note| note.waits());
    let line = Deadlock {
        cores: notes().len(),
        awaits: &|core| waiting(core)?.awaits.load(SeqCst).checked_sub(1).map(|core| core as usize),
        since: &|core| Some(waiting(core)?.since.load(SeqCst).into()),
        reason: &|core, out| match local(core) {
            Some(local) => waits_for(local).map_or(Ok(()), |info| write!(out, "{}", info.reason)),
            None => write!(out, "what node {} reports", nodes::node_of(CoreId::new(core))),
        },
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
