//! `xtask` as a process: it builds programs, runs them, and passes on the lines that they print.

use crate::bench::Machine;
use anyhow::{Context, Result, bail, ensure};
use host::{command_line::ERROR, cores, interrupt, process, workspace};
use std::{
    env,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};
use transcript::console::{Console, Transcript};

/// A run of a program.
#[derive(Debug)]
pub(crate) struct Run<'r> {
    pub(crate) program: &'r str,
    pub(crate) machine: &'r Machine,
    pub(crate) cores: u32,
    pub(crate) words: Vec<String>,
    /// Whether it gets its default input, where it has one.
    pub(crate) has_input: bool,
    /// Whether a table of its traffic is wanted.
    pub(crate) heat_map: bool,
    /// Whether everything has its price in the simulator, and not only what papers price.
    pub(crate) priced: bool,
    /// Where folded stacks go, on a board.
    pub(crate) flame: Option<&'r Path>,
    /// Whether what is missing is installed without asking, for a board.
    pub(crate) yes: bool,
    pub(crate) limit: Duration,
}

/// What `xtask build --for` calls the backend of a machine.
pub(crate) fn backend(machine: &Machine) -> &'static str {
    match machine {
        Machine::Simulated(_) => "sim",
        Machine::Qemu => "qemu",
        Machine::Board => "board",
        Machine::Threads(_) => "threads",
    }
}

/// Builds programs for a [`backend`]; asks the user about what has to be installed for that, unless he has said yes.
pub(crate) fn build(programs: &[&str], backend: &str, yes: bool) -> Result<()> {
    let mut command = xtask();
    command.args(["build", "--for", backend]);
    if yes {
        command.arg("--yes");
    }
    let status = command.arg("--").args(programs).stdout(Stdio::null()).status().context("cannot start xtask")?;
    interrupt::check()?;
    ensure!(status.success(), "{} cannot be built", programs.join(", "));
    Ok(())
}

/// Installs MPICH, Open MPI and a compiler of C for both, as far as they are missing, and says so.
pub(crate) fn set_up_mpi() -> Result<()> {
    let mut command = xtask();
    let status = command.args(["setup", "--mpi", "--yes"]).status().context("cannot start xtask")?;
    interrupt::check()?;
    ensure!(status.success(), "MPICH and Open MPI cannot be installed");
    Ok(())
}

impl Run<'_> {
    /// The words after the name of the tool.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut words = match self.machine {
            Machine::Simulated(machine) => {
                // Else by papers' prices, with which benches compare.
                let prices = (!self.priced).then(|| "--accesses-only".into());
                ["sim".into(), format!("--machine={machine}")].into_iter().chain(prices).collect()
            }
            Machine::Qemu => vec!["run".into()],
            Machine::Board => vec!["board".into()],
            Machine::Threads(memory) => {
                let option = memory.option().map(str::to_owned);
                ["run", "--machine=threads"].map(str::to_owned).into_iter().chain(option).collect()
            }
        };
        words.extend(["--lines", "--no-build"].map(str::to_owned));
        words.push(format!("--cores={}", self.cores));
        words.push(format!("--timeout={}", self.limit.as_secs()));
        if !self.has_input {
            words.push("--no-input".into());
        }
        if self.heat_map {
            // It is sent, and nothing is written.
            words.push("--heatmap=traffic.svg".into());
        }
        if *self.machine == Machine::Board {
            words.extend(self.yes.then(|| "--yes".into()));
            words.extend(self.flame.map(|file| format!("--profile={}", file.display())));
        }
        words.extend([self.program.to_owned(), "--".into()]);
        words.extend(self.words.iter().cloned());
        words
    }

    /// Runs a program that was built before; returns what it has said.
    pub(crate) fn transcript(&self) -> Result<Transcript> {
        transcript(&self.arguments(), self.program, self.cores)
    }
}

/// Builds a program in C, and runs it by this tool (`sim`, `board`, or `check`, which has its loads and stores checked), with
/// these options; returns what it and the machine have said. Lines that it prints as programs in Rust send numbers count as such.
pub(crate) fn run_c(
    tool: &[&str],
    source: &Path,
    cores: u32,
    arguments: &[String],
    limit: Duration,
) -> Result<Transcript> {
    let mut words: Vec<_> = tool.iter().copied().map(str::to_owned).collect();
    words.extend(["--lines".into(), "--yes".into()]);
    words.extend([format!("--cores={cores}"), format!("--timeout={}", limit.as_secs())]);
    words.extend([source.display().to_string(), "--".into()]);
    words.extend_from_slice(arguments);
    let said = transcript(&words, &workspace::display(source).to_string(), cores)?;
    // What a program prints stands behind a space where it looks like what it sends.
    let mut transcript = Transcript::of(said.text.iter().map(|line| line.trim_start()));
    transcript.samples.extend(said.samples);
    Ok(transcript)
}

/// What a run with these words has said.
fn transcript(words: &[String], program: &str, count: u32) -> Result<Transcript> {
    let mut console = Console::default();
    let mut command = xtask();
    command.args(words).stdin(Stdio::null()).process_group(0);
    let finished = process::finish(&mut command, |line| _ = console.line(line))?;
    if !finished.status.success() {
        let (errors, others): (Vec<_>, Vec<_>) = finished.messages.lines().partition(|line| line.starts_with(ERROR));
        others.iter().for_each(|line| eprintln!("{line}"));
        match errors.last() {
            Some(error) => bail!("{}", error.trim_start_matches(ERROR)),
            None => bail!("{program} on {} has ended without a reason", cores::cores(count)),
        }
    }
    Ok(console.finish())
}

/// The tool: the one that has started this process, or that of the workspace.
fn xtask() -> Command {
    match env::var_os(host::XTASK) {
        Some(tool) => Command::new(tool),
        None => {
            let mut command = Command::new(workspace::host_cargo());
            command.arg("xtask").current_dir(workspace::root());
            command
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_command_lines() {
        let arguments = |machine: &str, heat_map| {
            let run = Run {
                program: "bench-x",
                machine: &machine.parse().unwrap(),
                cores: 6,
                words: vec!["class=a".into()],
                has_input: heat_map,
                heat_map,
                priced: machine == "scc",
                flame: Some(Path::new("f")),
                yes: true,
                limit: Duration::from_secs(7),
            };
            run.arguments().join(" ")
        };
        let rest = "--lines --no-build --cores=6 --timeout=7 --no-input bench-x -- class=a";
        assert_eq!(arguments("scc+flat", false), format!("sim --machine=scc+flat --accesses-only {rest}"));
        assert_eq!(arguments("scc", false), format!("sim --machine=scc {rest}"));
        assert_eq!(arguments("qemu", false), format!("run {rest}"));
        assert_eq!(arguments("threads", false), format!("run --machine=threads {rest}"));
        assert_eq!(arguments("threads+coherent", false), format!("run --machine=threads --coherent {rest}"));
        let board = rest.replace("bench-x", "--yes --profile=f bench-x");
        assert_eq!(arguments("scc-board", false), format!("board {board}"));
        assert!(arguments("scc+flat", true).contains(" --heatmap=traffic.svg "));
    }
}
