//! The registers of the board (the SCC's system FPGA): its clock and its atomic counters.
//!
//! To touch an offset that is none of its registers may hang the whole chip, says its Linux driver. So only the offsets
//! below are ever used, and nothing here takes an offset from outside.
//!
//! An access leaves the chip and takes long; who polls backs off.

use descriptions::boards::Geometry;

use crate::scc::registers::tile::{Register, slot_address};

/// The registers of a board that has some.
#[derive(Clone, Copy, Debug)]
pub struct Board<'g> {
    base: usize,
    geometry: &'g Geometry,
}

impl<'g> Board<'g> {
    /// The registers of the board; `None` if it has none.
    ///
    /// # Safety
    /// The board is as `geometry` says, and its registers are mapped uncached at their physical addresses.
    pub unsafe fn new(geometry: &'g Geometry) -> Option<Self> {
        // SAFETY: the lookup table of every core leads there.
        (geometry.board_slot != 0).then(|| unsafe { Self::at(slot_address(geometry.board_slot), geometry) })
    }

    /// The board's registers at an address.
    ///
    /// # Safety
    /// There are the registers of this board, mapped uncached.
    pub const unsafe fn at(base: usize, geometry: &'g Geometry) -> Self {
        Self { base, geometry }
    }

    fn register(self, offset: u32) -> Register<u32> {
        // SAFETY: 1. `timestamp` and `counter` have only the offsets that there are, and who made `self` vouches for
        // the rest; 2. they are not memory.
        unsafe { Register::at(self.base + offset as usize) }
    }

    /// The time since the board was started, in ticks of the geometry's `timestamp_mhz`; nothing if it has no clock.
    pub fn timestamp(self) -> Option<u64> {
        let low = self.geometry.timestamp;
        if low == 0 {
            return None;
        }
        let high = self.register(low + 4);
        let low = self.register(low);
        let mut before = high.read();
        loop {
            let found = low.read();
            let after = high.read();
            if after == before {
                return Some(u64::from(after) << 32 | u64::from(found));
            }
            before = after;
        }
    }

    /// The two words of a counter.
    fn counter(self, counter: usize) -> (Register<u32>, Register<u32>) {
        let offset = counter_offset(self.geometry, counter);
        (self.register(offset), self.register(offset + 4))
    }

    /// Raises a counter by one, and returns what it was.
    ///
    /// # Panics
    /// If there is no such counter; so do those below.
    pub fn increment(self, counter: usize) -> u32 {
        self.counter(counter).0.read()
    }

    /// Lowers a counter by one.
    pub fn decrement(self, counter: usize) {
        self.counter(counter).0.write(0);
    }

    /// What a counter is.
    pub fn read(self, counter: usize) -> u32 {
        self.counter(counter).1.read()
    }

    /// Sets a counter.
    pub fn set(self, counter: usize, value: u32) {
        self.counter(counter).1.write(value);
    }
}

/// Where a counter is: the first of its two words.
fn counter_offset(geometry: &Geometry, counter: usize) -> u32 {
    let counters = geometry.counters as usize;
    assert!(counter < counters, "atomic counter {counter} of a board that has {counters}");
    let half = counters.div_ceil(2);
    geometry.counter_offsets[counter / half] + (counter % half) as u32 * 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scc::testing::scc;

    #[test]
    fn counters_are_in_two_halves() {
        let offsets = [0, 1, 47, 48, 95].map(|counter| counter_offset(&scc(), counter));
        assert_eq!(offsets, [0xE000, 0xE008, 0xE178, 0xF000, 0xF178]);
        let odd = Geometry { counters: 3, ..scc() };
        assert_eq!([0, 1, 2].map(|counter| counter_offset(&odd, counter)), [0xE000, 0xE008, 0xF000]);
    }

    #[test]
    #[should_panic(expected = "atomic counter 96")]
    fn there_are_no_others() {
        counter_offset(&scc(), 96);
    }

    #[test]
    fn the_clock_is_two_words() {
        let geometry = scc();
        let block = alloc::vec![0_u32; 0x1_0000 / 4].leak();
        (block[0x8224 / 4], block[0x8228 / 4]) = (5, 1);
        // SAFETY: the block is as long as the registers of the board, and reached through them only.
        let board = unsafe { Board::at(block.as_mut_ptr().expose_provenance(), &geometry) };
        assert_eq!(board.timestamp(), Some(1 << 32 | 5));
        board.set(95, 7);
        assert_eq!((board.read(95), block[0xF17C / 4]), (7, 7));
        let without = Geometry { timestamp: 0, board_slot: 0, ..geometry };
        // SAFETY: the block is as long as the registers of the board, and reached through them only.
        assert_eq!(unsafe { Board::at(block.as_mut_ptr().expose_provenance(), &without) }.timestamp(), None);
        // SAFETY: it has no registers.
        assert!(unsafe { Board::new(&without) }.is_none());
    }
}
