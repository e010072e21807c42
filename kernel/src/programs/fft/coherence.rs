//! Barriers as coherence points (section VII): what a rank does before it arrives, so that the others see what it
//! wrote, and after it is released, so that it sees what they did.
//!
//! Neither half replaces the other. What is not written back before the arrival can still be missing when the last
//! rank has arrived. What is invalidated only before may have been cached again meanwhile, and where only ranges are
//! flushed, what was read of the others' rows before is in other ranges than what was written.

use core::{fmt, str::FromStr};

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

impl Flush {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Whole, Self::Ranges];
}

impl fmt::Display for Flush {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Whole => "whole",
            Self::Ranges => "ranges",
        })
    }
}

impl FromStr for Flush {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|flush| alloc::format!("{flush}") == name);
        found.ok_or("it is whole or ranges")
    }
}

/// The coherence points that a kind of memory needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfMemory {
    /// What the data is in.
    pub memory: Memory,
    /// How much is flushed if it is cached.
    pub flush: Flush,
}

impl OfMemory {
    fn flush<C: Core>(self, hal: &C, caches: &mut Caches, regions: &[Region<kind::Cached>]) {
        match self.flush {
            Flush::Whole => hal.write_back_invalidate_all(caches),
            Flush::Ranges => regions.iter().for_each(|region| hal.write_back_invalidate(caches, *region)),
        }
    }
}

impl<C: Core> Coherence<C> for OfMemory {
    fn release(&self, hal: &C, caches: &mut Caches, written: &[Region<kind::Cached>]) {
        match self.memory {
            Memory::Cached => self.flush(hal, caches, written),
            Memory::Combined => hal.drain(),
            Memory::Uncached => {}
        }
    }

    fn acquire(&self, hal: &C, caches: &mut Caches, wanted: &[Region<kind::Cached>]) {
        match self.memory {
            Memory::Cached => self.flush(hal, caches, wanted),
            Memory::Combined => hal.invalidate_mpb(),
            Memory::Uncached => {}
        }
    }
}
