//! What is already there.

use crate::workspace;
use std::{
    env, fmt,
    os::unix::fs::PermissionsExt,
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

/// Everything that images need.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    pub(crate) qemu: PathBuf,
    pub(crate) objdump: PathBuf,
    pub(crate) toolchain: Toolchain,
}

/// Something that images need and that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Qemu,
    Binutils,
    LibrarySources,
}

impl Missing {
    /// Its name for the user.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Qemu => "qemu-system-i386",
            Self::Binutils => "GNU ld and objdump for elf_i386",
            Self::LibrarySources => "a Rust compiler with the sources of its library",
        }
    }

    /// Debian's packages for it.
    pub(crate) fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Qemu => &["qemu-system-x86"],
            Self::Binutils => &["binutils"],
            Self::LibrarySources => &["rustc-web", "rust-web-src", "cargo-web"],
        }
    }
}

/// Where to look.
pub(crate) struct Finder {
    path: Vec<PathBuf>,
    /// Where the distribution's own compiler would be.
    system: PathBuf,
}

impl Finder {
    /// Looks where the user's shell does, and in `/usr/bin`.
    pub(crate) fn new() -> Self {
        let path = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        Self { path, system: PathBuf::from("/usr/bin") }
    }

    #[cfg(test)]
    pub(super) fn within(path: &Path, system: &Path) -> Self {
        Self { path: vec![path.into()], system: system.into() }
    }

    /// An executable on the path.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|directory| directory.join(name)).find(|file| is_executable(file))
    }

    /// All tools, or what is missing.
    pub(crate) fn tools(&self) -> Result<Tools, Vec<Missing>> {
        let (qemu, objdump, toolchain) = (self.program("qemu-system-i386"), self.objdump(), self.toolchain());
        match (qemu, objdump, toolchain) {
            (Some(qemu), Some(objdump), Some(toolchain)) => Ok(Tools { qemu, objdump, toolchain }),
            (qemu, objdump, toolchain) => {
                let missing = [
                    (qemu.is_none(), Missing::Qemu),
                    (objdump.is_none(), Missing::Binutils),
                    (toolchain.is_none(), Missing::LibrarySources),
                ];
                Err(missing.into_iter().filter_map(|(is, what)| is.then_some(what)).collect())
            }
        }
    }

    /// GNU objdump, when there is also an `ld` that links for the target.
    pub(crate) fn objdump(&self) -> Option<PathBuf> {
        let linker = self.program("ld")?;
        let objdump = self.program("objdump")?;
        output(Command::new(linker).arg("-V"))?.contains("elf_i386").then_some(objdump)
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

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn script(directory: &Path, name: &str, text: &str) {
        let path = directory.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

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
        let missing = Finder::within(path.path(), system.path()).tools().err();
        assert_eq!(missing, Some(vec![Missing::Qemu, Missing::Binutils, Missing::LibrarySources]));
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
        script(path.path(), "objdump", "true");
        script(path.path(), "ld", "echo '  Supported emulations: aarch64linux'");
        assert_eq!(finder.objdump(), None);
        script(path.path(), "ld", "echo '  Supported emulations: elf_x86_64 elf_i386'");
        assert_eq!(finder.objdump(), Some(path.path().join("objdump")));
    }

    #[test]
    fn a_file_that_cannot_be_executed_is_no_program() {
        let path = tempfile::tempdir().unwrap();
        fs::write(path.path().join("qemu-system-i386"), "").unwrap();
        assert_eq!(Finder::within(path.path(), path.path()).program("qemu-system-i386"), None);
    }
}
