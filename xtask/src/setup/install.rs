//! Installs what is missing: the library's sources by rustup, the rest, and the sources where rustup cannot, by apt.

use super::find::{Finder, Missing};
use crate::{process, progress::Progress, question, workspace};
use anyhow::{Context, Result, bail};
use std::{
    fmt,
    io::IsTerminal,
    os::unix::fs::MetadataExt,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// How long rustup may try. There are machines where it cannot reach its server.
const RUSTUP_LIMIT: Duration = Duration::from_secs(120);

/// How long apt may take, with a slow mirror.
const APT_LIMIT: Duration = Duration::from_secs(1800);

/// How packages are installed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Apt {
    program: PathBuf,
    /// Needed when this is not root.
    sudo: Option<PathBuf>,
}

/// What will be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    rustup: Option<PathBuf>,
    apt: Option<Apt>,
    missing: Vec<Missing>,
}

impl Plan {
    /// Finds a way to get everything that is missing.
    pub(crate) fn new(missing: &[Missing], finder: &Finder) -> Result<Self> {
        let is_root = Path::new("/proc/self").metadata().is_ok_and(|data| data.uid() == 0);
        Self::with(missing, finder, is_root)
    }

    fn with(missing: &[Missing], finder: &Finder, is_root: bool) -> Result<Self> {
        let sources = missing.contains(&Missing::LibrarySources);
        let rustup = sources.then(|| finder.program("rustup")).flatten();
        let sudo = if is_root { None } else { finder.program("sudo") };
        let apt = finder.program("apt-get").filter(|_| is_root || sudo.is_some()).map(|program| Apt { program, sudo });
        let helpless =
            missing.iter().find(|what| apt.is_none() && (**what != Missing::LibrarySources || rustup.is_none()));
        if let Some(what) = helpless {
            let reason = if finder.program("apt-get").is_some() {
                "installing it takes root or sudo"
            } else {
                "there is no apt-get to install it"
            };
            bail!("{} is missing and {reason}: {}", what.name(), by_hand(*what));
        }
        Ok(Self { rustup, apt, missing: missing.into() })
    }
}

/// What a user does himself.
fn by_hand(what: Missing) -> &'static str {
    match what {
        Missing::Compiler => "install gcc and the headers of the C library",
        Missing::Mpi(_) => "install it with a compiler that is called `mpicc` and an ending, as Debian's packages do",
        Missing::Qemu => {
            "install qemu-system-x86 (Debian, Ubuntu, Arch), qemu-system-x86-core (Fedora) or qemu (Homebrew)"
        }
        Missing::Binutils => {
            "install binutils with elf_i386 support, on a machine that is no PC binutils-i686-linux-gnu with its `ld` on the PATH"
        }
        Missing::LibrarySources => "run `rustup component add rust-src`",
        Missing::Mkrescue => {
            "install grub-pc-bin, grub-common, xorriso and mtools (Debian, Ubuntu), grub2-pc-modules, grub2-tools-extra and xorriso (Fedora), or grub, libisoburn and mtools (Arch)"
        }
        Missing::Cmake => "install cmake and make",
        Missing::CCompiler => "install gcc and make, on a machine with a 64-bit processor of Intel's kind",
        Missing::Newlib => {
            "install newlib-source and xz-utils (Debian, Ubuntu), or xz, with newlib's sources in /usr/src/newlib as newlib-VERSION.tar.xz"
        }
        Missing::Gdb => "install gdb with Python (gdb on Debian and Ubuntu, where gdb-minimal has none)",
        Missing::Chromium => "install chromium-headless-shell (Debian), or chrome-headless-shell (Google)",
        Missing::Node => "install nodejs",
        Missing::Pip => "install python3-pip (Debian, Ubuntu, Fedora) or python-pip (Arch)",
        Missing::Libclang => {
            "install libclang-dev (Debian, Ubuntu), clang-devel (Fedora) or clang (Arch), or set LIBCLANG_PATH"
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = Vec::new();
        if self.rustup.is_some() {
            let otherwise = Missing::LibrarySources.packages().join(" ");
            let otherwise = if self.apt.is_some() {
                format!(" (or, where that fails, the packages {otherwise})")
            } else {
                String::new()
            };
            steps.push(format!("the component rust-src by rustup{otherwise}"));
        }
        let packages = packages(&self.missing, self.rustup.is_some());
        if !packages.is_empty() {
            steps.push(format!("the packages {} by apt-get", packages.join(" ")));
        }
        out.write_str(&steps.join(", and "))
    }
}

