//! All tests: on the host, in guests of several sizes, on emulated boards, and of the main job on all backends.

mod backends;
mod board;
mod clusters;
mod guests;
mod host;
mod main_job;
mod miri;
mod pc;
mod rounds;
mod summary;
mod traces;

pub(crate) use main_job::{same_files, same_values};

use crate::{
    cores::List,
    emulator, image,
    image::Profile,
    machine,
    program::Program,
    setup::{self, EmulatorTools, Tools},
    sim,
};
use anyhow::{Result, bail};
use clap::Args;
use guests::Guest;
use std::{fmt, num::NonZero, time::Duration};
use summary::Summary;

/// Sizes at which the in-kernel tests boot.
const CORES: [u16; 6] = [1, 2, 3, 5, 16, 48];

/// The largest machine, booted once.
const LARGEST: u16 = crate::cores::MOST;

/// Name of the test that lints the image.
const LINT: &str = "bare-metal-clippy";

/// Name of the test that lints the emulator of boards.
const EMULATOR_LINT: &str = "emulator-clippy";

/// Run all tests: on the host, in QEMU on 1 to 255 cores and in other schedules, QEMU against the simulator, and emulated
/// boards against QEMU
#[derive(Args)]
pub(crate) struct Arguments {
    /// Install what is missing without asking
    #[arg(long)]
    yes: bool,

    /// Numbers of cores for the in-kernel tests, such as 1,2,5-8 [default: 1,2,3,5,16,48,255, and a few in other
    /// schedules and in coherence domains]
    #[arg(long, value_name = "LIST")]
    cores: Option<List>,

    /// Coherence domains of neighbouring cores in the in-kernel tests
    #[arg(long, value_name = "D", value_parser = machine::domains)]
    domains: Option<NonZero<u16>>,

    /// Only tests whose name contains this
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,

    /// Record the main job's operation counters as the expected ones
    #[arg(long)]
    bless: bool,

    /// In-kernel tests with one host thread per core: real interleavings, slow beyond a few cores
    #[arg(long)]
    thread_multi: bool,

    /// In-kernel tests with hand-overs to other cores at places that this seed chooses
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    preempt: Option<u64>,

    /// Seconds until a guest that does not end is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

impl Arguments {
    fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    fn wants(&self, name: &str) -> bool {
        self.filter.as_deref().is_none_or(|filter| name.contains(filter))
    }

    fn guests(&self) -> Vec<Guest> {
        let chosen =
            |cores| Guest { cores, preempt: self.preempt, thread_multi: self.thread_multi, domains: self.domains };
        match &self.cores {
            Some(list) => list.0.iter().copied().map(chosen).collect(),
            None => {
                let schedules = [
                    Guest { preempt: Some(1), ..Guest::of(5) },
                    Guest { preempt: Some(2), ..Guest::of(5) },
                    Guest { thread_multi: true, ..Guest::of(2) },
                    Guest { domains: NonZero::new(2), ..Guest::of(8) },
                ];
                CORES.into_iter().chain([LARGEST]).map(chosen).chain(schedules).collect()
            }
        }
    }
}

/// Tests have failed, and everything has been said about it.
#[derive(Debug)]
pub(crate) struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("tests failed")
    }
}

impl std::error::Error for Failed {}

