//! What a figure is: where it comes from, and what is in it.

use crate::bench::{Evidence, Missing, PAPERS_MACHINE, Rows};
use anyhow::Result;

/// The counterpart of one figure or table of a paper.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    /// What `--only` wants, and the file's name: `oc-bcast-fig-8`.
    pub(crate) id: &'static str,
    /// What the paper calls it: `Fig. 8`.
    pub(crate) number: &'static str,
    pub(crate) title: &'static str,
    /// What has to be known to compare: machines that differ, what the paper gives no numbers of. May be empty.
    pub(crate) note: &'static str,
    fill: Fill,
}

/// How a figure is measured and filled.
#[derive(Clone, Copy)]
enum Fill {
    /// From the rows of one bench on the SCC.
    Bench(&'static str, fn(&Rows) -> Result<Content, Missing>),
    /// From those of several.
    Benches(fn(&mut Evidence) -> Result<Content>),
}

/// A figure of which it is not said yet what it is filled from.
pub(crate) const fn figure(id: &'static str, number: &'static str, title: &'static str) -> Figure {
    Figure { id, number, title, note: "", fill: Fill::Bench("", |_| Err(Missing)) }
}

impl Figure {
    /// This figure, with a note.
    pub(crate) const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// This figure, filled from one bench.
    pub(crate) const fn of(self, bench: &'static str, of: fn(&Rows) -> Result<Content, Missing>) -> Self {
        Self { fill: Fill::Bench(bench, of), ..self }
    }

    /// This figure, filled from several benches.
    pub(crate) const fn by(self, of: fn(&mut Evidence) -> Result<Content>) -> Self {
        Self { fill: Fill::Benches(of), ..self }
    }

    /// What is in it.
    pub(crate) fn content(&self, evidence: &mut Evidence) -> Result<Content> {
        match self.fill {
            Fill::Bench(bench, of) => Ok(of(evidence.rows(bench, PAPERS_MACHINE)?)?),
            Fill::Benches(of) => of(evidence),
        }
    }
}

/// What is in a figure.
pub(crate) enum Content {
    /// Parts (a), (b) and so on, side by side.
    Plots(Vec<Plot>),
    Table(Table),
}

/// Rows of cells.
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Content {
    /// A table of these.
    pub(crate) fn table<'h>(header: impl IntoIterator<Item = &'h str>, rows: Vec<Vec<String>>) -> Self {
        Self::Table(Table { header: header.into_iter().map(str::to_owned).collect(), rows })
    }

    /// The parts of what was drawn.
    #[cfg(test)]
    pub(crate) fn plots(self) -> Vec<Plot> {
        match self {
            Self::Plots(plots) => plots,
            Self::Table(_) => panic!("it is a table"),
        }
    }
}

/// Curves over one pair of axes.
pub(crate) struct Plot {
    /// May be empty.
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    /// With the unit in brackets.
    pub(crate) label: &'static str,
    pub(crate) scale: Scale,
}

/// An axis from 0 on.
pub(crate) const fn linear(label: &'static str) -> Axis {
    Axis { label, scale: Scale::Linear }
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From 0, or from below if there are smaller numbers.
    Linear,
    /// By powers of two; all numbers are positive.
    Binary,
    /// By powers of ten; all numbers are positive.
    Decimal,
}

/// Points that belong together.
pub(crate) struct Series {
    /// Series of one name have one colour: the published points and the formula beside ours. Whose it is the legend
    /// says by itself.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    /// In ascending order of x.
    pub(crate) points: Vec<(f64, f64)>,
}

impl Series {
    /// What was measured now.
    pub(crate) fn ours(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), origin: Origin::Ours, points: points.into_iter().collect() }
    }

    /// What a formula says.
    pub(crate) fn model(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), origin: Origin::Model, points: points.into_iter().collect() }
    }

    /// What the paper gives.
    pub(crate) fn published(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), origin: Origin::Published, points: points.into_iter().collect() }
    }

    /// The name as legends and tables have it.
    pub(crate) fn label(&self) -> String {
        match self.origin {
            Origin::Ours => self.name.clone(),
            Origin::Model => format!("{}, formula", self.name),
            Origin::Published => format!("{}, published", self.name),
        }
    }
}

/// Whose numbers they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Measured now: a line.
    Ours,
    /// A formula, ours or the paper's: a thin line.
    Model,
    /// Numbers that the paper's text or tables give: marks.
    Published,
}
