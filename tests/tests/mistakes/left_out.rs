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

/// Of which files how many calls of a kind are not missed in these programs: another machine needs them (caches that fetch pages, domains),
/// another order of the ranks, or nobody does. Which it is, has to be found out one by one; here they are kept from becoming more.
const NOT_MISSED: &[(&str, Upkeep, usize)] = &[
    ("collective/barrier/group.rs", Upkeep::Drain, 1),
    ("collective/coherence/scope.rs", Upkeep::Purge, 1),
    ("collective/notification/mod.rs", Upkeep::Drain, 1),
    ("collective/notification/node.rs", Upkeep::Drain, 1),
    ("collective/notification/node.rs", Upkeep::Invalidation, 1),
    ("collective/notification/turn.rs", Upkeep::Drain, 2),
    ("collective/notification/turn.rs", Upkeep::Invalidation, 1),
    ("lock/mutex.rs", Upkeep::Flush, 1),
    ("lock/queue.rs", Upkeep::Drain, 3),
    ("lock/queue.rs", Upkeep::Invalidation, 2),
    ("memory/words.rs", Upkeep::Drain, 1),
    ("memory/words.rs", Upkeep::Invalidation, 1),
    ("mpb/rcce_profile.rs", Upkeep::Drain, 1),
    ("one_sided/copy_engine/buffer.rs", Upkeep::Drain, 3),
    ("one_sided/copy_engine/buffer.rs", Upkeep::Invalidation, 1),
    ("one_sided/copy_engine/mod.rs", Upkeep::Drain, 2),
    ("one_sided/message/sections.rs", Upkeep::Drain, 1),
    ("one_sided/message/sections.rs", Upkeep::Invalidation, 1),
    ("one_sided/message/target.rs", Upkeep::Invalidation, 1),
    ("one_sided/window/exposing.rs", Upkeep::Invalidation, 1),
    ("one_sided/window/exposure.rs", Upkeep::Flush, 1),
    ("one_sided/window/fence.rs", Upkeep::Invalidation, 1),
    ("one_sided/window/lock.rs", Upkeep::Invalidation, 1),
    ("one_sided/window/marks/mod.rs", Upkeep::Drain, 2),
    ("one_sided/window/mod.rs", Upkeep::Flush, 2),
    ("one_sided/window/passive.rs", Upkeep::Invalidation, 1),
];

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
fn each_call_of_a_protocol_is_missed() {
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
    let is_missed = |call: &Call, addresses: &BTreeSet<usize>, programs: &BTreeSet<usize>| {
        let left_out = LeftOut { upkeep: call.upkeep, addresses: addresses.iter().copied().collect() };
        programs.iter().any(|number| {
            let (test, name) = PROGRAMS[*number];
            let options = Options { left_out: Some(left_out.clone()), ..Options::default() };
            !checked(test, name, options).findings.is_empty()
        })
    };
    let mut not_missed: BTreeMap<(&str, Upkeep), usize> = BTreeMap::new();
    for (call, _) in calls.iter().filter(|(call, (addresses, programs))| !is_missed(call, addresses, programs)) {
        *not_missed.entry((&call.file, call.upkeep)).or_default() += 1;
    }
    let not_missed: Vec<_> = not_missed.into_iter().map(|((file, upkeep), count)| (file, upkeep, count)).collect();
    assert_eq!(not_missed, NOT_MISSED, "of {} calls", calls.len());
}
