//! The host: a machine in the simulator, and the command line that QEMU's replaces.

use std::{
    cell::Cell,
    env, fmt, fs,
    io::{self, Write as _},
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

pub use std::process::ExitCode;

use hal::{
    Core, limits,
    sim::{
        self, Description, Deviation, Explored, Failing, Machine, Options, Search, Shown, SimHeap, State, Stop,
        Strategy, Told,
    },
};

use crate::{Console, Input, args, output::Frame};

#[cfg(feature = "threads")]
use super::on_threads;
use super::{
    Programs, Start, judge, run_and_tell,
    sizes::{MOST_HEAP_KIB, cores, heaps_kib, number, stack_bytes},
    trace,
    work::Account,
};

/// Exit status of success, as QEMU's.
pub const SUCCESS_STATUS: u8 = 33;
/// Exit status of failure, as QEMU's.
pub const FAILURE_STATUS: u8 = 35;

/// Name of the result file that says where the traffic was, if the word `heatmap` asks for it.
const HEAT_MAP_FILE: &str = "traffic.csv";

/// The word that asks for the program to be checked.
const CHECK_WORD: &str = "check_coherence";

/// Its value that asks for what drains, invalidations and flushes are good for, too.
const LINT: &str = "lint";

/// The word that asks for other runs of a program that is checked, with the processor time for them in seconds.
const EXPLORE: &str = "explore";

/// The word with what a run does differently from the plain one.
const DEVIATIONS: &str = "deviations";

/// The depth of mistakes for which other runs are made by chance.
const DEPTH: u32 = 3;

/// Seconds of processor time in which a core may run on while no virtual time passes.
const STUCK_S: u64 = 60;

/// Simulated cores have heaps as large as on bare metal.
#[global_allocator]
static HEAP: SimHeap = SimHeap;

pub(super) struct Stdout;

impl Console for Stdout {
    fn write(&self, text: fmt::Arguments<'_>) {
        // Nobody is left to tell when the reader has gone.
        let _ = sim::off_account(|| io::stdout().lock().write_fmt(text));
    }
}

/// The `main` of an image on the host; [`image!`](crate::image) calls it.
///
/// The command line is `--cmdline "WORDS" [--module PATH]...`. Of the words, `machine=`, `cores=`, `seed=`, `preempt=`
/// and `coherent` describe the machine, `work=NAME` asks for samples of that name of what the run has cost the host,
/// `heatmap` for a table of where the traffic was, and `check_coherence` for the [mistakes](hal::sim::Finding) of the program (with `=lint`,
/// for [what it asks for](hal::sim::AskedFor) in vain, too); with `explore=SECONDS`, for those that only show in other runs than the plain one.
/// `deviations=` repeats such a run. `heap_kib=`, `heap0_kib=` (core 0) and `stack_kib=` say how much
/// memory a core has, as on bare metal, and `stuck_s=` for how many seconds of processor time it may run on while no
/// virtual time passes.
pub fn main<P: Programs>() -> ExitCode {
    let success = match CommandLine::parse(env::args().skip(1)) {
        Ok(line) => {
            let inputs: Vec<_> = line.inputs.iter().map(|(name, bytes)| Input { name, bytes }).collect();
            let patience_s = number(&line.words, "stuck_s").ok().flatten().unwrap_or(STUCK_S);
            sim::end_on_faults(FAILURE_STATUS, Duration::from_secs(patience_s));
            run::<P>(&line.words, &inputs, &Stdout)
        }
        Err(message) => {
            Stdout.write(format_args!("@done failed {message}\n"));
            false
        }
    };
    ExitCode::from(if success { SUCCESS_STATUS } else { FAILURE_STATUS })
}

#[derive(Default)]
struct CommandLine {
    words: String,
    inputs: Vec<(String, Vec<u8>)>,
}

impl CommandLine {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut line = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--cmdline" => line.words = value()?,
                "--module" => {
                    let path = value()?;
                    let bytes = fs::read(&path).map_err(|error| format!("cannot read {path}: {error}"))?;
                    let name = Path::new(&path).file_name().map_or(path.clone(), |name| name.to_string_lossy().into());
                    line.inputs.push((name, bytes));
                }
                other => {
                    return Err(format!("unknown argument `{other}`; usage: --cmdline \"WORDS\" [--module PATH]..."));
                }
            }
        }
        Ok(line)
    }
}

/// What became of a simulation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Simulation {
    /// Whether all ranks returned `Ok`.
    pub success: bool,
    /// All that was printed.
    pub console: String,
}

