//! What a figure is: where it comes from, and what is in it.

use crate::bench::Evidence;
use anyhow::Result;

/// One of the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paper {
    /// Christgau and Schnor on post/start/complete/wait without coherence.
    Scosco,
    /// Lai, Sur and Panda on truly one-sided communication.
    TrulyOneSided,
    /// Petrović et al. on broadcast with one-sided operations.
    OcBcast,
    /// Fröning et al. on barriers of a cluster.
    ScalableBarriers,
}

/// The counterpart of one figure or table of a paper.
pub(crate) struct Figure {
    /// What `--only` wants, and the file's name: `oc-bcast-fig-8`.
    pub(crate) id: &'static str,
    pub(crate) paper: Paper,
    /// What the paper calls it: `Fig. 8`.
    pub(crate) number: &'static str,
    pub(crate) title: &'static str,
    /// What has to be known to compare: machines that differ, what the paper gives no numbers of. May be empty.
    pub(crate) note: &'static str,
    /// Measures and fills it.
    pub(crate) content: fn(&mut Evidence) -> Result<Content>,
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

/// Curves over one pair of axes.
pub(crate) struct Plot {
    /// May be empty.
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// An axis.
pub(crate) struct Axis {
    /// With the unit in brackets.
    pub(crate) label: &'static str,
    pub(crate) scale: Scale,
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
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) points: Vec<(f64, f64)>,
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
