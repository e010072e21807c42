//! Runs what `cargo xtask flash --board scc` has written, as the board would.
//!
//! Lines that cores print go to standard output. The exit status is 33 or 35 when the program says that it has
//! succeeded or failed, 3 when a core did something that no program may do, 4 when nothing will ever happen any more,
//! 5 when it was told to end, and 6 when a debugger has ended it; the last line on standard error says why, but after the
//! first two. SIGTERM tells it to end: then cores say where they are, or what they wait for.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use clap::Parser;
use emulator::{
    Board, Chip, Settings, consoles::Consoles, debugger::Debugger, ended::Ended, flame, loader, machine::Machine,
};

/// Whether somebody wants the run to end.
static TOLD_TO_END: AtomicBool = AtomicBool::new(false);

/// Runs the files for a board's tools on a model of the board
#[derive(Parser)]
struct Options {
    /// Directory with `board.toml`, `lut_init.dat` and the objects of the memory controllers
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Cores to start: numbers and ranges, such as 0..47 or 0,2,5..7 [default: all]
    #[arg(long, value_name = "LIST", value_parser = parse_cores)]
    cores: Option<List>,

    /// Let the bypass of the routers work, as on no chip that exists
    #[arg(long)]
    bypass_works: bool,

    /// Let all cores see the same memory, to show what only the caches find
    #[arg(long)]
    coherent: bool,

    /// Allow a line to be accessed in two ways while a cache holds it
    #[arg(long)]
    any_kind: bool,

    /// Write back modified lines now and then, at moments that depend on this number
    #[arg(long, value_name = "SEED")]
    evictions: Option<u64>,

    /// Execute all polls, also those that cannot succeed: nothing but the time that it takes is different
    #[arg(long)]
    execute_polls: bool,

    /// Let consoles have no status: what they are sent is sent all the same
    #[arg(long)]
    no_console_status: bool,

    /// Keep no time: an instruction is a cycle, and cores take turns
    #[arg(long)]
    functional: bool,

    /// Wait for a debugger at this socket before the first instruction
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["functional", "profile"])]
    gdb: Option<PathBuf>,

    /// Wait for a debugger at this socket when the program has failed, after a line that says so
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["functional", "profile", "gdb"])]
    gdb_on_failure: Option<PathBuf>,

    /// Note what cores do with what they share, the last of it that fits into KIB of memory for each, and print it at the end
    #[arg(long, value_name = "KIB")]
    trace_kib: Option<usize>,

    /// Note it as `--trace-kib` does, and print it only if the program does not succeed
    #[arg(long, value_name = "KIB", conflicts_with = "trace_kib")]
    failure_trace_kib: Option<usize>,

    /// The image's linear address of the function by whose calls it says what it does, for the notes
    #[arg(long, value_name = "ADDRESS")]
    says_at: Option<u32>,

    /// Print the number of the core before each line
    #[arg(long)]
    name_cores: bool,

    /// Write where cores executed the instructions that they counted, as folded stacks for flame graphs
    #[arg(long, value_name = "FILE", requires = "image")]
    profile: Option<PathBuf>,

    /// The image that was flashed, with the names of its functions
    #[arg(long, value_name = "ELF")]
    image: Option<PathBuf>,

    /// Say at the end what the cores did, on standard error before the reason
    #[arg(long)]
    counts: bool,
}

/// Numbers of cores.
#[derive(Clone)]
struct List(Vec<usize>);

fn parse_cores(text: &str) -> Result<List, String> {
    let number = |text: &str| {
        let number = text.trim().parse::<u8>().map_err(|_| format!("{text:?} is no number of a core"));
        number.map(usize::from)
    };
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("{part:?} has no cores"));
        }
        cores.extend(first..=last);
    }
    Ok(List(cores))
}

fn main() -> ExitCode {
    let options = Options::parse();
    // Without a handler the signal ends the process at once, which only tells less; and who waits for a debugger does not look.
    if options.gdb.is_none() && options.gdb_on_failure.is_none() {
        let _ = ctrlc::set_handler(|| TOLD_TO_END.store(true, Relaxed));
    }
    match run(&options) {
        Ok(status) => status.into(),
        Err(reason) => {
            eprintln!("emulator: {reason}");
            2.into()
        }
    }
}

/// The board that the files are for.
fn board(dir: &Path) -> Result<Board, String> {
    let path = dir.join("board.toml");
    let board = descriptions::boards::Board::read(&path).map_err(|error| error.to_string())?;
    let mesh = board.mesh().ok_or_else(|| format!("{} describes no mesh of tiles", path.display()))?;
    let board = Board::of(mesh);
    Chip::check(&board).map_err(|reason| format!("{}: {reason}", path.display()))?;
    Ok(board)
}

