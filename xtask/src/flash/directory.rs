//! A directory of files that is there as a whole or not at all.
//!
//! The files are written into a directory beside it, which takes its place when all are there. What was there before
//! is taken away only if it is an earlier flash's: a list tells which files are.

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The list of all files, itself included.
pub(super) const LIST: &str = "FILES";

/// How the list begins.
const TITLE: &str = "# written by cargo xtask flash, which replaces these files and nothing else";

/// A directory in the making. Dropped before [`finish`](Self::finish), it leaves nothing.
pub(super) struct Directory {
    place: PathBuf,
    /// Holds the directory in the making, and what it replaces.
    scratch: TempDir,
    files: Vec<(String, u64)>,
}

/// Checks that a directory can be written; nothing of what is done for that stays.
///
/// # Errors
/// When it cannot, or holds what no flash has written.
pub(super) fn check(place: &Path) -> Result<()> {
    let place = checked(place)?;
    // What is above it is made only when it is needed.
    let parents = place.ancestors().skip(1);
    scratch_in(parents.into_iter().find(|parent| parent.exists())).map(drop)
}

/// The place, as a path that names the directory itself.
fn checked(place: &Path) -> Result<PathBuf> {
    let shown = workspace::display(place);
    // A link is followed, so that what it leads to is replaced.
    let place = match place.canonicalize() {
        Ok(place) => place,
        Err(_) if place.symlink_metadata().is_ok() => bail!("{shown} is a link to nothing; name another directory"),
        Err(_) => std::path::absolute(place).with_context(|| format!("cannot write to {shown}"))?,
    };
    if !place.exists() {
        ensure!(place.file_name().is_some(), "`{shown}` is not the name of a directory");
        return Ok(place);
    }
    ensure!(place.is_dir(), "{shown} is a file; name a directory");
    let known = listed(&place);
    for entry in fs::read_dir(&place).with_context(|| format!("cannot read {shown}"))? {
        let name = entry.with_context(|| format!("cannot read {shown}"))?.file_name();
        let name = name.to_string_lossy();
        if !known.iter().any(|known| *known == name) {
            bail!("{shown} holds {name}, which no flash has written; name another directory, or remove it");
        }
    }
    Ok(place)
}

