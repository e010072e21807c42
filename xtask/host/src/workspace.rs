//! Where things are, and commands with a clean environment.

use anyhow::{Context, Result};
use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

/// A guest's files that are older than any guest can be.
const STALE: Duration = Duration::from_secs(24 * 60 * 60 + 600);

/// The directory with the workspace's `Cargo.toml` and its lock file.
pub fn root() -> PathBuf {
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let has_lock_file = |directory: &&Path| directory.join("Cargo.lock").is_file();
    manifest.ancestors().find(has_lock_file).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The directory for everything that is built: `CARGO_TARGET_DIR` or `target` in the workspace.
pub fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()) {
        // A relative one means what it means to cargo.
        Some(value) => env::current_dir().unwrap_or_default().join(value),
        None => root().join("target"),
    }
}

/// Where a program's result files are written.
pub fn results(program: &str) -> PathBuf {
    target().join("out").join(program)
}

/// A path as the user would type it: relative to the current directory where that is shorter.
pub fn display(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// Writes a file, with the directories above it.
///
/// # Errors
/// When that is not possible.
pub fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = || format!("cannot write {}", display(path));
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).with_context(failed)?;
    }
    std::fs::write(path, bytes).with_context(failed)
}

/// Creates a directory for the files of one guest, removed when dropped.
///
/// # Errors
/// When it cannot be created.
pub fn scratch() -> Result<tempfile::TempDir> {
    let parent = target().join("guests");
    std::fs::create_dir_all(&parent).with_context(|| format!("cannot create {}", parent.display()))?;
    remove_stale(&parent, SystemTime::now());
    tempfile::Builder::new()
        .prefix("guest-")
        .tempdir_in(&parent)
        .with_context(|| format!("cannot write to {}", parent.display()))
}

/// Removes what tools that were killed have left: an image and its inputs are not small.
fn remove_stale(parent: &Path, now: SystemTime) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let made = entry.metadata().and_then(|data| data.modified());
        let age = made.ok().and_then(|made| now.duration_since(made).ok());
        if age.is_some_and(|age| age > STALE) && entry.file_name().to_string_lossy().starts_with("guest-") {
            // One that cannot be removed harms nobody.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The cargo that runs this tool.
pub fn host_cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// A command without standard input and without what the outer cargo has put into the environment. It leads a process
/// group of its own, so that what it starts can be killed with it.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (key, _) in env::vars_os() {
        if is_cargos(&key) {
            command.env_remove(key);
        }
    }
    command.stdin(Stdio::null()).process_group(0);
    command
}

/// A subcommand of that cargo for packages of the workspace, with [`target`] as its directory.
pub fn cargo(subcommand: &str) -> Command {
    let mut command = command(host_cargo());
    command.arg(subcommand).env("CARGO_TARGET_DIR", target()).env("CARGO_TERM_COLOR", "never").current_dir(root());
    command
}

/// Whether that cargo has a subcommand.
pub fn has_cargo(subcommand: &str) -> bool {
    let mut version = command(host_cargo());
    version.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// Tells whether a variable steers cargo or rustc in a way that an inner build must not inherit. What says where
/// toolchains and registries are stays, or machines behind a proxy could build nothing; and so does what spares the disk.
fn is_cargos(key: &OsString) -> bool {
    const KEPT: [&str; 7] =
        ["CARGO_HOME", "CARGO_HTTP_", "CARGO_INCREMENTAL", "CARGO_NET_", "CARGO_REGISTR", "RUSTUP_", "RUST_BACKTRACE"];
    let key = key.to_string_lossy();
    (key.starts_with("CARGO") || key.starts_with("RUST")) && !KEPT.iter().any(|kept| key.starts_with(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_keeps_only_what_finds_things() {
        for (key, removed) in [
            ("RUSTFLAGS", true),
            ("RUSTC_WRAPPER", true),
            ("CARGO", true),
            ("CARGO_MANIFEST_DIR", true),
            ("CARGO_TARGET_DIR", true),
            ("CARGO_ENCODED_RUSTFLAGS", true),
            ("CARGO_HOME", false),
            ("CARGO_INCREMENTAL", false),
            ("CARGO_HTTP_CAINFO", false),
            ("RUSTUP_TOOLCHAIN", false),
            ("PATH", false),
            ("HOME", false),
        ] {
            assert_eq!(is_cargos(&OsString::from(key)), removed, "{key}");
        }
    }

    #[test]
    fn only_old_files_of_guests_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["guest-x", "other"] {
            std::fs::create_dir_all(parent.path().join(name).join("deep")).unwrap();
        }
        remove_stale(parent.path(), SystemTime::now());
        assert!(parent.path().join("guest-x").exists());
        remove_stale(parent.path(), SystemTime::now() + STALE * 2);
        assert!(!parent.path().join("guest-x").exists() && parent.path().join("other").exists());
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("xtask/Cargo.toml").exists());
    }
}
