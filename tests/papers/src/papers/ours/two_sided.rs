//! Two-sided messages between two ranks, in the simulator and on the emulated board.
//!
//! In the simulator private memory has no caches: each line of a message is one of DRAM. The board has them, and warm
//! buffers stay in L2.

use crate::bench::{BOARD, Bench, Missing, Row, Rows, Sweep, extremes, on_scc};

/// Half of a round trip.
const METRIC: &str = "half-round-trip";

/// Bytes of a message and the microseconds that half of a round trip between cores of one tile is to take at most.
const SHORT: (u64, f64) = (32, 3.0);
const MIDDLE: (u64, f64) = (1 << 10, 16.0);
const LONG: (u64, f64) = (1 << 13, 100.0);

/// Bytes of a message whose tag is to cost little where each instruction counts.
const TAGGED_BYTES: u64 = 8;

/// Latencies by bytes and routers.
pub(crate) const TWO_SIDED: Bench = Bench {
    name: "two-sided",
    about: "half a round trip of two-sided messages by length and distance, through our chunks, through RCCE's 251 \
            lines and with tags; in the simulator, and with warm buffers on the emulated board",
    runs: &[
        // Three distances, and few ranks that only wait.
        Sweep("bench-two-sided", &["machine=scc-board", "algorithm={default|rcce}", "cores=14", "repetitions=4"]),
        Sweep(
            "bench-two-sided",
            &["machine=scc-board", "algorithm={default|tagged}", "cores=14", "bytes=8", "repetitions=20"],
        ),
        Sweep("bench-two-sided", &["algorithm={default|rcce|tagged}"]),
    ],
    claims: &[
        on_scc("on the board, everything priced: 32 bytes to the other core of the tile").at_most(
            SHORT.1,
            "us",
            |rows| to_neighbour(rows, SHORT.0),
        ),
        on_scc("on the board, everything priced: 1 KB to the other core of the tile")
            .at_most(MIDDLE.1, "us", |rows| to_neighbour(rows, MIDDLE.0)),
        on_scc("on the board, everything priced: 8 KB to the other core of the tile")
            .at_most(LONG.1, "us", |rows| to_neighbour(rows, LONG.0)),
        // What a receive takes that looks for all that may come, though its packet is in its box, would be more than that.
        on_scc("on the board, everything priced: a tag on 8 bytes").at_most(2.0, "of a message without", |rows| {
            let median = |name| rows.median(&format!("{name}{BOARD}"), METRIC, 1, TAGGED_BYTES);
            Ok(median("tagged")? / median("default")?)
        }),
        on_scc("a tag on 32 bytes, at any distance: at most").at_most(1.3, "of a message without", tag),
    ],
    ..Bench::PLAIN
};

/// What a tag makes of the time of a short message, at most.
fn tag(rows: &Rows) -> Result<f64, Missing> {
    let (tagged, untagged) = (rows.line("tagged", METRIC)?, rows.line("default", METRIC)?);
    let ratio = |row: &Row| Ok(row.quartiles.median / untagged.row(row.key.param, SHORT.0)?.quartiles.median);
    let ratios = tagged.rows().filter(|row| row.key.bytes == SHORT.0).map(ratio);
    Ok(extremes(ratios.collect::<Result<Vec<_>, Missing>>()?)?.1)
}

/// Half a round trip of our messages between cores of one tile of the emulated board.
fn to_neighbour(rows: &Rows, bytes: u64) -> Result<f64, Missing> {
    rows.median(&format!("default{BOARD}"), METRIC, 1, bytes)
}