/// Runs an image in the simulator with these words and input files, and keeps what it prints; for tests. Heaps have room
/// for all that programs allocate, unless the words say how large they are: one that is full ends the process.
pub fn simulate<P: Programs>(words: &str, inputs: &[Input<'_>]) -> Simulation {
    let console = Kept::default();
    let success = run::<P>(&format!("heap_kib={MOST_HEAP_KIB} {words}"), inputs, &console);
    Simulation { success, console: console.into_text() }
}

/// A console that nobody looks at.
struct Nowhere;

impl Console for Nowhere {
    fn write(&self, _: fmt::Arguments<'_>) {}
}

/// A console that keeps what is printed.
#[derive(Default)]
pub struct Kept(Mutex<String>);

impl Kept {
    /// All that was printed.
    pub fn into_text(self) -> String {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Console for Kept {
    fn write(&self, text: fmt::Arguments<'_>) {
        sim::off_account(|| {
            // Formatted first: a value's own code may print, too.
            let text = text.to_string();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
        });
    }
}

fn run<P: Programs>(line: &str, inputs: &[Input<'_>], console: &dyn Console) -> bool {
    #[cfg(feature = "threads")]
    if args::value(line, "machine") == Some(on_threads::NAME) {
        return on_threads::run::<P>(line, inputs, console);
    }
    let machine = match machine(line) {
        Ok(machine) => machine,
        Err(message) => {
            console.write(format_args!("@done failed {message}\n"));
            return false;
        }
    };
    run_on::<P>(&machine, line, inputs, console)
}

/// Runs an image on a machine that was made before; words that describe machines have no effect. Returns success.
pub fn run_on<P: Programs>(machine: &Machine, line: &str, inputs: &[Input<'_>], console: &dyn Console) -> bool {
    let start = Start { line, inputs, console };
    let any_failed = Cell::new(false);
    let program = |core: &_| {
        // SAFETY: it is the simulator's own core.
        let success = unsafe { run_and_tell::<P, _>(core, &start) };
        any_failed.set(any_failed.get() || !success);
        success
    };
    let shown = shown(line, machine).unwrap_or_default();
    let look = |core: &_, failure: Option<&sim::Failure>| match failure {
        Some(why @ sim::Failure::Stopped { .. }) => {
            console.write(format_args!("{}", State { core, why, shown: &shown }));
        }
        None if !any_failed.get() => {}
        _ => trace::tell_until_failure(core, console),
    };
    let outcome = if is_checked(line) {
        let quiet = Start { line, inputs, console: &Nowhere };
        // SAFETY: it is the simulator's own core.
        let silently = |core: &_| unsafe { run_and_tell::<P, _>(core, &quiet) };
        let checked = machine.check_and_look(|core, again| if again { silently(core) } else { program(core) }, &look);
        for finding in &checked.findings {
            console.write(format_args!("@finding {finding}\n"));
        }
        for asked_for in &checked.asked_for {
            console.write(format_args!("@asked {asked_for}\n"));
        }
        if let (Ok(Some(seconds)), true) = (number(line, EXPLORE), checked.result.is_ok() && !any_failed.get()) {
            let search = Search { processor: Duration::from_secs(seconds), runs: u64::MAX, depth: DEPTH };
            tell_explored(&sim::explore(machine, search, silently, |success| !success), console);
        }
        checked.result
    } else {
        machine.run_and_look(program, &look)
    };
    match outcome {
        Err(sim::Failure::Stopped { .. }) => {
            console.write(format_args!("@done ok\n"));
            true
        }
        Ok(outcome) => {
            if let Some(name) = args::value(line, "work") {
                console.write(format_args!("{}", Account { name, ranks: outcome.cores.len(), work: outcome.work }));
            }
            if let Some(map) = &outcome.heat_map
                && let Ok(file) = Frame::new(HEAT_MAP_FILE, map.to_csv().as_bytes())
            {
                console.write(format_args!("{file}"));
            }
            if machine.options().stop.is_some() {
                let end = outcome.time_ps / 1_000;
                console.write(format_args!("the program had ended at {end} ns, before it was to stop\n"));
            }
            judge(&outcome.results(), console)
        }
        Err(failure) => {
            console.write(format_args!("{}\n@done failed {}\n", failure.to_string().trim_end(), failure.summary()));
            false
        }
    }
}

/// Tells what other runs have shown.
fn tell_explored(explored: &Explored<bool>, console: &dyn Console) {
    let Explored { accesses, in_order, is_complete, by_chance, broken_off, depth, failing } = explored;
    console.write(format_args!(
        "@explored accesses={accesses} in_order={in_order} is_complete={is_complete} by_chance={by_chance} broken_off={broken_off} \
         depth={depth}\n"
    ));
    let Some(failing) = failing else { return };
    for finding in &failing.checked.findings {
        console.write(format_args!("@finding {finding}\n"));
    }
    for step in &failing.story {
        console.write(format_args!("@story {step}\n"));
    }
    let Failing { met_with, is_least, shrinking, deviations, .. } = failing;
    let end = match &failing.checked.result {
        Err(failure) => failure.summary(),
        Ok(outcome) => match outcome.cores.iter().filter(|core| !core.result).count() {
            0 => failing.checked.findings.first().map_or_else(String::new, |finding| {
                let rank = finding.place.core.index();
                format!("{}: rank {rank} {}, {}", finding.mistake, finding.place.what, finding.bytes)
            }),
            count => format!("failed on {count} of {} ranks", outcome.cores.len()),
        },
    };
    let (met_with, is_least, shrinking) = (*met_with, *is_least, *shrinking);
    console.write(format_args!("{}", Told { met_with, is_least, shrinking, deviations, end: &end }));
}

/// What the run does differently from the plain one, if anything is said of that.
fn deviations(line: &str) -> Result<Option<Vec<Deviation>>, String> {
    let Some(words) = args::value(line, DEVIATIONS) else { return Ok(None) };
    // A run that does nothing differently is still none in which accesses meet.
    let words = words.split(',').filter(|word| *word != sim::NOTHING);
    words.map(|word| word.parse().map_err(|error| format!("{error}"))).collect::<Result<_, _>>().map(Some)
}

/// Whether the program is to be checked, and no more than that or for what it asks for in vain, too.
fn is_checked(line: &str) -> bool {
    args::has(line, CHECK_WORD) || args::value(line, CHECK_WORD) == Some(LINT)
}

/// Bytes of this core's heap, by the words that have described the machine.
pub(super) fn heap_bytes(core: &impl Core, line: &str) -> usize {
    let [others, first] = heaps_kib(line).unwrap_or([limits::HEAP_KIB; 2]);
    (if core.core().index() == 0 { first } else { others }) << 10
}

/// Where the run is to stop, if it is.
fn stop(line: &str) -> Result<Option<Stop>, String> {
    let (time, access) = (number(line, "stop_at_ps")?, number(line, "stop_at_access")?);
    Ok(access.map(Stop::Access).or(time.map(Stop::Time)))
}

/// What somebody wants to look at when the run stops: of the word `show=`, separated by commas.
fn shown(line: &str, machine: &Machine) -> Result<Vec<Shown>, String> {
    let layout = machine.layout();
    let parse = |text| Shown::parse(text, layout.cores(), layout.controllers());
    args::value(line, "show").into_iter().flat_map(|all| all.split(',')).map(parse).collect()
}

/// The machine that the words describe.
fn machine(line: &str) -> Result<Machine, String> {
    let name = args::value(line, "machine").unwrap_or("scc");
    let mut description = Description::parse(name).map_err(|error| error.to_string())?;
    if let Some(cores) = cores(line)? {
        description = description.with_cores(cores);
    }
    if is_checked(line) && args::has(line, "coherent") {
        return Err("coherent memory has nothing to be checked for".into());
    }
    number(line, "stuck_s")?;
    let [heap_kib, heap0_kib] = heaps_kib(line)?;
    let standard = Options::default();
    let frames = number(line, "cache_frames")?.map_or(standard.cache_frames, |frames| frames as usize);
    let options = Options {
        coherent: args::has(line, "coherent"),
        cache_frames: frames,
        stack_bytes: stack_bytes(line)?,
        heap_bytes: heap_kib << 10,
        first_heap_bytes: heap0_kib << 10,
        heat_map: args::has(line, "heatmap"),
        stop: stop(line)?,
        lint: args::value(line, CHECK_WORD) == Some(LINT),
        everything_priced: !args::has(line, "accesses_only"),
        ..standard
    };
    let machine = Machine::new(description).with_options(options);
    shown(line, &machine)?;
    number(line, EXPLORE)?;
    if let Some(deviations) = deviations(line)? {
        let cores = machine.layout().cores();
        if let Some(wrong) = deviations.iter().find(|deviation| deviation.core().index() >= cores) {
            return Err(format!("`{wrong}` is of a core that the machine does not have: it has {cores}"));
        }
        return Ok(machine.with_strategy(Strategy::Deviating(deviations)));
    }
    // As under QEMU, 0 stands for no exploration.
    let seed = number(line, "seed")?.unwrap_or(0) ^ number(line, "preempt")?.unwrap_or(0).rotate_left(32);
    Ok(if seed == 0 { machine } else { machine.with_seed(seed) })
}
