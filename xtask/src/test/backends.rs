//! One program on both backends, for tests that compare them.

use super::kit::Kit;
use crate::{cores, guest, host_command, kernel_line::KernelLine, memory::Plan, program::Program, qemu::Machine};
use anyhow::Result;
use std::path::PathBuf;

/// A program of the tree, for both.
pub(super) struct Backends<'t> {
    pub(super) program: Program,
    kit: &'t Kit<'t>,
    inputs: Vec<PathBuf>,
}

impl<'t> Backends<'t> {
    /// The program with this name; it gets these input files.
    pub(super) fn of(name: &str, inputs: Vec<PathBuf>, kit: &'t Kit<'t>) -> Result<Self> {
        Ok(Self { program: Program::resolve(name)?, kit, inputs })
    }

    /// The input files.
    pub(super) fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    fn words(&self, words: &KernelLine) -> KernelLine {
        words.clone().value("program", Some(&self.program.name))
    }

    /// Runs it in QEMU.
    pub(super) fn in_qemu(&self, cores: u16, plan: &Plan, words: &KernelLine) -> Result<guest::Outcome> {
        let machine = Machine {
            image: &self.kit.image(&self.program)?.executable,
            qemu: &self.kit.tools()?.qemu,
            inputs: &self.inputs,
            cores,
            plan,
            words: self.words(words),
            thread_multi: false,
        };
        let mut staged = machine.stage()?;
        let label = format!("{} on {}", self.program.name, cores::cores(cores.into()));
        guest::run(&label, &mut staged.command, Some(&staged.monitor), self.kit.limit(), |_| {})
    }

    /// Runs it in the simulator of the SCC, by whose prices QEMU chooses algorithms, too.
    pub(super) fn simulated(&self, cores: u16, words: &KernelLine) -> Result<guest::Outcome> {
        let words = self.words(words).value("machine", Some("scc")).value("cores", Some(cores));
        let mut command = host_command::of(&self.kit.simulator(&self.program)?.executable, words, &self.inputs)?;
        let label = format!("{} on {} simulated", self.program.name, cores::cores(cores.into()));
        guest::run(&label, &mut command, None, self.kit.limit(), |_| {})
    }
}
