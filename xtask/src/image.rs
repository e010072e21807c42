//! Images for the bare P54C, and the same binaries for the host.
//!
//! The flags of the bare-metal target are given here and nowhere else: in a Cargo profile or configuration file they
//! would reach this tool and the host tests too. The inner cargo may be another one than the one that runs this tool.

use crate::{
    build::{self, Built, build},
    c, p54c,
    program::{DEFAULT_PROGRAM, Program},
    progress::Progress,
    setup::{self, Toolchain, Tools},
    symbols, without_std, workspace,
};
use anyhow::{Context, Result, ensure};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

/// What cargo is told in the environment: places in reports have lines, also those of a user's own crate.
const DEBUG: (&str, &str) = ("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");

/// Of packages from elsewhere reports and debuggers need nothing but lines, and images with and without variables share them.
const LINES: &str = "package.'*'.debug='line-tables-only'";

/// Optimised or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Release,
    Debug,
}

/// What an image is for: its target specification and its linker script.
#[derive(Clone, Copy, Debug)]
struct Target {
    specification: &'static str,
    script: &'static str,
    /// What cargo's release profile is told besides.
    profile: &'static [&'static str],
    /// How much is optimised what is optimised less on the host.
    opt_level: u8,
    /// Flags of the compiler.
    flags: &'static str,
    /// Where it is built, below `target`.
    directory: &'static str,
}

/// QEMU and PCs.
const PC: Target = Target {
    specification: "i586-atoll.json",
    script: "qemu.ld",
    profile: &[],
    opt_level: 3,
    flags: "",
    directory: "kernel",
};

/// QEMU, for a debugger: with names and places of this tree's variables, most of which are still there where code is optimised less.
const DEBUGGER: Target =
    Target { profile: &["debug='full'", "package.hal.opt-level=1"], opt_level: 1, directory: "debugger", ..PC };

/// The Intel SCC and boards like it.
///
/// A P54C has no time for calls that could be inlined, and executes what aligns loops like any other instruction. With more
/// inlining than usual calls of the library execute a tenth fewer instructions, and some half as many. The library
/// checks addresses and lengths explicitly; that no addition of a program overflows, the simulator and QEMU check.
const BOARD: Target = Target {
    specification: "i586-atoll-scc.json",
    script: "scc.ld",
    profile: &["lto='fat'", "codegen-units=1", "overflow-checks=false"],
    opt_level: 3,
    flags: "-Cllvm-args=-align-loops=1 -inline-threshold=600",
    directory: "kernel",
};

/// The image for whoever looks at what cores do: they count their operations, and note what a debugger shows. The debugger finds names and
/// places of variables, all of them outside of `hal`. Nobody asks how fast that is.
const OBSERVED_BOARD: Target =
    Target { profile: &["debug='full'", "overflow-checks=false"], opt_level: 1, flags: "", ..BOARD };

/// Packages that the workspace's profile has optimised less, for simulators: images are what users get.
const OPTIMISED_IN_IMAGES: [&str; 5] =
    ["package.c-programs.", "package.collectives.", "package.kernel.", "package.measurements.", TESTS];

/// The package of the in-kernel tests. With them is compiled what they call of the library, for their kind of core, and the emulator of
/// boards executes them for minutes: they are optimised where other programs are compiled for whoever debugs them, too.
const TESTS: &str = "package.tests.";

/// What the image of a board does besides running its program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Besides {
    /// It counts operations, and notes what a debugger shows.
    pub(crate) is_observed: bool,
    /// It says what it does, to an emulator that traces it.
    pub(crate) announces: bool,
}

impl Besides {
    /// The file of such an image, beside the one that cargo writes for all of them.
    fn file_of(self, executable: &Path) -> PathBuf {
        let kind = match (self.is_observed, self.announces) {
            (false, false) => "-plain",
            (true, false) => "-observed",
            (false, true) => "-announced",
            (true, true) => "-observed-announced",
        };
        let mut name = executable.file_name().unwrap_or_default().to_owned();
        name.push(kind);
        executable.with_file_name(name)
    }
}

