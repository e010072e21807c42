//! What every program in C is compiled and linked with.

use super::{
    compiler::{self, Compiler, Side},
    newlib,
};
use crate::{
    process,
    progress::Progress,
    setup::{self, CTools as HostTools},
    workspace,
};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The C library of a side, and our own.
pub(super) struct Library {
    pub(super) compiler: Compiler,
    /// Archives: ours, then newlib's.
    pub(super) archives: Vec<PathBuf>,
    /// What unwinding needs at the end of all tables.
    pub(super) end_of_frames: PathBuf,
}

/// Directories below `kernel/c` with C headers (`include`) and sources (`c`): the runtime's own, and one of each family of
/// functions.
fn families(own: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(own).with_context(|| format!("cannot read {}", workspace::display(own)))?;
    let mut families: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join("include").is_dir()).collect();
    families.sort();
    Ok(families)
}

/// The files of a directory and of those below it, always in the same order.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

impl Library {
    /// Builds what has not been built.
    pub(super) fn ensure(side: Side, tools: &HostTools) -> Result<Self> {
        let newlib = newlib::ensure(side, tools)?;
        let own = workspace::root().join("kernel/c");
        let families = families(&own)?;
        let mut headers: Vec<_> = families.iter().map(|family| family.join("include")).collect();
        headers.extend(newlib.headers.clone());
        let mut library = Self {
            compiler: Compiler { side, path: tools.compiler.clone(), headers },
            archives: Vec::new(),
            end_of_frames: PathBuf::new(),
        };
        let (archive, end_of_frames) = library.build_own(&families, &newlib.directory)?;
        library.archives = [vec![archive], newlib.archives].concat();
        library.end_of_frames = end_of_frames;
        Ok(library)
    }

    /// Compiles our own sources, if they have not been, as they are now.
    fn build_own(&self, families: &[PathBuf], beside: &Path) -> Result<(PathBuf, PathBuf)> {
        let mut sources = Vec::new();
        let mut hash = crc32fast::Hasher::new();
        for family in families {
            for file in ["include", "c"].iter().flat_map(|directory| files_below(&family.join(directory))) {
                hash.update(file.to_string_lossy().as_bytes());
                hash.update(&fs::read(&file).with_context(|| format!("cannot read {}", workspace::display(&file)))?);
                sources.extend(super::is_c(&file).then_some(file));
            }
        }
        compiler::flags(&self.compiler).iter().for_each(|flag| hash.update(flag.as_bytes()));
        let directory = beside.join(format!("own-{:08x}", hash.finalize()));
        let (archive, end) = (directory.join("libatoll.a"), directory.join("end_of_frames.o"));
        if archive.is_file() {
            return Ok((archive, end));
        }
        let _progress = Progress::new("compiling the C side of the runtime");
        let scratch = workspace::scratch()?;
        let mut objects = Vec::new();
        for source in &sources {
            let object = scratch.path().join(source.file_stem().unwrap_or_default()).with_extension("o");
            compiler::compile(&self.compiler, source, &compiler::Own, &object)?;
            objects.push(object);
        }
        let (ends, members): (Vec<_>, Vec<_>) =
            objects.into_iter().partition(|object| object.ends_with("end_of_frames.o"));
        let made = scratch.path().join("libatoll.a");
        let mut command = super::tool("ar");
        let finished = process::finish(command.arg("rcsD").arg(&made).args(&members), |_| {})?;
        ensure!(finished.status.success(), "ar cannot make an archive: {}", finished.messages.trim());
        fs::create_dir_all(&directory)?;
        // The archive comes last: where it is, all is there.
        for (from, to) in ends.iter().map(|end_object| (end_object, &end)).chain([(&made, &archive)]) {
            super::keep(from, to)?;
        }
        Ok((archive, end))
    }
}

/// Builds what all programs in C are linked with, on both sides.
pub(crate) fn prepare(tools: &HostTools) -> Result<()> {
    // The simulator's is priced by the P54C's.
    [Side::P54c, Side::Simulator].into_iter().try_for_each(|side| Library::ensure(side, tools).map(drop))
}

/// Tools for C.
pub(crate) fn tools(yes: bool) -> Result<HostTools> {
    setup::ensure(yes)
}
