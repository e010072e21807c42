//! The laboratory, `tests/papers`, is a program of its own, which is built when it is first asked for: it measures what
//! papers publish, and draws. It runs programs by this tool, as anybody else would.

use crate::{
    build::{self, build},
    process, workspace,
};
use anyhow::{Context, Result, bail};
use clap::Args;
use host::command_line::ERROR;
use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Options of the command; `--help` shows them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub(crate) words: Vec<OsString>,
}

/// A command of the laboratory. It takes the place of this process.
pub(crate) fn main(command: &str, arguments: &Arguments) -> Result<()> {
    let mut laboratory = Command::new(built()?);
    laboratory.arg(command).args(&arguments.words);
    laboratory.env(host::XTASK, env::current_exe().context("cannot find out where this tool is")?);
    Err(laboratory.exec()).context("cannot start the laboratory")
}

/// Has it draw something from the first file into the others; returns what it says about it.
pub(crate) fn draw(what: &str, files: &[&Path]) -> Result<String> {
    finish(workspace::command(built()?).arg(what).args(files))
}

/// Has it run a bench, whose claims have to hold.
pub(crate) fn bench(name: &str) -> Result<()> {
    let mut command = workspace::command(built()?);
    command.args(["bench", name, "--yes"]);
    command.env(host::XTASK, env::current_exe().context("cannot find out where this tool is")?);
    finish(&mut command).map(drop)
}

/// What it says on its standard output.
fn finish(command: &mut Command) -> Result<String> {
    let finished = process::finish(command, |_| {})?;
    if !finished.status.success() {
        let reason = finished.messages.lines().find_map(|line| line.strip_prefix(ERROR));
        bail!("{}", reason.unwrap_or("the laboratory has failed, and does not say why"));
    }
    Ok(finished.output.trim().to_owned())
}

/// Where it is, built.
fn built() -> Result<PathBuf> {
    let mut command = build::of_workspace("build");
    command.args(build::MESSAGES).args(["--release", "--bin", "papers"]);
    Ok(build("the laboratory", &mut command)?.executable)
}