/// The feature with which cores note what a debugger shows.
const NOTES: &str = "kernel/debugger";

/// The features of an image for boards whose cores do, and count operations.
const OBSERVED: &str = "kernel/counters,kernel/debugger";

/// The feature with which a board's image says what it does.
const ANNOUNCED: &str = "kernel/announced";

/// Builds a program's image for QEMU and PCs, and checks that it holds only what a P54C has.
pub(crate) fn bare_metal(program: &Program, tools: &Tools) -> Result<Built> {
    let built = link(program, tools, PC, &[], &format!("the image {}", program.binary))?;
    p54c::check_image(&built.executable, p54c::Processor::P54c)?;
    Ok(built)
}

/// Builds a program's image for boards like the Intel SCC, which is as fast as it can be if it is not observed, and checks
/// that it holds only what their P54C has, and nothing of the emulation of such a chip.
pub(crate) fn board(program: &Program, tools: &Tools, besides: Besides) -> Result<Built> {
    /// Other jobs build the same program otherwise, and cargo puts that into the same file.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Besides { is_observed, announces } = besides;
    let what = format!("the image {} for boards", program.binary);
    let target = if is_observed { OBSERVED_BOARD } else { BOARD };
    let features = is_observed.then_some(OBSERVED).into_iter().chain(announces.then_some(ANNOUNCED));
    let options: Vec<_> = features.flat_map(|feature| ["--features", feature]).collect();
    let mut built = link(program, tools, target, &options, &what)?;
    p54c::check_image(&built.executable, p54c::Processor::Scc)?;
    symbols::check_absent(&built.executable, &EMULATION)?;
    let kept = besides.file_of(&built.executable);
    let fresh = kept.with_extension("new");
    let copied = fs::copy(&built.executable, &fresh).and_then(|_| fs::rename(&fresh, &kept));
    copied.with_context(|| format!("cannot write {}", workspace::display(&kept)))?;
    built.executable = kept;
    Ok(built)
}

/// Modules that are no part of an image for boards.
const EMULATION: [&str; 2] = ["hal::emulated::", "hal::qemu::"];

/// Builds the same binary for the host, where it is the simulator.
///
/// # Errors
/// When it does not build, or uses `std`.
pub(crate) fn host(program: &Program, profile: Profile) -> Result<Built> {
    host_in(program, profile, &workspace::target())
}

/// Builds the same binary for the host with the machine that consists of the host's threads. It has a directory of its own,
/// so that neither build undoes the other.
pub(crate) fn on_threads(program: &Program) -> Result<Built> {
    let what = format!("{} for threads of the host", program.binary);
    // Here time is the host's, and what is slow is measured.
    let packages = OPTIMISED_IN_IMAGES.into_iter().chain(["package.threads."]).filter(|_| !program.is_own);
    let fast: Vec<_> = packages.map(|package| format!("--config=profile.release.{package}opt-level=3")).collect();
    let fast = fast.iter().map(String::as_str).chain(["--config=profile.release.lto=false"]);
    let options: Vec<_> = ["--features", "kernel/threads"].into_iter().chain(fast).collect();
    for_host(program, &what, Profile::Release, &threads_directory(), &options)
}

/// A program's binary with the machine that consists of the host's threads: built, or as it was built before.
pub(crate) fn for_threads(program: &Program, no_build: bool) -> Result<PathBuf> {
    if no_build {
        built_before(program, &threads_directory(), Profile::Release)
    } else {
        Ok(on_threads(program)?.executable)
    }
}

fn threads_directory() -> PathBuf {
    workspace::target().join("threads")
}

/// As [`host()`], with another directory for what is built.
pub(crate) fn host_in(program: &Program, profile: Profile, target: &Path) -> Result<Built> {
    for_host(program, &format!("the simulator of {}", program.binary), profile, target, &[])
}

