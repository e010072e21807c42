//! What single puts and gets cost, alone and beside others: section 3.

use super::{
    measured::{LINE, MANY, farther, growth, loaded_link, unfairness},
    published::{FARTHER, RANKS, UNFAIRNESS},
};
use crate::bench::{Bench, Missing, Sweep, extremes, on_scc};

/// Figures 3 and 4, and the loaded link.
pub(crate) const MPB: Bench = Bench {
    name: "mpb",
    about: "puts and gets over each distance, at one MPB beside others, and over a loaded link (OC-Bcast, section 3)",
    runs: &[
        Sweep("bench-mpb-distance", &[]),
        Sweep("bench-mpb-model", &[]),
        Sweep("bench-mpb-contention", &["{|machine=+contention}"]),
        Sweep("bench-mpb-distance", &["machine=scc priced"]),
        Sweep("bench-mesh-link", &["machine=+contention"]),
    ],
    shown: &[1, 2, 9, 16, 24, 32, 48],
    sizes: &[LINE, MANY * LINE],
    claims: &[
        // 3 points of 30 percent.
        on_scc("a get of 128 lines over 9 routers takes 30 % longer than over 1 (fig. 3)").within_percent(
            10.0,
            FARTHER,
            "%",
            |rows| farther(rows, "get-to-mpb", MANY),
        ),
        // That nothing can be measured is what the service of the ports is fitted on; the bound is ours.
        on_scc("up to 24 cores that get from one MPB do not slow each other down (fig. 4a)").at_most(
            3.0,
            "%",
            |rows| {
                let growth = [2, 4, 8, 16, 20, 24].map(|count| growth(rows, "get", count, MANY));
                Ok(extremes(growth.into_iter().collect::<Result<Vec<_>, Missing>>()?)?.1.max(0.0))
            },
        ),
        on_scc("48 do, by a third and more on the average (fig. 4a)")
            .at_least(33.0, "%", |rows| growth(rows, "get", RANKS, MANY)),
        on_scc("the slowest of 48 that get takes more than twice the time of the fastest (fig. 4a)").at_least(
            UNFAIRNESS[0],
            "x",
            |rows| unfairness(rows, "get", MANY),
        ),
        on_scc("the slowest of 48 that put a line takes more than four times the time of the fastest (fig. 4b)")
            .at_least(UNFAIRNESS[1], "x", |rows| unfairness(rows, "put", 1)),
        on_scc("a loaded link shows nothing (3.3)").at_most(1.0, "%", loaded_link),
    ],
    ..Bench::PLAIN
};
