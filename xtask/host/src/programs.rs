//! Programs of the host, where the user's shell would find them.

use std::{
    env,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The directories in which the user's shell looks.
pub fn directories() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

/// An executable of this name in the first of the directories that has one.
pub fn find(name: &str, directories: &[PathBuf]) -> Option<PathBuf> {
    directories.iter().map(|directory| directory.join(name)).find(|file| is_executable(file))
}

/// Whether a file can be executed.
pub fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
