//! Which ranks broadcast.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};

use collectives::Comm;
use hal::{CoreId, Topology};

/// Where a root is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Root {
    /// Rank 0, the paper's, in a corner.
    Corner,
    /// The first rank whose distances to all others are least.
    Middle,
    /// The first rank that is farthest from rank 0.
    Opposite,
    /// This one.
    Rank(usize),
}

/// Roots, as an option names them: with commas between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Roots(Vec<Root>);

impl Roots {
    /// What there is to choose from.
    pub(super) const ABOUT: &'static str =
        "roots: corner, middle, opposite and numbers of ranks with commas between, corner if not given";

    /// The ranks that these are, each once.
    ///
    /// # Errors
    /// [`collectives::Error::NoSuchRank`].
    pub(super) fn ranks<C: Topology>(&self, comm: &Comm<'_, C>) -> Result<Vec<usize>, collectives::Error> {
        let layout = comm.hal().layout();
        let distance = |from: usize, to: usize| u64::from(layout.distance(CoreId::new(from), CoreId::new(to)));
        let all = 0..comm.size();
        let mut ranks = Vec::new();
        for root in &self.0 {
            let rank = match root {
                Root::Corner => 0,
                Root::Middle => {
                    all.clone().min_by_key(|from| all.clone().map(|to| distance(*from, to)).sum::<u64>()).unwrap_or(0)
                }
                // The last of equals, counted from the end, is the first.
                Root::Opposite => all.clone().rev().max_by_key(|to| distance(0, *to)).unwrap_or(0),
                Root::Rank(rank) => *rank,
            };
            comm.check_rank(rank)?;
            if !ranks.contains(&rank) {
                ranks.push(rank);
            }
        }
        Ok(ranks)
    }
}

impl Default for Roots {
    fn default() -> Self {
        Self([Root::Corner].into())
    }
}

impl FromStr for Roots {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let none = "no such root; there are corner, middle, opposite and numbers of ranks, with commas between";
        let root = |item: &str| match item {
            "corner" => Ok(Root::Corner),
            "middle" => Ok(Root::Middle),
            "opposite" => Ok(Root::Opposite),
            number => number.parse().map(Root::Rank).map_err(|_| none),
        };
        text.split(',').map(root).collect::<Result<_, _>>().map(Self)
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

impl fmt::Display for Roots {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::list(out, &self.0)
    }
}
