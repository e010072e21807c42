//! What an entry of the fidelity table is: a published number, ours, and how far apart they may be.

use crate::bench::Evidence;
use anyhow::Result;

/// One line of the table.
pub(crate) struct Entry {
    /// The paper, and where in it: `OC-Bcast, Table 2`.
    pub(crate) source: &'static str,
    /// What was measured, and on which of our machines.
    pub(crate) what: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) published: f64,
    /// How far ours may be from it.
    pub(crate) band: Band,
    pub(crate) status: Status,
    /// Measures ours.
    pub(crate) ours: fn(&mut Evidence) -> Result<f64>,
}

/// How far a number may be from the published one.
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

/// What an agreement is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// A parameter of the machine was chosen so that this number comes out.
    Fitted,
    /// No parameter knows of it. It fails the command when it leaves its band.
    Predicted,
    /// It is outside of any band that the model could promise, and this is what is known about why.
    Unexplained(&'static str),
    /// Only shown, for this reason.
    Reported(&'static str),
}
