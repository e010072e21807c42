//! What a run of the wave is like.

use core::num::NonZeroU32;

use collectives::{Class, names};
use hal::Core;

use crate::{Failure, Rank, args::KnownOption};

use super::{extent::Extent, grid::Grid};

/// Steps that are made if nothing else is said.
const STEPS: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// Cells each way, likewise.
const SIZE: Extent = Extent([24, 24, 24]);

/// Cells times steps up to which the result is checked without being asked for: a second or so for one emulated core.
const CHECKED_WORK: u64 = 1 << 21;

/// The options, for the command line.
pub(super) const KNOWN: &[KnownOption] = &[
    ("size", "cells each way, 24x24x24 if not given"),
    ("weak", "`size` is that of the block of each rank"),
    ("steps", "steps of the wave, 10 if not given"),
    ("halo", "one-sided, as if not given, or two-sided"),
    ("class", "synchronisation class of the windows"),
    ("verify", "true or false: whether to compare with one core; small grids are if not given"),
];

/// Which version of the communication runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Version {
    /// Puts in epochs.
    OneSided,
    /// Sends and receives.
    TwoSided,
}

names! { "halo exchange": pub(super) Version { OneSided => "one-sided", TwoSided => "two-sided" } }

/// The options of a run.
pub(super) struct Options {
    pub(super) grid: Grid,
    pub(super) is_weak: bool,
    pub(super) steps: u32,
    pub(super) version: Version,
    pub(super) class: Class,
    pub(super) is_checked: bool,
}

impl Options {
    /// Reads the command line.
    pub(super) fn of<C: Core>(rank: &Rank<'_, C>) -> Result<Self, Failure> {
        let (args, ranks) = (&rank.args, rank.comm.size());
        let (size, is_weak) = (args.get("size", SIZE)?, args.flag("weak")?);
        let grid = if is_weak { Grid::of_equal(ranks, size) } else { Some(Grid::new(ranks, size)) };
        let wrong = || {
            let text = format_args!("`size={size} weak`: blocks are too thin, or {ranks} of them are too many cells");
            Failure::new(text).on_all_ranks()
        };
        let grid = grid.ok_or_else(wrong)?;
        let steps = args.get("steps", STEPS)?.get();
        let work = grid.size().cells() as u64 * u64::from(steps);
        Ok(Self {
            grid,
            is_weak,
            steps,
            version: args.get("halo", Version::OneSided)?,
            class: args.get("class", Class::default())?,
            is_checked: args.get("verify", work <= CHECKED_WORK)?,
        })
    }

    /// What the run is called in measurements.
    pub(super) fn algorithm(&self) -> &'static str {
        match self.version {
            Version::OneSided => self.class.name(),
            Version::TwoSided => "two-sided",
        }
    }
}
