//! Which slots of a core's lookup table are for memory that is reached by pointing a slot at it.
//!
//! They begin after the slots of private memory. The first one leads to core 0's memory, where the status page is, from
//! the start of the program to its end. The next ones are for a second look at what the core itself exposes: its own
//! memory is cached where it is, while combined and uncached accesses have to go past its caches, and a cache knows
//! memory by its address only. All others are for other cores' memory.

use descriptions::boards::{
    Geometry,
    map::{EXPOSED_BYTES, SLOT_BYTES},
};

use crate::topology::EXPOSED_BYTES_PER_CORE;

/// Slots of a core's private memory that it can expose.
pub(crate) const OWN_SLOTS: u32 = EXPOSED_BYTES / SLOT_BYTES;

const _: () = assert!(EXPOSED_BYTES as usize == EXPOSED_BYTES_PER_CORE, "an exposed address is one of private memory");

/// The slots that can be pointed at memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FreeSlots {
    first: u32,
    end: u32,
}

impl FreeSlots {
    /// The free slots of a board whose cores have `private_slots` private ones.
    ///
    /// # Panics
    /// If they are not enough.
    pub(crate) const fn new(geometry: &Geometry, private_slots: u32) -> Self {
        let slots = Self { first: private_slots, end: geometry.foreign_slots_end };
        assert!(slots.first + 1 + OWN_SLOTS < slots.end, "a core has slots for other cores' memory");
        slots
    }

    /// The one for a second look at the own private slot `number`, one of the first [`OWN_SLOTS`].
    ///
    /// # Panics
    /// If it is none of those.
    pub(crate) const fn own(self, number: usize) -> u32 {
        assert!(number < OWN_SLOTS as usize, "what a core exposes is in the first slots of its memory");
        self.first + 1 + number as u32
    }

    /// How many there are for other cores' memory.
    pub(crate) const fn foreign(self) -> usize {
        (self.end - self.first - 1 - OWN_SLOTS) as usize
    }

    /// The one at `place` of those for other cores' memory.
    ///
    /// # Panics
    /// If there are less.
    pub(crate) const fn foreign_at(self, place: usize) -> u32 {
        assert!(place < self.foreign(), "no such slot for other cores' memory");
        self.first + 1 + OWN_SLOTS + place as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scc::testing::scc;

    #[test]
    fn no_slot_is_for_two_things() {
        let slots = FreeSlots::new(&scc(), 0x29);
        let own = [0, 1, 2, 3].map(|number| slots.own(number));
        assert_eq!((own, slots.foreign_at(0)), ([0x2A, 0x2B, 0x2C, 0x2D], 0x2E));
        assert_eq!((slots.foreign(), slots.foreign_at(slots.foreign() - 1)), (82, 0x7F));
    }

    #[test]
    #[should_panic(expected = "has slots")]
    fn too_few_are_noticed() {
        FreeSlots::new(&scc(), 0x7B);
    }
}
