//! The host's own threads, and the command line that describes them.

#[cfg(target_os = "linux")]
use hal::sim;
use hal::{Topology, emulated::HostLines};
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use threads::{Machine, ThreadCore};

use crate::{Console, Input, args};

use super::{
    Kept, Programs, Start, judge, run_and_tell,
    sizes::{cores, number, stack_bytes},
    trace,
};

/// What `machine=` says of them.
#[cfg(feature = "threads")]
pub(super) const NAME: &str = "threads";

/// Runs an image on threads. Returns success.
pub(super) fn run<P: Programs>(line: &str, inputs: &[Input<'_>], console: &dyn Console) -> bool {
    let start = Start { line, inputs, console };
    let traces = Kept::default();
    let outcome = machine(line, console).and_then(|machine| {
        let program = |core: &ThreadCore| {
            bind(core.core().index(), core.layout().cores());
            let _telling = Telling { core, traces: &traces };
            // SAFETY: it is the machine's own core.
            let run = || unsafe { run_and_tell::<P, _>(core, &start) };
            // SAFETY: a thread of the machine calls this once, below all that its program does.
            #[cfg(target_os = "linux")]
            return unsafe { sim::report_faults_of(core, run) };
            #[cfg(not(target_os = "linux"))]
            run()
        };
        machine.run(program).map_err(|failure| {
            console.write(format_args!("{failure}\n"));
            failure.summary().to_owned()
        })
    });
    match outcome {
        Ok(results) => {
            if results.contains(&false) {
                console.write(format_args!("{}", traces.into_text()));
            }
            judge(&results, console)
        }
        Err(message) => {
            console.write(format_args!("{}", traces.into_text()));
            console.write(format_args!("@done failed {message}\n"));
            false
        }
    }
}

/// Runs an image on threads, and keeps what it prints, as [`simulate`](super::simulate) does.
#[cfg(test)]
pub(crate) fn threads<P: Programs>(words: &str, inputs: &[Input<'_>]) -> super::Simulation {
    let console = Kept::default();
    let success = run::<P>(words, inputs, &console);
    super::Simulation { success, console: console.into_text() }
}

/// Keeps what a core has traced when its program ends, or is ended: whether another one fails is known later.
struct Telling<'t> {
    core: &'t ThreadCore,
    traces: &'t Kept,
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        trace::tell_until_failure(self.core, self.traces);
    }
}

/// The threads that the words ask for. Their heaps are the host's, without a limit.
fn machine(line: &str, console: &dyn Console) -> Result<Machine, String> {
    let seed = |key| number(line, key).map(Option::unwrap_or_default);
    let machine = Machine::new(cores(line)?.unwrap_or(1))
        .with_coherence(args::has(line, "coherent"))
        .with_stack_bytes(stack_bytes(line)?)
        .with_seeds(seed("seed")?, seed("preempt")?);
    if !args::has(line, "write_back") {
        return Ok(machine);
    }
    let lines = HostLines::of_host().ok_or("`write_back`: this processor has no instructions for it that are known")?;
    console.write(format_args!("lines of the host's caches: {lines}\n"));
    Ok(machine.with_write_backs(lines))
}

/// Keeps one of `cores` threads on a processor of its own, if the process may use as many: two that share one by chance would
/// take turns of milliseconds. It stays free where that cannot be done.
fn bind(place: usize, cores: usize) {
    #[cfg(not(target_os = "linux"))]
    let _ = (place, cores);
    #[cfg(target_os = "linux")]
    if std::thread::available_parallelism().is_ok_and(|processors| processors.get() >= cores)
        && let Ok(usable) = sched_getaffinity(None)
        && let Some(processor) = (0..CpuSet::MAX_CPU).filter(|processor| usable.is_set(*processor)).nth(place)
    {
        let mut own = CpuSet::new();
        own.set(processor);
        let _ = sched_setaffinity(None, &own);
    }
}
