//! Builds an image and boots it in QEMU.

use crate::{
    catalogue, command_line,
    console::{Event, Transcript},
    cores,
    debugger::{self, Debugger, Stub},
    emulation,
    findings::CHECK_WORD,
    guest, host_command, image,
    kernel_line::{self, KernelLine},
    loading,
    machine::{check_domains, domains},
    memory::{self, Plan, bytes},
    monitor::Monitor,
    program::Program,
    progress::Progress,
    qemu::Machine,
    report, result_files, setup, trace,
    wanted::{Given, Wanted},
    workspace,
};
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use std::{
    num::NonZero,
    path::{Path, PathBuf},
    time::Duration,
};

/// Seconds of processor time for a guest whose input is no larger than [`SMALL_INPUT_KIB`].
const LIMIT_S: u64 = 120;

/// Input that [`LIMIT_S`] is enough for.
const SMALL_INPUT_KIB: u64 = 512;

/// Input beyond that which takes a second more, at least.
const INPUT_KIB_PER_S: u64 = 20;

/// Boot a program on many cores without cache coherence, in QEMU
///
/// Builds the image, checks it, boots it, shows what it prints and writes its result files below target/out. The exit
/// status is 0 only when every rank has succeeded.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,

    /// What cores are: `qemu`, vCPUs, or `threads` of the host, which really run side by side, in the host's own time
    #[arg(long, value_name = "M", value_enum, default_value_t = Cores::Qemu)]
    machine: Cores,

    /// Number of cores, 1 to 255
    #[arg(long, value_name = "N", default_value_t = 48, value_parser = cores::number)]
    cores: u16,

    /// Seconds of processor time until a guest that does not end is given up [default: 120, and 1 more per 20 KiB of
    /// input beyond 512 KiB]
    #[arg(long, value_name = "SECONDS", value_parser = command_line::seconds())]
    timeout: Option<u64>,

    /// Hand over to other cores after operations, at places that this seed chooses
    #[arg(long, value_name = "S", value_parser = command_line::seed())]
    preempt: Option<u64>,

    /// Switch off the emulation of non-coherent memory, then run again with it and say what it costs and catches
    #[arg(long, conflicts_with_all = ["gdb", "gdb_on_failure"])]
    coherent: bool,

    /// On threads: write lines of the host's caches back and invalidate them by instructions (`clwb`, `clflushopt`), as
    /// memory needs it that hosts share without coherence
    #[arg(long, conflicts_with = "coherent")]
    write_back: bool,

    /// One host thread per core: real interleavings, but slow beyond a few cores and never the same twice
    #[arg(long)]
    thread_multi: bool,

    #[command(flatten)]
    domains: Domains,

    #[command(flatten)]
    debugger: debugger::DebuggerOptions,

    #[command(flatten)]
    trace: trace::Options,

    #[command(flatten)]
    report: report::ReportOptions,

    #[command(flatten)]
    common: Common,
}

/// What cores are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Cores {
    Qemu,
    Threads,
}

/// Coherence domains, for machines whose nodes are none.
#[derive(Args)]
pub(crate) struct Domains {
    /// Coherence domains of neighbouring cores: cores of one share what they cache [default: every core is one]
    #[arg(long, value_name = "D", value_parser = domains)]
    pub(crate) domains: Option<NonZero<u16>>,
}

/// What commands have in common that run a program.
#[derive(Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) given: Given,

    /// Show the lines that the program sends to tools, too, which begin with `@`, and nothing else; no files are written
    #[arg(long)]
    pub(crate) lines: bool,

    /// Run what was built before, however old it is (`build` builds it)
    #[arg(long)]
    pub(crate) no_build: bool,
}

impl Common {
    /// The kernel's command line on emulated hardware.
    pub(crate) fn words(&self, program: &Program, preempt: Option<u64>, coherent: bool) -> Result<KernelLine> {
        let words = self.given.kernel_line(program)?.value("preempt", preempt);
        Ok(words.switch("coherent", coherent))
    }
}

/// Whoever wants to have a program checked is told of the checker, which other machines than the simulator do not have.
fn refuse_checker(free: &[String]) -> Result<()> {
    let is_asked_for = free.iter().any(|word| word.split('=').next() == Some(CHECK_WORD));
    ensure!(!is_asked_for, "`{CHECK_WORD}`: use `check` instead");
    Ok(())
}

