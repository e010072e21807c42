//! Checks what concerns several parameters of a board, or the parts of one.

use std::ops::Range;

use super::{MeshBoard, keys::join};
use crate::{
    Values,
    boards::{LutEntry, SubDestination, map},
};

/// Bytes of a core's MPB that every program can rely on.
const LEAST_MPB_BYTES: u32 = 8192;

/// Counters that programs can rely on where there is a board with counters.
const COUNTERS: u32 = 96;

/// Bits of a lookup table's entry without the bypass.
const ENTRY_BITS: u64 = (1 << 21) - 1;

/// What cannot be told from the board that the values make.
pub(super) fn values(values: &Values) -> Result<(), String> {
    let (controllers, sides) = (values.pairs("layout.controllers").len(), values.words("controllers.sides").len());
    if controllers != sides {
        return Err(format!("controllers.sides has {sides} sides for the {controllers} layout.controllers"));
    }
    values.check_controllers()?;
    let (columns, rows) = (values.word("layout.columns"), values.word("layout.rows"));
    for [slot, entry] in values.pairs("slots.fixed") {
        if *slot >= map::SLOTS.into() || *entry > ENTRY_BITS {
            return Err(format!("slots.fixed: there is no slot {slot:#x}, or no entry {entry:#x} without the bypass"));
        }
        let entry = LutEntry::from_register(*entry as u32);
        if entry.x() >= columns || entry.y() >= rows {
            return Err(format!(
                "slots.fixed: slot {slot:#x} leads to {entry}, and there are {columns} x {rows} tiles"
            ));
        }
    }
    let has_board = values.has("slots.board");
    for key in ["board.timestamp", "board.timestamp_mhz", "board.counters", "board.counter_offsets"] {
        if values.has(key) != has_board {
            let (is, what) = if has_board { ("missing", "has registers") } else { ("given", "has no registers") };
            return Err(format!("{key} is {is}, and the board {what} (slots.board)"));
        }
    }
    let choices = values.numbers("memory.choices_gib");
    if let Some(choice) = choices.iter().find(|choice| !(1..=16).contains(*choice)) {
        return Err(format!("memory.choices_gib: {choice} GiB; a controller has 1 to 16"));
    }
    if !choices.contains(&values.number("memory.default_gib")) {
        return Err(format!("memory.default_gib is none of memory.choices_gib, {}", join(choices.iter())));
    }
    Ok(())
}

/// What can.
pub(super) fn mesh(board: &MeshBoard) -> Result<(), String> {
    layout(board)?;
    slots(board)?;
    registers(board)?;
    for gib in &board.memory_gib {
        let memory = board.memory(*gib).map_err(|error| format!("memory.choices_gib: {error}"))?;
        let foreign = board.geometry.foreign_slots_end.saturating_sub(memory.private_slots);
        if foreign < map::LEAST_FOREIGN_SLOTS {
            return Err(format!(
                "slots.foreign_end leaves {foreign} slots for other cores' memory behind {} private ones of {gib} GiB, \
                 and {} are needed; memory.most_private_slots limits those",
                memory.private_slots,
                map::LEAST_FOREIGN_SLOTS
            ));
        }
    }
    Ok(())
}

