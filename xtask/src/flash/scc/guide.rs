//! FLASH.md: what to do with the files on the board's host, where everything is in memory, and what to expect.

use super::{Flash, names, placement::Placement};
use crate::flash::directory::size;
use descriptions::boards::map;
use std::fmt::Write;

/// What one core at a time prints, on the board's host, with the driver that has serial lines (`hal::hardware`,
/// Console).
///
/// Not into this directory: a flash replaces no directory that holds other files.
const CAPTURE: &str = "\
mkdir -p ../logs
for core in $(seq 0 LAST); do
    grep --text --line-buffered ^ /dev/crbif0rb0c${core}ttyS0 > ../logs/core$core.log &
done";

/// Controllers that the original `sccBoot` looks for before it loads anything.
const KNOWN_TO_THE_LOADER: [[u32; 2]; 4] = [[0, 0], [5, 0], [0, 2], [5, 2]];

/// The text. `files` are those written before it, with their sizes.
pub(super) fn text(flash: &Flash, placement: &Placement, files: &[(String, u64)]) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = write_all(&mut text, flash, placement, files);
    text
}

fn write_all(out: &mut String, flash: &Flash, placement: &Placement, files: &[(String, u64)]) -> std::fmt::Result {
    heading(out, flash, placement)?;
    commands(out, flash)?;
    console(out, flash)?;
    classic_way(out, flash)?;
    files_and_controllers(out, flash, files)?;
    private_memory(out, flash, placement)?;
    slots(out, flash)
}

fn heading(out: &mut String, flash: &Flash, placement: &Placement) -> std::fmt::Result {
    let (board, gib) = (&flash.board, flash.memory.gib);
    writeln!(out, "# {}\n", flash.label)?;
    writeln!(out, "{}. {gib} GiB behind each memory controller.\n", board.about)?;
    writeln!(out, "The program is told: `{}`\n", placement.command_line)?;
    writeln!(
        out,
        "The commands are those of sccKit 1.4, and run on the board's host in this directory. They are called with \
         `.`, since the loader replaces everything that looks like `_0_0` in the path of its files."
    )
}

fn commands(out: &mut String, flash: &Flash) -> std::fmt::Result {
    let gib = flash.memory.gib;
    writeln!(
        out,
        "\n## Before the first run\n\n\
         * `/opt/sccKit/systemSettings.ini` has to say `memorySize={gib}`: the files are made for {gib} GiB behind\n  \
         each controller. If it says something else, flash again with `--memory-gib`.\n\
         * Set clocks and memory, once after the board is switched on:\n\n  \
         ```sh\n  sccBmc -i Tile533_Mesh800_DDR800\n  ```\n\n\
         ## Load and start\n\n\
         ```sh\n\
         sccReset -g               # reset all cores, their registers and the FPGA\n\
         sccBoot -g .              # load memory and lookup tables\n\
         # now start to read the console, see below\n\
         sccReset -r {}\n\
         ```\n",
        started(flash)
    )?;
    let controllers = &flash.memory.board().controllers;
    if !controllers.iter().any(|controller| KNOWN_TO_THE_LOADER.contains(&controller.tile)) {
        writeln!(
            out,
            "The original `sccBoot` knows the controllers of the SCC only: this board needs one that looks for its own.\n"
        )?;
    }
    if flash.starts_others {
        writeln!(out, "Core 0 alone is loaded; it copies itself to the others and starts them.\n")?;
    }
    writeln!(out, "To run it again, do all of this again: a run changes what was loaded. `sccReset -g` ends a run.")
}

/// The cores that the host starts, as `sccReset` takes them.
fn started(flash: &Flash) -> String {
    match flash.loaded_cores() {
        1 => "0".into(),
        cores => format!("0..{}", cores - 1),
    }
}

fn console(out: &mut String, flash: &Flash) -> std::fmt::Result {
    let capture = CAPTURE.replace("LAST", &(flash.cores - 1).to_string());
    writeln!(
        out,
        "\n## Console\n\n\
         Each core prints on its first serial port (0x3F8). With the driver `crbif` on the host, core N's is\n\
         `/dev/crbif0rb0cNttyS0`, and this captures all of them:\n\n\
         ```sh\n{capture}\n```\n\n\
         Otherwise sccGui shows it (its software UART); save that as one file. Where Atoll is,\n\n\
         ```sh\ncargo xtask read-log logs/core*.log\n```\n\n\
         shows the lines, writes the result files of the program, and succeeds if the run has.\n\n\
         What to expect: lines that begin with `@` are for that tool, all others are the program's. Core 0 prints\n\
         `@done ok` when all {} have finished, or `@done failed` and a reason. A core that panics or faults says so\n\
         itself; one that waits for a minute says whom it waits for (`stuck_s=N` changes that), and ends the run.\n\n\
         If nothing comes at all: is the console that of core 0, and does the memory size fit (above)? Before each\n\
         byte a core reads the line status register (0x3FD), and waits if nobody on the host answers. If a core\n\
         says that there is no description of the board, or a damaged one, the files were not loaded as a whole.",
        crate::cores::cores(flash.cores)
    )
}

fn classic_way(out: &mut String, flash: &Flash) -> std::fmt::Result {
    let (gib, cores) = (flash.memory.gib, flash.memory.board().cores_per_controller);
    let lut_default = if flash.memory.board().lut_default { " -lut_default" } else { "" };
    writeln!(
        out,
        "\n## The classic way\n\n\
         With sccKit's own tools the same memory is made from its pieces, in `obj`; in a copy of this directory, which\n\
         the next flash would not replace with `obj` in it:\n\n\
         ```sh\n\
         bin2obj -m {map} -o {object}    # not needed: {object} is there\n\
         sccMerge -m {gib} -n {cores} -noimage{lut_default} -force {list}\n\
         sccReset -g\n\
         sccBoot -g obj\n\
         sccReset -r {started}\n\
         ```\n\n\
         `sccMerge` writes lookup tables for the cores in {list} only.",
        map = names::MAP,
        object = names::OBJECT,
        list = names::CORES,
        started = started(flash)
    )
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
