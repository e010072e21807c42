//! What protocols would be without each of their drains, invalidations and flushes, one call after the other. The checker names
//! what is missing then, in one plain run, where a run that is not checked fails by luck only.

mod own;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use hal::{
    emulated::FetchUnit,
    kit::Upkeep,
    sim::{Checked, Description, LeftOut, Machine, Options},
};
use tests::suite;

use crate::common;

use self::Why::{ForgottenBefore, InvalidatedByWaits, OnlyFaster, PushedOutByOthers, WholeLines};
use self::own::Own;

/// Tests of the suite that make all calls.
const TESTS: &[&str] = &[
    "barrier::separates_phases",
    "barriers_elsewhere::separate_phases",
    "barriers_elsewhere::split_phase",
    "group_barriers::separate_phases",
    "group_barriers::split_phase",
    "coherence::groups_publish",
    "coherence::barriers_publish",
    "communicators::more_than_there_are_lines",
    "communicators::messages_with_tags",
    "locks::mutexes_exclude",
    "locks::pass_on_what_was_stored",
    "locks::queue_locks_come_and_go",
    "messages::ring_of_all_sizes",
    "broadcast::all_degrees",
    "broadcast::rcce_profile",
    "default_broadcast::all_sizes",
    "exchanges::alltoalls",
    "reductions::all_sizes",
    "nonblocking::allreduces",
    "window::uneven_parts",
    "pscw::put_and_get_all_pairs",
    "pscw::parts_are_posted_again",
    "pscw::neighbours_ring",
    "marks::changing_groups",
    "marks::more_windows_than_lines",
    "operations::tickets_are_unique",
    "operations::notified_puts_are_there",
    "fence::epochs_are_separated",
    "passive::shared_locks_are_shared",
    "passive::flushed_operations_are_there",
    "passive::owners_take_turns",
    "passive::amounts_are_moved",
    "passive::all_parts_at_once",
    "private_window::neighbours_reach_it",
    "copy_engine::clients_put_and_get",
    "channel::all_pairs",
    "channel::tests_and_notifications",
    "notification::reach_ranks_that_compute",
    "notification::what_is_left_comes_at_the_end",
    "notification::misuse_is_refused",
];

/// The machine on which a call that is left out is looked for, and others, on which nobody misses those that it does not miss.
const MACHINES: [&str; 6] =
    ["scc:3", "scc:3/pages", "scc+domains=2:4", "scc-2x2:3", "mesh:8x8x1:3", "cluster-fpga:2x2:4"];

/// Why nobody misses a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    /// What it would drain are whole lines, and those leave the write-combine buffer at once, here as on the chip. That is the hardware's
    /// way to do it and not its promise, so they are drained.
    WholeLines,
    /// Before anybody is told, the same function, or the operation of all that it goes on with, stores to another line, which pushes out what
    /// was in the buffer.
    PushedOutByOthers,
    /// The last thing before it that took time was a wait, whose polls invalidate, and L1 has got nothing since that others store to. It
    /// would be missed where a processor fetches lines by itself, which none of these does.
    InvalidatedByWaits,
    /// The cache was emptied before a wait, in which the rank fetches nothing. It would be missed where a processor fetches lines by itself, too.
    ForgottenBefore,
    /// What is looked at may be old, and is found out in another way then, which takes longer.
    OnlyFaster,
}

