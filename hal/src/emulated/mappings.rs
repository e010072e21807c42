//! The slots of a core's lookup table that point at other cores' private memory.

use heapless::Vec;

use crate::{
    CoreId, Region, SharedAddress,
    address::Home,
    exposed::{MAPPED_SLOTS, SLOT_BYTES},
    kind::Kind,
};

/// 16 MB of a core's memory, as far as it can be exposed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    owner: CoreId,
    number: u8,
}

impl Slot {
    /// The slot that an address lies in, if a core exposes it.
    pub(super) fn of(address: SharedAddress) -> Option<Self> {
        match address.home() {
            Home::Controller(_) => None,
            Home::Core(owner) => Some(Self { owner, number: (address.offset() / SLOT_BYTES) as u8 }),
        }
    }

    /// The slots that a region lies in: none if it is a controller's memory, or empty.
    pub(super) fn all_of<K: Kind>(region: Region<K>) -> impl Iterator<Item = Self> {
        let first = region.start().offset();
        let numbers = first / SLOT_BYTES..(first + region.len_bytes()).div_ceil(SLOT_BYTES);
        let start = Self::of(region.start()).filter(|_| !region.is_empty());
        start
            .into_iter()
            .flat_map(move |start| numbers.clone().map(move |number| Self { number: number as u8, ..start }))
    }
}

/// Which slots are mapped, the least recently asked for first.
#[derive(Default)]
pub(super) struct Mappings(Vec<Slot, MAPPED_SLOTS>);

/// What asking for a slot came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// It was mapped already.
    Known,
    /// It is mapped now, in the place of this other one if the table was full.
    New(Option<Slot>),
}

impl Mappings {
    /// Maps a slot.
    pub(super) fn ask(&mut self, slot: Slot) -> Asked {
        let known = self.remove(slot);
        let given_up = if self.0.is_full() { Some(self.0.remove(0)) } else { None };
        assert!(self.0.push(slot).is_ok(), "there is room for one more");
        if known { Asked::Known } else { Asked::New(given_up) }
    }

    /// Unmaps a slot. Returns whether it was mapped.
    pub(super) fn remove(&mut self, slot: Slot) -> bool {
        let index = self.0.iter().position(|mapped| *mapped == slot);
        index.map(|index| self.0.remove(index)).is_some()
    }

    /// Whether a slot is mapped.
    pub(super) fn contains(&self, slot: Slot) -> bool {
        self.0.contains(&slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Combined;

    fn slot(owner: usize, number: u8) -> Slot {
        Slot { owner: CoreId::new(owner), number }
    }

    #[test]
    fn the_least_recently_asked_for_gives_way() {
        let mut mappings = Mappings::default();
        assert!((0..MAPPED_SLOTS).all(|owner| mappings.ask(slot(owner, 0)) == Asked::New(None)));
        assert_eq!(mappings.ask(slot(0, 0)), Asked::Known);
        assert_eq!(mappings.ask(slot(0, 1)), Asked::New(Some(slot(1, 0))));
        assert!(mappings.contains(slot(0, 0)) && !mappings.contains(slot(1, 0)));
        assert!(mappings.remove(slot(0, 0)) && !mappings.remove(slot(0, 0)));
        assert_eq!(mappings.ask(slot(1, 0)), Asked::New(None));
    }

    #[test]
    fn a_region_may_lie_in_several_slots() {
        let region = |offset, len| Region::<Combined>::new(SharedAddress::exposed(CoreId::new(7), offset), len);
        let slots = |region| Slot::all_of(region).collect::<Vec<_, 4>>();
        assert_eq!(slots(region(SLOT_BYTES - 32, 64)), [slot(7, 0), slot(7, 1)]);
        assert_eq!(slots(region(SLOT_BYTES - 32, 32)), [slot(7, 0)]);
        assert_eq!(slots(region(64, 0)), []);
        assert_eq!(slots(Region::new(SharedAddress::new(1, 0), 64)), []);
    }
}
