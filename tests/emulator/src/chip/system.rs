//! Places behind the lookup tables.

/// Where an access ends up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// In the memory behind a controller.
    Memory {
        /// The controller.
        controller: usize,
        /// Address behind it.
        address: u64,
    },
    /// In the MPB of a tile.
    Mpb {
        /// The tile.
        tile: usize,
        /// Offset in it, in bytes.
        offset: u32,
    },
    /// In the configuration registers of a tile.
    Registers {
        /// The tile.
        tile: usize,
        /// Offset in them, in bytes.
        offset: u32,
    },
    /// In the registers of the board's FPGA.
    Board {
        /// Offset in them, in bytes.
        offset: u32,
    },
}