/// The memory for a program, its inputs and the user's words about heaps. A program in C gets what there is.
pub(crate) fn plan(program: &Program, cores: u16, inputs: &[PathBuf], free: &[String]) -> Result<Plan> {
    refuse_checker(free)?;
    let words = program.words(free);
    let number = |key| kernel_line::number(&words, key);
    let (heap_kib, heap0_kib, stack_kib) = (number("heap_kib")?, number("heap0_kib")?, kernel_line::stack_kib(&words)?);
    let large = program.c.as_ref().map(|_| memory::large_heap_kib(cores, bytes(inputs), stack_kib));
    Plan::new(cores, bytes(inputs), heap_kib.or(large), heap0_kib)?.with_stacks(cores, stack_kib)
}

/// How much processor time a guest may use: what the user says, or more for a larger input.
pub(crate) fn limit(timeout: Option<u64>, input_bytes: u64) -> Duration {
    let beyond_kib = input_bytes.div_ceil(1024).saturating_sub(SMALL_INPUT_KIB);
    Duration::from_secs(timeout.unwrap_or_else(|| LIMIT_S.saturating_add(beyond_kib.div_ceil(INPUT_KIB_PER_S))))
}

/// Carries out `cargo xtask run`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let common = &arguments.common;
    // What is wrong with the command line is said before anything is installed or built.
    let Some(program) = arguments.wanted.program()? else { return Ok(()) };
    let inputs = common.given.inputs(&program)?;
    if arguments.machine == Cores::Threads {
        return on_threads(arguments, &program, &inputs);
    }
    ensure!(!arguments.write_back, "--write-back is an option of --machine threads");
    let plan = plan(&program, arguments.cores, &inputs, &common.given.words)?;
    let (plan, traces) = arguments.trace.in_guest(plan, arguments.cores, arguments.report.purpose(common.lines))?;
    let words = |coherent| {
        let words = common.words(&program, arguments.preempt, coherent)?;
        anyhow::Ok(trace::Memory::add(traces, words.value("domains", arguments.domains.domains)))
    };
    words(arguments.coherent)?;
    check_domains(arguments.domains.domains, arguments.cores.into())?;
    if !common.no_build {
        catalogue::check(&program)?;
    }
    let stop = arguments.debugger.stop();
    let tools = setup::for_program(&program, arguments.wanted.yes)?;
    let debugger_tools = stop.map(|_| setup::ensure::<setup::DebuggerTools>(arguments.wanted.yes)).transpose()?;
    let image = match stop {
        None => image::for_qemu(&program, &tools, common.no_build)?,
        Some(_) => image::for_debugger(&program, &tools)?,
    };
    let boot = |coherent: bool| {
        let machine = Machine {
            qemu: &tools.qemu,
            image: &image,
            inputs: &inputs,
            cores: arguments.cores,
            plan: &plan,
            words: words(coherent)?.switch(debugger::HOLD, stop == Some(debugger::Stop::OnFailure)),
            thread_multi: arguments.thread_multi,
        };
        machine.stage()
    };
    let limit = limit(arguments.timeout, bytes(&inputs));
    let label = format!("{} on {}", program.name, cores::cores(arguments.cores.into()));
    let mut staged = boot(arguments.coherent)?;
    if common.lines {
        return pass_on(&label, &mut staged.command, Some(&staged.monitor), limit);
    }
    let outcome = match stop.zip(debugger_tools) {
        None => live(&label, &mut staged.command, Some(&staged.monitor), limit)?,
        Some((stop, tools)) => {
            let debugger = stop.prepare(Stub::Qemu, &staged.monitor, &program, &tools)?;
            debugged(&label, &mut staged.command, &staged.monitor, &debugger)?
        }
    };
    let directory = workspace::results(&program.name);
    let judged = judge(&outcome, &directory, &inputs, common.given.counters);
    let judged = arguments.report.conclude(&outcome, &directory, judged, || Ok(report::More::default()));
    arguments.trace.conclude(&outcome, &directory, conclude(&outcome, judged))?;
    if arguments.coherent {
        let label = format!("{label} with emulated non-coherence");
        let _progress = Progress::new(format!("booting {label}"));
        let mut staged = boot(false)?;
        let emulated = guest::run(&label, &mut staged.command, Some(&staged.monitor), limit, |_| {})?;
        emulation::compare(&outcome, &emulated)?;
    }
    Ok(())
}

