//! What an entry of the fidelity table is: a published number, ours, and how far apart they may be.

use crate::{bench::Evidence, verdict::Band};
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
