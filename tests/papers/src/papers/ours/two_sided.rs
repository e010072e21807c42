//! Two-sided messages between two ranks, in the simulator and on the emulated board.
//!
//! In the simulator private memory has no caches: each line of a message is one of DRAM. The board has them, and warm
//! buffers stay in L2.

use crate::bench::{BOARD, Bench, Missing, Rows, Sweep, on_scc};

/// Half of a round trip.
const METRIC: &str = "half-round-trip";

/// Bytes of a message and the microseconds that half of a round trip between cores of one tile is to take at most.
const SHORT: (u64, f64) = (32, 3.0);
const MIDDLE: (u64, f64) = (1 << 10, 16.0);
const LONG: (u64, f64) = (1 << 13, 100.0);

/// Latencies by bytes and routers.
pub(crate) const TWO_SIDED: Bench = Bench {
    name: "two-sided",
    about: "half a round trip of two-sided messages by length and distance, through our chunks and through RCCE's 251 \
            lines; in the simulator, and with warm buffers on the emulated board",
    runs: &[
        Sweep("bench-two-sided", &["machine=scc-board", "algorithm={default|rcce}", "bytes={8192|1024|32}"]),
        Sweep("bench-two-sided", &["machine=scc-board", "algorithm={default|rcce}", "cores=2"]),
        Sweep("bench-two-sided", &["algorithm={default|rcce}"]),
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
    ],
    ..Bench::PLAIN
};

/// Half a round trip of our messages between cores of one tile of the emulated board.
fn to_neighbour(rows: &Rows, bytes: u64) -> Result<f64, Missing> {
    rows.median(&format!("default{BOARD}"), METRIC, 1, bytes)
}
