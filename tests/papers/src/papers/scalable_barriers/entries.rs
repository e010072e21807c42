//! What the paper has measured, and predicts: sections IV to VI.
//!
//! Figures 8 to 11 give no numbers but those of the text, and Eq. 2, which is a fit of them: that is compared with the
//! barriers that we measure on as many nodes and cores, and its extrapolations with ours, by the same fit.

use super::{
    loads::load,
    published::{
        CENTRAL, CENTRAL_WITH_ASIC, CONGESTED_NODES, FAR, FAR_WITH_ASIC, LINEAR, LOCAL, LOGARITHMIC, NEAR, NODES,
        ON_8_OF_8, ON_64_OF_1, ON_64_OF_16, THREADS,
    },
    scaling::{ENGINE, ENGINE_ASIC, FLAT, FPGA, LOOKOUTS, Scaling, TREE, determinations, on_nodes, over_nodes},
};
use crate::{
    bench::{Fit, Missing, Rows, extremes},
    fidelity::{
        Band::{AtLeast, AtMost, Percent},
        Entry, entry,
    },
};

const EQ_2: &str = "Barriers, VI.B, Eq. 2";
const FIG_8: &str = "Barriers, V.B, Fig. 8";
const FIG_11: &str = "Barriers, VI.C, Fig. 11";

/// Of loads: what is in the price list, measured.
const fn of_a_load(source: &'static str, what: &'static str) -> Entry {
    entry(source, "us", "loads").what(what)
}

/// Of barriers.
const fn of_barriers(source: &'static str, what: &'static str, unit: &'static str) -> Entry {
    entry(source, unit, "barrier").what(what)
}

pub(crate) const ENTRIES: &[Entry] = &[
    of_a_load("Barriers, IV.B", "load from another node, and a call, cluster-fpga")
        .fitted(FAR, Percent(2.0), |rows| load(rows, "far@cluster-fpga", 1)),
    of_a_load("Barriers, IV.C", "load from the own node over the engine, and a call, cluster-fpga")
        .fitted(NEAR, Percent(2.0), |rows| load(rows, "near@cluster-fpga", 1)),
    of_a_load("Barriers, IV.C", "load from another node, and a call, cluster-asic")
        .fitted(FAR_WITH_ASIC, Percent(2.0), |rows| load(rows, "far@cluster-asic", 1)),
    of_barriers(
        "Barriers, IV.C, Fig. 5",
        "central barrier of 16 threads through one engine, cluster-fpga",
        "us",
    )
    .predicted(CENTRAL, Percent(15.0), |rows| on_nodes(rows, ENGINE, 1, THREADS)),
    of_barriers("Barriers, IV.C", "central barrier of 16 threads through one engine, cluster-asic", "us")
        .predicted(CENTRAL_WITH_ASIC, Percent(15.0), |rows| on_nodes(rows, ENGINE_ASIC, 1, THREADS)),
    of_barriers("Barriers, IV.C", "central barrier of 16 threads: FPGA against ASIC", "x")
        .predicted(CENTRAL / CENTRAL_WITH_ASIC, Percent(15.0), |rows| {
            Ok(on_nodes(rows, ENGINE, 1, THREADS)? / on_nodes(rows, ENGINE_ASIC, 1, THREADS)?)
        }),
    of_barriers("Barriers, IV.B, Fig. 3", "barrier of 16 threads in a node's own memory, cluster-fpga", "us").reported(
        LOCAL,
        "the paper's listing has all flags and the phase where its struct puts them; ours, one flag to the master \
         and one back",
        |rows| on_nodes(rows, TREE, 1, THREADS),
    ),
    of_barriers(EQ_2, "growth of a barrier's offset by each core of a node, cluster-fpga", "us")
        .fitted(Scaling::PAPER.offset.slope, Percent(15.0), |rows| Ok(Scaling::ours(rows)?.offset.slope)),
    of_barriers(EQ_2, "growth of a barrier's slope over ln(nodes) by each core of a node, cluster-fpga", "us")
        .fitted(Scaling::PAPER.growth.slope, Percent(15.0), |rows| Ok(Scaling::ours(rows)?.growth.slope)),
    of_barriers(EQ_2, "slope of a barrier over ln(nodes), without what cores of a node add, cluster-fpga", "us")
        .predicted(Scaling::PAPER.growth.intercept, Percent(15.0), |rows| Ok(Scaling::ours(rows)?.growth.intercept)),
    of_barriers(EQ_2, "offset of a barrier, without what cores of a node add, cluster-fpga", "us").reported(
        Scaling::PAPER.offset.intercept,
        "it is what the fit leaves for one node without cores, a small difference of large numbers: a slope that is 10 % \
         off moves it by half a microsecond",
        |rows| Ok(Scaling::ours(rows)?.offset.intercept),
    ),
    of_barriers(EQ_2, "8 nodes of one core, cluster-fpga", "us")
        .fitted(5.66, Percent(15.0), |rows| on_nodes(rows, TREE, 8, 1)),
    // Nothing but what is fitted above: 8 nodes of one core, and seven times what each other core adds.
    of_barriers(EQ_2, "8 nodes of 8 cores, cluster-fpga", "us")
        .fitted(6.37, Percent(15.0), |rows| on_nodes(rows, TREE, 8, 8)),
    of_barriers(EQ_2, "64 nodes of one core, cluster-fpga", "us")
        .predicted(10.89, Percent(15.0), |rows| on_nodes(rows, TREE, NODES, 1)),
    of_barriers(EQ_2, "64 nodes of 16 cores, cluster-fpga", "us")
        .predicted(13.08, Percent(15.0), |rows| on_nodes(rows, TREE, NODES, 16)),
    of_barriers("Barriers, V.B", "8 nodes of 8 cores: less than 6 us, cluster-fpga", "us").unexplained(
        ON_8_OF_8,
        AtMost,
        "the paper's Eq. 2, which is its fit of the same barrier and ours is fitted on, gives 6.37 us; the two do \
         not agree",
        |rows| on_nodes(rows, TREE, 8, 8),
    ),
    of_barriers("Barriers, V.B", "64 nodes of one core, cluster-fpga", "us")
        .predicted(ON_64_OF_1, Percent(15.0), |rows| on_nodes(rows, TREE, NODES, 1)),
    of_barriers("Barriers, abstract, V.B", "1024 cores in 64 nodes: less than 15 us, cluster-fpga", "us")
        .predicted(ON_64_OF_16, AtMost, |rows| on_nodes(rows, TREE, NODES, 16)),
    of_barriers(FIG_8, "nodes at which the flat barrier begins to grow faster, of one core, cluster-fpga", "nodes")
        .fitted(CONGESTED_NODES as f64, Percent(20.0), |rows| knee(rows, 1)),
    of_barriers(FIG_8, "the same of 16 cores, cluster-fpga", "nodes")
        .predicted(CONGESTED_NODES as f64, Percent(20.0), |rows| knee(rows, 16)),
    of_barriers(
        "Barriers, VI.A, Fig. 9",
        "growth over 2 to 64 nodes, R2 of a logarithm, least of all node sizes, cluster-fpga",
        "",
    )
    .predicted(LOGARITHMIC, AtLeast, |rows| determination(rows, Fit::logarithmic)),
    // So narrow that straight growth, whose coefficient is 1, is outside.
    of_barriers("Barriers, VI.A", "the same, were it linear (the bound is ours), cluster-fpga", "")
        .predicted(LINEAR, Percent(5.0), |rows| determination(rows, Fit::linear)),
    of_barriers(FIG_11, "220k cores in nodes of 16, extrapolated, cluster-fpga", "us")
        .predicted(printed(0), Percent(15.0), |rows| lookout(rows, 0)),
    of_barriers(FIG_11, "220k cores in nodes of 64, extrapolated, cluster-fpga", "us")
        .predicted(printed(1), Percent(15.0), |rows| lookout(rows, 1)),
    // Of these two, most is what each core of a node adds to each factor e of nodes, which is fitted.
    of_barriers(FIG_11, "220k cores in nodes of 256, extrapolated, cluster-fpga", "us")
        .fitted(printed(2), Percent(15.0), |rows| lookout(rows, 2)),
    of_barriers(FIG_11, "200M cores in 256k nodes of 768, extrapolated, cluster-fpga", "us")
        .fitted(printed(4), Percent(15.0), |rows| lookout(rows, 4)),
];

