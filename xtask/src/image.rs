//! Images for the bare P54C, and the same binaries for the host.
//!
//! The flags of the bare-metal target are given here and nowhere else: in a Cargo profile or configuration file they
//! would reach this tool and the host tests too. The inner cargo may be another one than the one that runs this tool.

use crate::{
    build::{self, Built, build},
    p54c, process,
    program::Program,
    progress::Progress,
    setup::{Toolchain, Tools},
    workspace,
};
use anyhow::{Context, Result, bail};
use std::{fs, process::Command, time::Duration};

/// How long clippy may take, which checks the library first.
const LINT_LIMIT: Duration = Duration::from_secs(600);

/// Optimised or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Release,
    Debug,
}

/// Builds a program's image and checks that it holds only what a P54C has.
///
/// # Errors
///
/// When it does not build or not pass.
pub(crate) fn bare_metal(program: &Program, tools: &Tools) -> Result<Built> {
    let built = build(&format!("the image {}", program.binary), &mut bare_metal_command(program, &tools.toolchain)?)?;
    p54c::check_image(&tools.objdump, &built.executable)?;
    Ok(built)
}

/// Builds the same binary for the host, where it is the simulator.
///
/// # Errors
///
/// When it does not build.
pub(crate) fn host(program: &Program, profile: Profile) -> Result<Built> {
    let mut command = workspace::command(workspace::host_cargo());
    command.arg("build").args(build::MESSAGES).env("CARGO_TARGET_DIR", workspace::target());
    select(&mut command, program, profile);
    build(&format!("the simulator of {}", program.binary), &mut command)
}

/// Lints what [`bare_metal`] builds: code for the bare machine only is none of the host's clippy's.
///
/// Returns whether there was anything to lint with: a distribution's compiler has no clippy.
///
/// # Errors
///
/// When clippy finds something.
pub(crate) fn lint(program: &Program, tools: &Tools) -> Result<bool> {
    if !tools.toolchain.cargo.with_file_name("cargo-clippy").is_file() {
        return Ok(false);
    }
    let _progress = Progress::new("clippy on the image");
    let finished = process::finish(&mut lint_command(program, &tools.toolchain), LINT_LIMIT, |_| {})?;
    if !finished.status.success() {
        eprintln!("{}", finished.messages.trim_end());
        let first = finished.messages.lines().find(|line| line.starts_with("error"));
        bail!("clippy: {}", first.unwrap_or("ended without a reason"));
    }
    Ok(true)
}

fn lint_command(program: &Program, toolchain: &Toolchain) -> Command {
    let mut command = inner_cargo(toolchain, "clippy");
    select(&mut command, program, Profile::Release);
    for_target(&mut command);
    command.args(["--", "-Dwarnings"]).env("CARGO_TERM_COLOR", "never");
    command
}

fn select(command: &mut Command, program: &Program, profile: Profile) {
    command.current_dir(&program.directory).args(["--package", &program.package, "--bin", &program.binary]);
    if profile == Profile::Release {
        command.arg("--release");
    }
}

fn bare_metal_command(program: &Program, toolchain: &Toolchain) -> Result<Command> {
    let script = workspace::root().join("linker/qemu.ld");
    let content = fs::read(&script).with_context(|| format!("cannot read {}", workspace::display(&script)))?;
    let mut command = inner_cargo(toolchain, "rustc");
    command.args(build::MESSAGES);
    select(&mut command, program, Profile::Release);
    for_target(&mut command);
    // Cargo appends what follows `--` to the last rustc only, so a new script costs one link. The symbol makes a
    // changed script a changed command: cargo does not look into it.
    command.arg("--").arg(format!("-Clink-arg=-T{}", script.display()));
    command.arg(format!("-Clink-arg=--defsym=linker_script_checksum={:#010x}", crc32fast::hash(&content)));
    Ok(command)
}

/// A command of the cargo whose compiler has the sources of its library.
fn inner_cargo(toolchain: &Toolchain, subcommand: &str) -> Command {
    let mut command = workspace::command(&toolchain.cargo);
    if let Some(rustc) = &toolchain.rustc {
        // The first rustc on the path may be another one without sources.
        command.env("RUSTC", rustc);
    }
    command
        .env("CARGO_TARGET_DIR", workspace::target().join("kernel"))
        .env("RUSTC_BOOTSTRAP", "1")
        // Set and empty, so that flags in the user's own configuration, `target-cpu=native` for one, do not count.
        .env("CARGO_ENCODED_RUSTFLAGS", "")
        .arg(subcommand);
    command
}

fn for_target(command: &mut Command) {
    command
        .arg("--target")
        .arg(workspace::root().join("linker/i586-atoll.json"))
        .args(["-Z", "build-std=core,alloc,compiler_builtins"])
        .args(["-Z", "build-std-features=compiler-builtins-mem"])
        .args(["-Z", "json-target-spec"]);
}
