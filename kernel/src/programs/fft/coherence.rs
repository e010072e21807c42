//! Barriers as coherence points (section VII): what a rank does before it arrives, so that the others see what it
//! wrote, and after it is released, so that it sees what they did.
//!
//! Cached memory is written back and invalidated as in [`Comm::coherent_barrier`](collectives::Comm::coherent_barrier),
//! whose documentation says why neither half replaces the other; here they are apart to be timed, and to be left out
//! in tests. Where ranges are flushed, what a rank has read of the others' rows is in other ranges than what it has written.

use collectives::{Scope, names};
use hal::{Caches, Core, Region, kind};

use super::memory::Memory;

/// The halves of a coherence point, on the two sides of a barrier.
pub trait Coherence<C: Core> {
    /// Lets all ranks that pass the barrier see what this one stored, all of it in the regions `written`.
    fn release(&self, hal: &C, caches: &mut Caches, written: &[Region<kind::Cached>]);

    /// Lets this rank see what others stored, as far as it lies in the regions `wanted`.
    fn acquire(&self, hal: &C, caches: &mut Caches, wanted: &[Region<kind::Cached>]);
}

/// How much of the caches a coherence point flushes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flush {
    /// All of it (`wbinvd`).
    Whole,
    /// The ranges that the program declares.
    Ranges,
}

names! { "way to flush": pub Flush { Whole => "whole", Ranges => "ranges" } }

/// The coherence points that a kind of memory needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfMemory {
    /// What the data is in.
    pub memory: Memory,
    /// How much is flushed if it is cached.
    pub flush: Flush,
}

impl OfMemory {
    /// What of the caches a coherence point is about.
    fn scope<'r>(self, written: &'r [Region<kind::Cached>], read: &'r [Region<kind::Cached>]) -> Scope<'r> {
        match self.flush {
            Flush::Whole => Scope::Whole,
            Flush::Ranges => Scope::Declared { written, read },
        }
    }
}

impl<C: Core> Coherence<C> for OfMemory {
    fn release(&self, hal: &C, caches: &mut Caches, written: &[Region<kind::Cached>]) {
        match self.memory {
            Memory::Cached => self.scope(written, &[]).write_back(hal, caches),
            Memory::Combined => hal.drain(),
            Memory::Uncached => {}
        }
    }

    fn acquire(&self, hal: &C, caches: &mut Caches, wanted: &[Region<kind::Cached>]) {
        match self.memory {
            Memory::Cached => self.scope(&[], wanted).invalidate(hal, caches),
            Memory::Combined => hal.invalidate_mpb(),
            Memory::Uncached => {}
        }
    }
}
