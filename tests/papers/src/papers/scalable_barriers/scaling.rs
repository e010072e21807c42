//! How the latency of a barrier grows: the fits and the extrapolation of section VI.
//!
//! The paper fits its measurements in two steps. Over the number of nodes, for each number of cores in a node, it fits
//! y = a ln(x) + b; then a and b, which differ between numbers of cores, get a straight line each. The four numbers
//! that come out are its Eq. 2.

use super::published::NODES;
use crate::bench::{Fit, Missing, Rows};
use std::fmt;

/// The family of machines with the paper's FPGA.
pub(crate) const FPGA: &str = "cluster-fpga";

/// The paper's own barrier: a tree of masters.
pub(crate) const TREE: &str = "hierarchical@cluster-fpga";

/// One master for all nodes.
pub(crate) const FLAT: &str = "flat@cluster-fpga";

/// Our default.
pub(crate) const DEFAULT: &str = "default@cluster-fpga";

/// The listing of section IV.A, over the engine; its names with the paper's FPGA and the ASIC.
pub(crate) const ENGINE: &str = "central@cluster-fpga";
pub(crate) const ENGINE_ASIC: &str = "central@cluster-asic";

/// t = (a₁ c + a₀) ln(n) + (b₁ c + b₀) microseconds for n nodes of c cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaling {
    /// a over cores of a node: `slope` is a₁, `intercept` a₀.
    pub(crate) growth: Fit,
    /// b over cores of a node.
    pub(crate) offset: Fit,
}

/// Nodes, cores in a node, and microseconds.
pub(crate) type Measured = (u64, u64, f64);

impl Scaling {
    /// Eq. 2 of the paper. It does not say how well its two lines fit.
    pub(crate) const PAPER: Self = Self {
        growth: Fit { slope: 0.0216, intercept: 2.4928, r_squared: f64::NAN },
        offset: Fit { slope: 0.0561, intercept: 0.377, r_squared: f64::NAN },
    };

    /// Fits measurements as the paper does, with those node sizes of which there are two node counts at least; nothing
    /// if there are fewer than two such sizes.
    pub(crate) fn of(measured: &[Measured]) -> Option<Self> {
        let sizes = node_sizes(measured);
        let fits = sizes.iter().filter_map(|&cores| Some((cores as f64, Fit::logarithmic(of_size(measured, cores))?)));
        let fits: Vec<_> = fits.collect();
        Some(Self {
            growth: Fit::linear(fits.iter().map(|(cores, fit)| (*cores, fit.slope)))?,
            offset: Fit::linear(fits.iter().map(|(cores, fit)| (*cores, fit.intercept)))?,
        })
    }

    /// Our Eq. 2: the paper's fit of what its barrier takes on nodes as it had them.
    pub(crate) fn ours(rows: &Rows) -> Result<Self, Missing> {
        let papers: Vec<_> = grown(rows, TREE)?.into_iter().filter(|(nodes, ..)| *nodes <= NODES).collect();
        Self::of(&papers).ok_or(Missing)
    }

    /// Microseconds that a barrier of `nodes` nodes takes.
    pub(crate) fn latency(&self, nodes: f64, cores_per_node: f64) -> f64 {
        self.growth.at(cores_per_node) * nodes.ln() + self.offset.at(cores_per_node)
    }
}

impl fmt::Display for Scaling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { growth, offset } = self;
        write!(
            out,
            "t = ({:.4} cores {:+.4}) ln(nodes) + ({:.4} cores {:+.4}) us",
            growth.slope, growth.intercept, offset.slope, offset.intercept
        )
    }
}

