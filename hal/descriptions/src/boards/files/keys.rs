//! Everything that a board file can say.

use crate::{Key, MOST_CONTROLLERS, Shape, Type, boards::map, machines};

/// Words for the sides of a tile.
pub(super) const SIDES: &[&str] = &["north", "east", "south", "west"];

/// What a machine and a board call by different names: the machine, and the board.
const RENAMED: [(&str, &str); 3] = [
    ("prices.core_mhz", "cores.clock_mhz"),
    ("prices.cache_sets", "cores.l2_sets"),
    ("prices.cache_ways", "cores.l2_ways"),
];

/// What a board calls the parameter with this name of a machine, if both have it.
pub(super) fn own_name(name: &str) -> &str {
    RENAMED.iter().find(|(of_machine, _)| *of_machine == name).map_or(name, |(_, own)| own)
}

const SLOT: Type = Type::Number(1, map::SLOTS as u64 - 1);
const TILE_OFFSET: Type = Type::Number(0, map::TILE_REGISTER_BYTES as u64);
const BOARD_OFFSET: u64 = map::BOARD_REGISTER_BYTES as u64;
/// Coordinates that an entry of a lookup table can name.
const ACROSS: Type = Type::Number(1, 16);

const fn key(name: &'static str, type_: Type, about: &'static str) -> Key {
    Key::new(name, Some(Shape::Mesh), type_, about)
}

const fn hex(name: &'static str, type_: Type, about: &'static str) -> Key {
    key(name, type_, about).hex()
}

/// What machines call so, too.
const fn of_machine(name: &'static str) -> Key {
    let mut place = 0;
    while !is_same(machines::KEYS[place].name, name) {
        place += 1;
    }
    let Key { type_, about, .. } = machines::KEYS[place];
    key(name, type_, about)
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// All parameters, in the order of tables.
pub const KEYS: &[Key] = &[
    Key { type_: ACROSS, ..of_machine("layout.columns") },
    Key { type_: ACROSS, ..of_machine("layout.rows") },
    Key { type_: Type::Number(1, 2), ..of_machine("layout.cores_per_tile") },
    key("layout.controllers", Type::Pairs(1, MOST_CONTROLLERS), "tiles [x, y] of the memory controllers"),
    key("controllers.sides", Type::Words(SIDES), "on which side of its tile each controller is"),
    key("controllers.cores", Type::Number(1, 128), "cores that each controller's memory is for"),
    key("cores.clock_mhz", Type::Number(1, 1_000_000), "clock of the cores"),
    key("cores.l2_sets", Type::Number(1, 8192), "sets of the last private cache"),
    key("cores.l2_ways", Type::Number(1, 64), "ways of the last private cache"),
    of_machine("prices.hop_ps"),
    of_machine("prices.mpb_ps"),
    of_machine("prices.memory_write_ps"),
    of_machine("prices.memory_read_ps"),
    of_machine("prices.put_from_mpb_ps"),
    of_machine("prices.put_from_memory_ps"),
    of_machine("prices.get_to_memory_ps"),
    of_machine("prices.word_cycles"),
    of_machine("prices.counter_ps"),
    of_machine("hardware.l2_cycles"),
    of_machine("hardware.mpb_read_cycles"),
    of_machine("hardware.mpb_write_cycles"),
    of_machine("hardware.dram_cycles"),
    of_machine("hardware.dram_read_ps"),
    of_machine("hardware.dram_write_ps"),
    of_machine("hardware.l1_flush_cycles"),
    of_machine("contention.mpb_port_ps"),
    of_machine("contention.mpb_port_write_ps"),
    of_machine("contention.input_flits"),
    of_machine("contention.link_ps"),
    of_machine("contention.controller_ps"),
    key("memory.choices_gib", Type::Numbers(1, 16), "memory behind each controller: sizes there are"),
    key("memory.default_gib", Type::Number(1, 16), "the size that is taken unless told otherwise"),
    key("memory.most_private_slots", Type::Number(1, 255), "slots of private memory of a core, at most"),
    key("memory.lut_default", Type::Flag, "whether unused slots lead somewhere (sccMerge -lut_default)").optional(),
    key("mpb.core_bytes", Type::Number(1, map::SLOT_BYTES as u64), "MPB of each core"),
    hex("slots.foreign_end", SLOT, "end of the slots for other cores' memory"),
    hex("slots.shared", SLOT, "shared memory, one slot for each controller"),
    hex("slots.mpb", SLOT, "MPBs, one slot for each tile, row by row"),
    hex("slots.own_mpb", SLOT, "MPB of the own tile, which no image uses").optional(),
    hex("slots.registers", SLOT, "registers, one slot for each tile, row by row"),
    hex("slots.own_registers", SLOT, "registers of the own tile"),
    hex("slots.board", SLOT, "registers of the board, one of slots.fixed").optional(),
    hex("slots.fixed", Type::Pairs(0, 64), "[slot, entry] where all cores have the same").optional(),
    hex("registers.core_configuration", TILE_OFFSET, "GLCFG0; GLCFG1 is 8 bytes on"),
    hex("registers.l2_configuration", TILE_OFFSET, "L2CFG0; L2CFG1 is 8 bytes on"),
    hex("registers.tile_configuration", TILE_OFFSET, "GCBCFG"),
    hex("registers.tile_id", TILE_OFFSET, "TILEID"),
    hex("registers.test_and_set", TILE_OFFSET, "LOCK0"),
    hex("registers.test_and_set_stride", TILE_OFFSET, "from there to LOCK1"),
    hex("registers.lookup_table", TILE_OFFSET, "LUT0, whose entries are 8 bytes apart"),
    hex("registers.lookup_table_stride", TILE_OFFSET, "from there to LUT1"),
    hex("board.timestamp", Type::Number(0, BOARD_OFFSET), "lower word of the timestamp; the upper one follows")
        .optional(),
    key("board.timestamp_mhz", Type::Number(1, 1_000_000), "clock of the timestamp").optional(),
    key("board.counters", Type::Number(0, 96), "atomic counters").optional(),
    hex("board.counter_offsets", Type::Numbers(2, 2), "where the two halves of the counters begin").optional(),
    Key::new("pc.most_cores", Some(Shape::Pc), Type::Number(1, 255), "cores that are started at most"),
];

/// Numbers or words in a list.
pub(super) fn join(words: impl Iterator<Item: ToString>) -> String {
    words.map(|word| word.to_string()).collect::<Vec<_>>().join(", ")
}
