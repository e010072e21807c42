//! Lists boards, and shows what is known of one.

use crate::{cores, described};
use anyhow::{Context, Result, ensure};
use clap::Args;
use descriptions::boards::{Board, Kind, LutEntry, Memory, MeshBoard, SubDestination, map};
use std::fmt::Write as _;

/// List the boards, or show one: every parameter, where it comes from, and how the memory is divided
#[derive(Args)]
pub(crate) struct Arguments {
    /// A board with a name, or a board file FILE.toml; all names if there is none
    name: Option<String>,
    /// Show where the lookup table of this core leads, instead
    #[arg(long, value_name = "CORE", requires = "name")]
    lut: Option<u32>,
    /// Memory behind each controller, in GiB, for the lookup table
    #[arg(long, value_name = "GIB", requires = "lut")]
    memory_gib: Option<u64>,
}

/// Carries out `cargo xtask boards`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let Some(name) = &arguments.name else {
        print!("{}", list());
        return Ok(());
    };
    let board = Board::find(name)?;
    let Some(core) = arguments.lut else {
        println!("{}", shown(&board)?);
        return Ok(());
    };
    let mesh = board.mesh().with_context(|| format!("{name} has no lookup tables"))?;
    let memory = mesh.memory(arguments.memory_gib.unwrap_or(mesh.default_memory_gib))?;
    ensure!(core < mesh.geometry.cores(), "core {core}: {name} has {}", cores::cores(mesh.geometry.cores()));
    print!("{}", lookup_table(&memory, core));
    Ok(())
}

fn list() -> String {
    let cores = |board: &Board| match &board.kind {
        Kind::Mesh(mesh) => cores::cores(mesh.geometry.cores()),
        Kind::Pc(pc) => format!("up to {}", cores::cores(pc.most_cores)),
    };
    described::list(cores) + &described::own_file::<Kind>()
}

/// All of a board: its parameters, and what follows from them for each memory that it can have.
fn shown(board: &Board) -> Result<String> {
    let mut text = described::shown(board);
    let Some(mesh) = board.mesh() else { return Ok(text) };
    text.push_str("\n\nprivate memory of a core:");
    for gib in &mesh.memory_gib {
        text.push_str(&divided(&mesh.memory(*gib)?));
    }
    for (number, controller) in mesh.controllers.iter().enumerate() {
        let of_it: Vec<_> = (0..mesh.geometry.cores()).filter(|core| mesh.controller_of(*core) == number).collect();
        let [x, y] = controller.tile;
        write!(text, "\ncontroller {number}, {} of tile ({x}, {y}): cores {}", side(controller.side), ranges(&of_it))?;
    }
    Ok(text)
}

/// How a memory is divided, in a line.
fn divided(memory: &Memory) -> String {
    let first = memory.place(0).boot_block - memory.place(0).base;
    format!(
        "\n{} GiB behind each controller: {} slots, {} MiB; shared memory from block {:#x} on, blocks to start in from \
         {first:#x} on",
        memory.gib,
        memory.private_slots,
        memory.private_bytes() >> 20,
        memory.shared_block
    )
}

/// Numbers in ascending order, as ranges.
fn ranges(numbers: &[u32]) -> String {
    let groups = numbers.chunk_by(|one, next| one + 1 == *next);
    let words: Vec<_> = groups.map(|group| words("", group[0], group[group.len() - 1], u32::to_string)).collect();
    words.join(", ")
}

/// `WHAT 3`, or `WHAT 3 to 5`.
fn words(what: &str, first: u32, last: u32, shown: impl Fn(&u32) -> String) -> String {
    if first == last {
        what.to_owned() + &shown(&first)
    } else {
        format!("{what}{} to {}", shown(&first), shown(&last))
    }
}

fn side(side: SubDestination) -> &'static str {
    match side {
        SubDestination::North => "north",
        SubDestination::East => "east",
        SubDestination::South => "south",
        SubDestination::West => "west",
        SubDestination::Core0 | SubDestination::Core1 | SubDestination::Registers | SubDestination::Mpb => "inside",
    }
}

