//! The whole suite in the simulator: every in-kernel test is a test of `cargo test`, once for each number of cores and for
//! each kind of machine. In virtual time unless the name says otherwise.

mod common;

use common::{check, run};
use hal::{
    Layout, Tile,
    emulated::FetchUnit,
    sim::{Description, Machine, Options, Parameters},
};
use libtest_mimic::{Arguments, Failed, Trial};
use tests::suite::{self, Needs};

/// Core counts: one, even, odd, prime, powers of two.
const CORES: [usize; 7] = [1, 2, 3, 4, 5, 7, 16];

/// A full chip, for what depends on size.
const FULL: usize = 48;

/// Machines on which a test has to pass, one after the other; what they are is said behind the test's name.
struct Setting {
    name: &'static str,
    machines: fn() -> Vec<Machine>,
    /// What a test must not need to run there.
    lacks: Needs,
    /// What a test needs if it is to run there.
    for_tests_that_need: Needs,
    /// Whether the arguments of collective operations are checked. Then ranks meet in each of them; without, they run ahead of each
    /// other, as in programs, which is what orders by seed are for.
    checks_arguments: bool,
}

const SETTINGS: [Setting; 9] = [
    Setting {
        name: "where accesses wait for each other",
        machines: contention,
        lacks: Needs::empty(),
        for_tests_that_need: Needs::empty(),
        checks_arguments: true,
    },
    Setting {
        name: "by pages",
        machines: pages,
        lacks: Needs::empty(),
        for_tests_that_need: Needs::empty(),
        checks_arguments: true,
    },
    Setting {
        name: "in coherence domains",
        machines: domains,
        lacks: Needs::empty(),
        for_tests_that_need: Needs::empty(),
        checks_arguments: true,
    },
    Setting {
        name: "in coherence domains over seeds",
        machines: domains_over_seeds,
        lacks: Needs::QUIET,
        for_tests_that_need: Needs::empty(),
        checks_arguments: false,
    },
    Setting {
        name: "with other controllers",
        machines: controllers,
        lacks: Needs::CONTROLLERS,
        for_tests_that_need: Needs::empty(),
        checks_arguments: true,
    },
    Setting {
        name: "over many seeds",
        machines: seeds,
        lacks: Needs::QUIET,
        for_tests_that_need: Needs::empty(),
        checks_arguments: false,
    },
    Setting {
        name: "on many cores",
        machines: many,
        lacks: Needs::LARGEST,
        for_tests_that_need: Needs::SIZE,
        checks_arguments: false,
    },
    Setting {
        name: "on the most cores",
        machines: most,
        lacks: Needs::empty(),
        for_tests_that_need: Needs::LARGEST,
        checks_arguments: false,
    },
    Setting {
        name: "on clusters",
        machines: clusters,
        lacks: Needs::REGISTERS.union(Needs::MESH),
        for_tests_that_need: Needs::empty(),
        checks_arguments: true,
    },
];

fn machine(name: &str) -> Machine {
    Machine::new(Description::parse(name).expect("there is such a machine"))
}

/// As `cargo xtask sim` has it: private memory goes through caches, too.
fn contention() -> Vec<Machine> {
    let options = || Options { everything_priced: true, ..Options::default() };
    [("scc", 1), ("scc", 3), ("scc+flat", 5)]
        .map(|(name, cores)| machine(name).with_cores(cores).with_options(options()))
        .into()
}

/// Pages are fetched as a whole, as in QEMU.
fn pages() -> Vec<Machine> {
    let options = || Options { fetch_unit: FetchUnit::Page, cache_frames: 64, ..Options::default() };
    [2, 5, 16].map(|cores| Machine::scc(cores).with_options(options())).into()
}

/// Inside domains memory is coherent, between them it is not, and programs are right on all of them.
fn domains() -> Vec<Machine> {
    let of = |cores, domains| machine(&format!("scc+ideal+domains={domains}")).with_cores(cores);
    let options = || Options { fetch_unit: FetchUnit::Page, cache_frames: 16, ..Options::default() };
    let by_pages = [8, 5].map(|cores| of(cores, 2).with_options(options()));
    [(8, 2), (8, 1), (7, 3), (5, 2)].map(|(cores, domains)| of(cores, domains)).into_iter().chain(by_pages).collect()
}

/// More than half of what a byte can tell apart.
fn many() -> Vec<Machine> {
    vec![Machine::scc(131)]
}

/// As many as there can be in QEMU.
fn most() -> Vec<Machine> {
    vec![Machine::scc(255)]
}

/// Nodes of several cores, between which nothing is atomic; the last has domains on one chip.
fn clusters() -> Vec<Machine> {
    let scc = Description::scc();
    let layout = scc.layout.with_cores(9).with_domains_of(4).with_registers_in_domains();
    ["cluster-fpga:3x2", "cluster-asic:1x5", "cluster-fpga:3x4", "cluster-asic:9x2"]
        .map(machine)
        .into_iter()
        .chain([Machine::new(Description { layout, ..scc })])
        .collect()
}

