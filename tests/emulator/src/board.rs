//! Which board is modelled.

use boards::{Geometry, MOST_CONTROLLERS, MeshBoard};

/// A board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Board {
    /// Its layout and its registers.
    pub geometry: Geometry,
    /// Memory behind each controller, in GB.
    pub memory_gib: u32,
    /// Code of the side of its tile that each controller is on (facts 1.1: 4 east, 5 south, 6 west, 7 north).
    pub controller_sides: [u32; MOST_CONTROLLERS],
    /// The entry of a lookup table that leads to the board's registers; 0 if there are none.
    pub registers_entry: u32,
}

impl Board {
    /// The Intel SCC with so much memory behind each of its four controllers (4, 8 or 16 GB), by the facts and not by
    /// its file, which a test compares with it.
    pub const fn scc(memory_gib: u32) -> Self {
        let geometry = Geometry {
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
        };
        // West and east sides; the registers are south of tile (3, 0), with 2 as bits 33:31 of the address.
        Self { geometry, memory_gib, controller_sides: [6, 4, 6, 4, 0, 0, 0, 0], registers_entry: 0x0_7500 }
    }

    /// The board that a file describes, with the memory that the file says it has unless told otherwise.
    pub fn of(mesh: &MeshBoard) -> Self {
        let geometry = mesh.geometry;
        let mut controller_sides = [0; MOST_CONTROLLERS];
        mesh.controllers
            .iter()
            .zip(&mut controller_sides)
            .for_each(|(controller, side)| *side = controller.side as u32);
        let is_board = |(slot, _): &&(u8, boards::LutEntry)| u32::from(*slot) == geometry.board_slot;
        let registers_entry = mesh.fixed.iter().find(is_board).map_or(0, |(_, entry)| entry.to_register());
        Self { geometry, memory_gib: mesh.default_memory_gib as u32, controller_sides, registers_entry }
    }

    /// Number of cores.
    pub const fn cores(&self) -> usize {
        self.geometry.cores() as usize
    }

    /// Number of tiles.
    pub const fn tiles(&self) -> usize {
        (self.geometry.columns * self.geometry.rows) as usize
    }

    /// Tile of a core, and which core of the tile it is.
    pub(crate) const fn tile_of(&self, core: usize) -> (usize, usize) {
        let per_tile = self.geometry.cores_per_tile as usize;
        (core / per_tile, core % per_tile)
    }

    /// Number of the tile at a place of the mesh, if there is one.
    pub(crate) const fn tile_at(&self, x: u32, y: u32) -> Option<usize> {
        let geometry = &self.geometry;
        if x < geometry.columns && y < geometry.rows { Some((x + geometry.columns * y) as usize) } else { None }
    }

    /// Column and row of a tile.
    pub(crate) const fn place_of(&self, tile: usize) -> [u32; 2] {
        [tile as u32 % self.geometry.columns, tile as u32 / self.geometry.columns]
    }

    /// The controller at a tile, and the side that it is on, if there is one.
    pub(crate) fn controller_at(&self, x: u32, y: u32) -> Option<(usize, u32)> {
        let tiles = &self.geometry.controller_tiles[..self.geometry.controllers as usize];
        let controller = tiles.iter().position(|tile| *tile == [x, y])?;
        Some((controller, self.controller_sides[controller]))
    }
}
