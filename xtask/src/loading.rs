//! Has a program for the host load one in C, which is built for that: the simulator, and threads.

use crate::{c, kernel_line::KernelLine, program::Program};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The words of a program with what it takes to load one in C, which is built.
pub(crate) fn words(program: &Program, words: KernelLine, yes: bool) -> Result<KernelLine> {
    Ok(words_of_built(built(program, yes)?.as_deref(), words))
}

/// Builds a program, if it is in C.
pub(crate) fn built(program: &Program, yes: bool) -> Result<Option<PathBuf>> {
    program.c.as_ref().map(|sources| c::for_simulator(sources, &c::tools(yes)?)).transpose()
}

/// The words of a program with what it takes to load it, if it is one in C that was built.
pub(crate) fn words_of_built(built: Option<&Path>, words: KernelLine) -> KernelLine {
    match built {
        Some(image) => words_of_file(words, image),
        None => words,
    }
}

/// Words with which such a program loads a program in C that was built.
pub(crate) fn words_of_file(words: KernelLine, image: &Path) -> KernelLine {
    let words = words.value("image", Some(c::encoded(&image.to_string_lossy())));
    let words = words.value("heap_kib", Some(c::SIMULATED_HEAP_MIB << 10));
    words.value("cache_frames", Some(c::SIMULATED_CACHE_FRAMES))
}