/// The files that an earlier flash says are its own.
fn listed(place: &Path) -> Vec<String> {
    let list = fs::read_to_string(place.join(LIST)).unwrap_or_default();
    let mut lines = list.lines();
    if lines.next() != Some(TITLE) {
        return Vec::new();
    }
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn scratch_in(parent: Option<&Path>) -> Result<TempDir> {
    let parent = parent.context("the root of all directories cannot be replaced")?;
    let failed = || format!("cannot write to {}", workspace::display(parent));
    ensure!(parent.is_dir() || !parent.exists(), "{}: it is a file", failed());
    fs::create_dir_all(parent).with_context(failed)?;
    tempfile::Builder::new().prefix(".flash-").tempdir_in(parent).with_context(failed)
}

impl Directory {
    /// Begins a directory that will be at this place.
    pub(super) fn begin(place: &Path) -> Result<Self> {
        let place = checked(place)?;
        let scratch = scratch_in(place.parent())?;
        let directory = Self { place, scratch, files: Vec::new() };
        let new = directory.unfinished();
        fs::create_dir(&new).with_context(|| format!("cannot create {}", new.display()))?;
        Ok(directory)
    }

    fn unfinished(&self) -> PathBuf {
        self.scratch.path().join("new")
    }

    /// Writes one file.
    pub(super) fn file(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<()> {
        crate::interrupt::check()?;
        let failed = || format!("cannot write {name} for {}", workspace::display(&self.place));
        let mut out = BufWriter::new(File::create_new(self.unfinished().join(name)).with_context(failed)?);
        write(&mut out).with_context(failed)?;
        let file = out.into_inner().map_err(|error| error.into_error()).with_context(failed)?;
        let bytes = file.metadata().with_context(failed)?.len();
        self.files.push((name.into(), bytes));
        Ok(())
    }

    /// The files written so far, with their sizes in bytes.
    pub(super) fn files(&self) -> &[(String, u64)] {
        &self.files
    }

    /// Puts the directory in its place and returns the files that are there, with their sizes.
    pub(super) fn finish(mut self) -> Result<Vec<(String, u64)>> {
        let mut names: Vec<_> = self.files.iter().map(|(name, _)| name.clone()).collect();
        names.push(LIST.into());
        self.file(LIST, |out| {
            writeln!(out, "{TITLE}")?;
            names.iter().try_for_each(|name| writeln!(out, "{name}"))
        })?;
        // What it replaces was looked at before the files were written, and is deleted in the end.
        checked(&self.place)?;
        let (new, old) = (self.unfinished(), self.scratch.path().join("old"));
        let failed = || format!("cannot replace {}", workspace::display(&self.place));
        let replaces = self.place.exists();
        if replaces {
            fs::rename(&self.place, &old).with_context(failed)?;
        }
        if let Err(error) = fs::rename(&new, &self.place) {
            if replaces {
                fs::rename(&old, &self.place).with_context(failed)?;
            }
            return Err(error).with_context(failed);
        }
        Ok(self.files)
    }
}

/// A size in the unit that suits it.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(place: &Path, files: &[(&str, &str)]) -> Result<Vec<(String, u64)>> {
        let mut directory = Directory::begin(place)?;
        for (name, content) in files {
            directory.file(name, |out| out.write_all(content.as_bytes()))?;
        }
        directory.finish()
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_earlier_flash_is_replaced_as_a_whole() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("deep/down");
        let written = write(&place, &[("a", "1"), ("b", "22")]).unwrap();
        assert_eq!(written[..2], [("a".into(), 1), ("b".into(), 2)]);
        assert_eq!(names(&place), ["FILES", "a", "b"]);
        check(&place).unwrap();
        write(&place, &[("a", "other")]).unwrap();
        assert_eq!(names(&place), ["FILES", "a"]);
        assert_eq!(fs::read_to_string(place.join("a")).unwrap(), "other");
        assert_eq!(names(&parent.path().join("deep")), ["down"]);
        fs::create_dir(parent.path().join("empty")).unwrap();
        write(&parent.path().join("empty"), &[("a", "")]).unwrap();
        assert_eq!(names(parent.path()), ["deep", "empty"]);
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("x");
        write(&place, &[("a", "1")]).unwrap();
        let mut directory = Directory::begin(&place).unwrap();
        directory.file("a", |out| out.write_all(b"2")).unwrap();
        let failure = directory.file("b", |_| Err(std::io::Error::other("the disk is full"))).unwrap_err();
        let message = format!("{failure:#}");
        assert!(message.starts_with("cannot write b for ") && message.ends_with("the disk is full"), "{message}");
        drop(directory);
        assert_eq!(fs::read_to_string(place.join("a")).unwrap(), "1");
        assert_eq!(names(parent.path()), ["x"]);
    }

    #[test]
    fn what_comes_in_between_stays() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("x");
        write(&place, &[("a", "1")]).unwrap();
        let mut directory = Directory::begin(&place).unwrap();
        directory.file("a", |out| out.write_all(b"2")).unwrap();
        fs::write(place.join("core0.log"), "captured").unwrap();
        let message = format!("{:#}", directory.finish().unwrap_err());
        assert!(message.contains("holds core0.log, which no flash has written"), "{message}");
        assert_eq!(names(&place), ["FILES", "a", "core0.log"]);
        assert_eq!(names(parent.path()), ["x"]);
    }

    #[test]
    fn a_link_stays_one() {
        let parent = tempfile::tempdir().unwrap();
        fs::create_dir(parent.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", parent.path().join("link")).unwrap();
        write(&parent.path().join("link"), &[("a", "1")]).unwrap();
        assert_eq!(names(&parent.path().join("real")), ["FILES", "a"]);
        assert!(parent.path().join("link").symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn other_files_are_never_touched() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("x");
        let refused = |reason: &str| {
            let message = format!("{:#}", check(&place).unwrap_err());
            assert!(message.contains(reason) && !message.contains('\n'), "{message}");
            assert!(write(&place, &[("a", "")]).is_err());
        };
        fs::write(&place, "a file").unwrap();
        refused("is a file; name a directory");
        fs::remove_file(&place).unwrap();
        fs::create_dir(&place).unwrap();
        fs::write(place.join("thesis.tex"), "mine").unwrap();
        refused("holds thesis.tex, which no flash has written");
        fs::remove_file(place.join("thesis.tex")).unwrap();
        write(&place, &[("a", "1")]).unwrap();
        fs::write(place.join("log"), "mine").unwrap();
        refused("holds log, which");
        fs::remove_file(place.join("log")).unwrap();
        fs::write(place.join(LIST), "a\nlog\n").unwrap();
        refused("which no flash has written");
        fs::remove_dir_all(&place).unwrap();
        std::os::unix::fs::symlink("nowhere", &place).unwrap();
        refused("is a link to nothing");
        assert_eq!(names(parent.path()), ["x"]);
        let message = format!("{:#}", check(Path::new("/proc/flash/x")).unwrap_err());
        assert!(message.starts_with("cannot write to /proc: "), "{message}");
        assert!(check(Path::new("/")).is_err());
        fs::write(parent.path().join("file"), "in the way").unwrap();
        let message = format!("{:#}", check(&parent.path().join("file/out")).unwrap_err());
        assert!(message.starts_with("cannot write to ") && message.ends_with("/file: it is a file"), "{message}");
    }
}
