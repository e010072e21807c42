//! Images for the bare P54C, and the same binaries for the host.
//!
//! The flags of the bare-metal target are given here and nowhere else: in a Cargo profile or configuration file they would
//! reach this tool and the host tests too. The inner cargo may be another one than the one that runs this tool.

use crate::{
    build::{self, Built, build},
    p54c,
    program::Program,
    setup::{Toolchain, Tools},
    workspace,
};
use anyhow::{Context, Result};
use std::{fs, process::Command};

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
    command.arg("build").env("CARGO_TARGET_DIR", workspace::target());
    select(&mut command, program, profile);
    build(&format!("the simulator of {}", program.binary), &mut command)
}

fn select(command: &mut Command, program: &Program, profile: Profile) {
    command.current_dir(&program.directory).args(["--package", &program.package, "--bin", &program.binary]);
    command.args(build::MESSAGES);
    if profile == Profile::Release {
        command.arg("--release");
    }
}

fn bare_metal_command(program: &Program, toolchain: &Toolchain) -> Result<Command> {
    let linker = workspace::root().join("linker");
    let script = linker.join("qemu.ld");
    let content = fs::read(&script).with_context(|| format!("cannot read {}", workspace::display(&script)))?;
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
        .arg("rustc");
    select(&mut command, program, Profile::Release);
    command
        .arg("--target")
        .arg(linker.join("i586-atoll.json"))
        .args(["-Z", "build-std=core,alloc,compiler_builtins"])
        .args(["-Z", "build-std-features=compiler-builtins-mem"])
        .args(["-Z", "json-target-spec"]);
    // Cargo appends what follows `--` to the last rustc only, so a new script costs one link. The symbol makes a changed
    // script a changed command: cargo does not look into it.
    command.arg("--").arg(format!("-Clink-arg=-T{}", script.display()));
    command.arg(format!("-Clink-arg=--defsym=linker_script_checksum={:#010x}", crc32fast::hash(&content)));
    Ok(command)
}