/// The lookup table of a core in words: slots in a row that lead to blocks in a row are one line.
fn lookup_table(memory: &Memory, core: u32) -> String {
    let (board, place) = (memory.board(), memory.place(core));
    let [_, x, y] = board.geometry.tile_of(core);
    let mut text = format!(
        "core {core} on tile ({x}, {y}), {} GiB behind each controller; number {} of controller {}\n",
        memory.gib, place.base, place.controller
    );
    let lut = memory.lut(core);
    let same = |one: &(u8, LutEntry), next: &(u8, LutEntry)| {
        let follows = u32::from(one.0) + 1 == u32::from(next.0);
        follows
            && one.1.to_register() + 1 == next.1.to_register()
            && what(memory, one.0.into()) == what(memory, next.0.into())
    };
    for run in lut.chunk_by(same) {
        let (slot, entry) = run[0];
        let (last_slot, last) = run[run.len() - 1];
        let slots = words("", slot.into(), last_slot.into(), |slot| format!("{slot:#04x}"));
        let address = u64::from(slot) * u64::from(map::SLOT_BYTES);
        let at = format!("tile ({}, {})", entry.x(), entry.y());
        let to = match entry.destination() {
            SubDestination::Mpb | SubDestination::Registers => at,
            outside => {
                let blocks = words("", entry.block(), last.block(), |block| format!("{block:#x}"));
                format!("{} of {at}, block {blocks}", side(outside))
            }
        };
        let what = what(memory, slot.into());
        writeln!(text, "slot {slots:12} at {address:#010x}  {:#07x}  {what}: {to}", entry.to_register())
            .expect("texts take everything");
    }
    text
}

/// What a slot is for.
fn what(memory: &Memory, slot: u32) -> &'static str {
    let MeshBoard { geometry, own_mpb_slot, fixed, .. } = memory.board();
    let tiles = memory.board().tiles();
    if slot < memory.private_slots {
        "private memory"
    } else if slot == map::BOOT_SLOT {
        "private memory to start in"
    } else if slot == geometry.board_slot {
        "registers of the board"
    } else if (geometry.shared_slot..geometry.shared_slot + memory.board().shared_slots()).contains(&slot) {
        "shared memory"
    } else if (geometry.mpb_slot..geometry.mpb_slot + tiles).contains(&slot) {
        "MPB"
    } else if (geometry.registers_slot..geometry.registers_slot + tiles).contains(&slot) {
        "registers"
    } else if slot == geometry.own_registers_slot {
        "own registers"
    } else if *own_mpb_slot == Some(slot) {
        "own MPB, never used"
    } else if fixed.iter().any(|(fixed, _)| u32::from(*fixed) == slot) {
        "fixed"
    } else {
        "nothing, behind the shared memory"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_is_listed_and_shown() {
        let all = list();
        for name in Board::names() {
            assert!(all.lines().any(|line| line.starts_with(&format!("{name}: "))), "{all}");
            let table = shown(&Board::find(name).unwrap()).unwrap();
            assert!(table.contains("as above") || name == "pc", "{table}");
        }
        let scc = shown(&Board::find("scc").unwrap()).unwrap();
        assert!(
            scc.contains("8 GiB behind each controller: 41 slots, 656 MiB; shared memory from block 0x1ec"),
            "{scc}"
        );
        assert!(scc.contains("controller 0, west of tile (0, 0): cores 0 to 5, 12 to 17\n"), "{scc}");
        assert!(scc.contains("0xf9: 0x7500,") && scc.contains("0xfc: 0x7580"), "{scc}");
    }

    #[test]
    fn a_lookup_table_is_told_in_words() {
        let board = Board::find("scc").unwrap();
        let text = lookup_table(&board.mesh().unwrap().memory(8).unwrap(), 19);
        for line in [
            "core 19 on tile (3, 1), 8 GiB behind each controller; number 7 of controller 1",
            "slot 0x00 to 0x28 at 0x00000000  0x0b11f  private memory: east of tile (5, 0), block 0x11f to 0x147",
            "slot 0x81         at 0x81000000  0x0b1ec  shared memory: east of tile (5, 0), block 0x1ec",
            "slot 0xd7         at 0xd7000000  0x6ac00  MPB: tile (5, 3)",
            "slot 0xf8         at 0xf8000000  0x26800  own registers: tile (3, 1)",
            "slot 0xf9         at 0xf9000000  0x07500  registers of the board: south of tile (3, 0), block 0x100",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
