//! Entries of lookup tables: where 16 MB of a core's memory are in the system.

use core::fmt;

/// What hangs off a tile's router (`sccDefines.h` of sccKit).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum SubDestination {
    /// The first core.
    Core0 = 0,
    /// The second core.
    Core1 = 1,
    /// The configuration registers.
    Registers = 2,
    /// The message passing buffer.
    Mpb = 3,
    /// What is east of the tile.
    East = 4,
    /// What is south of the tile.
    South = 5,
    /// What is west of the tile.
    West = 6,
    /// What is north of the tile.
    North = 7,
}

impl SubDestination {
    /// The one with this code, of which the lower three bits count.
    pub const fn from_code(code: u32) -> Self {
        match code & 7 {
            0 => Self::Core0,
            1 => Self::Core1,
            2 => Self::Registers,
            3 => Self::Mpb,
            4 => Self::East,
            5 => Self::South,
            6 => Self::West,
            _ => Self::North,
        }
    }
}

/// An entry of a lookup table, as the register holds it: bits 9:0 are bits 33:24 of the address behind the router,
/// 12:10 the sub-destination, 16:13 the column of the tile, 20:17 its row, 21 the bypass of the router
/// (`hal::hardware`, Lookup tables).
///
/// The bypass is never set: on the chip it is broken (`hal::hardware`, Own MPB).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LutEntry(u32);

impl LutEntry {
    /// Bits that an entry has.
    const BITS: u32 = (1 << 22) - 1;
    /// The bit that says to go around the router.
    const BYPASS: u32 = 1 << 21;

    /// The entry for the 16 MB number `block` behind `destination` at the router of tile (`x`, `y`).
    ///
    /// # Panics
    /// If a coordinate does not fit 4 bits, or the block 10.
    pub const fn new(x: u32, y: u32, destination: SubDestination, block: u32) -> Self {
        assert!(x < 16 && y < 16 && block < 1024, "an entry has 4 bits for each coordinate and 10 for the address");
        Self(y << 17 | x << 13 | (destination as u32) << 10 | block)
    }

    /// The entry that a register holds.
    pub const fn from_register(value: u32) -> Self {
        Self(value & Self::BITS)
    }

    /// What to store to the register, as one word: several narrower stores would corrupt it (`hal::hardware`, Lookup
    /// tables).
    pub const fn to_register(self) -> u32 {
        self.0
    }

    /// Column of the tile.
    pub const fn x(self) -> u32 {
        self.0 >> 13 & 0xF
    }

    /// Row of the tile.
    pub const fn y(self) -> u32 {
        self.0 >> 17 & 0xF
    }

    /// The unit of the tile to which the entry leads.
    pub const fn destination(self) -> SubDestination {
        SubDestination::from_code(self.0 >> 10)
    }

    /// Which 16 MB of it.
    pub const fn block(self) -> u32 {
        self.0 & 0x3FF
    }

    /// Whether it goes around the router.
    pub const fn has_bypass(self) -> bool {
        self.0 & Self::BYPASS != 0
    }
}

impl fmt::Display for LutEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bypass = if self.has_bypass() { ", bypass" } else { "" };
        write!(
            out,
            "{:#07x}: tile ({}, {}), {:?}, block {:#x}{bypass}",
            self.0,
            self.x(),
            self.y(),
            self.destination(),
            self.block()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_those_of_the_default_map() {
        let shared = |x, y, side| LutEntry::new(x, y, side, 0x1EC).to_register();
        use SubDestination::{East, Mpb, Registers, South, West};
        assert_eq!(
            [shared(0, 0, West), shared(5, 0, East), shared(0, 2, West), shared(5, 2, East)],
            [0x019EC, 0x0B1EC, 0x419EC, 0x4B1EC]
        );
        assert_eq!(LutEntry::new(3, 0, South, 0x100).to_register(), 0x07500);
        assert_eq!(LutEntry::new(5, 3, Mpb, 0).to_register(), 0x35 << 13 | 0xC00);
        assert_eq!(LutEntry::new(5, 3, Registers, 0).to_register(), 0x35 << 13 | 0x800);
    }

    #[test]
    fn an_entry_tells_its_parts() {
        let entry = LutEntry::from_register(0xFF << 24 | 1 << 21 | 0x4B1EC);
        assert_eq!((entry.x(), entry.y(), entry.destination(), entry.block()), (5, 2, SubDestination::East, 0x1EC));
        assert!(entry.has_bypass());
        assert_eq!(entry.to_register(), 1 << 21 | 0x4B1EC);
        let text = std::format!("{}", LutEntry::from_register(0x07500));
        assert_eq!(text, "0x07500: tile (3, 0), South, block 0x100");
    }
}
