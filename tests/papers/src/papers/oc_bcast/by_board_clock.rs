//! What the fidelity table and figure 8a need of broadcasts: section 6, as it was measured there.
//!
//! Times are those of the board's clock, which takes time to read (6.1). Throughputs are those of broadcasts that
//! follow each other at once, and latencies those of broadcasts that are apart. The paper says of neither, but its
//! figures do: in 8b the throughput drops at 97 lines, and it does so in a sequence only, since alone 97 lines take
//! hardly longer than 96; in 8a k = 7 is some 25 % faster than k = 2 and hardly slower than k = 47, and in a sequence,
//! where a root is ahead of the others by as many messages as its tree is deep, it would be 40 % and 27 %.

use super::{
    broadcast::{self, CONTENTION, TREES, TWO_LONG},
    measured::{BY_BOARD_CLOCK, IN_SEQUENCE, LINE, PEAK, SEQUENCE_BY_BOARD_CLOCK},
};
use crate::bench::{Bench, Column, Sweep};

/// Lengths of figure 8a: around a chunk of 96 lines and up to two of them. Between them they are equally far apart, so
/// that means over a range are those of the curve.
const LATENCIES: &str = "sizes=32,64,128,256,512,1024,1536,2048,2560,3072,3104,3584,4096,4608,5120,5632,6144";

/// The degrees of the paper's algorithm.
const DEGREES: &str = "algorithm=oc-k{2|7|47}";

const BINOMIAL: &str = "algorithm=binomial profile";
const ALONE: &str = "modes=separated";
const SEQUENCE: &str = "modes=back-to-back";
const BOARD: &str = "clock=board";
const ONE_LINE: &str = "sizes=32";

/// The bench.
pub(crate) const OC_BCAST: Bench = Bench {
    name: "oc-bcast",
    about: "what the OC-Bcast paper says of broadcasts, by the board's clock",
    // The longest ones come first, so that the last to run are short.
    runs: &[
        Sweep("bench-broadcast", &[DEGREES, CONTENTION, TWO_LONG, SEQUENCE, "repetitions=2"]),
        Sweep(
            "bench-broadcast",
            &["algorithm=scatter-allgather profile", CONTENTION, "sizes=147456", SEQUENCE, "repetitions=1"],
        ),
        // Long enough for a root to get as far ahead as it ever will.
        Sweep("bench-broadcast", &[DEGREES, CONTENTION, "sizes=3072,3104", BOARD, SEQUENCE, "repetitions=120"]),
        Sweep("bench-broadcast", &[TREES, CONTENTION, LATENCIES, BOARD, ALONE, "repetitions=9"]),
        Sweep("bench-broadcast", &[BINOMIAL, CONTENTION, LATENCIES, BOARD, ALONE, "repetitions=9"]),
        Sweep("bench-broadcast", &["algorithm=oc-k47", "{|machine=+flat}", TWO_LONG, SEQUENCE, "repetitions=2"]),
        // Two ranks, of which the second copies straight to its memory: section 4.2's two cores.
        Sweep(
            "bench-broadcast",
            &["cores=2", "algorithm=oc-k1+leaves{|+single}", "sizes=1048576", SEQUENCE, "repetitions=2"],
        ),
        Sweep("bench-broadcast", &["algorithm=oc-k7{|+single}", "sizes=6144", ALONE, "repetitions=15"]),
        Sweep("bench-broadcast", &["algorithm=oc-k7{|+notify3|+notify7}", ONE_LINE, ALONE, "repetitions=40"]),
        Sweep("bench-broadcast", &["algorithm=oc-k47{|+notify3|+notify47}", ONE_LINE, ALONE, "repetitions=40"]),
        Sweep(
            "bench-broadcast",
            &[
                "algorithm={oc-k7|binomial profile}",
                CONTENTION,
                ONE_LINE,
                "{modes=separated|clock=board modes=back-to-back}",
                "repetitions=25",
            ],
        ),
        // The same with our software, and with private memory that caches keep.
        Sweep(
            "bench-broadcast",
            &[
                "machine=scc priced",
                "cores=2",
                "algorithm=oc-k1+leaves{|+single}",
                "sizes=1048576",
                SEQUENCE,
                "repetitions=2",
            ],
        ),
        Sweep(
            "bench-broadcast",
            &["machine=scc priced", "algorithm={oc-k7|binomial profile}", BOARD, ONE_LINE, ALONE, "repetitions=25"],
        ),
        Sweep("bench-broadcast-model", &[ONE_LINE]),
    ],
    shown: &[0],
    columns: &[
        Column("1 line (us)", "latency", LINE),
        Column("board's clock", BY_BOARD_CLOCK, LINE),
        Column("in a sequence", IN_SEQUENCE, LINE),
        Column("96 lines", BY_BOARD_CLOCK, 96 * LINE),
        Column("in a sequence", IN_SEQUENCE, 96 * LINE),
        Column("192 lines", BY_BOARD_CLOCK, 192 * LINE),
        Column("96 lines (MB/s)", SEQUENCE_BY_BOARD_CLOCK, 96 * LINE),
        Column("97 lines", SEQUENCE_BY_BOARD_CLOCK, 97 * LINE),
        Column("peak", PEAK, 0),
    ],
    derive: broadcast::add_peaks,
    ..Bench::PLAIN
};
