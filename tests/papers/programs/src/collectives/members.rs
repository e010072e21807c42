//! On which ranks operations are measured.

use alloc::string::{String, ToString};
use core::{fmt, str::FromStr};

use collectives::Comm;
use hal::Core;
use kernel::Failure;

/// Some ranks of the machine, in their order. Others wait meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Members {
    /// All, in the communicator that there is.
    All,
    /// All, in another one.
    Dup,
    /// The first half.
    Half,
    /// Those with odd numbers.
    Odd,
    /// Those in the mesh's row of rank 0.
    Row,
    /// Those on the tile of rank 0.
    Tile,
}

const NAMES: [(&str, Members); 6] = [
    ("all", Members::All),
    ("dup", Members::Dup),
    ("half", Members::Half),
    ("odd", Members::Odd),
    ("row", Members::Row),
    ("tile", Members::Tile),
];

impl fmt::Display for Members {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, members)| members == self).map_or("", |(name, _)| name);
        out.write_str(name)
    }
}

impl FromStr for Members {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, members)| *members)
            .ok_or_else(|| "no such ranks; there are all, dup, half, odd, row and tile".to_string())
    }
}

impl Members {
    /// Makes their communicator; none on other ranks, and of all ranks, who have one.
    pub(super) fn communicator<'c, C: Core>(self, world: &'c Comm<'c, C>) -> Result<Option<Comm<'c, C>>, Failure> {
        let (layout, size) = (world.hal().layout(), world.size());
        let row = |rank: usize| layout.tile(world.core_of(rank)).y;
        let tile = |rank: usize| layout.tile(world.core_of(rank));
        let is_member = |rank: usize| match self {
            Self::All | Self::Dup => true,
            Self::Half => 2 * rank < size,
            Self::Odd => rank % 2 == 1,
            Self::Row => row(rank) == row(0),
            Self::Tile => tile(rank) == tile(0),
        };
        if !(0..size).any(is_member) {
            return Err(Failure::new(format_args!("option `members={self}`: there are no such ranks")).on_all_ranks());
        }
        match self {
            Self::All => Ok(None),
            Self::Dup => Ok(Some(world.dup()?)),
            _ => Ok(world.split(is_member(world.rank()).then_some(0), 0)?),
        }
    }
}
