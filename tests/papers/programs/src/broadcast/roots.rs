//! Which ranks broadcast.

use core::{fmt, str::FromStr};

use collectives::Comm;
use hal::{CoreId, Topology};

/// Where a root is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Root {
    /// Rank 0, the paper's, in a corner.
    Corner,
    /// The first rank whose distances to all others are least.
    Middle,
    /// The first rank that is farthest from rank 0.
    Opposite,
    /// This one.
    Rank(usize),
}

impl Root {
    /// What there is to choose from.
    pub(super) const ABOUT: &'static str =
        "roots: corner, middle, opposite and numbers of ranks with commas between, corner if not given";

    /// The rank that it is.
    ///
    /// # Errors
    /// [`collectives::Error::NoSuchRank`].
    pub(super) fn rank<C: Topology>(self, comm: &Comm<'_, C>) -> Result<usize, collectives::Error> {
        let layout = comm.hal().layout();
        let distance = |from: usize, to: usize| u64::from(layout.distance(CoreId::new(from), CoreId::new(to)));
        let all = 0..comm.size();
        let rank = match self {
            Self::Corner => 0,
            Self::Middle => {
                all.clone().min_by_key(|from| all.clone().map(|to| distance(*from, to)).sum::<u64>()).unwrap_or(0)
            }
            // The last of equals, counted from the end, is the first.
            Self::Opposite => all.rev().max_by_key(|to| distance(0, *to)).unwrap_or(0),
            Self::Rank(rank) => rank,
        };
        comm.check_rank(rank)?;
        Ok(rank)
    }
}

impl FromStr for Root {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let none = "no such root; there are corner, middle, opposite and numbers of ranks, with commas between";
        match text {
            "corner" => Ok(Self::Corner),
            "middle" => Ok(Self::Middle),
            "opposite" => Ok(Self::Opposite),
            number => number.parse().map(Self::Rank).map_err(|_| none),
        }
    }
}

impl fmt::Display for Root {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corner => out.write_str("corner"),
            Self::Middle => out.write_str("middle"),
            Self::Opposite => out.write_str("opposite"),
            Self::Rank(rank) => rank.fmt(out),
        }
    }
}
