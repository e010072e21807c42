//! What is already there.

use crate::workspace;
use host::{
    mpi::{MPICH, Mpi, OPEN_MPI},
    programs::{self, is_executable},
};
use std::{
    env, fmt,
    path::{Path, PathBuf},
    process::Command,
};

/// A compiler with the sources of its library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Toolchain {
    pub(crate) cargo: PathBuf,
    /// Named when it is not the one that cargo would find.
    pub(crate) rustc: Option<PathBuf>,
    version: String,
}

impl fmt::Display for Toolchain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rustc = self.rustc.as_deref().unwrap_or(Path::new("the active toolchain"));
        write!(out, "{} ({})", self.version, rustc.display())
    }
}

/// Tools that a command needs together. A pair of groups is one, so that the user is asked once for all of them.
pub(crate) trait Group: Sized {
    /// All of them, or what is missing.
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>>;
}

/// Everything that images need, and what boots them.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    pub(crate) qemu: PathBuf,
    pub(crate) linker: PathBuf,
    pub(crate) toolchain: Toolchain,
}

/// What the emulator of boards is built with. Its build finds them by itself: this says that it will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmulatorTools {
    pub(crate) cmake: PathBuf,
    pub(crate) libclang: PathBuf,
}

/// What shows what cores do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DebuggerTools {
    /// GDB, which knows Python.
    pub(crate) gdb: PathBuf,
}

impl Group for DebuggerTools {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        let knows_python = |gdb: &PathBuf| {
            let tried = Command::new(gdb).args(["-batch", "-nx", "-ex", "python pass"]).output();
            tried.is_ok_and(|output| output.stderr.is_empty())
        };
        let gdb = finder.program("gdb").filter(knows_python);
        gdb.map(|gdb| Self { gdb }).ok_or_else(|| vec![Missing::Gdb])
    }
}

/// What shows pages, for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowserTools {
    /// Chromium, which needs no screen.
    pub(crate) chromium: PathBuf,
}

/// What Debian and Google call it. A whole browser would not make its window as narrow as a telephone.
const CHROMIUM: [&str; 2] = ["chromium-headless-shell", "chrome-headless-shell"];

impl Group for BrowserTools {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        let chromium = CHROMIUM.iter().find_map(|name| finder.program(name));
        chromium.map(|chromium| Self { chromium }).ok_or_else(|| vec![Missing::Chromium])
    }
}

/// What Perfetto's trace processor is fetched by, and runs in, for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PerfettoTools {
    pub(crate) node: PathBuf,
    pub(crate) pip: PathBuf,
}

impl Group for PerfettoTools {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        match (finder.program("node"), finder.program("pip3")) {
            (Some(node), Some(pip)) => Ok(Self { node, pip }),
            (node, pip) => Err(missing([(node.is_none(), Missing::Node), (pip.is_none(), Missing::Pip)])),
        }
    }
}

/// What images of disks are made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiskTools {
    /// GRUB's own tool.
    pub(crate) mkrescue: PathBuf,
    /// The directory with GRUB for machines that boot by a BIOS.
    pub(crate) platform: PathBuf,
}

/// What programs in C are built with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CTools {
    /// GCC, which compiles for 32 bits and 64.
    pub(crate) compiler: PathBuf,
    /// Its version.
    pub(crate) version: String,
    /// The directory with its own headers.
    pub(crate) headers: PathBuf,
    /// The archive with newlib's sources.
    pub(crate) newlib: PathBuf,
}

/// Where Debian's package has newlib's sources.
const NEWLIB: &str = "/usr/src/newlib";

impl Group for CTools {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        let compiler =
            finder.program("gcc").filter(|gcc| finder.program("make").is_some() && compiles_for_32_bits(gcc));
        let version = compiler.as_ref().and_then(|gcc| output(Command::new(gcc).arg("--version")));
        let headers = compiler.as_ref().and_then(|gcc| output(Command::new(gcc).arg("-print-file-name=include")));
        let archives = std::fs::read_dir(NEWLIB).into_iter().flatten().flatten().map(|entry| entry.path());
        let newlib = archives.filter(|path| path.to_string_lossy().contains(".tar.")).min();
        // Tar unpacks them with it.
        let newlib = newlib.filter(|_| finder.program("xz").is_some());
        match (compiler, version, headers, newlib) {
            (Some(compiler), Some(version), Some(headers), Some(newlib)) => {
                Ok(Self { compiler, version, headers: headers.trim().into(), newlib })
            }
            (compiler, .., newlib) => {
                Err(missing([(compiler.is_none(), Missing::CCompiler), (newlib.is_none(), Missing::Newlib)]))
            }
        }
    }
}