/// The calls that nobody misses: file, function, what it is, and why. Each is left out on all machines, and no run is any different.
const NOT_MISSED: &[(&str, &str, Upkeep, Why)] = &[
    // The zeros of a barrier's flags; the barrier of all follows.
    ("collective/barrier/group.rs", "flag_barrier", Upkeep::Drain, WholeLines),
    // All flush when they arrive; and between arrival and release nothing can be done.
    ("collective/coherence/barrier.rs", "coherent_barrier", Upkeep::Purge, ForgottenBefore),
    // The zeros of doorbells and acknowledgements; a barrier follows.
    ("collective/notification/mod.rs", "subscribe", Upkeep::Drain, WholeLines),
    // A doorbell is a line.
    ("collective/notification/node.rs", "ring", Upkeep::Drain, WholeLines),
    // Between two barriers, as is what follows.
    ("collective/notification/turn.rs", "agree", Upkeep::Drain, PushedOutByOthers),
    ("collective/notification/turn.rs", "agree", Upkeep::Invalidation, InvalidatedByWaits),
    // The zeros of a node.
    ("lock/queue.rs", "queue_lock", Upkeep::Drain, WholeLines),
    // Whoever does not see the next one here does so by the tail.
    ("lock/queue.rs", "release", Upkeep::Invalidation, OnlyFaster),
    // Whoever passes the lock on clears its own node then.
    ("lock/queue.rs", "release", Upkeep::Drain, PushedOutByOthers),
    // Who cannot send yet waits.
    ("matched/slots.rs", "look_whether_taken", Upkeep::Invalidation, OnlyFaster),
    // A wait has invalidated, and has looked into the box only where it waits for that rank: `matched::tests` has the order in which
    // the packet comes right behind that.
    ("matched/slots.rs", "next_arrival", Upkeep::Invalidation, InvalidatedByWaits),
    // An allreduce says whether all have memory.
    ("memory/uncached.rs", "share_words", Upkeep::Drain, PushedOutByOthers),
    ("memory/uncached.rs", "share_words", Upkeep::Invalidation, InvalidatedByWaits),
    // Zeros; a barrier follows.
    ("mpb/program_lines.rs", "clear_from", Upkeep::Drain, WholeLines),
    // The zeros of cells; a barrier follows.
    ("mpb/rcce_profile.rs", "drop", Upkeep::Drain, WholeLines),
    // Who has copied with engines has waited for them, and who has copied without has stored through L1.
    ("one_sided/copy_engine/buffer.rs", "read", Upkeep::Invalidation, InvalidatedByWaits),
    // The zeros of rings; a barrier follows.
    ("one_sided/copy_engine/mod.rs", "assign", Upkeep::Drain, WholeLines),
    // A descriptor is a line.
    ("one_sided/copy_engine/mod.rs", "ask", Upkeep::Drain, WholeLines),
    // The zeros of doorbells and acknowledgements; a barrier follows.
    ("one_sided/message/sections.rs", "new", Upkeep::Drain, WholeLines),
    // A section that does not look free is waited for.
    ("one_sided/message/sections.rs", "refresh", Upkeep::Invalidation, OnlyFaster),
    // Packets are taken after a look at the doorbells, which has invalidated.
    ("one_sided/message/target.rs", "read_part", Upkeep::Invalidation, InvalidatedByWaits),
    // Nobody joins at the first part of an epoch, whose lock was waited for; and L1 has nothing of the others, which were not locked.
    ("one_sided/window/lock.rs", "join", Upkeep::Invalidation, InvalidatedByWaits),
    // The zeros of marks; a barrier follows.
    ("one_sided/window/marks/mod.rs", "clear", Upkeep::Drain, WholeLines),
];

/// What becomes of programs without a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fate {
    /// The checker says that it is missing, or another one of its kind.
    Named,
    /// The run ends wrong, or something else is found.
    Fails,
    /// Nothing.
    Harmless,
}

/// Whether a finding's advice is to put such a call there.
fn is_about(remedy: &str, upkeep: Upkeep) -> bool {
    let words: &[&str] = match upkeep {
        Upkeep::Drain => &["a drain is missing"],
        Upkeep::Invalidation => &["an `invalidate_mpb` is missing"],
        Upkeep::Flush | Upkeep::Purge => &["`write_back_invalidate`"],
    };
    words.iter().any(|word| remedy.contains(word))
}

/// A call of a protocol.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Call {
    file: String,
    line: u32,
    function: String,
    upkeep: Upkeep,
}

/// What is known of one.
#[derive(Default)]
struct Known {
    addresses: BTreeSet<usize>,
    /// Programs that make it.
    programs: BTreeSet<usize>,
    has_changed: bool,
}

/// A program on a machine.
#[derive(Clone, Copy)]
struct Program {
    name: &'static str,
    own: Option<Own>,
    machine: &'static str,
}

impl Program {
    fn all() -> Vec<Self> {
        let suits = |test: &str, name: &str| suite::suits(test, machine(name).layout());
        let tests = MACHINES.iter().flat_map(|machine| TESTS.iter().map(move |name| (*name, *machine)));
        let tests = tests.filter(|(name, machine)| suits(name, machine));
        let tests = tests.map(|(name, machine)| Self { name, own: None, machine });
        let own = own::PROGRAMS.iter().map(|(name, own, machine)| Self { name, own: Some(*own), machine });
        own.chain(tests).collect()
    }

