//! From the backend's start to the exit status: which program runs, and what became of it.
//!
//! On bare metal `hal::qemu` or `hal::scc` calls `atoll_core_main` on every core; on the host `main` builds a machine
//! in the simulator and runs it. Both end up in the same function for every rank, and speak the same lines of text.

#[cfg(target_os = "none")]
#[path = "bare_metal.rs"]
mod backend;
#[cfg(not(target_os = "none"))]
#[path = "host.rs"]
mod backend;
#[cfg(target_os = "none")]
mod heap;

#[cfg(all(any(feature = "threads", test), not(target_os = "none")))]
pub(crate) mod on_threads;
mod programs;
#[cfg(not(target_os = "none"))]
mod sizes;
#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux"))]
mod tests_of_faults;
mod trace;
#[cfg(not(target_os = "none"))]
mod work;

use collectives::Comm;
#[cfg(all(target_os = "none", not(target_vendor = "scc")))]
use hal::qemu as machine;
#[cfg(all(target_os = "none", target_vendor = "scc"))]
use hal::scc as machine;
use hal::{Core, Counters, Regions, Span, counters::COUNTS};

use crate::{Arguments, Console, Failure, Input, Rank, args};

pub use self::{
    backend::*,
    programs::{About, Only, Programs},
};

/// What every rank of a machine is given alike.
struct Start<'s> {
    line: &'s str,
    inputs: &'s [Input<'s>],
    console: &'s dyn Console,
}

/// Runs the program that the command line names, on one rank.
///
/// # Safety
/// As for [`run_on_core`].
unsafe fn run_rank<P: Programs, C: Core>(hal: &C, start: &Start<'_>) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    unsafe { select_and_run::<P, C>(hal, start) }.or_else(|failure| {
        // Rank 0 has the same failure, and reports it.
        if failure.is_on_all_ranks() && hal.core().index() > 0 { Ok(()) } else { Err(failure) }
    })
}

/// Runs the program that a command line names, on one core of a machine that starts its cores by itself; every core calls it,
/// once it has a heap. The words are those behind `--` of `cargo xtask run`, and `program=NAME`.
///
/// # Errors
/// What the program failed with, or what is wrong with the words.
///
/// # Safety
/// 1. `core` stands for one core of the machine, and no other value does.
/// 2. Its layout is the machine's.
/// 3. Its [`take_caches`](hal::Cached::take_caches) returns them once.
///
/// Else two communicators would make regions of the same memory, or of memory that is not there. Every
/// [`HardwareCore`](hal::kit::HardwareCore) of a machine keeps this.
pub unsafe fn run_on_core<P: Programs, C: Core>(
    core: &C,
    words: &str,
    inputs: &[Input<'_>],
    console: &dyn Console,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    unsafe { run_rank::<P, C>(core, &Start { line: words, inputs, console }) }
}

/// Runs the chosen program.
///
/// # Safety
/// As for [`run_on_core`].
unsafe fn select_and_run<P: Programs, C: Core>(hal: &C, start: &Start<'_>) -> Result<(), Failure> {
    let name = args::value(start.line, "program").unwrap_or(P::LIST[0].name);
    if name == "list" {
        if hal.core().index() == 0 {
            P::LIST.iter().for_each(|program| start.console.write(format_args!("{program}\n")));
        }
        return Ok(());
    }
    // A crate with a binary of its own is started by the binary's name.
    let chosen = P::LIST.iter().find(|program| program.name == name);
    let Some(program) = chosen.or(P::LIST.first().filter(|_| P::BINARY == Some(name))) else {
        let names = programs::Names(P::LIST);
        return Err(Failure::new(format_args!("no program is called `{name}`; there are {names}")).on_all_ranks());
    };
    let args = Arguments::new(start.line, program.options)?;
    trace::start(hal, start.line)?;
    // First, since a core has them once: whoever gets here a second time has no right to make regions.
    let Some(caches) = hal.take_caches() else { return Err(Failure::new("this core runs a program already")) };
    // SAFETY: 1. the core has not been here before, since it has given its caches away once, as the caller promises, and the
    // communicator gets the right; 2. and 3. that makes regions of what its allocator gave out and ranks told each other of,
    // and keeps the heaps' and windows' own data to itself; 4. they are the machine's, as the caller promises.
    let regions = unsafe { Regions::new(hal.layout().controllers()) };
    let comm = Comm::world(hal, regions).map_err(|error| Failure::new(error).on_all_ranks())?;
    comm.check_arguments(args::checks_arguments(start.line)?);
    let mut rank = Rank {
        comm: &comm,
        caches,
        args,
        console: start.console,
        inputs: start.inputs,
        heap_bytes: heap_bytes(hal, start.line),
    };
    let begin = hal.now();
    let result = {
        let _span = hal.span(Span::new("program"));
        P::run(program.name, &mut rank)
    };
    if hal.core().index() == 0 {
        rank.tell_host(format_args!("ticks {}", hal.now() - begin));
    }
    if COUNTS {
        let counters = CountersLine { rank: hal.core().index(), counters: hal.counters() };
        start.console.write(format_args!("{counters}\n"));
    }
    result
}

/// The program on one core of the host, and what there is to say of it afterwards. Returns success.
///
/// # Safety
/// As for [`run_on_core`].
#[cfg(not(target_os = "none"))]
unsafe fn run_and_tell<P: Programs, C: Core>(core: &C, start: &Start<'_>) -> bool {
    // SAFETY: the caller's promise.
    let result = unsafe { run_rank::<P, _>(core, start) };
    if let Err(failure) = &result {
        start.console.write(format_args!("rank {} failed: {failure}\n", core.core().index()));
    }
    trace::tell(core, start.line, start.console);
    result.is_ok()
}

/// Says whether all ranks have succeeded, and returns it.
#[cfg(not(target_os = "none"))]
fn judge(results: &[bool], console: &dyn Console) -> bool {
    let failed = results.iter().filter(|success| !**success).count();
    match failed {
        0 => console.write(format_args!("@done ok\n")),
        _ => console.write(format_args!("@done failed on {failed} of {} ranks\n", results.len())),
    }
    failed == 0
}

/// The counters of a rank, as a line for the host.
struct CountersLine {
    rank: usize,
    counters: Counters,
}

impl core::fmt::Display for CountersLine {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "@counters {}", self.rank)?;
        self.counters.compared().try_for_each(|(name, value)| write!(out, " {name}={value}"))
    }
}
