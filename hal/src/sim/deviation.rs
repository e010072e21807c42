//! What a run does differently from the plain one.
//!
//! In the plain run virtual time decides, and hardware does nothing by itself. Any other run is told by the list of what it does
//! differently. What is on the list is named by the core and by what that core has done so far, and not by places in a list of
//! all answers: so an item means the same when others are taken off.

use std::{error::Error, fmt, str::FromStr};

use crate::CoreId;

/// One thing that a run does differently. Accesses of a core are counted from 1, a wait with all its polls as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Deviation {
    /// From its access `from` on, a core makes none while one of a lower level can go on. All begin at level 0.
    Behind {
        /// The core.
        core: CoreId,
        /// Its access.
        from: u32,
        /// Its level from then on.
        level: u32,
    },
    /// A core does not make an access before another one is done with one of its own, unless nobody else can go on.
    After {
        /// The core.
        core: CoreId,
        /// Its access.
        access: u32,
        /// The other core.
        other: CoreId,
        /// The other's access.
        until: u32,
    },
    /// A core's write-combine buffer drains by itself.
    Drain {
        /// The core.
        core: CoreId,
        /// The how manyth time that it could have done so.
        occasion: u32,
    },
    /// A core's cache writes a dirty line back by itself.
    Eviction {
        /// The core.
        core: CoreId,
        /// The how manyth time that it could have done so.
        occasion: u32,
        /// Which of its dirty pages.
        page: u32,
        /// Which dirty line of that.
        line: u32,
    },
    /// A store to a line that is not cached goes to memory at once.
    StoreThrough {
        /// The core.
        core: CoreId,
        /// The how manyth such store of its.
        occasion: u32,
    },
}

/// What stands for a list with nothing in it.
pub const NOTHING: &str = "none";

/// As it is written in lists: a word without spaces or commas.
impl fmt::Display for Deviation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |core: &CoreId| core.index();
        match self {
            Self::Behind { core, from, level } => write!(out, "behind:{}:{from}:{level}", of(core)),
            Self::After { core, access, other, until } => {
                write!(out, "after:{}:{access}:{}:{until}", of(core), of(other))
            }
            Self::Drain { core, occasion } => write!(out, "drain:{}:{occasion}", of(core)),
            Self::Eviction { core, occasion, page, line } => {
                write!(out, "eviction:{}:{occasion}:{page}:{line}", of(core))
            }
            Self::StoreThrough { core, occasion } => write!(out, "through:{}:{occasion}", of(core)),
        }
    }
}

/// A word that is no deviation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoDeviation(String);

impl fmt::Display for NoDeviation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` is nothing that a run can do differently", self.0)
    }
}

impl Error for NoDeviation {}

impl FromStr for Deviation {
    type Err = NoDeviation;

    fn from_str(word: &str) -> Result<Self, NoDeviation> {
        let wrong = || NoDeviation(word.to_owned());
        let mut parts = word.split(':');
        let kind = parts.next();
        let numbers: Option<Vec<u32>> = parts.map(|part| part.parse().ok()).collect();
        let core = |number: u32| u16::try_from(number).map(|core| CoreId::new(core.into())).map_err(|_| wrong());
        Ok(match (kind, numbers.ok_or_else(wrong)?.as_slice()) {
            (Some("behind"), &[of, from, level]) => Self::Behind { core: core(of)?, from, level },
            (Some("after"), &[of, access, other, until]) => {
                Self::After { core: core(of)?, access, other: core(other)?, until }
            }
            (Some("drain"), &[of, occasion]) => Self::Drain { core: core(of)?, occasion },
            (Some("eviction"), &[of, occasion, page, line]) => Self::Eviction { core: core(of)?, occasion, page, line },
            (Some("through"), &[of, occasion]) => Self::StoreThrough { core: core(of)?, occasion },
            _ => return Err(wrong()),
        })
    }
}

impl Deviation {
    /// The core that it is about.
    pub fn core(&self) -> CoreId {
        match *self {
            Self::Behind { core, .. }
            | Self::After { core, .. }
            | Self::Drain { core, .. }
            | Self::Eviction { core, .. }
            | Self::StoreThrough { core, .. } => core,
        }
    }

    /// What happens, as the predicate of a sentence about the core.
    pub fn what(&self) -> String {
        match self {
            Self::Behind { from: ..=1, .. } => {
                "is slow: from its start on it goes on only while no faster one can".into()
            }
            Self::Behind { .. } => "becomes slow: from here on it goes on only while no faster one can".into(),
            Self::After { other, until, .. } => {
                format!("is held up here until rank {} is done with its access {until}", other.index())
            }
            Self::Drain { .. } => "has its write-combine buffer drain by itself".into(),
            Self::Eviction { .. } => "has its cache write back a dirty line by itself".into(),
            Self::StoreThrough { .. } => "stores past its cache, which does not have the line".into(),
        }
    }
}

/// What a run that goes wrong does differently, and how it ends, on one line for tools.
#[derive(Clone, Copy, Debug)]
pub struct Told<'t> {
    /// How many things it did differently when it was met.
    pub met_with: usize,
    /// Whether it was tried to leave out each.
    pub is_least: bool,
    /// Runs that this took.
    pub shrinking: u64,
    /// What is left of them.
    pub deviations: &'t [Deviation],
    /// How it ends.
    pub end: &'t str,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { met_with, is_least, shrinking, deviations, end } = self;
        write!(out, "@failing met_with={met_with} is_least={is_least} shrinking={shrinking} deviations=")?;
        match deviations.split_first() {
            None => write!(out, "{NOTHING}")?,
            Some((first, others)) => {
                write!(out, "{first}")?;
                others.iter().try_for_each(|other| write!(out, ",{other}"))?;
            }
        }
        writeln!(out, " end={end}")
    }
}

/// Gives levels the lowest numbers that order them alike, which changes nothing.
pub(super) fn with_small_levels(deviations: &mut [Deviation]) {
    let mut levels: Vec<u32> = deviations.iter().filter_map(level).collect();
    levels.push(0);
    levels.sort_unstable();
    levels.dedup();
    for deviation in deviations {
        if let Deviation::Behind { level, .. } = deviation {
            *level = levels.partition_point(|lower| lower < level) as u32;
        }
    }
}

fn level(deviation: &Deviation) -> Option<u32> {
    match deviation {
        Deviation::Behind { level, .. } => Some(*level),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        let core = CoreId::new;
        for deviation in [
            Deviation::Behind { core: core(3), from: 1, level: 47 },
            Deviation::After { core: core(0), access: 5, other: core(1), until: 7 },
            Deviation::Drain { core: core(2), occasion: 14 },
            Deviation::Eviction { core: core(1), occasion: 3, page: 0, line: 2 },
            Deviation::StoreThrough { core: core(254), occasion: 1 },
        ] {
            assert_eq!(deviation.to_string().parse(), Ok(deviation));
            assert!(!deviation.what().is_empty());
        }
        for wrong in ["", "drain", "drain:1", "drain:1:2:3", "drain:1:x", "drain:65536:1", "flood:1:2"] {
            assert!(wrong.parse::<Deviation>().unwrap_err().to_string().contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn only_the_order_of_levels_counts() {
        let behind = |from, level| Deviation::Behind { core: CoreId::new(0), from, level };
        let mut all = [behind(1, 40), behind(2, 7), behind(3, 40), behind(4, 0)];
        with_small_levels(&mut all);
        assert_eq!(all, [behind(1, 2), behind(2, 1), behind(3, 2), behind(4, 0)]);
    }
}