    /// Runs it under the checker; whether it comes to a good end, and what the checker says.
    fn check(&self, options: Options) -> (bool, Checked<()>) {
        let machine = machine(self.machine);
        let fetch_unit = machine.options().fetch_unit;
        let (failed, checked) =
            common::checked(&machine.with_options(Options { fetch_unit, ..options }), |context| match self.own {
                Some(own) => own(context),
                None => suite::run_simulated(self.name, context),
            });
        (failed.is_none() && checked.result.is_ok(), checked)
    }
}

fn machine(name: &str) -> Machine {
    if let Some(name) = name.strip_suffix("/pages") {
        return machine(name).with_options(Options { fetch_unit: FetchUnit::Page, ..Options::default() });
    }
    let (name, cores) = name.rsplit_once(':').expect("a name and a number of cores");
    let cores = cores.parse().expect("a number");
    Machine::new(Description::parse(name).expect("a machine").with_cores(cores))
}

/// All calls that programs make.
fn calls(programs: &[Program]) -> BTreeMap<Call, Known> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../collectives/src");
    let root = root.canonicalize().expect("it is there");
    let mut calls: BTreeMap<Call, Known> = BTreeMap::new();
    for (number, program) in programs.iter().enumerate() {
        let (is_well, run) = program.check(Options { lint: true, ..Options::default() });
        let Program { name, machine, .. } = program;
        assert!(is_well && run.findings.is_empty(), "{name} on {machine}: {:?}", run.findings);
        for asked in run.asked_for {
            let Some(frame) = asked.frames.first() else { continue };
            let Ok(file) = Path::new(&frame.file).strip_prefix(&root) else { continue };
            let function = frame.function.split('<').next().unwrap_or_default().to_owned();
            let call = Call { file: file.display().to_string(), line: frame.line, function, upkeep: asked.upkeep };
            let known = calls.entry(call).or_default();
            known.addresses.insert(asked.address);
            known.programs.insert(number);
            known.has_changed |= asked.has_changed;
        }
    }
    calls
}

/// What becomes of the programs that make a call, in one plain run each, if it is left out.
fn fate(call: &Call, known: &Known, programs: &[Program]) -> Fate {
    let left_out = LeftOut { upkeep: call.upkeep, addresses: known.addresses.iter().copied().collect() };
    let (mut times, mut fate) = (0, Fate::Harmless);
    for number in &known.programs {
        let options = Options { left_out: Some(left_out.clone()), ..Options::default() };
        let (is_well, run) = programs[*number].check(options);
        times += run.times_left_out;
        if run.findings.iter().any(|finding| is_about(&finding.remedy, call.upkeep)) {
            return Fate::Named;
        }
        if !is_well || !run.findings.is_empty() {
            fate = Fate::Fails;
        }
    }
    assert!(times > 0, "{call:?} was never left out");
    fate
}

#[test]
fn each_call_of_a_protocol_is_named_when_it_is_missing_or_nobody_misses_it() {
    let programs = Program::all();
    let calls = calls(&programs);
    let (mut not_missed, mut wrong): (Vec<_>, Vec<String>) = (NOT_MISSED.iter().collect(), Vec::new());
    for (call, known) in &calls {
        let fate = fate(call, known, &programs);
        // A call that its function ends with may be known by the caller, as the compiler sees fit.
        let is_meant = |(file, function, upkeep, _): &&(&str, &str, Upkeep, Why)| {
            *file == call.file && *function == call.function && *upkeep == call.upkeep
        };
        match (fate, not_missed.iter().position(is_meant)) {
            (Fate::Named, _) => {}
            (Fate::Harmless, Some(at)) => {
                let (.., why) = not_missed.remove(at);
                if *why == WholeLines && known.has_changed {
                    wrong.push(format!("{call:?} has drained what were no whole lines"));
                }
            }
            _ => wrong.push(format!("{call:?} is not named, and comes to this: {fate:?}")),
        }
    }
    wrong.extend(not_missed.iter().map(|call| format!("{call:?} is made by nobody, or missed")));
    assert!(wrong.is_empty(), "of {} calls:\n{}", calls.len(), wrong.join("\n"));
}