/// Whether a compiler makes objects for a Pentium, without a library.
fn compiles_for_32_bits(gcc: &Path) -> bool {
    let arguments = ["-m32", "-march=pentium", "-x", "c", "-c", "/dev/null", "-o", "/dev/null"];
    Command::new(gcc).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Where distributions put GRUB for a BIOS.
const PLATFORMS: [&str; 3] = ["/usr/lib/grub/i386-pc", "/usr/share/grub2/i386-pc", "/usr/lib/grub2/i386-pc"];

impl Group for DiskTools {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        let mkrescue = ["grub-mkrescue", "grub2-mkrescue"].iter().find_map(|name| finder.program(name));
        // It makes images with the one, and takes for granted that there is the other.
        let others = ["xorriso", "mformat"].iter().all(|name| finder.program(name).is_some());
        let platform = PLATFORMS.iter().map(PathBuf::from).find(|directory| directory.join("multiboot.mod").exists());
        match (mkrescue.filter(|_| others), platform) {
            (Some(mkrescue), Some(platform)) => Ok(Self { mkrescue, platform }),
            _ => Err(vec![Missing::Mkrescue]),
        }
    }
}

impl Group for Tools {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        match (finder.program("qemu-system-i386"), finder.linker(), finder.toolchain()) {
            (Some(qemu), Some(linker), Some(toolchain)) => Ok(Self { qemu, linker, toolchain }),
            (qemu, linker, toolchain) => Err(missing([
                (qemu.is_none(), Missing::Qemu),
                (linker.is_none(), Missing::Binutils),
                (toolchain.is_none(), Missing::LibrarySources),
            ])),
        }
    }
}

impl Group for EmulatorTools {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        match (finder.cmake(), finder.libclang()) {
            (Some(cmake), Some(libclang)) => Ok(Self { cmake, libclang }),
            (cmake, libclang) => {
                Err(missing([(cmake.is_none(), Missing::Cmake), (libclang.is_none(), Missing::Libclang)]))
            }
        }
    }
}

/// What `bench host` compares with, and what that is built with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MpiTools {
    pub(crate) compiler: PathBuf,
    /// What starts programs of each.
    pub(crate) mpich: PathBuf,
    pub(crate) open_mpi: PathBuf,
}

impl Group for MpiTools {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        let compiler = ["gcc", "cc"].iter().find_map(|name| finder.program(name));
        let launcher = |mpi: &Mpi| mpi.find(&finder.path).map(|(_, launcher)| launcher);
        match (compiler, launcher(&MPICH), launcher(&OPEN_MPI)) {
            (Some(compiler), Some(mpich), Some(open_mpi)) => Ok(Self { compiler, mpich, open_mpi }),
            (compiler, mpich, open_mpi) => Err(missing([
                (compiler.is_none(), Missing::Compiler),
                (mpich.is_none(), Missing::Mpi(&MPICH)),
                (open_mpi.is_none(), Missing::Mpi(&OPEN_MPI)),
            ])),
        }
    }
}

impl<A: Group, B: Group> Group for (A, B) {
    fn find(finder: &Finder) -> Result<Self, Vec<Missing>> {
        match (A::find(finder), B::find(finder)) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (first, second) => Err([first.err(), second.err()].into_iter().flatten().flatten().collect()),
        }
    }
}

fn missing<const N: usize>(found: [(bool, Missing); N]) -> Vec<Missing> {
    found.into_iter().filter_map(|(is_missing, what)| is_missing.then_some(what)).collect()
}

