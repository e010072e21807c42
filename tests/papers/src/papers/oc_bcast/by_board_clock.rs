//! What the fidelity table and figure 8a need of broadcasts: Petrović et al., *High-Performance RMA-Based Broadcast on
//! the Intel SCC* (OC-Bcast), section 6, as it was measured there.
//!
//! Times are those of the board's clock, which takes time to read (6.1). Throughputs are those of broadcasts that
//! follow each other at once, and latencies those of broadcasts that are apart. The paper says of neither, but its
//! figures do: in 8b the throughput drops at 97 lines, and it does so in a sequence only, since alone 97 lines take
//! hardly longer than 96; in 8a k = 7 is some 25 % faster than k = 2 and hardly slower than k = 47, and in a sequence,
//! where a root is ahead of the others by as many messages as its tree is deep, it would be 40 % and 27 %.

use super::broadcast::{self, PEAK, TWO_LONG};
use crate::bench::{Bench, Column, Run};

/// Lengths of figure 8a: around a chunk of 96 lines and up to two of them. Between them they are equally far apart, so
/// that means over a range are those of the curve.
const LATENCIES: &str = "sizes=32,64,128,256,512,1024,1536,2048,2560,3072,3104,3584,4096,4608,5120,5632,6144";

/// One run for each algorithm and list of words.
macro_rules! each {
    ($([$($algorithm:literal),+] $words:tt)+) => {
        &[$($( each!(@ $algorithm, $words), )+)+ Run { program: "bench-broadcast-model", words: &["sizes=32"] }]
    };
    (@ $algorithm:literal, [$($word:expr),+]) => {
        Run { program: "bench-broadcast", words: &[$algorithm, $($word),+] }
    };
}

/// The bench.
pub(crate) const OC_BCAST: Bench = Bench {
    name: "oc-bcast",
    about: "what the OC-Bcast paper says of broadcasts, by the board's clock",
    runs: each!(
        // The longest ones come first, so that the last to run are short.
        ["algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47"]
            ["machine=+contention", TWO_LONG, "modes=back-to-back", "repetitions=2"]
        ["algorithm=scatter-allgather"]
            ["machine=+contention", "profile", "sizes=147456", "modes=back-to-back", "repetitions=1"]
        // Long enough for a root to get as far ahead as it ever will.
        ["algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47"]
            ["machine=+contention", "sizes=3072,3104", "clock=board", "modes=back-to-back", "repetitions=120"]
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47"]
            ["machine=+contention", LATENCIES, "clock=board", "modes=separated", "repetitions=9"]
        ["algorithm=binomial"]
            ["machine=+contention", "profile", LATENCIES, "clock=board", "modes=separated", "repetitions=9"]
        ["algorithm=oc-k47"]
            [TWO_LONG, "modes=back-to-back", "repetitions=2"]
        ["algorithm=oc-k47"]
            ["machine=+flat", TWO_LONG, "modes=back-to-back", "repetitions=2"]
        // Two ranks, of which the second copies straight to its memory: section 4.2's two cores.
        ["algorithm=oc-k1+leaves", "algorithm=oc-k1+leaves+single"]
            ["cores=2", "sizes=1048576", "modes=back-to-back", "repetitions=2"]
        ["algorithm=oc-k7", "algorithm=oc-k7+single"]
            ["sizes=6144", "modes=separated", "repetitions=15"]
        ["algorithm=oc-k7", "algorithm=oc-k7+notify3", "algorithm=oc-k7+notify7", "algorithm=oc-k47",
         "algorithm=oc-k47+notify3", "algorithm=oc-k47+notify47"]
            ["sizes=32", "modes=separated", "repetitions=40"]
        ["algorithm=oc-k7"]
            ["machine=+contention", "sizes=32", "modes=separated", "repetitions=25"]
        ["algorithm=oc-k7"]
            ["machine=+contention", "sizes=32", "clock=board", "modes=back-to-back", "repetitions=25"]
        ["algorithm=binomial"]
            ["machine=+contention", "profile", "sizes=32", "modes=separated", "repetitions=25"]
        ["algorithm=binomial"]
            ["machine=+contention", "profile", "sizes=32", "clock=board", "modes=back-to-back", "repetitions=25"]
    ),
    shown: &[0],
    columns: &[
        Column { title: "1 line (us)", metric: "latency", bytes: 32 },
        Column { title: "board's clock", metric: "latency.board", bytes: 32 },
        Column { title: "in a sequence", metric: "latency.back-to-back.board", bytes: 32 },
        Column { title: "96 lines", metric: "latency.board", bytes: 96 * 32 },
        Column { title: "in a sequence", metric: "latency.back-to-back.board", bytes: 96 * 32 },
        Column { title: "192 lines", metric: "latency.board", bytes: 192 * 32 },
        Column { title: "96 lines (MB/s)", metric: "throughput.back-to-back.board", bytes: 96 * 32 },
        Column { title: "97 lines", metric: "throughput.back-to-back.board", bytes: 97 * 32 },
        Column { title: "peak", metric: PEAK, bytes: 0 },
    ],
    derive: broadcast::add_peaks,
    ..Bench::PLAIN
};