fn for_host(program: &Program, what: &str, profile: Profile, target: &Path, options: &[&str]) -> Result<Built> {
    if !program.is_own {
        let mut command = build::of_workspace("build");
        if profile == Profile::Release {
            command.arg("--release");
        }
        command.args(build::MESSAGES).args(["--bin", &program.binary]).args(options).env("CARGO_TARGET_DIR", target);
        return build(what, &mut command);
    }
    let mut command = workspace::command(workspace::host_cargo());
    command.arg("rustc").args(build::MESSAGES).env("CARGO_TARGET_DIR", target);
    select(&mut command, program, profile);
    command.args(options).args(["--", build::WITHOUT_STD]);
    let built = build(what, &mut command)?;
    without_std::check_dependencies(program, what, &built)?;
    Ok(built)
}

/// A program's image for QEMU and PCs: built, or as it was built before.
pub(crate) fn for_qemu(program: &Program, tools: &Tools, no_build: bool) -> Result<PathBuf> {
    if no_build { bare_metal_built_before(program, PC) } else { Ok(bare_metal(program, tools)?.executable) }
}

/// A program's image for boards like the Intel SCC: built, or as it was built before.
pub(crate) fn for_board(program: &Program, tools: &Tools, besides: Besides, no_build: bool) -> Result<PathBuf> {
    if !no_build {
        return Ok(board(program, tools, besides)?.executable);
    }
    there(besides.file_of(&bare_metal_built_before(program, BOARD)?))
}

/// A program's image for QEMU, for a debugger.
pub(crate) fn for_debugger(program: &Program, tools: &Tools) -> Result<PathBuf> {
    Ok(link(program, tools, DEBUGGER, &["--features", NOTES], &format!("the image {} for a debugger", program.binary))?
        .executable)
}

fn bare_metal_built_before(program: &Program, target: Target) -> Result<PathBuf> {
    let [specification, script] = [target.specification, target.script].map(|file| Path::new(file).with_extension(""));
    match &program.c {
        Some(sources) => there(c::kept(sources, &script.to_string_lossy())),
        None => {
            built_before(program, &workspace::target().join(target.directory).join(specification), Profile::Release)
        }
    }
}

/// Where [`host()`] has left a program's binary before.
pub(crate) fn built_for_host(program: &Program, profile: Profile) -> Result<PathBuf> {
    built_before(program, &workspace::target(), profile)
}

fn built_before(program: &Program, directory: &Path, profile: Profile) -> Result<PathBuf> {
    let profile = if profile == Profile::Release { "release" } else { "debug" };
    there(directory.join(profile).join(&program.binary))
}

/// The path of what was built before.
fn there(path: PathBuf) -> Result<PathBuf> {
    ensure!(path.is_file(), "{} has not been built; leave --no-build away", workspace::display(&path));
    Ok(path)
}

/// Lints what [`bare_metal`] and [`board`] build: code for the bare machine only is none of the host's clippy's. Tests are the same
/// code as on the host, where clippy on the workspace looks at them.
///
/// Returns whether there was anything to lint with: a distribution's compiler has no clippy.
pub(crate) fn lint(tools: &Tools) -> Result<bool> {
    if !tools.toolchain.cargo.with_file_name("cargo-clippy").is_file() {
        return Ok(false);
    }
    let _progress = Progress::new("clippy on the image");
    let program = Program::resolve(DEFAULT_PROGRAM)?;
    for target in [PC, BOARD] {
        let what = format!("clippy for {}", target.specification);
        build::lint(&what, &mut lint_command(&program, &tools.toolchain, target))?;
    }
    Ok(true)
}

fn lint_command(program: &Program, toolchain: &Toolchain, target: Target) -> Command {
    let mut command = inner_cargo(toolchain, "clippy");
    select(&mut command, program, Profile::Release);
    for_target(&mut command, program, target);
    command.args(["--", "-Dwarnings"]);
    command
}

fn select(command: &mut Command, program: &Program, profile: Profile) {
    let (key, value) = DEBUG;
    command.env(key, value);
    command.current_dir(&program.directory).args(["--package", &program.package, "--bin", &program.binary]);
    if profile == Profile::Release {
        command.arg("--release");
    }
}