/// Something that is needed and not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Qemu,
    Binutils,
    LibrarySources,
    Cmake,
    Libclang,
    Mkrescue,
    Compiler,
    Mpi(&'static Mpi),
    CCompiler,
    Newlib,
    Gdb,
    Chromium,
    Node,
    Pip,
}

impl Missing {
    /// Its name for the user, and Debian's packages for it.
    fn known_as(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Qemu => ("qemu-system-i386", &["qemu-system-x86"]),
            Self::Binutils => ("GNU ld for elf_i386", &["binutils"]),
            Self::LibrarySources => {
                ("a Rust compiler with the sources of its library", &["rustc-web", "rust-web-src", "cargo-web"])
            }
            Self::Cmake => ("cmake with make or ninja", &["cmake", "make"]),
            Self::Libclang => ("libclang with its headers", &["libclang-dev"]),
            Self::Mkrescue => {
                ("grub-mkrescue for machines with a BIOS", &["grub-pc-bin", "grub-common", "xorriso", "mtools"])
            }
            Self::Compiler => ("a compiler of C", &["gcc", "libc6-dev"]),
            Self::Mpi(mpi) => (mpi.name, &mpi.packages),
            Self::CCompiler => ("gcc for 32 bits and make", &["gcc", "make"]),
            Self::Newlib => ("the sources of newlib with xz", &["newlib-source", "xz-utils"]),
            Self::Gdb => ("gdb with Python", &["gdb"]),
            Self::Chromium => ("Chromium, for a test", &["chromium-headless-shell"]),
            Self::Node => ("Node.js, for a test", &["nodejs"]),
            Self::Pip => ("pip, for a test", &["python3-pip"]),
        }
    }

    /// Its name for the user.
    pub(crate) fn name(&self) -> &'static str {
        self.known_as().0
    }

    /// Debian's packages for it.
    pub(crate) fn packages(self) -> &'static [&'static str] {
        self.known_as().1
    }
}

/// Where to look.
pub(crate) struct Finder {
    path: Vec<PathBuf>,
    /// Where the distribution's own compiler would be.
    system: PathBuf,
    /// Where libclang may be besides the directory that `llvm-config` names. A star stands for any letters.
    libraries: Vec<PathBuf>,
}

/// Where distributions put libclang: some of the places where the emulator's build looks.
const LIBRARIES: [&str; 6] = [
    "/usr/lib/llvm-*/lib",
    "/usr/lib64/llvm*/lib*",
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/*-linux-gnu",
    "/usr/local/lib",
];

impl Finder {
    /// Looks where the user's shell does, and where distributions have things.
    pub(crate) fn new() -> Self {
        let path = programs::directories();
        let own = env::var_os("LIBCLANG_PATH").map(PathBuf::from);
        // The variable may name the library itself.
        let own = own.and_then(|own| if own.is_file() { own.parent().map(Path::to_path_buf) } else { Some(own) });
        let libraries = own.into_iter().chain(LIBRARIES.map(PathBuf::from)).collect();
        Self { path, system: PathBuf::from("/usr/bin"), libraries }
    }

    #[cfg(test)]
    pub(super) fn within(path: &Path, system: &Path) -> Self {
        Self { path: vec![path.into()], system: system.into(), libraries: vec![path.join("llvm-*/lib")] }
    }

    /// An executable on the path.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        programs::find(name, &self.path)
    }

    /// GNU ld, when it links for the target.
    fn linker(&self) -> Option<PathBuf> {
        let linker = self.program("ld")?;
        output(Command::new(&linker).arg("-V"))?.contains("elf_i386").then_some(linker)
    }

    /// CMake, when there is also something that carries out what it plans.
    fn cmake(&self) -> Option<PathBuf> {
        ["make", "ninja"].iter().find_map(|maker| self.program(maker))?;
        self.program("cmake")
    }

    /// The library itself. Without the headers that come with its link name it would be of no use.
    fn libclang(&self) -> Option<PathBuf> {
        let llvm = self.program("llvm-config").and_then(|program| output(Command::new(program).arg("--libdir")));
        let llvm = llvm.map(|directory| PathBuf::from(directory.trim()));
        llvm.into_iter().chain(self.libraries.iter().cloned()).flat_map(|pattern| expand(&pattern)).find_map(
            |directory| {
                let entries = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
                entries.filter(|path| is_link_name(path)).min()
            },
        )
    }

    /// The active toolchain if it has the library's sources, else the distribution's.
    pub(crate) fn toolchain(&self) -> Option<Toolchain> {
        let active = self.program("rustc").and_then(|rustc| usable(&rustc)).and_then(|version| {
            let cargo = env::var_os("CARGO")
                .map(PathBuf::from)
                .filter(|cargo| is_executable(cargo))
                .or_else(|| self.program("cargo"))?;
            Some(Toolchain { cargo, rustc: None, version })
        });
        active.or_else(|| {
            let (cargo, rustc) = (self.system.join("cargo"), self.system.join("rustc"));
            let version = is_executable(&cargo).then(|| usable(&rustc))??;
            Some(Toolchain { cargo, rustc: Some(rustc), version })
        })
    }
}

