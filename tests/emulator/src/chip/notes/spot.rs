//! Places that cores share, as notes name them.

use std::fmt;

use super::super::{System, cache::LINE_BYTES};
use crate::Board;

/// What is noted that a core loads or stores: bytes of MPBs and of memory that it does not cache, test-and-set registers, and
/// interrupts. Accesses to cached pages are not noted. The numbers are those that `hal` has for the same places of MPBs and registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spot {
    Line { owner: u32, line: u32 },
    Memory { controller: u32, line: u32 },
    Register(u32),
    Interrupt(u32),
}

impl Spot {
    /// Where a byte is. Only memory and MPBs have names.
    pub(super) fn of(board: &Board, place: System) -> Option<Self> {
        let geometry = &board.geometry;
        match place {
            System::Mpb { tile, offset } => {
                let owner = tile as u32 * geometry.cores_per_tile + offset / geometry.mpb_bytes;
                Some(Self::Line { owner, line: offset % geometry.mpb_bytes / LINE_BYTES as u32 })
            }
            System::Memory { controller, address } => {
                Some(Self::Memory { controller: controller as u32, line: (address / LINE_BYTES as u64) as u32 })
            }
            System::Registers { .. } | System::Board { .. } => None,
        }
    }

    pub(super) fn key(self) -> u64 {
        match self {
            Self::Line { owner, line } => u64::from(owner) << 8 | u64::from(line),
            Self::Memory { controller, line } => 1 << 63 | u64::from(controller) << 32 | u64::from(line),
            Self::Register(core) => 1 << 62 | u64::from(core),
            Self::Interrupt(core) => 1 << 60 | u64::from(core),
        }
    }

    /// The core whose it is, unless that is `core` itself.
    pub(super) fn peer(self, core: usize) -> Option<u32> {
        match self {
            Self::Line { owner, .. } | Self::Register(owner) | Self::Interrupt(owner) => {
                Some(owner).filter(|owner| *owner as usize != core)
            }
            Self::Memory { .. } => None,
        }
    }

    /// What loads and stores of it are called, and waits for it.
    pub(super) const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Line { .. } => ["MPB get", "MPB put", "MPB"],
            Self::Memory { .. } => ["memory read", "memory write", "shared memory"],
            Self::Register(_) => ["test-and-set", "release", "test-and-set register"],
            Self::Interrupt(_) => ["interrupt", "interrupt", "interrupt"],
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { owner, line } => write!(out, "MPB line {line} of core {owner}"),
            Self::Memory { controller, line } => {
                write!(out, "line at {:#x} behind controller {controller}", u64::from(*line) * LINE_BYTES as u64)
            }
            Self::Register(core) => write!(out, "test-and-set register of core {core}"),
            Self::Interrupt(core) => write!(out, "interrupt of core {core}"),
        }
    }
}