/// The command.
///
/// # Errors
///
/// When a test fails, or tests cannot run at all.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    if let Some(filter) = &arguments.filter {
        // It becomes a word of the kernel's command line.
        crate::words::Words::default().free(&[format!("x={filter}")])?;
    }
    for guest in arguments.guests() {
        machine::check_domains(guest.domains, guest.cores.into())?;
    }
    let (tools, emulator_tools): (Tools, EmulatorTools) = setup::ensure(arguments.yes)?;
    let disk_tools = pc::is_wanted(arguments).then(|| setup::ensure(arguments.yes)).transpose()?;
    let mut summary = Summary::default();

    summary.suite("host", |suite| host::run(suite, arguments.filter.as_deref()))?;
    in_kernel(arguments, &tools, &emulator_tools, disk_tools.as_ref(), &mut summary)?;
    let mut in_qemu = None;
    if main_job::NAMES.iter().any(|name| arguments.wants(name)) || board::wants_main_job(arguments) {
        summary.suite("main job", |suite| {
            in_qemu = Some(main_job::run(suite, arguments, &tools)?);
            Ok(())
        })?;
    }
    if board::is_wanted(arguments) {
        summary.suite("boards", |suite| board::run(suite, arguments, &tools, &emulator_tools, in_qemu.as_ref()))?;
    }
    if rounds::is_wanted(arguments) {
        summary.suite("simulator equals QEMU", |suite| rounds::run(suite, arguments, &tools))?;
    }
    if traces::NAMES.iter().any(|name| arguments.wants(name)) {
        summary.suite("traces", |suite| traces::run(suite, arguments, &tools))?;
    }
    if let (0, Some(filter)) = (summary.total(), &arguments.filter) {
        bail!("no test matches `{filter}`");
    }
    summary.print();
    if summary.failed() > 0 { Err(Failed.into()) } else { Ok(()) }
}

/// The in-kernel tests, one boot per machine size.
fn in_kernel(
    arguments: &Arguments,
    tools: &Tools,
    emulator_tools: &EmulatorTools,
    disk_tools: Option<&setup::DiskTools>,
    summary: &mut Summary,
) -> Result<()> {
    let program = Program::integration();
    let mut built = None;
    summary.suite("image", |suite| {
        let image = image::bare_metal(&program, tools)?;
        if arguments.wants("p54c-instructions") {
            // Without them there would have been no image.
            suite.pass("p54c-instructions");
        }
        if arguments.wants("no-warnings") {
            suite.check(
                "no-warnings",
                if let Some(first) = image.warnings.first() {
                    Err(anyhow::anyhow!("{}", first.trim()))
                } else {
                    Ok(())
                },
            );
        }
        if arguments.wants("no-writable-statics") {
            let check = |of: &Program| {
                let simulator = image::host(of, Profile::Release)?;
                sim::check_statics(&tools.objdump, &simulator.executable, &program)
            };
            suite.check("no-writable-statics", Program::of_each_image().iter().try_for_each(check));
        }
        if arguments.wants(miri::NAME) {
            match miri::run() {
                Ok(false) => {
                    eprintln!("skipped: {}: the toolchain that builds this tool has no cargo-miri", miri::NAME)
                }
                result => suite.check(miri::NAME, result.map(drop)),
            }
        }
        if arguments.wants(LINT) {
            match image::lint(&program, tools) {
                Ok(false) => eprintln!("skipped: {LINT}: the toolchain that builds the image has no cargo-clippy"),
                result => suite.check(LINT, result.map(drop)),
            }
        }
        if arguments.wants(EMULATOR_LINT) {
            match emulator::lint(emulator_tools) {
                Ok(false) => {
                    eprintln!("skipped: {EMULATOR_LINT}: the toolchain that builds this tool has no cargo-clippy")
                }
                result => suite.check(EMULATOR_LINT, result.map(drop)),
            }
        }
        built = Some(image);
        Ok(())
    })?;
    let Some(image) = built else { return Ok(()) };
    for guest in arguments.guests() {
        summary.suite(&format!("in-kernel, {guest}"), |suite| {
            guests::run(suite, arguments, tools, &image.executable, guest)
        })?;
    }
    // Whoever chooses sizes or schedules means those of one machine.
    if arguments.cores.is_none() && arguments.preempt.is_none() && !arguments.thread_multi {
        for (shape, part) in clusters::SHAPES {
            summary.suite(&format!("in-kernel, {shape}"), |suite| {
                clusters::run(suite, arguments, tools, &image.executable, shape, part)
            })?;
        }
        summary
            .suite("nodes that disappear", |suite| clusters::disturbed(suite, arguments, tools, &image.executable))?;
        if arguments.domains.is_none() {
            board::in_kernel(summary, arguments, tools, emulator_tools)?;
        }
    }
    if let Some(disk_tools) = disk_tools {
        pc::run(summary, arguments, tools, disk_tools, &image.executable)?;
    }
    summary.suite("fatal programs", |suite| {
        guests::fatal(suite, arguments, tools, &image.executable)?;
        guests::coherent(suite, arguments, tools, &image.executable)
    })
}
