//! An application: section 5.6.

use crate::{
    bench::{Bench, Finding, Missing, Rows, Sweep, Unit, in_virtual_time},
    verdict::Band,
};

/// Lai and Panda's section 5.6, figure 20: what an application gains from one-sided communication.
pub(crate) const WAVE: Bench = Bench {
    name: "wave",
    about: "steps of a 3-D wave, one-sided and two-sided, strong and weak scaling (Lai and Panda, section 5.6)",
    // The same grid for all numbers of ranks, and the same block for each rank.
    runs: &[Sweep(
        "wave",
        &[
            "cores={1|2|4|8|16|32|48}",
            "{size=48x48x48|size=16x16x16 weak}",
            "{class=default|class=scosco|halo=two-sided}",
        ],
    )],
    shown: &[1, 8],
    derive: |rows| {
        rows.add_computed("efficiency", "step", Unit::Fraction, |line, ranks| {
            Ok(line.at(1)? / line.at(ranks)? / ranks as f64)
        });
        rows.add_computed("weak.efficiency", "weak.step", Unit::Fraction, |line, ranks| {
            Ok(line.at(1)? / line.at(ranks)?)
        });
    },
    claims: &[
        in_virtual_time("strong: a step of the default class is below a two-sided one")
            .holds(|rows| default_is_below(rows, "two-sided", "step")),
        in_virtual_time("weak: a step of the default class is below a two-sided one")
            .holds(|rows| default_is_below(rows, "two-sided", "weak.step")),
        in_virtual_time("strong: a step of the default class is below one of scosco")
            .holds(|rows| default_is_below(rows, "scosco", "step")),
        // Ranks without neighbours have nothing to exchange, and both versions compute the same.
        in_virtual_time("one rank alone computes as long in both versions").holds(|rows| {
            let [default, two_sided] = ["default", "two-sided"].map(|name| rows.line(name, "step")?.at(1));
            Ok(Finding::of(default?, Band::Percent(0.1), two_sided?, "us"))
        }),
    ],
    ..Bench::PLAIN
};

/// Below wherever there is more than one rank.
fn default_is_below(rows: &Rows, other: &str, metric: &str) -> Result<Finding, Missing> {
    Finding::below(&rows.line("default", metric)?.above(1), &rows.line(other, metric)?)
}

/// The versions of the communication; what the waves compute, bench `wave` compares with one rank alone.
const VERSIONS: &str = "{class=default|class=truly-one-sided|class=message|halo=two-sided} verify=false";

/// The axes of Lai and Panda's figure 20. Rows know the bytes that a rank exchanges, which grow with the cube; the
/// figure knows the sides of the cubes, smallest first.
pub(crate) const WAVE_SIZES: Bench = Bench {
    name: "wave-sizes",
    about: "steps of a 3-D wave on 32 ranks by the size of the cube, and weak scaling (Lai and Panda, figure 20)",
    runs: &[
        Sweep("wave", &["cores=32", "size={64x64x64|48x48x48|32x32x32|24x24x24|16x16x16}", VERSIONS]),
        Sweep("wave", &["cores={2|4|8|16|32|48}", "size=16x16x16 weak", VERSIONS]),
    ],
    ..Bench::PLAIN
};
