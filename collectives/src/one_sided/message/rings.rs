//! Packets in uncached memory, for machines with too many ranks for a section each.
//!
//! Slots for each pair of ranks would take more memory than there is on thousands of cores, too. So each rank has one
//! ring of slots for packets from all others, near its memory controller. Senders append to it under the receiver's
//! test-and-set register; two words count what was appended and what was taken, and the receiver, who alone writes
//! the second, needs no lock to take. Whoever finds the ring full watches the second.

use alloc::{boxed::Box, collections::BTreeMap, vec, vec::Vec};
use core::cell::{Cell, RefCell};

use hal::{Core, Place, Poll, Region, SharedAddress, kind};

use crate::{Broadcast, Comm, Error, Placement};

use super::packet::{HEADER_BYTES, Header};

/// Packets that a ring has room for; a power of two, because the counts wrap around.
const SLOTS: usize = 16;
/// Words from one slot to the next.
const SLOT_WORDS: usize = 32;
/// Words of a slot before the payload: the sender and the header.
const PAYLOAD: usize = 1 + HEADER_BYTES / 4;

/// Word of a ring: packets appended, by anyone, under the register of its rank.
const APPENDED: usize = 0;
/// Word of a ring: packets taken, by its rank.
const TAKEN: usize = 8;
/// Word of a ring: the first slot.
const FIRST: usize = 16;

const RING_BYTES: usize = (FIRST + SLOTS * SLOT_WORDS) * 4;

/// In the place of an address.
const NOTHING: u32 = u32::MAX;

/// The rings of all ranks, as one of them sees them.
pub(super) struct Rings {
    addresses: Box<[u32]>,
    appended: Cell<u32>,
    taken: Cell<u32>,
    /// How much was taken of the rings that were full.
    full: RefCell<BTreeMap<usize, u32>>,
}

impl Rings {
    /// Bytes of payload that a packet can have.
    pub(super) const CAPACITY: usize = 96;

    /// Allocates the rings, on rank 0 for all, and clears this rank's. Collective; a barrier has to follow.
    pub(super) fn allocate<C: Core>(comm: &Comm<'_, C>) -> Result<Self, Error> {
        let allocator = comm.allocator();
        let mut addresses = vec![NOTHING; comm.size()];
        // So that nobody frees or allocates for an earlier purpose while rank 0 looks for room.
        comm.barrier();
        if comm.rank() == 0 {
            for (rank, address) in addresses.iter_mut().enumerate() {
                match allocator.allocate::<kind::Uncached>(RING_BYTES, Placement::Near(comm.core_of(rank))) {
                    Ok(ring) => *address = ring.start().flat() as u32,
                    Err(_) => break,
                }
            }
        }
        Broadcast::Default.broadcast(comm, &mut addresses, 0)?;
        let complete = addresses.last() != Some(&NOTHING);
        let rings = Self {
            addresses: addresses.into_boxed_slice(),
            appended: Cell::new(0),
            taken: Cell::new(0),
            full: RefCell::default(),
        };
        if !complete {
            rings.free(comm)?;
            return Err(Error::OutOfSharedMemory { len_bytes: RING_BYTES });
        }
        for word in [APPENDED, TAKEN] {
            comm.hal().store_word(rings.of(comm, comm.rank()), word, 0);
        }
        Ok(rings)
    }

    /// Frees the rings, on rank 0 for all. Collective; nobody uses them any more.
    pub(super) fn free<C: Core>(&self, comm: &Comm<'_, C>) -> Result<(), Error> {
        let allocated = self.addresses.iter().take_while(|address| **address != NOTHING).count();
        let mut ranks = 0..if comm.rank() == 0 { allocated } else { 0 };
        let freed = ranks.try_for_each(|rank| comm.allocator().free(self.of(comm, rank)));
        comm.barrier();
        freed
    }

    /// Whether the ring of `to` has room, as far as this rank has seen.
    pub(super) fn is_ready(&self, to: usize) -> bool {
        !self.full.borrow().contains_key(&to)
    }

