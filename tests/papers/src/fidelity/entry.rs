//! What an entry of the fidelity table is: a published number, ours, and how far apart they may be.

use crate::{
    bench::{Number, PAPERS_MACHINE},
    verdict::Band,
};

/// One line of the table.
#[derive(Clone, Copy)]
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
    /// The bench that measures ours, and on which machine it runs for that.
    pub(crate) bench: &'static str,
    pub(crate) machine: &'static str,
    /// Finds ours in its rows.
    pub(crate) ours: Number,
}

/// Where the paper gives no number; such an entry is only reported.
pub(crate) const NOT_PUBLISHED: f64 = f64::NAN;

/// An entry that nothing is promised of yet: where it is from, its unit, and the bench that measures it.
pub(crate) const fn entry(source: &'static str, unit: &'static str, bench: &'static str) -> Entry {
    let (band, status, ours): (_, _, Number) = (Band::None, Status::Predicted, |_| Ok(f64::NAN));
    Entry { source, what: "", unit, published: NOT_PUBLISHED, band, status, bench, machine: PAPERS_MACHINE, ours }
}

impl Entry {
    /// This entry, with what was measured.
    pub(crate) const fn what(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    /// This entry, measured on another machine than the SCC.
    pub(crate) const fn on(self, machine: &'static str) -> Self {
        Self { machine, ..self }
    }

    /// No parameter of the machine knows of it.
    pub(crate) const fn predicted(self, published: f64, band: Band, ours: Number) -> Self {
        Self { published, band, ours, status: Status::Predicted, ..self }
    }

    /// A parameter is this number, or was chosen so that it comes out.
    pub(crate) const fn fitted(self, published: f64, band: Band, ours: Number) -> Self {
        Self { status: Status::Fitted, ..self.predicted(published, band, ours) }
    }

    /// It is outside of the band, and this is what is known about why.
    pub(crate) const fn unexplained(self, published: f64, band: Band, why: &'static str, ours: Number) -> Self {
        Self { status: Status::Unexplained(why), ..self.predicted(published, band, ours) }
    }

    /// It is only shown, for this reason.
    pub(crate) const fn reported(self, published: f64, why: &'static str, ours: Number) -> Self {
        Self { status: Status::Reported(why), ..self.predicted(published, Band::None, ours) }
    }

    /// It is only shown, beside a band that it is not held to.
    pub(crate) const fn beside(self, band: Band) -> Self {
        Self { band, ..self }
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
