//! What the fidelity table needs of broadcasts: Petrović et al., *High-Performance RMA-Based Broadcast on the Intel SCC*
//! (OC-Bcast), section 6, as it was measured there.
//!
//! Latencies are those of messages that follow each other at once, by the board's clock. The paper says so of the clock
//! (6.1); that nothing was between the broadcasts follows from its figure 8b, where the throughput drops at 97 lines: it
//! does so in a sequence only, and a message alone takes 97 lines as fast as 96. One line is also measured alone, and
//! by a clock that costs nothing, so that one can see what the way of measuring takes.

use super::{
    Bench, Column, Run,
    broadcast::{self, PEAK, TWO_LONG},
};

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
pub(super) const OC_BCAST: Bench = Bench {
    name: "oc-bcast",
    about: "what the OC-Bcast paper says of broadcasts, measured as there: in sequences, by the board's clock",
    runs: each!(
        // The longest ones come first, so that the last to run are short.
        ["algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47"]
            ["machine=+contention", TWO_LONG, "modes=back-to-back", "repetitions=2"]
        ["algorithm=scatter-allgather"]
            ["machine=+contention", "profile", "sizes=147456", "modes=back-to-back", "repetitions=1"]
        ["algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47"]
            ["machine=+contention", LATENCIES, "clock=board", "modes=back-to-back", "repetitions=15"]
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
            ["machine=+contention", "sizes=32", "modes=separated,back-to-back", "repetitions=25"]
        ["algorithm=oc-k7"]
            ["machine=+contention", "sizes=32", "clock=board", "modes=separated", "repetitions=25"]
        ["algorithm=binomial"]
            ["machine=+contention", "profile", "sizes=32", "modes=separated,back-to-back", "repetitions=25"]
        ["algorithm=binomial"]
            ["machine=+contention", "profile", "sizes=32", "clock=board", "modes=separated,back-to-back", "repetitions=25"]
    ),
    shown: &[0],
    sizes: &[],
    columns: &[
        Column { title: "1 line (us)", metric: "latency", bytes: 32 },
        Column { title: "board's clock", metric: "latency.board", bytes: 32 },
        Column { title: "in a sequence", metric: "latency.back-to-back", bytes: 32 },
        Column { title: "both", metric: "latency.back-to-back.board", bytes: 32 },
        Column { title: "96 lines", metric: "latency.back-to-back.board", bytes: 96 * 32 },
        Column { title: "192 lines", metric: "latency.back-to-back.board", bytes: 192 * 32 },
        Column { title: "peak (MB/s)", metric: PEAK, bytes: 0 },
    ],
    report: None,
    derive: broadcast::add_peaks,
    claims: &[],
};