/// The packages for what is missing, except for what rustup brings.
fn packages(missing: &[Missing], rustup_brings_sources: bool) -> Vec<&'static str> {
    let by_apt = missing.iter().filter(|what| !(rustup_brings_sources && **what == Missing::LibrarySources));
    by_apt.flat_map(|what| what.packages()).copied().collect()
}

/// Says what will be installed and asks whether it may be.
///
/// # Errors
/// When it may not, or nobody is there to ask.
pub(crate) fn consent(plan: &Plan, yes: bool) -> Result<()> {
    let names: Vec<_> = plan.missing.iter().map(Missing::name).collect();
    let names = names.join(", ");
    if yes {
        eprintln!("missing: {names}; installing {plan}");
        return Ok(());
    }
    if !question::can_be_asked() {
        bail!("missing: {names}; pass --yes to install {plan}");
    }
    if !question::ask(&format!("missing: {names}\ninstall {plan}"))? {
        bail!("not installed: {names}");
    }
    Ok(())
}

/// Carries the plan out.
pub(crate) fn execute(plan: &Plan, mut missing: Vec<Missing>, finder: &Finder) -> Result<()> {
    if let Some(rustup) = &plan.rustup {
        let progress = Progress::new("rustup component add rust-src");
        let mut command = workspace::command(rustup);
        let result = process::finish_within(command.args(["component", "add", "rust-src"]), RUSTUP_LIMIT);
        drop(progress);
        crate::interrupt::check()?;
        let reason = match result {
            Ok(finished) if finished.status.success() => None,
            Ok(finished) => Some(
                finished
                    .messages
                    .lines()
                    .find(|line| line.contains("error"))
                    .unwrap_or("it failed")
                    .trim_start_matches("error: ")
                    .to_owned(),
            ),
            Err(error) => Some(format!("{error:#}")),
        };
        if finder.toolchain().is_some() {
            missing.retain(|what| *what != Missing::LibrarySources);
        } else {
            let reason = reason.unwrap_or_else(|| "the component does not suit this compiler".into());
            if plan.apt.is_none() {
                bail!("rustup could not add rust-src: {reason}");
            }
            eprintln!("rustup could not add rust-src ({reason}); trying the distribution's packages");
        }
    }
    let packages = packages(&missing, false);
    if let (Some(apt), false) = (&plan.apt, packages.is_empty()) {
        apt.install(&packages)?;
    }
    Ok(())
}

