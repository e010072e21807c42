//! Newlib, from the sources that the distribution has, built once for each side.
//!
//! What is built is kept in a directory whose name has a checksum of the sources and of all that they are built with. Beside it is a
//! checksum of what was built, which is compared each time.

use super::compiler::{self, COMMON, Side};
use crate::{process, progress::Progress, setup::CTools as HostTools, workspace};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

/// What newlib is built with besides the flags of its side.
const FLAGS: [&str; 4] = ["-O2", "-ffreestanding", "-fno-builtin", "-w"];

/// How newlib is configured.
const CONFIGURATION: [&str; 6] = [
    "--disable-multilib",
    "--enable-newlib-io-long-long",
    "--enable-newlib-io-long-double",
    "--enable-newlib-io-c99-formats",
    "--disable-newlib-multithread",
    "--disable-newlib-supplied-syscalls",
];

/// Functions that newlib asks for and `system.c` has. They get an underscore, so that a program may have functions with
/// their names of its own.
const SYSTEM: [&str; 15] = [
    "close",
    "fstat",
    "getpid",
    "gettimeofday",
    "isatty",
    "kill",
    "link",
    "lseek",
    "open",
    "read",
    "sbrk",
    "stat",
    "times",
    "unlink",
    "write",
];

/// The name of the file with the checksum of what was built.
const CHECKSUM: &str = "checksum";

/// What was built.
const ARCHIVES: [&str; 2] = ["libc.a", "libm.a"];

/// Newlib for a side.
pub(super) struct Newlib {
    pub(super) directory: PathBuf,
    pub(super) headers: Vec<PathBuf>,
    pub(super) archives: Vec<PathBuf>,
}

/// Newlib for a side, built if it has not been.
///
/// # Errors
///
/// When it does not build.
pub(super) fn ensure(side: Side, tools: &HostTools) -> Result<Newlib> {
    let sources = fs::read(&tools.newlib).with_context(|| format!("cannot read {}", tools.newlib.display()))?;
    let recipe = [&flags(side)[..], &CONFIGURATION.map(str::to_owned), &SYSTEM.map(str::to_owned)].concat().join(" ");
    let mut hash = crc32fast::Hasher::new();
    hash.update(&sources);
    hash.update(recipe.as_bytes());
    hash.update(tools.version.as_bytes());
    let name = if side == Side::Simulator { "simulator" } else { "p54c" };
    let directory = workspace::target().join("c").join(format!("newlib-{name}-{:08x}", hash.finalize()));
    let newlib = Newlib {
        headers: vec![directory.join("include"), tools.headers.clone()],
        archives: ARCHIVES.map(|archive| directory.join(archive)).to_vec(),
        directory: directory.clone(),
    };
    if newlib.is_as_it_was_built() {
        return Ok(newlib);
    }
    if directory.exists() {
        eprintln!("{} is not as it was built, and is built again", workspace::display(&directory));
        fs::remove_dir_all(&directory).with_context(|| format!("cannot remove {}", workspace::display(&directory)))?;
    }
    build(side, tools, &newlib)?;
    Ok(newlib)
}

impl Newlib {
    /// Whether all of it is there, with the checksum that was put beside it.
    fn is_as_it_was_built(&self) -> bool {
        let noted = fs::read_to_string(self.directory.join(CHECKSUM));
        noted.is_ok_and(|noted| checksum(&self.directory).is_ok_and(|now| now == noted))
    }
}

/// A checksum of what was built into a directory.
fn checksum(directory: &Path) -> Result<String> {
    let mut hash = crc32fast::Hasher::new();
    for archive in ARCHIVES.map(|archive| directory.join(archive)) {
        hash.update(&fs::read(&archive).with_context(|| format!("cannot read {}", workspace::display(&archive)))?);
    }
    Ok(format!("{:08x}", hash.finalize()))
}

/// All flags of the compiler.
fn flags(side: Side) -> Vec<String> {
    [compiler::of_side(side), &COMMON, &compiler::UNDEFINED, &FLAGS].concat().into_iter().map(str::to_owned).collect()
}

