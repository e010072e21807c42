//! Newlib, from the sources that the distribution has, built once for each side.
//!
//! What is built is kept in a directory whose name has a checksum of the sources and of all that they are built with. Beside it is a
//! checksum of what was built, which is compared each time.

use super::{
    compiler::{self, COMMON, Side},
    priced,
};
use crate::{
    process::{self, Account},
    progress::Progress,
    setup::CTools as HostTools,
    workspace,
};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// What newlib is built with besides the flags of its side. The compiler leaves its assembly beside each object.
const FLAGS: [&str; 5] = ["-O2", "-ffreestanding", "-fno-builtin", "-w", "-save-temps=obj"];

/// Directories of what is priced: what programs compute with, and not what is for locales and character sets.
const PRICED: [&str; 8] =
    ["libc/ctype", "libc/misc", "libc/search", "libc/stdio", "libc/stdlib", "libc/string", "libm/common", "libm/math"];

/// Sources that say what is charged: where they change, the simulator's library is built again.
const PRICES: [&str; 2] = ["xtask/src/c/priced", "xtask/p54c/src"];

/// Where assembly is kept, by which the other side's library is priced.
const ASSEMBLY: &str = "assembly";

/// The debugger's part of assembly, which comes last.
const FOR_DEBUGGERS: &str = "\t.section\t.debug_";

/// How newlib is configured. What one of its directories has found out about the compiler, the others take.
const CONFIGURATION: [&str; 7] = [
    "--config-cache",
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
pub(super) fn ensure(side: Side, tools: &HostTools) -> Result<Newlib> {
    let priced_by = match side {
        Side::Simulator => Some(ensure(Side::P54c, tools)?.directory),
        Side::P54c => None,
    };
    let sources = fs::read(&tools.newlib).with_context(|| format!("cannot read {}", tools.newlib.display()))?;
    let recipe = [&flags(side)[..], &CONFIGURATION.map(str::to_owned), &SYSTEM.map(str::to_owned)].concat().join(" ");
    let mut hash = crc32fast::Hasher::new();
    hash.update(&sources);
    hash.update(recipe.as_bytes());
    hash.update(tools.version.as_bytes());
    if let Some(by) = &priced_by {
        hash.update(by.file_name().unwrap_or_default().as_encoded_bytes());
        PRICES.iter().try_for_each(|directory| hash_sources(&workspace::root().join(directory), &mut hash))?;
    }
    let name = if side == Side::Simulator { "simulator" } else { "p54c" };
    let directory = workspace::target().join("c").join(format!("newlib-{name}-{:08x}", hash.finalize()));
    let newlib = Newlib {
        // Newlib's atomics are for another compiler.
        headers: vec![tools.headers.clone(), directory.join("include")],
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
    build(side, priced_by.map(|by| by.join(ASSEMBLY)).as_deref(), tools, &newlib)?;
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

/// Hashes the files below a directory, in the order of their names.
fn hash_sources(directory: &Path, hash: &mut crc32fast::Hasher) -> Result<()> {
    let shown = || format!("cannot read {}", workspace::display(directory));
    let entries = fs::read_dir(directory).with_context(shown)?.collect::<Result<Vec<_>, _>>().with_context(shown)?;
    let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash_sources(&path, hash)?;
        } else {
            hash.update(path.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(&fs::read(&path).with_context(|| format!("cannot read {}", workspace::display(&path)))?);
        }
    }
    Ok(())
}

/// All flags of the compiler.
fn flags(side: Side) -> Vec<String> {
    let priced = if side == Side::Simulator { &priced::FLAGS[..] } else { &[] };
    [compiler::of_side(side), &COMMON, &compiler::UNDEFINED, &FLAGS, priced]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn build(side: Side, priced_by: Option<&Path>, tools: &HostTools, newlib: &Newlib) -> Result<()> {
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
    let made = scratch.path().join("made");
    fs::create_dir_all(made.join(ASSEMBLY))?;
    match priced_by {
        Some(by) => price(&objects, by, tools, scratch.path())?,
        None => keep_assembly(&objects, &made.join(ASSEMBLY))?,
    }
    for archive in ARCHIVES {
        let mut command = super::tool("objcopy");
        command.args(SYSTEM.iter().map(|name| format!("--redefine-sym={name}=_{name}")));
        step(command.arg(objects.join(archive)), "rename what newlib asks a system for")?;
    }
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

/// The assembly of what is priced, and what it is called where it is kept.
fn assembly(objects: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for directory in PRICED {
        // It is not the same for all machines.
        for entry in fs::read_dir(objects.join(directory)).into_iter().flatten() {
            let path = entry?.path();
            if path.extension().is_some_and(|kind| kind == "s") && path.with_extension("o").is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                found.push((path.clone(), format!("{}-{name}", directory.replace('/', "-"))));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The part of assembly that is code.
fn code(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.split(FOR_DEBUGGERS).next().unwrap_or_default().to_owned())
}

fn keep_assembly(objects: &Path, kept: &Path) -> Result<()> {
    assembly(objects)?.iter().try_for_each(|(path, name)| Ok(fs::write(kept.join(name), code(path)?)?))
}

/// Puts into the archives what says what it would take on a P54C.
fn price(objects: &Path, by: &Path, tools: &HostTools, scratch: &Path) -> Result<()> {
    let all = assembly(objects)?;
    let next = AtomicUsize::new(0);
    let work = |number: usize| {
        let beside = scratch.join(format!("priced-{number}"));
        while let Some((path, name)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let counterpart = by.join(name);
            if counterpart.is_file() {
                let own = fs::read_to_string(path)?;
                let priced = priced::priced(&own, &code(&counterpart)?, &tools.compiler, &beside)?;
                fs::write(path, priced)?;
                let mut command = super::tool(&tools.compiler);
                step(command.arg("-c").arg(path).arg("-o").arg(path.with_extension("o")), "assemble newlib")?;
            }
        }
        anyhow::Ok(())
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let account = Account::of_this_thread();
    thread::scope(|scope| {
        let (work, account) = (&work, &account);
        let threads: Vec<_> =
            (0..workers).map(|number| scope.spawn(move || account.keep_for(|| work(number)))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| bail!("a thread that prices newlib has panicked")))
    })?;
    for (archive, start) in ARCHIVES.iter().zip(["libc", "libm"]) {
        let own = all.iter().map(|(path, _)| path).filter(|path| path.starts_with(objects.join(start)));
        let mut command = super::tool("ar");
        step(
            command.arg("rD").arg(objects.join(archive)).args(own.map(|path| path.with_extension("o"))),
            "price newlib",
        )?;
    }
    Ok(())
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
    fn a_changed_source_changes_the_hash() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("below");
        fs::create_dir(&below).unwrap();
        let hashed = || {
            let mut hash = crc32fast::Hasher::new();
            hash_sources(directory.path(), &mut hash).unwrap();
            hash.finalize()
        };
        let before = hashed();
        fs::write(below.join("table.rs"), "1").unwrap();
        let one = hashed();
        fs::write(below.join("table.rs"), "2").unwrap();
        assert!(before != one && one != hashed());
        PRICES.iter().for_each(|sources| assert!(workspace::root().join(sources).is_dir(), "{sources}"));
    }

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
