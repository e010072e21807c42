//! The configuration registers of tiles (CRB): clocks and resets, the pins of the cores, test-and-set registers, lookup
//! tables.
//!
//! Where they are comes from the board's [`Geometry`]. Each is one word, and is read and written as one: an entry of a
//! lookup table that was stored in parts has been seen to be corrupt, by Barrelfish. What a register holds
//! is a type; of those that several parties share only the named bits are changed, by read, modify and write.

use core::{marker::PhantomData, ptr::NonNull};

use bitflags::bitflags;
use descriptions::boards::{Geometry, LutEntry, map::SLOT_BYTES};
use volatile::VolatilePtr;

bitflags! {
    /// Configuration and pins of a core (`GLCFG`). Whoever changes it for another core holds that core's test-and-set
    /// register. The bits that have no name here are the chip's, and mean different things in different sources.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Glcfg: u32 {
        /// The pin NMI, which is the local APIC's LINT1.
        const NMI = 1 << 0;
        /// The pin INTR, which is the local APIC's LINT0.
        const INTR = 1 << 1;
        const _ = !0;
    }
}

bitflags! {
    /// Configuration of a core's L2 (`L2CFG`).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct L2cfg: u32 {
        /// L2 is off.
        const WAY_DISABLE = 1 << 4;
        const _ = !0;
    }
}

bitflags! {
    /// Clocks and resets of a tile (`GCBCFG`). Core and L2 `z` of the tile are kept in reset by bits that are `z` above
    /// the first ones.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Gcbcfg: u32 {
        /// The first core is kept in reset.
        const RESET_CORE_0 = 1 << 0;
        /// The second core is kept in reset.
        const RESET_CORE_1 = 1 << 1;
        /// The L2 of the first core is kept in reset.
        const RESET_L2_0 = 1 << 2;
        /// The L2 of the second core is kept in reset.
        const RESET_L2_1 = 1 << 3;
        const _ = !0;
    }
}

impl Gcbcfg {
    /// What keeps a core of the tile, with its L2, in reset.
    ///
    /// # Panics
    /// If a tile has no such core.
    pub const fn reset_of(core_of_tile: u32) -> Self {
        match core_of_tile {
            0 => Self::RESET_CORE_0.union(Self::RESET_L2_0),
            1 => Self::RESET_CORE_1.union(Self::RESET_L2_1),
            _ => panic!("a tile has two cores at most"),
        }
    }
}

/// Which core asks, and where its tile is (`TILEID`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileId(u32);

impl TileId {
    /// Which core of its tile the asking one is.
    pub const fn core_of_tile(self) -> u32 {
        self.0 & 7
    }

    /// Column of the tile.
    pub const fn x(self) -> u32 {
        self.0 >> 3 & 0xF
    }

    /// Row of the tile.
    pub const fn y(self) -> u32 {
        self.0 >> 7 & 0xF
    }

    /// Number of the tile, as slots count them.
    pub const fn tile(self, geometry: &Geometry) -> u32 {
        self.y() * geometry.columns + self.x()
    }

    /// Number of the core.
    pub const fn core(self, geometry: &Geometry) -> u32 {
        self.tile(geometry) * geometry.cores_per_tile + self.core_of_tile()
    }
}

/// What a test-and-set register was when it was read; unless it was taken, it is by that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TestAndSetValue(u32);

impl TestAndSetValue {
    /// What to write to free the register: anything does.
    pub const FREE: Self = Self(0);

