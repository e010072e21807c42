//! The whole suite in the simulator: in virtual time at several core counts, and over many seeds.

mod common;

use common::run;
use hal::{
    Layout, Tile,
    emulated::FetchUnit,
    sim::{Description, Machine, Options, Parameters},
};
use tests::suite;

/// Core counts: one, even, odd, prime, powers of two, a full chip.
const CORES: [usize; 8] = [1, 2, 3, 4, 5, 7, 16, 48];

/// Tests that show what hardware keeps to itself unless it evicts or drains on its own account: with seeds it does.
const ONLY_UNPROVOKED: [&str; 14] = [
    "memory::unflushed_store_is_unseen",
    "memory::cached_read_without_invalidate_is_stale",
    "memory::mpb_read_without_invalidate_is_stale",
    "memory::combined_read_without_invalidate_is_stale",
    "memory::undrained_mpb_store_is_unseen",
    "memory::undrained_put_is_unseen",
    "memory::register_does_not_drain",
    "memory::false_sharing_loses_an_update",
    "memory::more_pages_than_frames",
    "domains::cached_stores_are_seen_inside",
    "domains::false_sharing_is_harmless_inside",
    "exposed::unflushed_store_of_the_owner_is_unseen",
    "exposed::put_is_unseen_until_the_owner_invalidates",
    "exposed::write_back_of_the_owner_wipes_out_a_put",
];

fn all_pass(machine: &Machine, names: impl Iterator<Item = &'static str>, what: &str) {
    for name in names {
        if let Err(failure) = run(machine, |context| suite::run_simulated(name, context)) {
            panic!("{name} {what}: {failure}");
        }
    }
}

#[test]
fn in_virtual_time() {
    for cores in CORES {
        for name in suite::NAMES {
            let result = run(&Machine::scc(cores), |context| {
                // As on the cores; elsewhere on the host ranks run ahead of each other.
                context.comm.check_arguments(true);
                suite::run_simulated(name, context)
            });
            assert_eq!(result, Ok(()), "{name} on {cores} cores");
        }
    }
}

#[test]
fn where_accesses_wait_for_each_other() {
    let machine = |name| Machine::new(Description::parse(name).expect("there is such a machine"));
    for cores in [1, 3] {
        let names = suite::NAMES.iter().copied();
        all_pass(&machine("scc+contention").with_cores(cores), names, &format!("on {cores} cores with contention"));
    }
    all_pass(&machine("scc+flat").with_cores(5), suite::NAMES.iter().copied(), "on a flat machine");
}

#[test]
fn with_pages_as_the_unit_of_fetch() {
    for cores in [2, 5, 16] {
        let options = Options { fetch_unit: FetchUnit::Page, cache_frames: 64, ..Options::default() };
        let machine = Machine::scc(cores).with_options(options);
        all_pass(&machine, suite::NAMES.iter().copied(), &format!("on {cores} cores by pages"));
    }
}

/// Inside domains memory is coherent, between them it is not, and programs are right on all of them.
#[test]
fn in_coherence_domains() {
    for (cores, domains) in [(8, 2), (8, 1), (7, 3), (5, 2)] {
        let machine =
            Machine::new(Description::parse(&format!("scc+domains={domains}")).expect("there is such a machine"));
        let what = format!("on {cores} cores in {domains} domains");
        all_pass(&machine.clone().with_cores(cores), suite::NAMES.iter().copied(), &what);
        if domains == 2 {
            let options = Options { fetch_unit: FetchUnit::Page, cache_frames: 16, ..Options::default() };
            let by_pages = machine.with_cores(cores).with_options(options);
            all_pass(&by_pages, suite::NAMES.iter().copied(), &format!("{what} by pages"));
        }
    }
}

#[test]
fn in_coherence_domains_over_seeds() {
    let machine = Machine::new(Description::parse("scc+domains=2").expect("there is such a machine"));
    for seed in 1..=3 {
        let names = suite::NAMES.iter().copied().filter(|name| !ONLY_UNPROVOKED.contains(name));
        all_pass(&machine.clone().with_cores(6).with_seed(seed), names, &format!("in 2 domains with seed {seed}"));
    }
}

/// A program that is right does not notice that memory is coherent, be it memory that cores expose.
#[test]
fn exposed_memory_that_is_coherent() {
    let machine = Machine::scc(5).with_options(Options { coherent: true, ..Options::default() });
    let names = suite::NAMES.iter().copied().filter(|name| name.starts_with("exposed::"));
    all_pass(&machine, names.filter(|name| !ONLY_UNPROVOKED.contains(name)), "on a coherent machine");
}

#[test]
fn on_boards_with_other_controllers() {
    let tiles = [(0, 0), (1, 0), (2, 1), (0, 1), (1, 1), (2, 0)].map(|(x, y)| Tile { x, y });
    for controllers in [1, 2, 6] {
        let layout = Layout::mesh(3, 2, 2).with_controllers(&tiles[..controllers]);
        let machine = Machine::new(Description { name: "a board".into(), layout, parameters: Parameters::scc() });
        let names = suite::NAMES.iter().copied().filter(|name| !NEEDS_FOUR_CONTROLLERS.contains(name));
        all_pass(&machine, names, &format!("with {controllers} controllers"));
    }
}

/// Tests of what goes behind which controller.
const NEEDS_FOUR_CONTROLLERS: [&str; 2] = ["allocation::placements", "allocation::refusals"];

#[test]
fn over_many_seeds() {
    for cores in [2, 3, 5, 8] {
        for seed in 1..=20 {
            let names = suite::NAMES.iter().copied().filter(|name| !ONLY_UNPROVOKED.contains(name));
            all_pass(&Machine::scc(cores).with_seed(seed), names, &format!("on {cores} cores with seed {seed}"));
        }
    }
}

#[test]
fn the_list_of_exceptions_names_tests_that_exist() {
    for name in ONLY_UNPROVOKED.iter().chain(&NEEDS_FOUR_CONTROLLERS) {
        assert!(suite::NAMES.contains(name), "{name} is not a test");
    }
}