/// The numbers of cores in a node that were measured, ascending.
pub(crate) fn node_sizes(measured: &[Measured]) -> Vec<u64> {
    let mut sizes: Vec<_> = measured.iter().map(|(_, cores, _)| *cores).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Nodes and microseconds of one node size.
pub(crate) fn of_size(measured: &[Measured], cores_per_node: u64) -> impl Iterator<Item = (f64, f64)> {
    measured.iter().filter(move |(_, cores, _)| *cores == cores_per_node).map(|(nodes, _, time)| (*nodes as f64, *time))
}

/// What was measured of a barrier on clusters, in the order of its rows.
pub(crate) fn measured(rows: &Rows, name: &str) -> Result<Vec<Measured>, Missing> {
    let line = rows.line(name, "latency")?;
    let rows = line.rows().filter(|row| row.key.param > 0);
    Ok(rows.map(|row| (row.key.param, row.key.ranks / row.key.param, row.quartiles.median)).collect())
}

/// What growth is fitted to: two nodes and more, so that something crosses the network.
pub(crate) fn grown(rows: &Rows, name: &str) -> Result<Vec<Measured>, Missing> {
    Ok(measured(rows, name)?.into_iter().filter(|(nodes, ..)| *nodes > 1).collect())
}

/// The latency on `nodes` nodes of `cores` cores.
pub(crate) fn on_nodes(rows: &Rows, name: &str, nodes: u64, cores: u64) -> Result<f64, Missing> {
    let measured = measured(rows, name)?;
    measured.iter().find(|found| (found.0, found.1) == (nodes, cores)).map(|found| found.2).ok_or(Missing)
}

/// Coefficients of determination of the growth of the paper's barrier on up to `most` nodes, by cores of a node.
pub(crate) fn determinations(
    rows: &Rows,
    most: u64,
    fit: impl Fn(Vec<(f64, f64)>) -> Option<Fit>,
) -> Result<Vec<(u64, f64)>, Missing> {
    let grown: Vec<_> = grown(rows, TREE)?.into_iter().filter(|(nodes, ..)| *nodes <= most).collect();
    let of = |cores| Some((cores, fit(of_size(&grown, cores).collect())?.r_squared));
    node_sizes(&grown).into_iter().map(|cores| of(cores).ok_or(Missing)).collect()
}

/// Latencies on nodes of `cores` cores: nodes and microseconds, from few nodes to many.
pub(crate) fn over_nodes(rows: &Rows, name: &str, cores_per_node: u64) -> Result<Vec<(f64, f64)>, Missing> {
    let mut points: Vec<_> = of_size(&measured(rows, name)?, cores_per_node).collect();
    points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    if points.is_empty() { Err(Missing) } else { Ok(points) }
}

/// A machine that the paper extrapolates to (section VI.C).
pub(crate) struct Lookout {
    pub(crate) name: &'static str,
    /// Rounded to whole nodes.
    pub(crate) nodes: u64,
    pub(crate) cores_per_node: u64,
    /// The microseconds that the paper prints, if any.
    pub(crate) printed: Option<f64>,
}

impl Lookout {
    /// What is predicted of it.
    pub(crate) fn by(&self, scaling: &Scaling) -> f64 {
        scaling.latency(self.nodes as f64, self.cores_per_node as f64)
    }
}

/// The machines of section VI.C. It says "about 220k cores" for Jaguar, whose nodes are these divided by the cores of
/// a node, and names 224 000 nodes of 740 cores as what is expected of an exascale machine without a prediction for it.
pub(crate) const LOOKOUTS: [Lookout; 5] = [
    jaguar(16, 28.0),
    jaguar(64, 35.0),
    jaguar(256, 69.0),
    Lookout { name: "exascale, 166M cores", nodes: 224_000, cores_per_node: 740, printed: None },
    Lookout { name: "exascale, 200M cores", nodes: 256 << 10, cores_per_node: 768, printed: Some(282.0) },
];

const fn jaguar(cores_per_node: u64, printed: f64) -> Lookout {
    let nodes = 220_000 / cores_per_node;
    Lookout { name: "Jaguar, 220k cores", nodes, cores_per_node, printed: Some(printed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn equation_2_predicts_what_the_paper_says() {
        for lookout @ Lookout { name, cores_per_node, printed, .. } in &LOOKOUTS {
            let predicted = lookout.by(&Scaling::PAPER);
            // 28.3, 35.5, 68.9 and 281.5: "about 220k" leaves room for as much, and the paper rounds to whole ones.
            let is_so = printed.is_none_or(|printed| (predicted - printed).abs() < 0.55);
            assert!(is_so, "{name}, {cores_per_node} cores per node: {predicted} for {printed:?}");
        }
        for (nodes, cores, expected) in [(8.0, 8.0, 6.4), (64.0, 1.0, 10.9)] {
            let predicted = Scaling::PAPER.latency(nodes, cores);
            assert!((predicted - expected).abs() < 0.05, "{nodes} x {cores}: {predicted}");
        }
    }

    #[test]
    fn what_equation_2_predicts_is_fitted_by_it() {
        let nodes = [2_u64, 8, 64];
        let measured = [1_u64, 4, 16]
            .into_iter()
            .flat_map(|cores| nodes.map(|nodes| (nodes, cores, Scaling::PAPER.latency(nodes as f64, cores as f64))));
        let measured: Vec<Measured> = measured.collect();
        let Scaling { growth, offset } = Scaling::of(&measured).unwrap();
        assert!(is_near(growth.slope, 0.0216) && is_near(growth.intercept, 2.4928));
        assert!(is_near(offset.slope, 0.0561) && is_near(offset.intercept, 0.377));
        assert!(is_near(growth.r_squared, 1.0) && is_near(offset.r_squared, 1.0));
        assert_eq!(node_sizes(&measured), [1, 4, 16]);
        assert_eq!(Scaling::of(&measured[..3]), None);
    }

    #[test]
    fn a_scaling_is_written_as_the_paper_writes_it() {
        let text = Scaling::PAPER.to_string();
        assert_eq!(text, "t = (0.0216 cores +2.4928) ln(nodes) + (0.0561 cores +0.3770) us");
    }
}
