//! What an entry of the fidelity table is: a published number, ours, and how far apart they may be.

use crate::bench::Evidence;
use anyhow::Result;

/// One line of the table.
pub(crate) struct Entry {
    /// The paper, and where in it: `OC-Bcast, Table 2`.
    pub(crate) source: &'static str,
    /// What was measured, and on which of our machines.
    pub(crate) what: &'static str,
    /// `%` for numbers whose differences are points.
    pub(crate) unit: &'static str,
    /// [`NOT_PUBLISHED`] where the paper speaks of it and gives no number.
    pub(crate) published: f64,
    /// How far ours may be from it.
    pub(crate) band: Band,
    pub(crate) status: Status,
    /// Measures ours.
    pub(crate) ours: fn(&mut Evidence) -> Result<f64>,
}

/// Where the paper gives no number; such an entry is only reported.
pub(crate) const NOT_PUBLISHED: f64 = f64::NAN;

/// How far a number may be from the published one. Bands include their ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Band {
    /// Relative, to both sides.
    Percent(f64),
    /// Absolute, to both sides: of numbers that are percentages themselves.
    Points(f64),
    /// The published number is a bound from below, which the paper gives as "more than" or "over".
    AtLeast,
    /// A bound from above.
    AtMost,
    /// Without a verdict.
    None,
}

impl Band {
    /// Whether a number is within the band around the published one. Nothing is outside of no band.
    pub(crate) fn contains(self, published: f64, ours: f64) -> bool {
        /// What sums and quotients of such numbers are off by at most.
        const ROUNDING: f64 = 1e-9;
        match self {
            Self::Percent(percent) => (ours - published).abs() <= published.abs() * (percent / 100.0 + ROUNDING),
            Self::Points(points) => (ours - published).abs() <= points + ROUNDING,
            Self::AtLeast => ours >= published - ROUNDING,
            Self::AtMost => ours <= published + ROUNDING,
            Self::None => true,
        }
    }
}

/// What an agreement is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// A parameter of the machine is this number, or was chosen so that it comes out. When it does not any more, the fit
    /// is out of date, which fails the command as well.
    Fitted,
    /// No parameter knows of it. It fails the command when it leaves its band.
    Predicted,
    /// It is outside of any band that the model could promise, and this is what is known about why.
    Unexplained(&'static str),
    /// Only shown, for this reason.
    Reported(&'static str),
}

impl Status {
    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::Predicted => "predicted",
            Self::Unexplained(_) => "unexplained",
            Self::Reported(_) => "reported",
        }
    }

    /// Why there is no verdict, where there is none.
    pub(crate) fn why(self) -> Option<&'static str> {
        match self {
            Self::Fitted | Self::Predicted => None,
            Self::Unexplained(why) | Self::Reported(why) => Some(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_include_their_ends() {
        for (band, published, inside, outside) in [
            (Band::Percent(10.0), 35.22, [31.698, 38.742], [31.69, 38.75]),
            (Band::Percent(0.0), 2.0, [2.0, 2.0], [1.999, 3.0]),
            (Band::Percent(10.0), -1.0, [-1.1, -0.9], [-1.2, 1.0]),
            (Band::Points(3.0), 30.0, [27.0, 33.0], [26.9, 33.1]),
            (Band::AtLeast, 2.0, [2.0, 1e9], [1.999, -3.0]),
            (Band::AtMost, 0.9, [0.9, -1.0], [0.901, 1e9]),
        ] {
            assert!(inside.iter().all(|ours| band.contains(published, *ours)), "{band:?} of {published}");
            assert!(!outside.iter().any(|ours| band.contains(published, *ours)), "{band:?} of {published}");
        }
        assert!(Band::None.contains(NOT_PUBLISHED, 7.0));
    }

    #[test]
    fn what_is_no_number_is_in_no_band() {
        for band in [Band::Percent(50.0), Band::Points(50.0), Band::AtLeast, Band::AtMost] {
            assert!(!band.contains(1.0, f64::NAN), "{band:?}");
        }
    }
}
