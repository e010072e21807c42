//! A board for tests.

use boards::Geometry;

/// The Intel SCC.
pub(super) fn scc() -> Geometry {
    Geometry {
        columns: 6,
        rows: 4,
        cores_per_tile: 2,
        core_mhz: 533,
        mpb_bytes: 8192,
        mpb_slot: 0xC0,
        registers_slot: 0xE0,
        own_registers_slot: 0xF8,
        board_slot: 0xF9,
        shared_slot: 0x80,
        foreign_slots_end: 0x80,
        controllers: 4,
        controller_tiles: [[0, 0], [5, 0], [0, 2], [5, 2], [0, 0], [0, 0], [0, 0], [0, 0]],
        core_configuration: 0x10,
        l2_configuration: 0x20,
        tile_configuration: 0x80,
        tile_id: 0x100,
        test_and_set: 0x200,
        test_and_set_stride: 0x200,
        lookup_table: 0x800,
        lookup_table_stride: 0x800,
        timestamp: 0x8224,
        timestamp_mhz: 125,
        counters: 96,
        counter_offsets: [0xE000, 0xF000],
        l2_sets: 2048,
        l2_ways: 4,
    }
}
