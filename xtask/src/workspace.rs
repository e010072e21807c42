//! Where things are, and commands with a clean environment.

use anyhow::{Context, Result};
use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The directory with the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The directory for everything that is built: `CARGO_TARGET_DIR` or `target` in the workspace.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()) {
        // A relative one means what it means to cargo.
        Some(value) => env::current_dir().unwrap_or_default().join(value),
        None => root().join("target"),
    }
}

/// Where a program's result files are written.
pub(crate) fn results(program: &str) -> PathBuf {
    target().join("out").join(program)
}

/// A path as the user would type it: relative to the current directory where that is shorter.
pub(crate) fn display(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// Creates a directory for the files of one guest, removed when dropped.
///
/// # Errors
///
/// When it cannot be created.
pub(crate) fn scratch() -> Result<tempfile::TempDir> {
    let parent = target().join("guests");
    std::fs::create_dir_all(&parent).with_context(|| format!("cannot create {}", parent.display()))?;
    tempfile::Builder::new()
        .prefix("guest-")
        .tempdir_in(&parent)
        .with_context(|| format!("cannot write to {}", parent.display()))
}

/// The cargo that runs this tool.
pub(crate) fn host_cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// A command without standard input and without what the outer cargo has put into the environment.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (key, _) in env::vars_os() {
        if is_cargos(&key) {
            command.env_remove(key);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Tells whether a variable steers cargo or rustc in a way that an inner build must not inherit. What says where
/// toolchains and registries are stays, or machines behind a proxy could build nothing.
fn is_cargos(key: &OsString) -> bool {
    const KEPT: [&str; 6] = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "RUSTUP_", "RUST_BACKTRACE"];
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
            ("CARGO_HTTP_CAINFO", false),
            ("RUSTUP_TOOLCHAIN", false),
            ("PATH", false),
            ("HOME", false),
        ] {
            assert_eq!(is_cargos(&OsString::from(key)), removed, "{key}");
        }
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("xtask/Cargo.toml").exists());
    }
}