fn layout(board: &MeshBoard) -> Result<(), String> {
    let geometry = &board.geometry;
    if geometry.cores() > map::MOST_CORES {
        return Err(format!(
            "layout: {} cores, and the status page has lines for {}",
            geometry.cores(),
            map::MOST_CORES
        ));
    }
    for (index, controller) in board.controllers.iter().enumerate() {
        let [x, y] = controller.tile;
        let is_edge = match controller.side {
            SubDestination::North => y + 1 == geometry.rows,
            SubDestination::East => x + 1 == geometry.columns,
            SubDestination::South => y == 0,
            _ => x == 0,
        };
        if !is_edge {
            return Err(format!(
                "controllers.sides: another tile is {:?} of tile [{x}, {y}], not a controller",
                controller.side
            ));
        }
        // An image knows of their tiles only, and so do the names of the files that a board's tools load.
        if board.controllers[..index].iter().any(|other| other.tile == controller.tile) {
            return Err(format!("layout.controllers: two are at tile [{x}, {y}]"));
        }
        let leads_there =
            |entry: LutEntry| ([entry.x(), entry.y()], entry.destination()) == (controller.tile, controller.side);
        if let Some((slot, entry)) = board.fixed.iter().find(|(_, entry)| leads_there(*entry)) {
            return Err(format!("slots.fixed: slot {slot:#x} leads into a controller's memory, {entry}"));
        }
    }
    for (index, controller) in board.controllers.iter().enumerate() {
        let cores = (0..geometry.cores()).filter(|core| board.controller_of(*core) == index).count();
        if cores > board.cores_per_controller as usize {
            return Err(format!(
                "controllers.cores: the controller at {:?} is the nearest one of {cores} cores, and its memory is \
                 divided between {}",
                controller.tile, board.cores_per_controller
            ));
        }
    }
    let bytes = geometry.mpb_bytes;
    if bytes < LEAST_MPB_BYTES {
        return Err(format!(
            "mpb.core_bytes: {bytes} bytes are fewer than the {LEAST_MPB_BYTES} that programs rely on"
        ));
    }
    if !bytes.is_multiple_of(map::PAGE_BYTES) {
        return Err(format!("mpb.core_bytes: {bytes} bytes are not a multiple of {} bytes, a page", map::PAGE_BYTES));
    }
    if bytes * geometry.cores_per_tile > map::TILE_MPB_BYTES {
        return Err(format!(
            "mpb.core_bytes: the MPBs of a tile have {} bytes, and an image maps {}",
            bytes * geometry.cores_per_tile,
            map::TILE_MPB_BYTES
        ));
    }
    l2(board)
}

fn l2(board: &MeshBoard) -> Result<(), String> {
    let (sets, ways) = (board.geometry.costs.cache_sets, board.geometry.l2_ways);
    for (key, number) in [("cores.l2_sets", sets), ("cores.l2_ways", ways)] {
        if !number.is_power_of_two() {
            return Err(format!("{key}: {number} is no power of two"));
        }
    }
    if sets < map::LEAST_L2_SETS {
        return Err(format!(
            "cores.l2_sets: an image can purge an L2 of {} sets or more, not {sets}",
            map::LEAST_L2_SETS
        ));
    }
    let bytes = sets * ways * map::LINE_BYTES;
    if bytes > map::L2_BYTES {
        return Err(format!("cores.l2_sets: an image can purge an L2 of {} bytes, not one of {bytes}", map::L2_BYTES));
    }
    Ok(())
}

/// No two things are in one slot, and nothing is where the image has something else at that address.
fn slots(board: &MeshBoard) -> Result<(), String> {
    let geometry = &board.geometry;
    let one = |slot: u32| slot..slot + 1;
    let mut used = vec![
        ("slots.foreign_end", 0..geometry.foreign_slots_end),
        ("slots.mpb", geometry.mpb_slot..geometry.mpb_slot + board.tiles()),
        ("slots.registers", geometry.registers_slot..geometry.registers_slot + board.tiles()),
        ("slots.own_registers", one(geometry.own_registers_slot)),
    ];
    if geometry.board_slot != 0 {
        if !board.fixed.iter().any(|(slot, _)| u32::from(*slot) == geometry.board_slot) {
            return Err(format!("slots.board: slots.fixed does not say where slot {:#x} leads", geometry.board_slot));
        }
        used.push(("slots.board", one(geometry.board_slot)));
    }
    if let Some((key, slots)) = used.iter().find(|(_, slots)| overlap(slots, &map::WINDOW_SLOTS)) {
        return Err(format!(
            "{key}, {}, overlaps {}, where an image maps its windows of shared memory",
            shown(slots),
            shown(&map::WINDOW_SLOTS)
        ));
    }
    used.retain(|(key, _)| *key != "slots.board");
    used.push(("slots.shared", geometry.shared_slot..geometry.shared_slot + board.shared_slots()));
    used.extend(board.own_mpb_slot.map(|slot| ("slots.own_mpb", one(slot))));
    used.extend(board.fixed.iter().map(|(slot, _)| ("slots.fixed", one((*slot).into()))));
    used.push(("the slot of a core's APIC", one(map::APIC_SLOT)));
    used.push(("the slot that a core starts in", one(map::BOOT_SLOT)));
    apart(used, map::SLOTS)
}