/// The command, on threads of the host.
fn on_threads(arguments: &Arguments, program: &Program, inputs: &[PathBuf]) -> Result<()> {
    let common = &arguments.common;
    refuse_checker(&common.given.words)?;
    let has_other = arguments.domains.domains.is_some() || arguments.thread_multi;
    ensure!(!has_other, "--domains and --thread-multi are options of --machine qemu");
    ensure!(arguments.debugger.stop().is_none(), "--gdb and --gdb-on-failure are for --machine qemu and for `board`");
    let words =
        loading::words(program, common.words(program, arguments.preempt, arguments.coherent)?, arguments.wanted.yes)?;
    let words = words.value("machine", Some("threads")).value("cores", Some(arguments.cores));
    let words = words.switch("write_back", arguments.write_back);
    let memory = arguments.trace.on_host(arguments.cores.into(), arguments.report.purpose(common.lines));
    let words = trace::Memory::add(memory, words);
    let mut command = host_command::of(&image::for_threads(program, common.no_build)?, words, inputs)?;
    let label = format!("{} on {} that are threads", program.name, cores::cores(arguments.cores.into()));
    let limit = limit(arguments.timeout, bytes(inputs));
    if common.lines {
        return pass_on(&label, &mut command, None, limit);
    }
    let outcome = live(&label, &mut command, None, limit)?;
    let directory = workspace::results(&program.name);
    let judged = judge(&outcome, &directory, inputs, common.given.counters);
    let judged = arguments.report.conclude(&outcome, &directory, judged, || Ok(report::More::default()));
    arguments.trace.conclude(&outcome, &directory, conclude(&outcome, judged))
}

/// Runs a guest in front of the user.
pub(crate) fn live(
    label: &str,
    command: &mut std::process::Command,
    monitor: Option<&Monitor>,
    limit: Duration,
) -> Result<guest::Outcome> {
    let progress = Progress::new(format!("{} {label}", if monitor.is_some() { "booting" } else { "running" }));
    guest::run(label, command, monitor, limit, |event| match event {
        Event::Text(line) => progress.print(line),
        Event::Phase(phase) => progress.say(format!("{label}: {phase}")),
        _ => {}
    })
}

/// Runs a guest in front of a user who debugs it, for as long as that takes.
pub(crate) fn debugged(
    label: &str,
    command: &mut std::process::Command,
    monitor: &Monitor,
    debugger: &Debugger,
) -> Result<guest::Outcome> {
    command.args(debugger.machine_arguments());
    let progress = Progress::new(format!("booting {label}"));
    debugger.greet(&progress);
    guest::run_by_lines(
        label,
        command,
        Some(monitor),
        guest::FOREVER,
        |_| None,
        |line, event| {
            if let Event::Text(line) = event {
                progress.print(line);
            }
            debugger.look(line, &progress);
        },
    )
}

/// Runs a guest for another tool: shows all of its lines as they are, and judges.
///
/// # Errors
/// When the guest fails, cannot be started, or the user stops it.
pub(crate) fn pass_on(
    label: &str,
    command: &mut std::process::Command,
    monitor: Option<&Monitor>,
    limit: Duration,
) -> Result<()> {
    let outcome = guest::run_by_lines(label, command, monitor, limit, |_| None, |line, _| println!("{line}"))?;
    let verdict = outcome.verdict();
    if verdict.is_err() {
        eprintln!("{}", outcome.tail());
    }
    verdict
}

/// Prints the last line of a run that was [judged](judge) to be good.
pub(crate) fn conclude(outcome: &guest::Outcome, judged: Result<()>) -> Result<()> {
    judged?;
    println!("{}: ok, {:.1} s without building", outcome.label, outcome.elapsed.as_secs_f64());
    Ok(())
}

/// Writes results, shows what was asked for, and judges.
pub(crate) fn judge(outcome: &guest::Outcome, directory: &Path, inputs: &[PathBuf], counters: bool) -> Result<()> {
    // Files that arrived whole are worth having also after a failure, whose reason then comes first.
    let written = result_files::write(&outcome.transcript, directory, inputs);
    if counters {
        show_counters(&outcome.transcript);
    }
    let verdict = outcome.verdict();
    if verdict.is_err() {
        outcome.show_messages();
    }
    verdict?;
    result_files::announce(&written?);
    Ok(())
}

fn show_counters(transcript: &Transcript) {
    for counters in &transcript.counters {
        let values: Vec<_> = counters.values.iter().map(|(key, value)| format!("{key}={value}")).collect();
        println!("rank {}: {}", counters.rank, values.join(" "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checker_is_the_simulators() {
        let refused = |word: &str| refuse_checker(&["a=b".into(), word.into()]).is_err();
        assert_eq!(["check_coherence", "check_coherence=lint", "check=arguments"].map(refused), [true, true, false]);
    }

    #[test]
    fn a_larger_input_may_take_longer() {
        let seconds = |timeout, kib: u64| limit(timeout, kib * 1024).as_secs();
        assert_eq!([0, 512, 513, 532, 533, 1536].map(|kib| seconds(None, kib)), [120, 120, 121, 121, 122, 172]);
        assert_eq!(seconds(Some(7), 1 << 20), 7);
        assert!(limit(None, u64::MAX).as_secs() > 120);
    }
}