    /// Whether the reader has the register now.
    pub const fn is_acquired(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What a register can hold, as one word.
pub trait Contents: Copy {
    /// The word's meaning.
    fn from_word(word: u32) -> Self;

    /// The word.
    fn to_word(self) -> u32;
}

macro_rules! contents {
    ($($contents:ty: $from:expr, $to:expr;)*) => { $(
        impl Contents for $contents {
            fn from_word(word: u32) -> Self {
                $from(word)
            }

            fn to_word(self) -> u32 {
                $to(self)
            }
        }
    )* };
}

contents! {
    u32: |word| word, |word| word;
    Glcfg: Self::from_bits_retain, |flags: Self| flags.bits();
    L2cfg: Self::from_bits_retain, |flags: Self| flags.bits();
    Gcbcfg: Self::from_bits_retain, |flags: Self| flags.bits();
    TileId: Self, |id: Self| id.0;
    TestAndSetValue: Self, |value: Self| value.0;
    LutEntry: LutEntry::from_register, LutEntry::to_register;
}

/// One register.
#[derive(Clone, Copy, Debug)]
pub struct Register<T> {
    word: VolatilePtr<'static, u32>,
    contents: PhantomData<T>,
}

impl<T: Contents> Register<T> {
    /// The register at an address.
    ///
    /// # Safety
    /// 1. There is a register that holds a `T`, and is reached by one uncached access.
    /// 2. To read and to write it has no effect on memory that the compiler knows of.
    ///
    /// # Panics
    /// If the address is 0.
    pub unsafe fn at(address: usize) -> Self {
        let word = NonNull::new(core::ptr::with_exposed_provenance_mut::<u32>(address));
        // SAFETY: condition 1. Other cores access it, too, which is what it is for: each access is one of a device.
        let word = unsafe { VolatilePtr::new(word.expect("no register is at address 0")) };
        Self { word, contents: PhantomData }
    }

    /// Reads it once.
    pub fn read(self) -> T {
        T::from_word(self.word.read())
    }

    /// Writes it once.
    pub fn write(self, value: T) {
        self.word.write(value.to_word());
    }

    /// Reads it, and writes what `change` makes of it. Not atomic: what others write in between is lost.
    pub fn update(self, change: impl FnOnce(T) -> T) {
        self.write(change(self.read()));
    }
}

/// The configuration registers of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Registers<'g> {
    base: usize,
    geometry: &'g Geometry,
}

impl<'g> Registers<'g> {
    /// A tile's registers at an address.
    ///
    /// # Safety
    /// There are the registers of a tile of this board, at the geometry's offsets, mapped uncached. Whoever has the value answers
    /// for what is written by it: an entry of a lookup table changes what addresses mean, and configurations reset cores.
    pub const unsafe fn at(base: usize, geometry: &'g Geometry) -> Self {
        Self { base, geometry }
    }

    /// The registers of a tile.
    ///
    /// # Safety
    /// 1. The board is as `geometry` says. 2. Its registers are mapped uncached at their physical addresses, or there
    ///    is no paging yet. 3. As for [`at`](Self::at), what is written is answered for.
    ///
    /// # Panics
    /// If there is no such tile.
    pub unsafe fn of_tile(geometry: &'g Geometry, tile: u32) -> Self {
        assert!(tile < geometry.columns * geometry.rows, "tile {tile} does not exist");
        // SAFETY: the lookup table of every core leads there; 3.
        unsafe { Self::at(slot_address(geometry.registers_slot + tile), geometry) }
    }

    /// The registers of the own tile.
    ///
    /// # Safety
    /// As for [`of_tile`](Self::of_tile).
    pub unsafe fn own(geometry: &'g Geometry) -> Self {
        // SAFETY: the lookup table of every core leads to the registers of its own tile, too; 3 of `of_tile`.
        unsafe { Self::at(slot_address(geometry.own_registers_slot), geometry) }
    }

    fn register<T: Contents>(self, offset: u32) -> Register<T> {
        // SAFETY: 1. who made `self` says so; 2. he answers for entries of lookup tables, and the others are not memory's.
        unsafe { Register::at(self.base + offset as usize) }
    }

    /// `first`, or what is `stride` bytes further on for the second core of the tile.
    fn of_core<T: Contents>(self, core_of_tile: u32, first: u32, stride: u32) -> Register<T> {
        assert!(core_of_tile < self.geometry.cores_per_tile, "core {core_of_tile} of a tile does not exist");
        self.register(first + core_of_tile * stride)
    }