fn run(options: &Options) -> Result<u8, String> {
    let begun = Instant::now();
    let board = board(&options.dir)?;
    let settings = Settings {
        bypass_works: options.bypass_works,
        coherent: options.coherent,
        strict_kinds: !options.any_kind,
        evictions: options.evictions,
        console_status: !options.no_console_status,
        executes_polls: options.execute_polls,
    };
    let mut chip = Chip::with_settings(&board, settings);
    loader::load(&mut chip, &options.dir).map_err(|error| error.to_string())?;
    let cores = options.cores.clone().map_or_else(|| (0..board.cores()).collect(), |list| list.0);
    for core in cores {
        if core >= board.cores() {
            return Err(format!("the board has no core {core}"));
        }
        chip.release(core);
    }
    if let Some(kib) = options.trace_kib.or(options.failure_trace_kib) {
        chip.note(kib * 1024, options.says_at);
    }
    let mut machine = if options.functional { Machine::new(chip) } else { Machine::timed(chip) };
    if options.profile.is_some() {
        machine.profile_counted();
    }
    for (socket, begins) in [(&options.gdb, true), (&options.gdb_on_failure, false)] {
        if let Some(socket) = socket {
            let debugger = Debugger::new(socket, begins);
            machine.debug(debugger.map_err(|error| format!("cannot listen at {}: {error}", socket.display()))?);
        }
    }
    let (mut out, mut consoles) = (io::stdout().lock(), Consoles::default());
    let mut show = |core: usize, line: &str| {
        let shown = if options.name_cores { writeln!(out, "{core}: {line}") } else { writeln!(out, "{line}") };
        // Nobody reads any more: the exit status still says how it ended.
        let _ = shown.and_then(|()| out.flush());
    };
    let ended = machine.run(|| TOLD_TO_END.load(Relaxed), |core, line| consoles.take(core, line, &mut show));
    consoles.finish(&mut show);
    if let Ended::GivenUp(_) = ended {
        machine.ask(&mut show);
    }
    if options.trace_kib.is_some() || ended != Ended::Succeeded {
        machine.with_chip(|chip| chip.tell_notes(ended != Ended::Succeeded, &mut |line| show(0, line)));
    }
    // The last line on standard error is the reason.
    if !matches!(ended, Ended::Succeeded | Ended::Failed) {
        show_unfinished(&mut machine);
    }
    if let (Some(file), Some(image)) = (&options.profile, &options.image) {
        let stacks = flame::folded(image, &machine.profile()).map_err(|error| error.to_string())?;
        fs::write(file, stacks).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    if options.counts {
        show_counts(&mut machine, begun);
    }
    Ok(match &ended {
        Ended::Succeeded => 33,
        Ended::Failed => 35,
        Ended::Refused(violation, code) => {
            eprintln!("emulator: {violation} (in the code at {code:#x})");
            3
        }
        Ended::Stuck(places) => {
            eprintln!("emulator: nothing will happen any more: {places}");
            4
        }
        Ended::Killed => {
            eprintln!("emulator: the debugger has ended it");
            6
        }
        Ended::GivenUp(places) => {
            eprintln!("emulator: it still ran when it was told to end: {places}");
            5
        }
    })
}

/// Shows what cores have printed without ending the line.
fn show_unfinished(machine: &mut Machine) {
    machine.with_chip(|chip| {
        for core in 0..chip.board().cores() {
            let line = chip.unfinished_line(core);
            if !line.is_empty() {
                eprintln!("emulator: core {core} was printing: {line}");
            }
        }
    });
}

fn show_counts(machine: &mut Machine, begun: Instant) {
    let (seconds, rounds) = (begun.elapsed().as_secs_f64(), machine.rounds());
    machine.with_chip(|chip| {
        let megacycles = chip.time() / 1_000_000;
        let instructions: u64 = (0..chip.board().cores()).map(|core| chip.counts(core).instructions).sum();
        let millions = instructions / 1_000_000;
        if chip.polls_left_out() > 0 {
            eprintln!("emulator: {} polls were left out", chip.polls_left_out());
        }
        eprintln!("emulator: {megacycles} million cycles and {millions} million instructions in {rounds} rounds took {seconds:.1} s");
        for core in 0..chip.board().cores() {
            eprintln!("emulator: core {core}: {:?}", chip.counts(core));
        }
    });
}