/// The version of a compiler that is new enough and has its library's sources beside it.
fn usable(rustc: &Path) -> Option<String> {
    if !is_executable(rustc) {
        return None;
    }
    let sysroot = output(workspace::command(rustc).args(["--print", "sysroot"]))?;
    let lock = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.lock");
    let version = output(workspace::command(rustc).arg("--version"))?;
    (lock.exists() && is_at_least(&version, env!("CARGO_PKG_RUST_VERSION"))).then(|| version.trim().to_owned())
}

/// Compares `rustc 1.95.0 (…)` with `1.95`.
fn is_at_least(version: &str, least: &str) -> bool {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    version.split_whitespace().nth(1).and_then(numbers) >= numbers(least)
}

/// Tells whether a file is called `libclang.so` or `libclang-14.so`: what has more numbers is there to run programs only.
fn is_link_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let middle = name.strip_prefix("libclang").and_then(|name| name.strip_suffix(".so"));
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    middle.is_some_and(|middle| middle.is_empty() || middle.strip_prefix('-').is_some_and(is_number))
}

/// The directories that fit a path, in whose components a star stands for any letters.
fn expand(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for component in pattern {
        let name = component.to_string_lossy();
        found = match name.split_once('*') {
            None => found.into_iter().map(|directory| directory.join(component)).collect(),
            Some((start, end)) => {
                let names = found.iter().filter_map(|directory| std::fs::read_dir(directory).ok()).flatten().flatten();
                let fits = |path: &PathBuf| {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end))
                };
                names.map(|entry| entry.path()).filter(fits).collect()
            }
        };
    }
    found.sort();
    found
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::script;
    use std::fs;

    /// A compiler that claims a version, with or without sources.
    fn compiler(directory: &Path, version: &str, sources: bool) {
        let sysroot = directory.join("sysroot");
        let library = sysroot.join("lib/rustlib/src/rust/library");
        fs::create_dir_all(&library).unwrap();
        if sources {
            fs::write(library.join("Cargo.lock"), "").unwrap();
        }
        let text =
            format!("case $1 in --print) echo {};; *) echo 'rustc {version} (x 2026-01-01)';; esac", sysroot.display());
        script(directory, "rustc", &text);
        script(directory, "cargo", "true");
    }

    #[test]
    fn everything_is_missing_on_an_empty_machine() {
        let (path, system) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let finder = Finder::within(path.path(), system.path());
        let images = [Missing::Qemu, Missing::Binutils, Missing::LibrarySources];
        assert_eq!(Tools::find(&finder).err(), Some(images.to_vec()));
        let both = <(Tools, EmulatorTools)>::find(&finder).err();
        assert_eq!(both, Some([&images[..], &[Missing::Cmake, Missing::Libclang]].concat()));
    }

    #[test]
    fn programs_in_c_need_a_compiler_for_32_bits_and_make() {
        let path = tempfile::tempdir().unwrap();
        let finder = Finder::within(path.path(), path.path());
        let is_missing = || CTools::find(&finder).err().is_some_and(|missing| missing.contains(&Missing::CCompiler));
        assert!(is_missing());
        script(path.path(), "make", "true");
        script(path.path(), "gcc", "case \"$*\" in *-m32*) exit 1;; esac");
        assert!(is_missing());
        script(path.path(), "gcc", "echo x");
        assert!(!is_missing());
    }

    #[test]
    fn the_emulator_needs_cmake_and_what_carries_it_out() {
        let path = tempfile::tempdir().unwrap();
        let finder = Finder::within(path.path(), path.path());
        script(path.path(), "cmake", "true");
        assert_eq!(finder.cmake(), None);
        script(path.path(), "ninja", "true");
        assert_eq!(finder.cmake(), Some(path.path().join("cmake")));
    }

    #[test]
    fn each_mpi_needs_its_compiler_and_what_starts_its_programs() {
        let path = tempfile::tempdir().unwrap();
        let finder = Finder::within(path.path(), path.path());
        let missing = || MpiTools::find(&finder).unwrap_err();
        assert_eq!(missing(), [Missing::Compiler, Missing::Mpi(&MPICH), Missing::Mpi(&OPEN_MPI)]);
        for name in ["cc", "mpicc.mpich", "mpirun.mpich", "mpicc.openmpi", "mpirun"] {
            script(path.path(), name, "true");
        }
        assert_eq!(missing(), [Missing::Mpi(&OPEN_MPI)]);
        script(path.path(), "mpirun.openmpi", "true");
        assert_eq!(MpiTools::find(&finder).unwrap().mpich, path.path().join("mpirun.mpich"));
    }

    #[test]
    fn libclang_counts_only_with_its_link_name() {
        let path = tempfile::tempdir().unwrap();
        let finder = Finder::within(path.path(), path.path());
        let (usual, own) = (path.path().join("llvm-14/lib"), path.path().join("own"));
        for directory in [&usual, &own] {
            fs::create_dir_all(directory).unwrap();
        }
        for name in ["libclang.so.1", "libclang-14.so.14", "libclang-cpp.so", "libclang.a"] {
            fs::write(usual.join(name), "").unwrap();
        }
        assert_eq!(finder.libclang(), None);
        fs::write(usual.join("libclang-14.so"), "").unwrap();
        assert_eq!(finder.libclang(), Some(usual.join("libclang-14.so")));
        fs::write(own.join("libclang.so"), "").unwrap();
        script(path.path(), "llvm-config", &format!("echo {}", own.display()));
        assert_eq!(finder.libclang(), Some(own.join("libclang.so")));
    }

    #[test]
    fn the_active_toolchain_comes_first_then_the_systems() {
        let (path, system) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let finder = Finder::within(path.path(), system.path());
        compiler(path.path(), "1.95.0", false);
        assert_eq!(finder.toolchain(), None);
        compiler(system.path(), "1.96.0", true);
        assert_eq!(finder.toolchain().unwrap().rustc, Some(system.path().join("rustc")));
        compiler(path.path(), "1.95.0", true);
        assert_eq!(finder.toolchain().unwrap().rustc, None);
    }

    #[test]
    fn old_compilers_are_passed_over() {
        let (path, system) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        compiler(system.path(), "1.63.0", true);
        assert_eq!(Finder::within(path.path(), system.path()).toolchain(), None);
        assert!(is_at_least("rustc 1.95.0 (5 2026-04-14)", "1.95") && is_at_least("rustc 2.0.0-nightly", "1.95"));
        assert!(!is_at_least("rustc 1.9.0", "1.95") && !is_at_least("garbage", "1.95") && !is_at_least("", "1.95"));
    }

    #[test]
    fn the_linker_must_know_the_target() {
        let path = tempfile::tempdir().unwrap();
        let finder = Finder::within(path.path(), path.path());
        script(path.path(), "ld", "echo '  Supported emulations: aarch64linux'");
        assert_eq!(finder.linker(), None);
        script(path.path(), "ld", "echo '  Supported emulations: elf_x86_64 elf_i386'");
        assert_eq!(finder.linker(), Some(path.path().join("ld")));
    }

    #[test]
    fn a_file_that_cannot_be_executed_is_no_program() {
        let path = tempfile::tempdir().unwrap();
        fs::write(path.path().join("qemu-system-i386"), "").unwrap();
        assert_eq!(Finder::within(path.path(), path.path()).program("qemu-system-i386"), None);
    }
}