fn build(side: Side, tools: &HostTools, newlib: &Newlib) -> Result<()> {
    let progress = Progress::new("building the C library newlib, once: this takes minutes");
    let scratch = workspace::scratch()?;
    let [sources, objects] = ["sources", "objects"].map(|name| scratch.path().join(name));
    for made in [&sources, &objects] {
        fs::create_dir_all(made)?;
    }
    let mut unpack = super::tool("tar");
    unpack.arg("xf").arg(&tools.newlib).args(["--strip-components=1", "-C"]).arg(&sources);
    step(&mut unpack, "unpack newlib's sources")?;
    let mut configure = super::tool(sources.join("newlib/configure"));
    let host = if side == Side::Simulator { "x86_64-elf" } else { "i586-elf" };
    configure.current_dir(&objects).arg(format!("--host={host}")).args(CONFIGURATION);
    let compiler = tools.compiler.to_string_lossy();
    // Where the tools for another host would be looked for under other names.
    for (name, program) in
        [("CC", &*compiler), ("AR", "ar"), ("RANLIB", "ranlib"), ("READELF", "readelf"), ("AS", "as")]
    {
        configure.arg(format!("{name}={program}"));
    }
    configure.arg(format!("CFLAGS={}", flags(side).join(" ")));
    step(&mut configure, "configure newlib")?;
    progress.say("building the C library newlib, once: it is configured and compiles".to_owned());
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    step(super::tool("make").arg(format!("-j{jobs}")).current_dir(&objects), "build newlib")?;
    for archive in ARCHIVES {
        let mut command = super::tool("objcopy");
        command.args(SYSTEM.iter().map(|name| format!("--redefine-sym={name}=_{name}")));
        step(command.arg(objects.join(archive)), "rename what newlib asks a system for")?;
    }
    let made = scratch.path().join("made");
    fs::create_dir_all(&made)?;
    for archive in ARCHIVES {
        fs::copy(objects.join(archive), made.join(archive))?;
    }
    let mut command = super::tool("cp");
    command.arg("-rL").arg(sources.join("newlib/libc/include")).arg(made.join("include"));
    step(&mut command, "copy newlib's headers")?;
    let mut command = super::tool("cp");
    command.arg("-rL").arg(objects.join("targ-include/.")).arg(made.join("include"));
    step(&mut command, "copy newlib's headers")?;
    fs::write(made.join(CHECKSUM), checksum(&made)?)?;
    if let Some(parent) = newlib.directory.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::rename(&made, &newlib.directory) {
        // Somebody else has been faster.
        Err(_) if newlib.is_as_it_was_built() => Ok(()),
        result => result.with_context(|| format!("cannot write {}", workspace::display(&newlib.directory))),
    }
}

/// Runs a step of the build.
fn step(command: &mut Command, what: &str) -> Result<()> {
    let finished = process::finish(command, |_| {})?;
    if !finished.status.success() {
        let last = finished.messages.lines().rfind(|line| line.contains("rror")).or(finished.messages.lines().last());
        bail!("cannot {what}: {}", last.unwrap_or("no reason given"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_whole_is_not_taken() {
        let directory = tempfile::tempdir().unwrap();
        let newlib = Newlib { directory: directory.path().into(), headers: Vec::new(), archives: Vec::new() };
        assert!(!newlib.is_as_it_was_built());
        ARCHIVES.iter().for_each(|archive| fs::write(directory.path().join(archive), archive).unwrap());
        assert!(!newlib.is_as_it_was_built());
        fs::write(directory.path().join(CHECKSUM), checksum(directory.path()).unwrap()).unwrap();
        assert!(newlib.is_as_it_was_built());
        fs::write(directory.path().join(ARCHIVES[0]), "damaged").unwrap();
        assert!(!newlib.is_as_it_was_built());
        fs::remove_file(directory.path().join(ARCHIVES[0])).unwrap();
        assert!(!newlib.is_as_it_was_built());
    }
}