    /// Configuration and pins of a core of the tile.
    ///
    /// # Panics
    /// If there is no such core; so do all of those below.
    pub fn core_configuration(self, core_of_tile: u32) -> Register<Glcfg> {
        self.of_core(core_of_tile, self.geometry.core_configuration, 8)
    }

    /// Configuration of the L2 of a core of the tile.
    pub fn l2_configuration(self, core_of_tile: u32) -> Register<L2cfg> {
        self.of_core(core_of_tile, self.geometry.l2_configuration, 8)
    }

    /// Clocks and resets.
    pub fn tile_configuration(self) -> Register<Gcbcfg> {
        self.register(self.geometry.tile_configuration)
    }

    /// Who the reading core is.
    pub fn tile_id(self) -> Register<TileId> {
        self.register(self.geometry.tile_id)
    }

    /// The test-and-set register of a core of the tile: a read takes it, a write frees it.
    pub fn test_and_set(self, core_of_tile: u32) -> Register<TestAndSetValue> {
        self.of_core(core_of_tile, self.geometry.test_and_set, self.geometry.test_and_set_stride)
    }

    /// An entry of the lookup table of a core of the tile.
    ///
    /// # Panics
    /// If there is no such slot, too.
    pub fn lookup_entry(self, core_of_tile: u32, slot: u32) -> Register<LutEntry> {
        assert!(slot < descriptions::boards::map::SLOTS, "a lookup table has no slot {slot}");
        let first = self.geometry.lookup_table + slot * 8;
        self.of_core(core_of_tile, first, self.geometry.lookup_table_stride)
    }
}

/// The address at which a slot begins.
pub const fn slot_address(slot: u32) -> usize {
    slot as usize * SLOT_BYTES as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scc::testing::scc;

    #[test]
    fn a_tile_id_is_taken_apart() {
        let id = TileId(1 | 5 << 3 | 3 << 7);
        assert_eq!((id.core_of_tile(), id.x(), id.y()), (1, 5, 3));
        assert_eq!((id.tile(&scc()), id.core(&scc())), (23, 47));
        assert_eq!(TileId(0).core(&scc()), 0);
    }

    #[test]
    fn registers_are_where_the_board_has_them() {
        let geometry = scc();
        let block = alloc::vec![0_u32; 0x2000 / 4].leak();
        let base = block.as_mut_ptr().expose_provenance();
        // SAFETY: the block is as long as the registers of a tile, and reached through them only.
        let registers = unsafe { Registers::at(base, &geometry) };
        registers.core_configuration(1).write(Glcfg::from_bits_retain(0x34_8DF8));
        registers.core_configuration(1).update(|pins| pins | Glcfg::INTR);
        registers.l2_configuration(0).write(L2cfg::from_bits_retain(0x6CF));
        registers.tile_configuration().write(Gcbcfg::from_bits_retain(0xF0F));
        registers.tile_configuration().update(|resets| resets - Gcbcfg::reset_of(1));
        registers.test_and_set(1).write(TestAndSetValue(1));
        registers.lookup_entry(1, 255).write(LutEntry::from_register(0x07500));
        registers.lookup_entry(0, 2).write(LutEntry::from_register(0x019EC));
        assert!(registers.test_and_set(1).read().is_acquired() && !registers.test_and_set(0).read().is_acquired());
        // SAFETY: within the block, and the registers are not used any more.
        let word = |offset: usize| unsafe { block.as_ptr().add(offset / 4).read_volatile() };
        let expected = [
            (0x018, 0x34_8DFA),
            (0x020, 0x6CF),
            (0x080, 0xF05),
            (0x400, 1),
            (0x1000 + 255 * 8, 0x07500),
            (0x810, 0x019EC),
        ];
        for (offset, value) in expected {
            assert_eq!(word(offset), value, "at {offset:#x}");
        }
        let written = (0..block.len()).filter(|index| word(index * 4) != 0).count();
        assert_eq!(written, expected.len());
    }
}