/// Builds an image, of a crate or of a program in C.
fn link(program: &Program, tools: &Tools, target: Target, options: &[&str], what: &str) -> Result<Built> {
    let script = workspace::root().join("linker").join(target.script);
    let Some(sources) = &program.c else {
        return build(what, &mut bare_metal_command(program, &tools.toolchain, target, &script, options)?);
    };
    let archive = archive(program, tools, target, options)?;
    let executable = c::for_p54c(sources, &setup::ensure(false)?, &archive, &script, tools)?;
    Ok(Built { executable, warnings: Vec::new(), libraries: Vec::new() })
}

/// The Rust side of programs in C. Who links many of them in one process builds it once for each target: nothing but other options
/// makes it another one, and cargo takes seconds to find that out.
fn archive(program: &Program, tools: &Tools, target: Target, options: &[&str]) -> Result<PathBuf> {
    type Last = BTreeMap<[&'static str; 2], (Vec<String>, PathBuf)>;
    static LAST: Mutex<Last> = Mutex::new(Last::new());
    let of_target = [target.flags.to_owned(), target.opt_level.to_string()];
    let made_of: Vec<_> =
        of_target.into_iter().chain(target.profile.iter().chain(options).map(ToString::to_string)).collect();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let place = [target.directory, target.specification];
    if let Some((of, archive)) = last.get(&place)
        && *of == made_of
    {
        return Ok(archive.clone());
    }
    let mut command = inner_cargo(&tools.toolchain, "rustc");
    command.args(build::MESSAGES).args(["--release", "--lib", "--crate-type", "staticlib"]);
    command.current_dir(&program.directory).args(["--package", &program.package]);
    for_target(&mut command, program, target);
    let archive = build::archive("the Rust side of programs in C", command.args(options))?;
    last.insert(place, (made_of, archive.clone()));
    Ok(archive)
}

fn bare_metal_command(
    program: &Program,
    toolchain: &Toolchain,
    target: Target,
    script: &Path,
    options: &[&str],
) -> Result<Command> {
    let content = fs::read(script).with_context(|| format!("cannot read {}", workspace::display(script)))?;
    let mut command = inner_cargo(toolchain, "rustc");
    command.args(build::MESSAGES);
    select(&mut command, program, Profile::Release);
    for_target(&mut command, program, target);
    command.args(options);
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
    command.env("RUSTC_BOOTSTRAP", "1").arg(subcommand);
    command
}

fn for_target(command: &mut Command, program: &Program, target: Target) {
    // A user's own crate has no profiles for single packages, and one of its own.
    let packages: &[&str] = match (program.is_own, target.opt_level) {
        (false, _) => &OPTIMISED_IN_IMAGES,
        (true, 3) => &[],
        (true, _) => &[""],
    };
    command
        .args(packages.iter().map(|package| {
            let opt_level = if *package == TESTS { PC.opt_level } else { target.opt_level };
            format!("--config=profile.release.{package}opt-level={opt_level}")
        }))
        // Nobody looks at their variables, and to say where these are takes the compiler a third of its time.
        .args(packages.contains(&TESTS).then(|| format!("--config=profile.release.{TESTS}debug='line-tables-only'")))
        .args((!program.is_own).then(|| format!("--config=profile.release.{LINES}")))
        .args(target.profile.iter().map(|setting| format!("--config=profile.release.{setting}")))
        // Also where there are none, so that flags in the user's own configuration, `target-cpu=native` for one, do not count.
        .env("CARGO_ENCODED_RUSTFLAGS", target.flags)
        .env("CARGO_TARGET_DIR", workspace::target().join(target.directory))
        // What images have in common, the language's library for one, is compiled once for all of them, and one image at a time.
        .env("CARGO_BUILD_BUILD_DIR", workspace::target().join(PC.directory))
        .arg("--target")
        .arg(workspace::root().join("linker").join(target.specification))
        .args(["-Z", "build-std=core,alloc,compiler_builtins"])
        .args(["-Z", "build-std-features=compiler-builtins-mem"])
        .args(["-Z", "json-target-spec"]);
}
