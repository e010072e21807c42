//! FLASH.md: what to do with the files on the board's host, where everything is in memory, and what to expect.

use super::{Flash, names, placement::Placement};
use crate::flash::directory::size;
use descriptions::boards::map;
use std::fmt::Write;

/// Controllers that the original `sccBoot` looks for before it loads anything.
const KNOWN_TO_THE_LOADER: [[u32; 2]; 4] = [[0, 0], [5, 0], [0, 2], [5, 2]];

/// What is said of a board that has none of them.
const OTHER_LOADER: &str =
    "The original `sccBoot` knows the controllers of the SCC only: this board needs one that looks for its own.\n\n";

/// What is said where the host does not start all cores.
const STARTS_OTHERS: &str = "Core 0 alone is loaded; it copies itself to the others and starts them.\n\n";

/// The text. `files` are those written before it, with their sizes.
pub(super) fn text(flash: &Flash, placement: &Placement, files: &[(String, u64)]) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = write_all(&mut text, flash, placement, files);
    text
}

fn write_all(out: &mut String, flash: &Flash, placement: &Placement, files: &[(String, u64)]) -> std::fmt::Result {
    what_to_do(out, flash, placement)?;
    files_and_controllers(out, flash, files)?;
    private_memory(out, flash, placement)?;
    slots(out, flash)
}

/// What does not depend on the image but by some words. Files of a run are captured in another directory: a flash replaces no directory
/// that holds other files.
fn what_to_do(out: &mut String, flash: &Flash, placement: &Placement) -> std::fmt::Result {
    let board = flash.memory.board();
    let knows = board.controllers.iter().any(|controller| KNOWN_TO_THE_LOADER.contains(&controller.tile));
    write!(
        out,
        include_str!("guide.md"),
        label = flash.label,
        about = flash.board.about,
        gib = flash.memory.gib,
        command_line = placement.command_line,
        started = started(flash),
        loader = if knows { "" } else { OTHER_LOADER },
        others = if flash.starts_others { STARTS_OTHERS } else { "" },
        last = flash.cores - 1,
        cores = crate::cores::cores(flash.cores),
        cores_per_controller = board.cores_per_controller,
        lut_default = if board.lut_default { " -lut_default" } else { "" },
        map = names::MAP,
        object = names::OBJECT,
        list = names::CORES,
    )
}

/// The cores that the host starts, as `sccReset` takes them.
fn started(flash: &Flash) -> String {
    match flash.loaded_cores() {
        1 => "0".into(),
        cores => format!("0..{}", cores - 1),
    }
}

fn files_and_controllers(out: &mut String, flash: &Flash, files: &[(String, u64)]) -> std::fmt::Result {
    writeln!(out, "\n## Files\n\n| file | size | what |\n|---|---|---|")?;
    let controllers = &flash.memory.board().controllers;
    for (file, bytes) in files {
        let what = match controllers.iter().position(|controller| names::controller(controller) == *file) {
            Some(index) => {
                let [x, y] = controllers[index].tile;
                let cores: Vec<_> = (0..flash.loaded_cores())
                    .filter(|core| flash.memory.place(*core).controller == index)
                    .map(|core| core.to_string())
                    .collect();
                format!("memory behind the controller at tile ({x}, {y}): cores {}", cores.join(" "))
            }
            None if file == names::LUTS => "lookup tables of all cores".into(),
            None if file == names::MAP => "for bin2obj: where the pieces belong".into(),
            None if file == names::OBJECT => "for sccMerge: the memory of one core".into(),
            None if file == names::CORES => "for sccMerge: the cores, and where their memory is".into(),
            None if file.ends_with(".bin") => "for bin2obj: a piece of a core's memory".into(),
            None => "the board's description, complete".into(),
        };
        writeln!(out, "| {file} | {} | {what} |", size(*bytes))?;
    }
    Ok(())
}

fn private_memory(out: &mut String, flash: &Flash, placement: &Placement) -> std::fmt::Result {
    let setting = &placement.setting;
    writeln!(
        out,
        "\n## Private memory of each core\n\n{} slots of 16 MB, {} MiB. All cores have the same.\n\n\
         | from | to | what |\n|---|---|---|",
        setting.private_slots,
        flash.memory.private_bytes() >> 20
    )?;
    let mut lines: Vec<_> = placement
        .pieces
        .iter()
        .map(|piece| (piece.address, u64::from(piece.address) + piece.bytes.len() as u64, piece.what.as_str()))
        .collect();
    let heap = "stack, page tables, room to displace what caches hold, then the heap";
    lines.push((setting.image_end, setting.heap_end.into(), heap));
    lines.sort();
    for (start, end, what) in lines {
        writeln!(out, "| {start:#010x} | {end:#010x} | {what} |")?;
    }
    writeln!(
        out,
        "\nWhat the image clears itself is not loaded: it goes on to {:#010x}. There is room for a heap of \
         {} KiB; `heap_kib=N`, and `heap0_kib=N` for core 0, say how much of it is used.",
        setting.image_end,
        placement.heap_bytes >> 10
    )
}

fn slots(out: &mut String, flash: &Flash) -> std::fmt::Result {
    let (memory, geometry) = (&flash.memory, &flash.memory.board().geometry);
    let tiles = memory.board().tiles();
    writeln!(out, "\n## Slots of a core's lookup table\n\n| slots | what |\n|---|---|")?;
    let mut lines = vec![
        (0, memory.private_slots, "private memory".to_owned()),
        (
            memory.private_slots,
            geometry.foreign_slots_end - memory.private_slots,
            "other cores' memory, which the image points them at".into(),
        ),
        (
            geometry.shared_slot,
            geometry.controllers + memory.shared_blocks - 1,
            format!("shared memory, from block {:#x} on behind each controller", memory.shared_block),
        ),
        (geometry.mpb_slot, tiles, "MPBs, tile by tile".into()),
        (geometry.registers_slot, tiles, "registers, tile by tile".into()),
        (geometry.own_registers_slot, 1, "registers of the own tile".into()),
        (map::BOOT_SLOT, 1, "the block that the core starts in".into()),
    ];
    lines.extend(memory.board().own_mpb_slot.map(|slot| (slot, 1, "MPB of the own tile, never used".into())));
    for (slot, entry) in &memory.board().fixed {
        lines.push((u32::from(*slot), 1, format!("{entry}")));
    }
    lines.sort();
    for (first, count, what) in lines {
        match count {
            0 => continue,
            1 => writeln!(out, "| {first:#04x} | {what} |")?,
            _ => writeln!(out, "| {first:#04x}–{:#04x} | {what} |", first + count - 1)?,
        }
    }
    writeln!(
        out,
        "\n## Blocks of 16 MB behind the controllers\n\n| core | controller | private | start |\n|---|---|---|---|"
    )?;
    for core in 0..geometry.cores() {
        let place = memory.place(core);
        let [x, y] = memory.board().controllers[place.controller].tile;
        let last = place.code_block + memory.private_slots - 1;
        writeln!(out, "| {core} | ({x}, {y}) | {:#05x}–{last:#05x} | {:#05x} |", place.code_block, place.boot_block)?;
    }
    Ok(())
}