/// No register is in another.
fn registers(board: &MeshBoard) -> Result<(), String> {
    let geometry = &board.geometry;
    let (words, table_bytes) = (4, 8 * map::SLOTS);
    let mut used = vec![
        ("registers.tile_configuration", word(geometry.tile_configuration)),
        ("registers.tile_id", word(geometry.tile_id)),
    ];
    for core in 0..geometry.cores_per_tile {
        let strided = [
            ("registers.core_configuration", geometry.core_configuration, 8, words),
            ("registers.l2_configuration", geometry.l2_configuration, 8, words),
            ("registers.test_and_set", geometry.test_and_set, geometry.test_and_set_stride, words),
            ("registers.lookup_table", geometry.lookup_table, geometry.lookup_table_stride, table_bytes),
        ];
        used.extend(strided.map(|(key, first, stride, bytes)| {
            let start = first + core * stride;
            (key, start..start + bytes)
        }));
    }
    apart_words(used, map::TILE_REGISTER_BYTES)?;
    if geometry.board_slot == 0 {
        return Ok(());
    }
    if ![0, COUNTERS].contains(&geometry.counters) {
        return Err(format!(
            "board.counters: {} are neither none nor {COUNTERS}, of which programs know",
            geometry.counters
        ));
    }
    let mut used = Vec::new();
    if geometry.timestamp != 0 {
        used.push(("board.timestamp", geometry.timestamp..geometry.timestamp + 8));
    }
    if geometry.counters != 0 {
        let half = |start: u32| ("board.counter_offsets", start..start + geometry.counters / 2 * 8);
        used.extend(geometry.counter_offsets.map(half));
    }
    apart_words(used, map::BOARD_REGISTER_BYTES)
}

fn word(start: u32) -> Range<u32> {
    start..start + 4
}

fn overlap(one: &Range<u32>, other: &Range<u32>) -> bool {
    one.start < other.end && other.start < one.end
}

fn shown(range: &Range<u32>) -> String {
    if range.len() == 1 {
        return format!("{:#x}", range.start);
    }
    format!("{:#x} to {:#x}", range.start, range.end - 1)
}

/// Refuses registers that share a byte, do not begin a word, or end behind `end`.
fn apart_words(used: Vec<(&str, Range<u32>)>, end: u32) -> Result<(), String> {
    if let Some((key, range)) = used.iter().find(|(_, range)| !range.start.is_multiple_of(4)) {
        return Err(format!("{key}: a register cannot be at {:#x}, within a word", range.start));
    }
    apart(used, end)
}

/// Nothing that is used overlaps or is further than `end`.
fn apart(mut used: Vec<(&str, Range<u32>)>, end: u32) -> Result<(), String> {
    for (key, range) in &used {
        if range.end > end {
            return Err(format!("{key}, {}, is not all below {end:#x}", shown(range)));
        }
    }
    used.sort_by_key(|(_, range)| range.start);
    match used.windows(2).find(|pair| overlap(&pair[0].1, &pair[1].1)) {
        Some([(one, first), (other, second)]) => {
            Err(format!("{one}, {}, overlaps {other}, {}", shown(first), shown(second)))
        }
        _ => Ok(()),
    }
}
