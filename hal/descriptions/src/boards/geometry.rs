//! What an image has to know of its board.

use bytemuck::{Pod, Zeroable};

use crate::{Costs, MOST_CONTROLLERS};

/// Where the cores of a board are, and at which addresses they find what. All numbers are 32-bit words, so that there is
/// no padding; offsets are bytes from the start of a tile's configuration registers, or of the board's.
///
/// Slots are numbers of 16 MB in every core's physical memory, alike on all cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Geometry {
    /// Tiles from west to east.
    pub columns: u32,
    /// Tiles from south to north.
    pub rows: u32,
    /// Cores of each tile, at most 2.
    pub cores_per_tile: u32,

    /// Bytes of each core's MPB; a tile's MPB has those of its cores one after the other.
    pub mpb_bytes: u32,
    /// Slot of the MPB of tile (0, 0); that of tile (x, y) is `x + columns * y` further on.
    pub mpb_slot: u32,
    /// Slot of the configuration registers of tile (0, 0); the others as for MPBs.
    pub registers_slot: u32,
    /// Slot of the own tile's configuration registers.
    pub own_registers_slot: u32,
    /// Slot of the registers of the board (the SCC's system FPGA); 0 if there are none.
    pub board_slot: u32,
    /// Slot of the shared memory behind the first controller; that of the others follow.
    pub shared_slot: u32,
    /// First slot after those that may be pointed at other cores' memory, which begin after the private ones.
    pub foreign_slots_end: u32,

    /// Number of memory controllers.
    pub controllers: u32,
    /// Column and row of the tile that each is at.
    pub controller_tiles: [[u32; 2]; MOST_CONTROLLERS],

    /// Offset of the first core's configuration and interrupt register (`GLCFG0`); the second core's is 8 further on,
    /// here and below unless said otherwise.
    pub core_configuration: u32,
    /// Offset of the first core's register of L2 (`L2CFG0`).
    pub l2_configuration: u32,
    /// Offset of the tile's clocks and resets (`GCBCFG`).
    pub tile_configuration: u32,
    /// Offset of the tile's number (`TILEID`).
    pub tile_id: u32,
    /// Offset of the first core's test-and-set register (`LOCK0`).
    pub test_and_set: u32,
    /// Bytes from there to the second core's.
    pub test_and_set_stride: u32,
    /// Offset of the first core's lookup table (`LUT0`), whose entries are 8 bytes apart.
    pub lookup_table: u32,
    /// Bytes from there to the second core's.
    pub lookup_table_stride: u32,

    /// Offset of the lower word of the board's timestamp, which the upper one follows; 0 if it has none.
    pub timestamp: u32,
    /// Rate of the timestamp, in MHz.
    pub timestamp_mhz: u32,
    /// Atomic counters of the board.
    pub counters: u32,
    /// Offsets of its two halves: a counter is 8 bytes, first what counts, then what sets.
    pub counter_offsets: [u32; 2],

    /// Ways of the last private cache.
    pub l2_ways: u32,
    /// The sets of L2, the clock of the cores, and what operations cost, to choose algorithms by.
    pub costs: Costs,
}

impl Geometry {
    /// Number of cores of the whole board.
    pub const fn cores(&self) -> u32 {
        self.columns * self.rows * self.cores_per_tile
    }

    /// Number, column and row of the tile of a core.
    pub const fn tile_of(&self, core: u32) -> [u32; 3] {
        let tile = core / self.cores_per_tile;
        [tile, tile % self.columns, tile / self.columns]
    }
}
