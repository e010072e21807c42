//! What protocols would be without each of their drains, invalidations and flushes, one call after the other. The checker names
//! what is missing then, in one plain run, where a run that is not checked fails by luck only.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use hal::{
    kit::Upkeep,
    sim::{Checked, Description, LeftOut, Machine, Options},
};
use tests::suite;

use crate::common;

/// Tests of the suite that make all calls, and the machines for each.
const PROGRAMS: &[(&str, &str)] = &[
    ("barrier::separates_phases", "scc:3"),
    ("barriers_elsewhere::separate_phases", "scc:3"),
    ("barriers_elsewhere::split_phase", "scc:3"),
    ("group_barriers::separate_phases", "scc:3"),
    ("group_barriers::split_phase", "scc:3"),
    ("coherence::groups_publish", "scc:3"),
    ("coherence::barriers_publish", "scc:3"),
    ("locks::mutexes_exclude", "scc:3"),
    ("locks::pass_on_what_was_stored", "scc:3"),
    ("locks::queue_locks_come_and_go", "scc:3"),
    ("messages::ring_of_all_sizes", "scc:3"),
    ("broadcast::all_degrees", "scc:3"),
    ("broadcast::rcce_profile", "scc:3"),
    ("default_broadcast::all_sizes", "scc:3"),
    ("exchanges::alltoalls", "scc:3"),
    ("reductions::all_sizes", "scc:3"),
    ("nonblocking::allreduces", "scc:3"),
    ("window::uneven_parts", "scc:3"),
    ("pscw::put_and_get_all_pairs", "scc:3"),
    ("pscw::parts_are_posted_again", "scc:3"),
    ("pscw::neighbours_ring", "scc:3"),
    ("marks::changing_groups", "scc:3"),
    ("operations::tickets_are_unique", "scc:3"),
    ("operations::notified_puts_are_there", "scc:3"),
    ("fence::epochs_are_separated", "scc:3"),
    ("passive::shared_locks_are_shared", "scc:3"),
    ("passive::flushed_operations_are_there", "scc:3"),
    ("passive::owners_take_turns", "scc:3"),
    ("passive::amounts_are_moved", "scc:3"),
    ("private_window::neighbours_reach_it", "scc:3"),
    ("copy_engine::clients_put_and_get", "scc:3"),
    ("channel::all_pairs", "scc:3"),
    ("channel::tests_and_notifications", "scc:3"),
    ("notification::reach_ranks_that_compute", "scc:3"),
    ("notification::what_is_left_comes_at_the_end", "scc:3"),
];

/// By module: how many calls of a kind the checker does not name when they are left out of these programs. Those that are harmless here are needed by
/// another machine (caches that fetch pages, domains), by another order of the ranks, or by nobody. Which it is, has to be found out one by
/// one; here they are kept from becoming more. What fails without being named is what the checker has to learn.
const NOT_NAMED: &[(&str, Upkeep, Fate, usize)] = &[
    ("collective/barrier", Upkeep::Drain, Fate::Harmless, 1),
    ("collective/coherence", Upkeep::Purge, Fate::Harmless, 1),
    ("collective/notification", Upkeep::Drain, Fate::Harmless, 4),
    ("collective/notification", Upkeep::Invalidation, Fate::Fails, 1),
    ("collective/notification", Upkeep::Invalidation, Fate::Harmless, 1),
    ("lock", Upkeep::Drain, Fate::Harmless, 3),
    ("lock", Upkeep::Invalidation, Fate::Harmless, 2),
    ("lock", Upkeep::Flush, Fate::Harmless, 1),
    ("memory", Upkeep::Drain, Fate::Harmless, 1),
    ("memory", Upkeep::Invalidation, Fate::Harmless, 1),
    ("mpb", Upkeep::Drain, Fate::Harmless, 1),
    ("one_sided/copy_engine", Upkeep::Drain, Fate::Harmless, 5),
    ("one_sided/copy_engine", Upkeep::Invalidation, Fate::Harmless, 1),
    ("one_sided/message", Upkeep::Drain, Fate::Harmless, 1),
    ("one_sided/message", Upkeep::Invalidation, Fate::Harmless, 2),
    ("one_sided/window", Upkeep::Invalidation, Fate::Harmless, 4),
    ("one_sided/window", Upkeep::Flush, Fate::Harmless, 3),
    ("one_sided/window/marks", Upkeep::Drain, Fate::Fails, 1),
    ("one_sided/window/marks", Upkeep::Drain, Fate::Harmless, 1),
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
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    file: String,
    line: u32,
    upkeep: Upkeep,
}

fn machine(name: &str) -> Machine {
    let (name, cores) = name.rsplit_once(':').expect("a name and a number of cores");
    let cores = cores.parse().expect("a number");
    Machine::new(Description::parse(name).expect("a machine").with_cores(cores))
}

fn checked(test: &str, name: &str, options: Options) -> Checked<()> {
    common::checked(&machine(name).with_options(options), |context| suite::run_simulated(test, context)).1
}

#[test]
fn each_call_of_a_protocol_is_named_when_it_is_missing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../collectives/src");
    let root = root.canonicalize().expect("it is there");
    let mut calls: BTreeMap<Call, (BTreeSet<usize>, BTreeSet<usize>)> = BTreeMap::new();
    for (number, (test, name)) in PROGRAMS.iter().enumerate() {
        let run = checked(test, name, Options { lint: true, ..Options::default() });
        assert!(run.result.is_ok() && run.findings.is_empty(), "{test} on {name}: {:?}", run.findings);
        for asked in run.asked_for {
            let Some(frame) = asked.frames.first() else { continue };
            let Ok(file) = Path::new(&frame.file).strip_prefix(&root) else { continue };
            let call = Call { file: file.display().to_string(), line: frame.line, upkeep: asked.upkeep };
            let (addresses, programs) = calls.entry(call).or_default();
            addresses.insert(asked.address);
            programs.insert(number);
        }
    }
    let fate = |call: &Call, addresses: &BTreeSet<usize>, programs: &BTreeSet<usize>| {
        let left_out = LeftOut { upkeep: call.upkeep, addresses: addresses.iter().copied().collect() };
        let (mut times, mut fate) = (0, Fate::Harmless);
        for number in programs {
            let (test, name) = PROGRAMS[*number];
            let run = checked(test, name, Options { left_out: Some(left_out.clone()), ..Options::default() });
            times += run.times_left_out;
            if run.findings.iter().any(|finding| is_about(&finding.remedy, call.upkeep)) {
                fate = Fate::Named;
                break;
            }
            if run.result.is_err() || !run.findings.is_empty() {
                fate = Fate::Fails;
            }
        }
        assert!(times > 0, "{}:{} was never left out", call.file, call.line);
        fate
    };
    // By rooms: a call that its function ends with may be known by the file of the caller, as the compiler sees fit.
    let mut not_named: BTreeMap<(String, Upkeep, Fate), usize> = BTreeMap::new();
    for (call, (addresses, programs)) in &calls {
        let fate = fate(call, addresses, programs);
        if fate != Fate::Named {
            let room = call.file.rsplit_once('/').map_or("", |(room, _)| room);
            *not_named.entry((room.into(), call.upkeep, fate)).or_default() += 1;
        }
    }
    let not_named = not_named.iter().map(|((room, upkeep, fate), count)| (room.as_str(), *upkeep, *fate, *count));
    let not_named: Vec<_> = not_named.collect();
    assert_eq!(not_named, NOT_NAMED, "of {} calls", calls.len());
}
