//! Boots a program on several machines in QEMU that share memory.

mod nodes;
mod region;

pub(crate) use nodes::Disturbance;

use crate::{
    catalogue, command_line,
    console::Event,
    cores,
    guest::Outcome,
    image,
    kernel_line::KernelLine,
    memory::{self, Plan},
    program::{DEFAULT_PROGRAM, Program},
    progress::Progress,
    qemu::{Machine, Node, Staged},
    report::{More, ReportOptions},
    run::{self, Common},
    setup, trace, workspace,
};
use anyhow::{Result, ensure};
use clap::Args;
use region::Region;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Boot a program on a cluster: several machines in QEMU that share memory and nothing else
///
/// Starts N QEMU processes, one for each node. Node i has ranks i*C to (i+1)*C-1, and all ranks are one communicator. Between nodes
/// there are neither locks nor interrupts. A node that disappears is reported by the others. The exit status is 0 only
/// when every rank has succeeded.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of a program (`list` shows them all), or directory of your own crate that depends on `kernel`
    #[arg(default_value = DEFAULT_PROGRAM)]
    program: String,

    /// Install what is missing without asking
    #[arg(long)]
    yes: bool,

    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = cores::nodes)]
    nodes: u16,

    /// Number of cores of each node; 255 cores on all nodes together
    #[arg(long, value_name = "C", default_value_t = 4, value_parser = cores::number)]
    cores: u16,

    /// Seconds without a sign of life after which the other nodes report a node
    #[arg(long, value_name = "SECONDS", default_value_t = DEADLINE_S, value_parser = command_line::seconds())]
    deadline: u64,

    /// Seconds of its processor time until a node that does not end is given up [default: as for `run`]
    #[arg(long, value_name = "SECONDS", value_parser = command_line::seconds())]
    timeout: Option<u64>,

    #[command(flatten)]
    trace: trace::Options,

    #[command(flatten)]
    report: ReportOptions,

    #[command(flatten)]
    common: Common,
}

/// What `--deadline` is if nobody says otherwise.
pub(crate) const DEADLINE_S: u64 = 10;

/// How many nodes with how many cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) nodes: u16,
    pub(crate) cores: u16,
}

impl Shape {
    /// Refuses more cores than there can be.
    fn check(self) -> Result<()> {
        let all = u32::from(self.nodes) * u32::from(self.cores);
        ensure!(
            all <= cores::MOST.into(),
            "{} nodes of {} are {all} cores, and a cluster has at most {}",
            self.nodes,
            cores::cores(self.cores.into()),
            cores::MOST
        );
        Ok(())
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes = if self.nodes == 1 { "node" } else { "nodes" };
        write!(out, "{} {nodes} of {}", self.nodes, cores::cores(self.cores.into()))
    }
}

/// A cluster that is to be booted.
pub(crate) struct Cluster<'a> {
    pub(crate) qemu: &'a Path,
    pub(crate) image: &'a Path,
    /// For node 0, since only rank 0 can count on them.
    pub(crate) inputs: &'a [PathBuf],
    pub(crate) shape: Shape,
    pub(crate) plan: &'a Plan,
    pub(crate) words: KernelLine,
    pub(crate) deadline_s: u64,
}

impl Cluster<'_> {
    /// Boots it and waits for its end.
    pub(crate) fn run(
        &self,
        label: &str,
        limit: Duration,
        disturbance: Option<Disturbance>,
        watch: impl Fn(usize, &Event<'_>) + Sync,
    ) -> Result<Outcome> {
        let region = Region::new()?;
        let mut nodes = (0..self.shape.nodes).map(|node| self.stage(node, &region)).collect::<Result<Vec<_>>>()?;
        nodes::run(label, &mut nodes, limit, Duration::from_secs(self.deadline_s), disturbance, watch)
    }

    fn stage(&self, node: u16, region: &Region) -> Result<Staged> {
        let inputs = if node == 0 { self.inputs } else { &[] };
        let machine = Machine {
            qemu: self.qemu,
            image: self.image,
            inputs,
            cores: self.shape.cores,
            plan: self.plan,
            words: self.words.clone(),
            thread_multi: false,
        };
        machine.stage_node(&Node {
            node,
            nodes: self.shape.nodes,
            region: region.path(),
            input_bytes: memory::bytes(inputs),
            deadline_s: self.deadline_s,
        })
    }
}

/// Carries out `cargo xtask cluster`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let common = &arguments.common;
    let shape = Shape { nodes: arguments.nodes, cores: arguments.cores };
    shape.check()?;
    let program = Program::resolve(&arguments.program)?;
    if catalogue::listed(&program)? {
        return Ok(());
    }
    let inputs = common.given.inputs(&program)?;
    let plan = run::plan(&program, arguments.cores, &inputs, &common.given.words)?;
    let (plan, traces) = arguments.trace.in_guest(plan, arguments.cores, arguments.report.purpose(common.lines))?;
    let words = trace::Memory::add(traces, common.words(&program, None, false)?);
    if !common.no_build {
        catalogue::check(&program)?;
    }
    let tools: setup::Tools = setup::ensure(arguments.yes)?;
    let image = image::for_qemu(&program, &tools, common.no_build)?;
    let cluster = Cluster {
        qemu: &tools.qemu,
        image: &image,
        inputs: &inputs,
        shape,
        plan: &plan,
        words,
        deadline_s: arguments.deadline,
    };
    let label = format!("{} on {shape}", program.name);
    let progress = Progress::new(format!("booting {label}"));
    let limit = run::limit(arguments.timeout, memory::bytes(&inputs));
    let outcome = cluster.run(&label, limit, None, |node, event| match event {
        Event::Text(line) => progress.print(&format!("node {node}: {line}")),
        Event::Phase(phase) => progress.say(format!("{label}: {phase}")),
        _ => {}
    })?;
    drop(progress);
    let directory = workspace::results(&program.name);
    let judged = run::judge(&outcome, &directory, &inputs, common.given.counters);
    let judged = arguments.report.conclude(&outcome, &directory, judged, || Ok(More::default()));
    arguments.trace.conclude(&outcome, &directory, run::conclude(&outcome, judged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn options() {
        let parse = |words: &[&str]| Line::try_parse_from(["cluster"].iter().chain(words)).map(|line| line.arguments);
        let default = parse(&[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((default.program.as_str(), default.nodes, default.cores), ("terrain", 2, 4));
        assert_eq!((default.deadline, default.timeout), (10, None));
        let given = parse(&["hello", "--nodes", "3", "--cores", "2", "--deadline", "4", "--", "a=b"]);
        let given = given.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((given.nodes, given.cores, given.deadline), (3, 2, 4));
        assert_eq!(given.common.given.words, ["a=b"]);
        for words in [
            &["--nodes", "0"][..],
            &["--nodes", "256"],
            &["--cores", "0"],
            &["--deadline", "0"],
            &["--coherent"],
            &["--domains", "2"],
            &["--thread-multi"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn there_are_at_most_255_cores() {
        assert!(Shape { nodes: 51, cores: 5 }.check().is_ok());
        let message = Shape { nodes: 16, cores: 16 }.check().unwrap_err().to_string();
        assert_eq!(message, "16 nodes of 16 cores are 256 cores, and a cluster has at most 255");
        assert_eq!(Shape { nodes: 1, cores: 1 }.to_string(), "1 node of 1 core");
    }
}