/// What the paper prints of a machine that it extrapolates to.
const fn printed(place: usize) -> f64 {
    LOOKOUTS[place].printed.expect("the paper prints something of it")
}

/// Microseconds that our fit predicts of a barrier on it.
fn lookout(rows: &Rows, place: usize) -> Result<f64, Missing> {
    rows.line(&format!("lookout@{FPGA}"), "ours")?.at(LOOKOUTS[place].nodes)
}

/// The least coefficient of determination over node sizes, of 2 to 64 nodes.
fn determination(rows: &Rows, fit: impl Fn(Vec<(f64, f64)>) -> Option<Fit>) -> Result<f64, Missing> {
    Ok(extremes(determinations(rows, NODES, fit)?.into_iter().map(|(_, found)| found))?.0)
}

/// The number of nodes at which two straight lines meet best, of all that were measured: one through what is up to it,
/// one through what is from it on.
fn knee(rows: &Rows, cores: u64) -> Result<f64, Missing> {
    let mut points = over_nodes(rows, FLAT, cores)?;
    points.retain(|(nodes, _)| *nodes > 1.0);
    let error = |points: &[(f64, f64)]| {
        let fit = Fit::linear(points.iter().copied())?;
        Some(points.iter().map(|(x, y)| (fit.at(*x) - y).powi(2)).sum::<f64>())
    };
    // Three points each, since any two are on a line.
    let candidates = (2..points.len().saturating_sub(2)).filter_map(|place| {
        let total = error(&points[..=place])? + error(&points[place..])?;
        Some((points[place].0, total))
    });
    Ok(candidates.min_by(|one, other| one.1.total_cmp(&other.1)).ok_or(Missing)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_eq_2_are_those_of_eq_2() {
        for (what, nodes, cores) in [
            ("8 nodes of one core, cluster-fpga", 8.0, 1.0),
            ("8 nodes of 8 cores, cluster-fpga", 8.0, 8.0),
            ("64 nodes of one core, cluster-fpga", 64.0, 1.0),
            ("64 nodes of 16 cores, cluster-fpga", 64.0, 16.0),
        ] {
            let is_it = |entry: &&Entry| entry.source == EQ_2 && entry.what == what;
            let entry = ENTRIES.iter().find(is_it).unwrap_or_else(|| panic!("{what}"));
            let predicted = Scaling::PAPER.latency(nodes, cores);
            assert!((entry.published - predicted).abs() <= 0.005, "{what}: {predicted}");
        }
    }
}
