//! What lines have been through.

use rustc_hash::FxHashMap;

use crate::{LINE_BYTES, SharedAddress, kit::mask_of};

use super::{
    Core,
    clocks::Learnt,
    terms::{Id, Mapping},
};

/// A store to some bytes of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store {
    pub(super) id: Id,
    pub(super) mask: u32,
    /// The core's step.
    pub(super) step: u32,
    /// When it was made.
    pub(super) moment: u64,
    /// Whether it was made for sure: what a mutable slice is for, nobody sees before it is written back.
    pub(super) is_definite: bool,
}

/// A store that is in memory.
#[derive(Clone, Debug)]
pub(super) struct Landed {
    pub(super) store: Store,
    pub(super) mapping: Mapping,
    /// What a look at it teaches; the step is the one in which it came to memory.
    pub(super) told: Learnt,
    /// When it came to memory.
    pub(super) moment: u64,
}

/// A copy of bytes of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) id: Id,
    pub(super) mask: u32,
    /// What the core tells next comes after it.
    pub(super) step: u32,
}

/// A line of memory.
#[derive(Default)]
pub(super) struct Line {
    /// The last stores to its bytes; no two have a byte in common.
    pub(super) landed: Vec<Landed>,
    /// Copies of its bytes since.
    pub(super) reads: Vec<Read>,
    /// Cores in whose write-combine buffer some bytes may be.
    pub(super) combining: Vec<u16>,
    /// Domains in whose cache some bytes may be changed.
    pub(super) dirty: Vec<u16>,
}

impl Line {
    /// A line that had this in it when it was exposed.
    pub(super) fn exposed(store: Store, cores: &[Core]) -> Self {
        let told = cores[usize::from(store.id.core)].clock.of_step(store.step);
        let landed = Landed { store, mapping: Mapping::Private, told, moment: store.moment };
        Self { landed: vec![landed], ..Self::default() }
    }

    /// A store comes to memory.
    pub(super) fn land(&mut self, new: Landed) {
        self.landed.retain_mut(|landed| {
            landed.store.mask &= !new.store.mask;
            landed.store.mask != 0
        });
        self.landed.push(new);
    }

    /// Bytes are copied.
    pub(super) fn read(&mut self, new: Read) {
        self.reads.retain_mut(|read| {
            if read.id.core == new.id.core {
                read.mask &= !new.mask;
            }
            read.mask != 0
        });
        self.reads.push(new);
    }
}

/// The lines that bytes are in, and which bytes of each.
pub(super) fn lines_of(start: SharedAddress, len: usize) -> impl Iterator<Item = (SharedAddress, u32)> {
    let (mut at, end) = (start, start.offset() + len);
    std::iter::from_fn(move || {
        let left = end.checked_sub(at.offset()).filter(|left| *left > 0)?;
        let within = at.offset() % LINE_BYTES;
        let piece = left.min(LINE_BYTES - within);
        let line = (at.line_start(), mask_of(within, piece));
        at = at.plus(piece);
        Some(line)
    })
}

/// Adds a store to those that wait in one place.
pub(super) fn add(stores: &mut Vec<Store>, new: Store) {
    if new.is_definite {
        stores.retain_mut(|store| {
            store.mask &= !new.mask;
            store.mask != 0
        });
    }
    stores.push(new);
}

/// What the cores of a domain have cached.
#[derive(Default)]
pub(super) struct Cache {
    /// When lines came into the cache.
    pub(super) fetched: FxHashMap<u64, u64>,
    /// What was stored to lines and not written back.
    pub(super) dirty: FxHashMap<u64, Vec<Store>>,
}
