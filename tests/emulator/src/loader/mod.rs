//! Loads what a board's tools would load, as they would (`sccBoot -g DIR`), with all their peculiarities.

mod object;
mod table;

use std::{fmt, fs, io, path::Path};

use crate::Chip;

/// Why a directory cannot be loaded: the file, and what is wrong with it, in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    file: String,
    reason: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.file, self.reason)
    }
}

impl std::error::Error for LoadError {}

/// What was loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Loaded {
    /// Objects of memory controllers.
    pub objects: usize,
    /// Lines of 32 bytes that were written to memory.
    pub lines: u64,
    /// Entries of lookup tables and other registers that were written.
    pub registers: usize,
}

/// Loads the objects of all memory controllers that there are files for, and then `lut_init.dat`.
///
/// An object is `mch_X_Y.32.obj`, with the column and the row of the controller's tile. Like the board's tools this
/// looks at all tiles, so that an object of a tile without a controller is an error.
///
/// # Errors
/// What is wrong with a file.
pub fn load(chip: &mut Chip, dir: &Path) -> Result<Loaded, LoadError> {
    let geometry = chip.board().geometry;
    let mut loaded = Loaded::default();
    for (y, x) in (0..geometry.rows).flat_map(|y| (0..geometry.columns).map(move |x| (y, x))) {
        let file = format!("mch_{x:x}_{y:x}.32.obj");
        let wrong = |reason: String| LoadError { file: file.clone(), reason };
        let text = match fs::read_to_string(dir.join(&file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            text => text.map_err(|error| wrong(error.to_string()))?,
        };
        let controller = chip.board().controller_at(x, y);
        let (controller, _) =
            controller.ok_or_else(|| wrong(format!("there is no memory controller at ({x}, {y})")))?;
        loaded.lines += object::load(chip.memory_mut(controller), &text).map_err(wrong)?;
        loaded.objects += 1;
    }
    if loaded.objects == 0 {
        let reason = format!("there is none in {}", dir.display());
        return Err(LoadError { file: "mch_X_Y.32.obj".into(), reason });
    }
    let file = "lut_init.dat";
    let wrong = |reason: String| LoadError { file: file.into(), reason };
    let text = fs::read_to_string(dir.join(file)).map_err(|error| wrong(error.to_string()))?;
    loaded.registers = table::load(chip, &text).map_err(wrong)?;
    Ok(loaded)
}

/// Loads the text of an object into the memory behind a controller. Returns the number of lines that were written.
///
/// # Errors
/// What is wrong with it.
pub fn load_object(chip: &mut Chip, controller: usize, text: &str) -> Result<u64, String> {
    object::load(chip.memory_mut(controller), text)
}

/// Writes the registers that the text of `lut_init.dat` names. Returns how many.
///
/// # Errors
/// What is wrong with it.
pub fn load_table(chip: &mut Chip, text: &str) -> Result<usize, String> {
    table::load(chip, text)
}