impl Apt {
    fn install(&self, packages: &[&str]) -> Result<()> {
        let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
        arguments.extend(packages);
        // Lists that are missing or old are the common reason to fail, and the only one that this tool can help.
        if self.run(&arguments).is_ok() {
            return Ok(());
        }
        crate::interrupt::check()?;
        self.run(&["update"]).context("cannot refresh the lists of packages")?;
        self.run(&arguments).with_context(|| format!("cannot install {}", packages.join(" ")))
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        let _progress = Progress::new(format!("apt-get {}", arguments.join(" ")));
        let finished = process::finish_within(&mut self.command(arguments), APT_LIMIT)?;
        if !finished.status.success() {
            let reason =
                finished.messages.lines().find(|line| line.starts_with("E:")).or(finished.messages.lines().last());
            bail!("apt-get {} failed: {}", arguments[0], reason.unwrap_or("no reason given").trim_start_matches("E: "));
        }
        Ok(())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match &self.sudo {
            Some(sudo) => {
                let mut command = workspace::command(sudo);
                if std::io::stdin().is_terminal() {
                    // For the password.
                    command.stdin(std::process::Stdio::inherit());
                } else {
                    command.arg("-n");
                }
                command.args(["env", "DEBIAN_FRONTEND=noninteractive"]).arg(&self.program);
                command
            }
            None => workspace::command(&self.program),
        };
        // In the terminal's own group: sudo asks there for the password, and Ctrl-C lets dpkg come to a good end.
        // SAFETY: a system call without arguments.
        command.process_group(unsafe { libc::getpgrp() });
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command.args(["-q", "-o", "DPkg::Lock::Timeout=300"]).args(arguments);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::script;
    use std::fs;

    const ALL: [Missing; 3] = [Missing::Qemu, Missing::Binutils, Missing::LibrarySources];

    #[test]
    fn without_apt_one_line_says_what_to_do() {
        let empty = tempfile::tempdir().unwrap();
        let finder = Finder::within(empty.path(), empty.path());
        for what in ALL {
            let message = Plan::with(&[what], &finder, true).unwrap_err().to_string();
            assert!(message.starts_with(what.name()) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn without_root_sudo_is_needed() {
        let path = tempfile::tempdir().unwrap();
        let finder = Finder::within(path.path(), path.path());
        script(path.path(), "apt-get", "true");
        assert!(Plan::with(&ALL, &finder, false).unwrap_err().to_string().contains("root or sudo"));
        assert_eq!(Plan::with(&ALL, &finder, true).unwrap().apt.unwrap().sudo, None);
        script(path.path(), "sudo", "true");
        assert_eq!(Plan::with(&ALL, &finder, false).unwrap().apt.unwrap().sudo, Some(path.path().join("sudo")));
    }

    #[test]
    fn the_plan_names_what_it_installs() {
        let path = tempfile::tempdir().unwrap();
        let finder = Finder::within(path.path(), path.path());
        script(path.path(), "apt-get", "true");
        let plan = Plan::with(&ALL, &finder, true).unwrap().to_string();
        assert_eq!(plan, "the packages qemu-system-x86 binutils rustc-web rust-web-src cargo-web by apt-get");
        script(path.path(), "rustup", "true");
        let plan = Plan::with(&ALL, &finder, true).unwrap().to_string();
        assert!(
            plan.starts_with("the component rust-src by rustup (or")
                && plan.ends_with("qemu-system-x86 binutils by apt-get")
        );
    }

    #[test]
    fn stale_lists_are_refreshed_once() {
        let path = tempfile::tempdir().unwrap();
        let log = path.path().join("log");
        let text = format!(
            "echo \"$@ $DEBIAN_FRONTEND\" >> {0}; case \"$*\" in *update*) touch {0}.new;; *) test -e {0}.new || {{ echo 'E: gone' >&2; exit 100; }};; esac",
            log.display()
        );
        script(path.path(), "apt-get", &text);
        let apt = Apt { program: path.path().join("apt-get"), sudo: None };
        apt.install(&["qemu-system-x86"]).unwrap();
        let options = "-q -o DPkg::Lock::Timeout=300";
        let install = format!("{options} install --yes --no-install-recommends qemu-system-x86 noninteractive");
        assert_eq!(
            fs::read_to_string(&log).unwrap(),
            format!("{install}\n{options} update noninteractive\n{install}\n")
        );
    }

    #[test]
    fn a_failed_installation_is_one_line() {
        let path = tempfile::tempdir().unwrap();
        script(
            path.path(),
            "apt-get",
            "case \"$*\" in *update*) ;; *) echo 'E: Unable to locate package x' >&2; exit 100;; esac",
        );
        let apt = Apt { program: path.path().join("apt-get"), sudo: None };
        let message = format!("{:#}", apt.install(&["x"]).unwrap_err());
        assert_eq!(message, "cannot install x: apt-get install failed: Unable to locate package x");
    }

    #[test]
    fn sudo_passes_the_environment() {
        let apt = Apt { program: "/usr/bin/apt-get".into(), sudo: Some("/usr/bin/sudo".into()) };
        let command = apt.command(&["update"]);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert!(words.join(" ").contains("env DEBIAN_FRONTEND=noninteractive /usr/bin/apt-get -q"), "{words:?}");
    }

    #[test]
    fn rustup_that_fails_is_followed_by_packages() {
        let path = tempfile::tempdir().unwrap();
        let log = path.path().join("log");
        script(path.path(), "rustup", "echo 'error: could not download' >&2; exit 1");
        script(path.path(), "apt-get", &format!("echo \"$@\" >> {}", log.display()));
        let finder = Finder::within(path.path(), path.path());
        let plan = Plan::with(&[Missing::LibrarySources], &finder, true).unwrap();
        execute(&plan, vec![Missing::LibrarySources], &finder).unwrap();
        assert!(fs::read_to_string(&log).unwrap().contains("rustc-web rust-web-src cargo-web"));
    }
}
