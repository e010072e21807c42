//! Everything that a board file can say.

use machines::{Key, Shape, Type};

use crate::{MOST_CONTROLLERS, map};

/// Words for the sides of a tile.
pub(super) const SIDES: &[&str] = &["north", "east", "south", "west"];

const SLOT: Type = Type::Number(1, map::SLOTS as u64 - 1);
const TILE_OFFSET: Type = Type::Number(0, map::TILE_REGISTER_BYTES as u64);
const BOARD_OFFSET: u64 = map::BOARD_REGISTER_BYTES as u64;
/// What an operation takes: less than the 4 ms that a word of picoseconds holds.
const TIME: Type = Type::Number(0, u32::MAX as u64);
/// Coordinates that an entry of a lookup table can name.
const ACROSS: Type = Type::Number(1, 16);

/// The section that only PCs have; all others are for meshes.
pub(super) const PC: &str = "pc";

const fn key(name: &'static str, type_: Type, about: &'static str) -> Key {
    Key { name, shape: Shape::Any, type_, required: true, about, is_hex: false }
}

const fn hex(name: &'static str, type_: Type, about: &'static str) -> Key {
    Key { is_hex: true, ..key(name, type_, about) }
}

const fn optional(key: Key) -> Key {
    Key { required: false, ..key }
}

/// All parameters, in the order of tables.
pub const KEYS: &[Key] = &[
    key("layout.columns", ACROSS, "tiles from west to east"),
    key("layout.rows", ACROSS, "tiles from south to north"),
    key("layout.cores_per_tile", Type::Number(1, 2), "cores of each tile"),
    key("layout.controllers", Type::Pairs(1, MOST_CONTROLLERS), "tiles [x, y] of the memory controllers"),
    key("controllers.sides", Type::Words(SIDES), "on which side of its tile each controller is"),
    key("controllers.cores", Type::Number(1, 128), "cores that each controller's memory is for"),
    key("cores.clock_mhz", Type::Number(1, 1_000_000), "clock of the cores"),
    key("cores.l2_sets", Type::Number(1, 8192), "sets of the last private cache"),
    key("cores.l2_ways", Type::Number(1, 64), "ways of the last private cache"),
    key("prices.hop_ps", TIME, "a packet traverses one router"),
    key("prices.mpb_ps", TIME, "overhead of reading or writing one MPB line"),
    key("prices.memory_write_ps", TIME, "overhead of writing one line of off-chip memory"),
    key("prices.memory_read_ps", TIME, "overhead of reading one line of off-chip memory"),
    key("prices.put_from_mpb_ps", TIME, "overhead of a put from the own MPB"),
    key("prices.put_from_memory_ps", TIME, "overhead of a put from private memory"),
    key("prices.get_to_memory_ps", TIME, "overhead of a get to private memory"),
    key("contention.mpb_port_ps", TIME, "the port of an MPB serves one read"),
    key("memory.choices_gib", Type::Numbers(1, 16), "memory behind each controller: sizes there are"),
    key("memory.default_gib", Type::Number(1, 16), "the size that is taken unless told otherwise"),
    key("memory.most_private_slots", Type::Number(1, 255), "slots of private memory of a core, at most"),
    optional(key("memory.lut_default", Type::Flag, "whether unused slots lead somewhere (sccMerge -lut_default)")),
    key("mpb.core_bytes", Type::Number(1, map::SLOT_BYTES as u64), "MPB of each core"),
    hex("slots.foreign_end", SLOT, "end of the slots for other cores' memory"),
    hex("slots.shared", SLOT, "shared memory, one slot for each controller"),
    hex("slots.mpb", SLOT, "MPBs, one slot for each tile, row by row"),
    optional(hex("slots.own_mpb", SLOT, "MPB of the own tile, which no image uses")),
    hex("slots.registers", SLOT, "registers, one slot for each tile, row by row"),
    hex("slots.own_registers", SLOT, "registers of the own tile"),
    optional(hex("slots.board", SLOT, "registers of the board, one of slots.fixed")),
    optional(hex("slots.fixed", Type::Pairs(0, 64), "[slot, entry] where all cores have the same")),
    hex("registers.core_configuration", TILE_OFFSET, "GLCFG0; GLCFG1 is 8 bytes on"),
    hex("registers.l2_configuration", TILE_OFFSET, "L2CFG0; L2CFG1 is 8 bytes on"),
    hex("registers.tile_configuration", TILE_OFFSET, "GCBCFG"),
    hex("registers.tile_id", TILE_OFFSET, "TILEID"),
    hex("registers.test_and_set", TILE_OFFSET, "LOCK0"),
    hex("registers.test_and_set_stride", TILE_OFFSET, "from there to LOCK1"),
    hex("registers.lookup_table", TILE_OFFSET, "LUT0, whose entries are 8 bytes apart"),
    hex("registers.lookup_table_stride", TILE_OFFSET, "from there to LUT1"),
    optional(hex(
        "board.timestamp",
        Type::Number(0, BOARD_OFFSET),
        "lower word of the timestamp; the upper one follows",
    )),
    optional(key("board.timestamp_mhz", Type::Number(1, 1_000_000), "clock of the timestamp")),
    optional(key("board.counters", Type::Number(0, 96), "atomic counters")),
    optional(hex("board.counter_offsets", Type::Numbers(2, 2), "where the two halves of the counters begin")),
    key("pc.most_cores", Type::Number(1, 255), "cores that are started at most"),
];

/// Numbers or words in a list.
pub(super) fn join(words: impl Iterator<Item: ToString>) -> String {
    words.map(|word| word.to_string()).collect::<Vec<_>>().join(", ")
}
