//! The files that the host of a board like the SCC loads: memory behind each controller, and lookup tables.

mod classic;
mod elf;
mod files;
mod guide;
mod names;
mod object;
mod placement;
#[cfg(test)]
mod tests;

use super::directory;
use crate::{catalogue, image, kernel_line, program::Program, qemu, setup, workspace};
use anyhow::{Context, Result, ensure};
use descriptions::boards::{Board, Memory, MeshBoard, SubDestination};
use placement::{Choice, Input, Placement};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What a board is to run, and how it is set up.
#[derive(Debug)]
pub(crate) struct Flash {
    /// Program and what it runs on, for messages.
    label: String,
    /// The board, with the memory that is chosen.
    board: Board,
    memory: Memory,
    cores: u32,
    starts_others: bool,
    words: kernel_line::KernelLine,
    /// The heaps that the user has asked for, of every core but the first and of core 0.
    heaps_kib: [Option<u64>; 2],
    stack_kib: Option<u64>,
    /// Whether the heap is all that is left, unless the user has asked for another one.
    takes_all: bool,
    inputs: Vec<Input>,
}

/// What can be chosen for a board; what is not is as its file says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setup {
    /// Cores that run the program, the first ones [default: all].
    pub(crate) cores: Option<u32>,
    /// GiB of memory behind each controller.
    pub(crate) memory_gib: Option<u64>,
    /// Whether core 0 alone is loaded and started, and starts the others.
    pub(crate) starts_others: bool,
}

impl Flash {
    /// Checks what is wanted against the board, as far as that is possible without the image.
    ///
    /// # Errors
    /// When the board is no mesh or does not have what is chosen, or an input file cannot be read.
    pub(crate) fn new(
        board: Board,
        setup: &Setup,
        program: &Program,
        words: &kernel_line::KernelLine,
        inputs: &[PathBuf],
    ) -> Result<Self> {
        let name = board.name.clone();
        let mesh = mesh(&board)?;
        let most = mesh.geometry.cores();
        let cores = setup.cores.unwrap_or(most);
        ensure!((1..=most).contains(&cores), "{cores} cores are too many: {name} has {most}");
        check_controllers(mesh)?;
        let memory_gib = setup.memory_gib.unwrap_or(mesh.default_memory_gib);
        let memory = mesh.memory(memory_gib).with_context(|| format!("{name}, --memory-gib {memory_gib}"))?;
        let given: Vec<_> = words.to_string().split(' ').map(str::to_owned).collect();
        let number = |key| kernel_line::number(&given, key);
        Ok(Self {
            label: format!("{} on {} of {name}", program.name, crate::cores::cores(cores)),
            board: board.with_memory(memory_gib)?,
            memory,
            cores,
            starts_others: setup.starts_others,
            words: words.clone(),
            heaps_kib: [number("heap_kib")?, number("heap0_kib")?],
            stack_kib: kernel_line::stack_kib(&given)?,
            takes_all: program.c.is_some(),
            inputs: read(inputs)?,
        })
    }

    /// Writes the directory for the image in an ELF file, and returns its files with their sizes in bytes. Nothing is
    /// written unless all of it fits.
    ///
    /// # Errors
    /// When the image is none for boards, image and input do not fit, or the directory cannot be written.
    pub(crate) fn write(&self, elf: &[u8], out: &Path) -> Result<Vec<(String, u64)>> {
        let placement = self.place(&elf::Image::read(elf)?)?;
        files::write(self, &placement, out)
    }

    /// Program, cores and board, for messages.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    fn place(&self, image: &elf::Image) -> Result<Placement> {
        let choice = Choice {
            geometry: self.memory.board().geometry,
            private_slots: self.memory.private_slots,
            cores: self.cores,
            starts_others: self.starts_others,
            heaps_kib: self.heaps_kib,
            stack_kib: self.stack_kib,
            takes_all: self.takes_all,
        };
        placement::place(image, &choice, &self.words, &self.inputs)
    }

    /// The cores whose memory is loaded from outside.
    fn loaded_cores(&self) -> u32 {
        if self.starts_others { 1 } else { self.cores }
    }
}

/// The mesh that a board is.
fn mesh(board: &Board) -> Result<&MeshBoard> {
    board.mesh().with_context(|| format!("{} is no board with files to load", board.name))
}

/// The loader takes the sides of controllers from the places of their tiles: west and east of those in the first and the
/// last column, else south of those in the first row, else north (`loadOBJ` of sccKit).
fn check_controllers(mesh: &MeshBoard) -> Result<()> {
    for controller in &mesh.controllers {
        let [x, y] = controller.tile;
        let looked_for = match (x, y) {
            (0, _) => SubDestination::West,
            _ if x + 1 == mesh.geometry.columns => SubDestination::East,
            (_, 0) => SubDestination::South,
            _ => SubDestination::North,
        };
        ensure!(
            controller.side == looked_for,
            "the memory controller at tile ({x}, {y}) is {:?} of it, and the loader looks for it {looked_for:?}",
            controller.side
        );
    }
    Ok(())
}

/// The input files, with names that are one word each.
fn read(paths: &[PathBuf]) -> Result<Vec<Input>> {
    let mut names = Vec::new();
    let mut inputs = Vec::new();
    for (place, path) in paths.iter().enumerate() {
        let name = qemu::module_name(path, place, &names);
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", workspace::display(path)))?;
        names.push(name.clone());
        inputs.push(Input { name, bytes });
    }
    Ok(inputs)
}

/// Builds the image and writes the directory.
pub(super) fn main(flash: &Flash, program: &Program, counts: bool, out: &Path, yes: bool) -> Result<()> {
    directory::check(out)?;
    // What no image would leave room for is said before minutes of building.
    flash.place(&elf::Image::nothing())?;
    catalogue::check(program)?;
    let tools = setup::for_program(program, yes)?;
    let built = image::board(program, &tools, image::Besides { is_observed: counts, announces: false })?;
    let path = &built.executable;
    let elf = fs::read(path).with_context(|| format!("cannot read {}", workspace::display(path)))?;
    let written = flash.write(&elf, out)?;
    let shown = workspace::display(out);
    for (name, bytes) in &written {
        println!("wrote {shown}/{name}: {}", directory::size(*bytes));
    }
    let all = written.iter().map(|(_, bytes)| bytes).sum();
    println!("{}: {} in {shown}; {shown}/{} says how to run it", flash.label(), directory::size(all), names::GUIDE);
    Ok(())
}
