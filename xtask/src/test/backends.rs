//! One program on both backends, for tests that compare them.

use super::Arguments;
use crate::{
    build::Built,
    cores, guest,
    image::{self, Profile},
    memory::Plan,
    program::Program,
    qemu::Machine,
    setup::Tools,
    sim,
    words::Words,
};
use anyhow::Result;
use std::{path::PathBuf, time::Duration};

/// A program of the tree, built for both.
pub(super) struct Backends<'t> {
    pub(super) program: Program,
    image: Built,
    simulator: Built,
    tools: &'t Tools,
    inputs: Vec<PathBuf>,
    limit: Duration,
}

impl<'t> Backends<'t> {
    /// Builds it; it gets these input files.
    ///
    /// # Errors
    ///
    /// When it cannot be built.
    pub(super) fn build(name: &str, inputs: Vec<PathBuf>, arguments: &Arguments, tools: &'t Tools) -> Result<Self> {
        let program = Program::resolve(name)?;
        let image = image::bare_metal(&program, tools)?;
        let simulator = image::host(&program, Profile::Release)?;
        Ok(Self { program, image, simulator, tools, inputs, limit: arguments.limit() })
    }

    /// The input files.
    pub(super) fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    fn words(&self, words: &Words) -> Words {
        words.clone().value("program", Some(&self.program.name))
    }

    /// Runs it in QEMU; shows its last lines if it fails.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(super) fn in_qemu(&self, cores: u16, plan: &Plan, words: &Words) -> Result<guest::Outcome> {
        let machine = Machine {
            qemu: &self.tools.qemu,
            image: &self.image.executable,
            inputs: &self.inputs,
            cores,
            plan,
            words: self.words(words),
            thread_multi: false,
        };
        let mut staged = machine.stage()?;
        let label = format!("{} on {}", self.program.name, cores::cores(cores.into()));
        shown(guest::run(&label, &mut staged.command, Some(&staged.inquiry), self.limit, |_| {}))
    }

    /// Runs it in the simulator of the SCC with contention, by whose prices QEMU chooses algorithms, too; shows its last
    /// lines if it fails.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(super) fn simulated(&self, cores: u16, words: &Words) -> Result<guest::Outcome> {
        let words = self.words(words).value("machine", Some("scc+contention")).value("cores", Some(cores));
        let mut command = sim::command(&self.simulator.executable, words, &self.inputs)?;
        let label = format!("{} on {} simulated", self.program.name, cores::cores(cores.into()));
        shown(guest::run(&label, &mut command, None, self.limit, |_| {}))
    }
}

fn shown(outcome: Result<guest::Outcome>) -> Result<guest::Outcome> {
    if let Ok(outcome) = &outcome
        && outcome.verdict().is_err()
    {
        outcome.show_tail();
    }
    outcome
}
