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
pub struct Slot {
    owner: CoreId,
    number: u8,
}

impl Slot {
    /// The slot that an address lies in, if a core exposes it.
    pub fn of(address: SharedAddress) -> Option<Self> {
        match address.home() {
            Home::Controller(_) => None,
            Home::Core(owner) => Some(Self { owner, number: (address.offset() / SLOT_BYTES) as u8 }),
        }
    }

    /// Whose memory it is.
    pub fn owner(self) -> CoreId {
        self.owner
    }

    /// Which slot of the owner.
    pub fn number(self) -> usize {
        usize::from(self.number)
    }

    /// The slots that a region lies in: none if it is a controller's memory, or empty.
    pub fn all_of<K: Kind>(region: Region<K>) -> impl Iterator<Item = Self> {
        let first = region.start().offset();
        let numbers = first / SLOT_BYTES..(first + region.len_bytes()).div_ceil(SLOT_BYTES);
        let start = Self::of(region.start()).filter(|_| !region.is_empty());
        start
            .into_iter()
            .flat_map(move |start| numbers.clone().map(move |number| Self { number: number as u8, ..start }))
    }
}

/// A slot, and the one of this core's lookup table that is pointed at it: which of those that there are for this.
#[derive(Clone, Copy)]
struct Mapped {
    slot: Slot,
    place: u8,
}

/// Which slots are mapped, the least recently asked for first.
pub(super) struct Mappings {
    mapped: Vec<Mapped, MAPPED_SLOTS>,
    capacity: u8,
}

impl Default for Mappings {
    fn default() -> Self {
        Self::with_capacity(MAPPED_SLOTS)
    }
}

/// What asking for a slot came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// The slot was mapped already.
    Known,
    /// The slot is mapped now; if the table was full, in the place of this other slot.
    New(Option<Slot>),
}

impl Mappings {
    /// Nothing is mapped, and the given number of slots can be, but not more than [`MAPPED_SLOTS`].
    ///
    /// # Panics
    /// If none can be.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        assert!(capacity > 0, "a core has slots for other cores' memory");
        Self { mapped: Vec::new(), capacity: capacity.min(MAPPED_SLOTS) as u8 }
    }

    /// How many slots can be mapped at a time.
    pub(super) fn capacity(&self) -> usize {
        usize::from(self.capacity)
    }

    /// Maps a slot.
    pub(super) fn ask(&mut self, slot: Slot) -> Asked {
        let known = self.take(slot);
        let given_up = match known {
            None if self.mapped.len() == self.capacity() => Some(self.mapped.remove(0)),
            _ => None,
        };
        let place = match known.or(given_up) {
            Some(mapped) => mapped.place,
            None => self.free_place(),
        };
        assert!(self.mapped.push(Mapped { slot, place }).is_ok(), "there is room for one more");
        if known.is_some() { Asked::Known } else { Asked::New(given_up.map(|mapped| mapped.slot)) }
    }

    /// The first place that nothing is mapped at.
    fn free_place(&self) -> u8 {
        let is_free = |place: &u8| self.mapped.iter().all(|mapped| mapped.place != *place);
        (0..self.capacity).find(is_free).expect("not all places are taken")
    }

    fn take(&mut self, slot: Slot) -> Option<Mapped> {
        let index = self.mapped.iter().position(|mapped| mapped.slot == slot)?;
        Some(self.mapped.remove(index))
    }

    /// Unmaps a slot. Returns whether it was mapped.
    pub(super) fn remove(&mut self, slot: Slot) -> bool {
        self.take(slot).is_some()
    }

    /// Whether a slot is mapped.
    pub(super) fn contains(&self, slot: Slot) -> bool {
        self.place(slot).is_some()
    }

    /// Where a slot is mapped, as a number below the capacity.
    pub(super) fn place(&self, slot: Slot) -> Option<usize> {
        self.mapped.iter().find(|mapped| mapped.slot == slot).map(|mapped| usize::from(mapped.place))
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
        // Few, as each is compared with all others, under Miri, too.
        let mut mappings = Mappings::with_capacity(16);
        assert!((0..16).all(|owner| mappings.ask(slot(owner, 0)) == Asked::New(None)));
        assert_eq!(mappings.ask(slot(0, 0)), Asked::Known);
        assert_eq!(mappings.ask(slot(0, 1)), Asked::New(Some(slot(1, 0))));
        assert!(mappings.contains(slot(0, 0)) && !mappings.contains(slot(1, 0)));
        assert!(mappings.remove(slot(0, 0)) && !mappings.remove(slot(0, 0)));
        assert_eq!(mappings.ask(slot(1, 0)), Asked::New(None));
    }

    #[test]
    fn a_place_has_one_slot_at_a_time() {
        let mut mappings = Mappings::with_capacity(3);
        let places = |mappings: &Mappings| [0, 1, 2, 3].map(|owner| mappings.place(slot(owner, 0)));
        for owner in 0..3 {
            mappings.ask(slot(owner, 0));
        }
        assert_eq!(places(&mappings), [Some(0), Some(1), Some(2), None]);
        mappings.ask(slot(0, 0));
        assert_eq!(mappings.ask(slot(3, 0)), Asked::New(Some(slot(1, 0))));
        assert_eq!(places(&mappings), [Some(0), None, Some(2), Some(1)]);
        mappings.remove(slot(0, 0));
        mappings.ask(slot(1, 0));
        assert_eq!(places(&mappings), [None, Some(0), Some(2), Some(1)]);
        assert_eq!(Mappings::with_capacity(1000).capacity(), MAPPED_SLOTS);
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