/// Tests that do on purpose what the checker names, and what.
const WRONG_ON_PURPOSE: [(&str, &str); 11] = [
    ("memory::lines_are_atomic", "stores to a line that another rank reads at that moment"),
    ("domains::cached_flags_end_local_spinning", "spins on what is cached"),
    ("litmus::store_buffering", "races"),
    ("litmus::message_passing", "races"),
    ("litmus::load_buffering", "races"),
    ("litmus::independent_reads", "races"),
    ("coherence::split_phase_barriers_publish", "loads what others may store to at that moment"),
    ("locks::what_was_seen_before_is_forgotten", "reads before it has the lock"),
    ("window::fresh_part_on_a_cached_page", "loads what nobody has stored to"),
    ("queue::operations_keep_their_order", "puts over what it has put before in the same epoch"),
    ("hazards::real_protocol_keeps_the_post", "loads what nobody has stored to"),
];

/// Machines on which the checker has to find nothing in what is right.
fn checked(needs: Needs) -> Vec<Machine> {
    let mut machines: Vec<_> = [2, 5].map(Machine::scc).into();
    machines.push(machine("scc+ideal+domains=2").with_cores(6));
    if needs.contains(Needs::SIZE) {
        machines.push(Machine::scc(17));
    }
    if !needs.intersects(Needs::REGISTERS.union(Needs::MESH)) {
        machines.extend(["cluster-fpga:3x2", "cluster-asic:1x5"].map(machine));
    }
    machines
}

fn domains_over_seeds() -> Vec<Machine> {
    (1..=3).map(|seed| machine("scc+ideal+domains=2").with_cores(6).with_seed(seed)).collect()
}

fn controllers() -> Vec<Machine> {
    let tiles = [(0, 0), (1, 0), (2, 1), (0, 1), (1, 1), (2, 0)].map(|(x, y)| Tile { x, y });
    let board = |count: usize| {
        let layout = Layout::mesh(3, 2, 2).with_controllers(&tiles[..count]);
        Machine::new(Description { name: "a board".into(), layout, parameters: Parameters::scc() })
    };
    [1, 2, 6].map(board).into()
}

fn seeds() -> Vec<Machine> {
    [(2, 8), (3, 12), (5, 12), (8, 6), (17, 2)]
        .into_iter()
        .flat_map(|(cores, seeds)| (1..=seeds).map(move |seed| Machine::scc(cores).with_seed(seed)))
        .collect()
}

/// Runs a test on a machine.
fn on(name: &str, machine: &Machine, checks_arguments: bool) -> Result<(), String> {
    run(machine, |context| {
        context.comm.check_arguments(checks_arguments);
        suite::run_simulated(name, context)
    })
}

/// Runs a test on some machines, up to the first on which it fails.
fn on_all(name: &str, machines: Vec<Machine>, checks_arguments: bool) -> Result<(), Failed> {
    for (place, machine) in machines.iter().enumerate() {
        on(name, machine, checks_arguments).map_err(|failure| format!("machine {place} of this test: {failure}"))?;
    }
    Ok(())
}

fn trials(name: &'static str) -> Vec<Trial> {
    let needs = suite::needs(name);
    let full = needs.contains(Needs::SIZE).then_some(FULL);
    let on_cores = CORES.into_iter().chain(full).map(|cores| {
        let what = format!("{name} on {cores} core{}", if cores == 1 { "" } else { "s" });
        Trial::test(what, move || Ok(on(name, &Machine::scc(cores), true)?))
    });
    let in_settings = SETTINGS
        .iter()
        .filter(|setting| !needs.intersects(setting.lacks) && needs.contains(setting.for_tests_that_need))
        .map(|setting| {
            Trial::test(format!("{name} {}", setting.name), move || {
                on_all(name, (setting.machines)(), setting.checks_arguments)
            })
        });
    // A program that is right does not notice that memory is coherent, be it memory that cores expose.
    let coherent = (name.starts_with("exposed::") && !needs.contains(Needs::QUIET)).then(|| {
        let machine = || Machine::scc(5).with_options(Options { coherent: true, ..Options::default() });
        Trial::test(format!("{name} on a coherent machine"), move || on_all(name, vec![machine()], true))
    });
    let is_right = !needs.contains(Needs::QUIET) && WRONG_ON_PURPOSE.iter().all(|(test, _)| *test != name);
    let checked = is_right.then(|| {
        Trial::test(format!("{name} under the checker"), move || {
            for machine in checked(needs) {
                check(&machine, |context| suite::run_simulated(name, context))
                    .map_err(|failure| format!("{}: {failure}", machine.description().name))?;
            }
            Ok(())
        })
    });
    on_cores.chain(in_settings).chain(coherent).chain(checked).collect()
}

fn main() {
    let arguments = Arguments::from_args();
    let trials = suite::NAMES.iter().copied().flat_map(trials).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
