//! All files of a directory for a board.

use super::{
    Flash, classic, guide, names,
    object::{self, Content, end, origin},
    placement::Placement,
};
use crate::{flash::directory::Directory, progress::Progress, workspace};
use anyhow::Result;
use descriptions::boards::{Memory, Place, map};
use std::{
    io::{self, Write},
    path::Path,
};

/// Writes the directory, and returns its files with their sizes.
pub(super) fn write(flash: &Flash, placement: &Placement, out: &Path) -> Result<Vec<(String, u64)>> {
    let runs = object::runs(&placement.pieces)?;
    let content: Vec<_> = runs.into_iter().map(|run| Content { text: object::text(&run.bytes), run }).collect();
    let mut directory = Directory::begin(out)?;
    let memory = &flash.memory;
    let controllers = &memory.board().controllers;
    let progress = Progress::bar(format!("writing {}", workspace::display(out)), controllers.len() as u64);
    directory.file(names::LUTS, |out| luts(out, memory))?;
    for (index, controller) in controllers.iter().enumerate() {
        let places: Vec<_> = (0..flash.loaded_cores())
            .map(|core| memory.place(core))
            .filter(|place| place.controller == index)
            .collect();
        // The loader takes what there is.
        if !places.is_empty() {
            directory.file(&names::controller(controller), |out| merged(out, &places, &content))?;
        }
        progress.step();
    }
    classic::write(&mut directory, memory, flash.cores, &content)?;
    directory.file(names::BOARD, |out| out.write_all(flash.board.to_toml().as_bytes()))?;
    let sizes = directory.files().to_vec();
    directory.file(names::GUIDE, |out| out.write_all(guide::text(flash, placement, &sizes).as_bytes()))?;
    directory.finish()
}

/// The memory behind a controller: that of all its cores, one after the other, as `sccMerge` writes it.
pub(super) fn merged(out: &mut impl Write, places: &[Place], content: &[Content]) -> io::Result<()> {
    writeln!(out, "/origin 0")?;
    for place in places {
        origin(out, u64::from(place.code_block) * u64::from(map::SLOT_BYTES))?;
        for Content { run, text } in content {
            origin(out, behind_controller(place, run.address))?;
            out.write_all(text)?;
        }
    }
    end(out)
}

/// Where a controller has what is at an address of a core's private memory.
fn behind_controller(place: &Place, address: u32) -> u64 {
    let (slot, offset) = (address / map::SLOT_BYTES, address % map::SLOT_BYTES);
    let block = if slot == map::BOOT_SLOT { place.boot_block } else { place.code_block + slot };
    u64::from(block) * u64::from(map::SLOT_BYTES) + u64::from(offset)
}

/// The lookup tables of all cores, those that have no part in the run included: one register in a line, by its tile,
/// its sub-destination, its address and its value, all in base 16.
fn luts(out: &mut impl Write, memory: &Memory) -> io::Result<()> {
    const REGISTERS: u32 = descriptions::boards::SubDestination::Registers as u32;
    let geometry = &memory.board().geometry;
    for core in 0..geometry.cores() {
        let [_, x, y] = geometry.tile_of(core);
        let table = geometry.lookup_table + core % geometry.cores_per_tile * geometry.lookup_table_stride;
        for (slot, entry) in memory.lut(core) {
            let address = table + 8 * u32::from(slot);
            writeln!(out, "{:02x} {REGISTERS:x} {address:08x} {:08x}", y << 4 | x, entry.to_register())?;
        }
    }
    Ok(())
}
