//! The suite on threads of the host, which really run side by side: every in-kernel test on more cores than
//! small hosts have processors, with hand-overs at random places, and, where a test does not ask for stale data, on coherent memory, also
//! with lines written back by hand.

use std::sync::Mutex;

use collectives::Comm;
use hal::{Cached, emulated::HostLines};
use libtest_mimic::{Arguments, Failed, Trial};
use tests::{
    Context,
    suite::{self, Needs},
};
use threads::Machine;

/// Numbers of cores, and what a test there has to need: two can each have a processor, for which they wait by computing, and eight take
/// many turns. One alone has nothing to run beside.
const CORES: [(usize, Needs); 3] = [(2, Needs::MACHINE), (5, Needs::empty()), (8, Needs::LARGEST)];

/// The seed of hand-overs.
const HAND_OVERS: u64 = 1;

/// Runs a test on all cores of a machine: what a rank found wrong first, or what became of the machine.
fn run(name: &str, machine: &Machine) -> Result<(), Failed> {
    run_on(name, machine, false)
}

/// The same on a machine that may have coherent memory.
fn run_on(name: &str, machine: &Machine, all_is_coherent: bool) -> Result<(), Failed> {
    // A rank that fails leaves the others waiting, and its reason is worth more than their deadlock.
    let failed = Mutex::new(None);
    let outcome = machine.run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
        comm.check_arguments(true);
        let mut caches = core.take_caches().expect("it is asked for once");
        if let Err(reason) = suite::run(name, &mut Context { comm: &comm, caches: &mut caches, all_is_coherent }) {
            let mut failed = failed.lock().expect("nobody panics with it");
            failed.get_or_insert_with(|| format!("rank {}: {reason}", comm.rank()));
        }
    });
    match failed.into_inner().expect("nobody panics with it") {
        Some(failed) => Err(failed.into()),
        None => outcome.map(|_| ()).map_err(|failure| failure.to_string().into()),
    }
}

fn trials(name: &'static str) -> Vec<Trial> {
    let on_cores = CORES
        .into_iter()
        .filter(|(_, needs)| suite::needs(name).contains(*needs))
        .map(|(cores, _)| Trial::test(format!("{name} on {cores} threads"), move || run(name, &Machine::new(cores))));
    let handed_over = Trial::test(format!("{name} on threads that hand over at random"), move || {
        run(name, &Machine::new(4).with_seeds(0, HAND_OVERS))
    });
    let coherent = (!suite::needs(name).contains(Needs::QUIET)).then(|| {
        Trial::test(format!("{name} on threads with coherent memory"), move || {
            run_on(name, &Machine::new(4).with_coherence(true), true)?;
            HostLines::of_host().map_or(Ok(()), |lines| run(name, &Machine::new(4).with_write_backs(lines)))
        })
    });
    on_cores.chain([handed_over]).chain(coherent).collect()
}

fn main() {
    let arguments = Arguments::from_args();
    // Nothing interrupts a thread in the middle of what it computes.
    let suits = |name: &&str| !suite::needs(name).contains(Needs::INTERRUPTS);
    let trials = suite::NAMES.iter().copied().filter(suits).flat_map(trials).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