    /// Appends a packet to the ring of `to`, if it is not full. Blocks for nothing but the register.
    pub(super) fn send<C: Core>(&self, comm: &Comm<'_, C>, to: usize, header: Header, payload: &[u8]) -> bool {
        let (hal, ring) = (comm.hal(), self.of(comm, to));
        let _guard = hal.lock(comm.core_of(to), "a ring of packets");
        let (appended, taken) = (hal.load_word(ring, APPENDED), hal.load_word(ring, TAKEN));
        if appended.wrapping_sub(taken) as usize == SLOTS {
            self.full.borrow_mut().insert(to, taken);
            return false;
        }
        let payload = payload.chunks(4).map(|chunk| {
            let mut bytes = [0; 4];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(bytes)
        });
        let words = core::iter::once(comm.rank() as u32).chain(header.to_words()).chain(payload);
        for (index, word) in words.enumerate() {
            hal.store_word(ring, slot(appended) + index, word);
        }
        hal.store_word(ring, APPENDED, appended.wrapping_add(1));
        true
    }

    /// Takes the next of the packets that were there at the last look, with its sender.
    pub(super) fn take<C: Core>(&self, comm: &Comm<'_, C>) -> Option<(usize, Header, Vec<u8>)> {
        let (hal, ring) = (comm.hal(), self.of(comm, comm.rank()));
        let taken = self.taken.get();
        if taken == self.appended.get() {
            return None;
        }
        let load = |word| hal.load_word(ring, slot(taken) + word);
        let from = load(0) as usize;
        let header = Header::from_words(core::array::from_fn(|word| load(1 + word)));
        let mut payload = vec![0; usize::from(header.len)];
        for (index, chunk) in payload.chunks_mut(4).enumerate() {
            chunk.copy_from_slice(&load(PAYLOAD + index).to_le_bytes()[..chunk.len()]);
        }
        self.taken.set(taken.wrapping_add(1));
        hal.store_word(ring, TAKEN, self.taken.get());
        Some((from, header, payload))
    }

    /// Adds the places where packets, and room in the rings of `blocked`, show.
    pub(super) fn add_places<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        blocked: impl Iterator<Item = usize>,
        places: &mut Vec<Place>,
    ) {
        places.push(Place::Word(self.of(comm, comm.rank()), APPENDED));
        places.extend(blocked.map(|peer| Place::Word(self.of(comm, peer), TAKEN)));
    }

    /// Looks at these places, of which the first has number `first` in the poll. Returns whether there is a packet or
    /// a full ring got room.
    pub(super) fn has_news(
        &self,
        poll: &Poll<'_>,
        first: usize,
        mut blocked: impl Iterator<Item = usize> + Clone,
    ) -> bool {
        self.appended.set(poll.word(first));
        for (index, peer) in blocked.clone().enumerate() {
            self.note_taken(peer, poll.word(first + 1 + index));
        }
        self.appended != self.taken || blocked.any(|peer| self.is_ready(peer))
    }

    /// Looks at the same places without a wait.
    pub(super) fn look<C: Core>(&self, comm: &Comm<'_, C>, blocked: impl Iterator<Item = usize>) {
        self.appended.set(comm.hal().load_word(self.of(comm, comm.rank()), APPENDED));
        blocked.for_each(|peer| self.note_taken(peer, comm.hal().load_word(self.of(comm, peer), TAKEN)));
    }

    fn note_taken(&self, peer: usize, taken: u32) {
        let mut full = self.full.borrow_mut();
        if full.get(&peer).is_some_and(|before| *before != taken) {
            full.remove(&peer);
        }
    }

    fn of<C>(&self, comm: &Comm<'_, C>, rank: usize) -> Region<kind::Uncached> {
        comm.regions().region(SharedAddress::from_flat(self.addresses[rank] as usize), RING_BYTES)
    }
}

/// First word of the slot for the packet with this number.
fn slot(number: u32) -> usize {
    FIRST + number as usize % SLOTS * SLOT_WORDS
}

const _: () =
    assert!(SLOTS.is_power_of_two() && PAYLOAD + Rings::CAPACITY / 4 <= SLOT_WORDS, "packets fit their slots");
