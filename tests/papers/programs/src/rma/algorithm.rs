//! What is compared.

use alloc::{format, string::String};
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
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let no_such = |_| {
            let classes = Class::ALL.map(Class::name).join(" ");
            format!("no such algorithm; there are {classes} {}", Self::TWO_SIDED)
        };
        if name == Self::TWO_SIDED { Ok(Self::TwoSided) } else { name.parse().map(Self::Windows).map_err(no_such) }
    }
}
