//! What a run is like.

use core::fmt;

use collectives::names;
use hal::Core;

use crate::{Failure, Rank, args::KnownOption};

use super::{
    coherence::Flush,
    matrix::{Distribution, DistributionName},
    memory::Memory,
    shape::{MAX_LEN, MIN_LEN, Shape},
    transform::Plan,
};

/// Samples of the signal that is made up where no file is given, if nothing else is said.
const MADE_LEN: usize = 1 << 16;

/// Seed of a random distribution.
const SEED: u64 = 1;

/// Longest transforms whose result is checked without being asked for.
const CHECKED_LEN: usize = 1 << 18;

/// The options, for the command line.
pub(super) const KNOWN: &[KnownOption] = &[
    ("n", "values of the transform, a power of two; if not given, as many as there are samples, or more"),
    ("memory", "cached, as if not given, combined or uncached"),
    ("placement", "rows are behind the controllers that are local, as if not given, or random"),
    ("deal", "seed of a random placement, 1 if not given"),
    ("flush", "coherence points flush ranges, as if not given, or the whole cache"),
    ("output", "power, as if not given, full (all complex values) or none"),
    ("verify", "true or false: whether to compare bins with sums; up to 262144 values they are if not given"),
];

/// What goes to the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Output {
    /// The power of each bin.
    Power,
    /// All complex values.
    Full,
    /// Nothing.
    None,
}

names! { "output": pub(super) Output { Power => "power", Full => "full", None => "none" } }

/// The options of a run.
pub(super) struct Options {
    pub(super) plan: Plan,
    pub(super) placement: DistributionName,
    /// Samples of the signal, the rest is zero.
    pub(super) samples: usize,
    pub(super) output: Output,
    pub(super) is_checked: bool,
}

impl Options {
    /// Reads the command line; `in_file` is the number of samples in the input file, if there is one.
    pub(super) fn of<C: Core>(rank: &Rank<'_, C>, in_file: Option<usize>) -> Result<Self, Failure> {
        let args = &rank.args;
        let wrong = |text: fmt::Arguments<'_>| Failure::new(text).on_all_ranks();
        let wanted = in_file.unwrap_or(MADE_LEN);
        let fitting = Shape::for_samples(wanted)
            .ok_or_else(|| wrong(format_args!("{wanted} samples are more than a transform can have, {MAX_LEN}")))?;
        let len: usize = args.get("n", fitting.values())?;
        let samples = in_file.unwrap_or(len);
        let shape = Shape::of(len).ok_or_else(|| {
            wrong(format_args!("option `n={len}`: a transform has a power of two from {MIN_LEN} to {MAX_LEN} values"))
        })?;
        if samples > len {
            return Err(wrong(format_args!("option `n={len}`: there are more samples, {samples}")));
        }
        let (placement, seed) = (args.get("placement", DistributionName::Local)?, args.get("deal", SEED)?);
        let distribution = match placement {
            DistributionName::Local => Distribution::Local,
            DistributionName::Random => Distribution::Random(seed),
        };
        let (memory, flush) = (args.get("memory", Memory::Cached)?, args.get("flush", Flush::Ranges)?);
        Ok(Self {
            plan: Plan { shape, memory, flush, distribution },
            placement,
            samples,
            output: args.get("output", Output::Power)?,
            is_checked: args.get("verify", len <= CHECKED_LEN)?,
        })
    }
}
