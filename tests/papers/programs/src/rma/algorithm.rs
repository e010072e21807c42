//! What is compared.

use core::{fmt, str::FromStr};

use collectives::Class;

/// A way to move data from an origin to a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Algorithm {
    /// Operations in epochs of windows of a class.
    Windows(Class),
    /// Messages that both sides take part in, through the MPBs.
    TwoSided,
}

/// What option `algorithm` is for.
pub(super) const ABOUT: &str = "a class of windows, or two-sided; default if not given";

impl Algorithm {
    const TWO_SIDED: &str = "two-sided";

    /// What it is called on command lines and in measurements.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Windows(class) => class.name(),
            Self::TwoSided => Self::TWO_SIDED,
        }
    }
}

impl Default for Algorithm {
    fn default() -> Self {
        Self::Windows(Class::default())
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        match name {
            Self::TWO_SIDED => Ok(Self::TwoSided),
            class => class.parse().map(Self::Windows).map_err(|_| UnknownAlgorithm),
        }
    }
}

/// There is no algorithm of this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UnknownAlgorithm;

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no such algorithm; there are")?;
        Class::ALL.into_iter().try_for_each(|class| write!(out, " {class}"))?;
        write!(out, " {}", Algorithm::TWO_SIDED)
    }
}
