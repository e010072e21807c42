//! Where accesses meet, polls that are skipped change nothing: no result, no counter, and no time.

use collectives::Comm;
use hal::{
    Cached,
    sim::{CoreOutcome, Description, Machine, Work},
};
use tests::{Context, suite};

/// What each rank did in a test of the suite, and when it ended.
fn run(machine: &Machine, name: &str) -> (Vec<CoreOutcome<bool>>, Work) {
    let outcome = machine.run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
        let mut caches = core.take_caches().expect("it is asked for once");
        suite::run_simulated(name, &mut Context { comm: &comm, caches: &mut caches, all_is_coherent: false }).is_ok()
    });
    let outcome = outcome.unwrap_or_else(|failure| panic!("{name}: {failure}"));
    (outcome.cores, outcome.work)
}

/// Compares all tests of these modules with runs in which each poll is simulated; returns the work of all.
fn compare(machine: &Machine, modules: &[&str]) -> [Work; 2] {
    let module_of = |name: &str| name.split("::").next().unwrap_or_default().to_string();
    for module in modules {
        assert!(suite::NAMES.iter().any(|name| module_of(name) == *module), "there are no tests of {module}");
    }
    let mut sums = [Work::default(); 2];
    for name in suite::NAMES.iter().filter(|name| modules.contains(&&*module_of(name))) {
        let (skipped, polled) = (run(machine, name), run(&machine.clone().polling_for_real(), name));
        assert!(skipped.0.iter().all(|core| core.result), "{name} on {} cores", machine.layout().cores());
        assert_eq!(skipped.0, polled.0, "{name} on {} cores of {:?}", machine.layout().cores(), machine.options());
        for (sum, work) in sums.iter_mut().zip([skipped.1, polled.1]) {
            sum.accesses += work.accesses;
            sum.skipped_polls += work.skipped_polls;
        }
    }
    assert!(sums[1].accesses > 0 && sums[1].skipped_polls == 0);
    sums
}

fn contended(cores: usize) -> Machine {
    Machine::new(Description::parse("scc+contention").expect("there is such a machine")).with_cores(cores)
}

fn skips_and_changes_nothing(cores: &[usize], modules: &[&str]) {
    for cores in cores {
        let [skipped, polled] = compare(&contended(*cores), modules);
        assert!(skipped.skipped_polls > 0 && skipped.accesses < polled.accesses, "{skipped:?}, {polled:?}");
    }
}

#[test]
fn barriers() {
    skips_and_changes_nothing(&[2, 7, 16], &["barrier", "group_barriers"]);
}

#[test]
fn broadcasts() {
    skips_and_changes_nothing(&[2, 7], &["broadcast", "default_broadcast", "nonblocking"]);
}

#[test]
fn epochs() {
    skips_and_changes_nothing(&[5], &["pscw", "epoch_cost", "marks", "fence", "passive"]);
}

#[test]
fn locks_and_messages() {
    skips_and_changes_nothing(&[5], &["locks", "queue", "channel", "messages", "notification"]);
}

#[test]
fn with_chance() {
    // Nothing is skipped then.
    for seed in [1, 2] {
        let [skipped, polled] = compare(&contended(5).with_seed(seed), &["barrier", "broadcast", "pscw", "locks"]);
        assert_eq!(skipped, polled);
    }
}
