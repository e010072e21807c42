//! On which ranks operations are measured.

use collectives::{Comm, names};
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

names! {
    "ranks": pub(super) Members {
        All => "all",
        Dup => "dup",
        Half => "half",
        Odd => "odd",
        Row => "row",
        Tile => "tile",
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
