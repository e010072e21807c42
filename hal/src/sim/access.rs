//! What cores do to memory that others see, as far as the order of two accesses is concerned.

pub(super) use prices::Effect;

use crate::{CoreId, LineAddress, SharedAddress};

/// One touch of shared memory: which line or register, which of its bytes, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Access {
    /// Lines and registers have different keys.
    pub(super) key: u64,
    pub(super) mask: u32,
    pub(super) effect: Effect,
}

impl Access {
    pub(super) fn line(at: LineAddress, mask: u32, effect: Effect) -> Self {
        Self { key: at.key(), mask, effect }
    }

    pub(super) fn word(at: SharedAddress, effect: Effect) -> Self {
        Self::line(LineAddress::Shared(at), 0b1111 << (at.offset() % 32), effect)
    }

    pub(super) fn register(of: CoreId, effect: Effect) -> Self {
        Self { key: REGISTERS | of.index() as u64, mask: u32::MAX, effect }
    }

    /// An atomic counter of the board.
    pub(super) fn counter(counter: usize, effect: Effect) -> Self {
        Self { key: COUNTERS | counter as u64, mask: u32::MAX, effect }
    }

    /// The pending interrupt of a core.
    pub(super) fn interrupt(of: CoreId, effect: Effect) -> Self {
        Self { key: INTERRUPTS | of.index() as u64, mask: u32::MAX, effect }
    }

    /// What the cores of a coherence domain have cached.
    pub(super) fn copies(domain: usize, effect: Effect) -> Self {
        Self { key: COPIES | domain as u64, mask: u32::MAX, effect }
    }

    /// What `owner` exposes comes or goes, and with it any line of it.
    pub(super) fn exposure(owner: CoreId) -> Self {
        let first = LineAddress::Shared(SharedAddress::exposed(owner, 0));
        Self { key: first.key() | ANY_LINE, mask: u32::MAX, effect: Effect::Write }
    }

    /// Whether the order of the two makes a difference.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let both_read = self.effect == Effect::Read && other.effect == Effect::Read;
        let any_line = self.key & ANY_LINE == ANY_LINE || other.key & ANY_LINE == ANY_LINE;
        let same = if any_line { self.key | ANY_LINE == other.key | ANY_LINE } else { self.key == other.key };
        same && self.mask & other.mask != 0 && !both_read
    }
}

/// Begins the keys of registers, apart from those of lines.
const REGISTERS: u64 = 1 << 62;

/// Begins the keys of pending interrupts.
const INTERRUPTS: u64 = 1 << 61;

/// Begins the keys of coherence domains.
const COPIES: u64 = 1 << 60;

/// Begins the keys of atomic counters.
const COUNTERS: u64 = 1 << 59;

/// Ends the key that stands for all lines of a home, none of which has so high a number.
const ANY_LINE: u64 = u32::MAX as u64;
