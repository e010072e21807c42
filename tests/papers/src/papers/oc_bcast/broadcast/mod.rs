//! Broadcasts: sections 5 and 6.
//!
//! Each algorithm runs on three simulated machines: with distances and without contention, which is the machine that the user
//! names; on its variant `+flat`, which the paper's analysis is about; and on `+contention`, which is nearest to the
//! paper's measurements. Our default and the paper's algorithm run on the emulated board, too, where their instructions
//! are executed and have a price, and beside them gets of one rank alone. Rows of the model and published numbers stand beside what was measured.

use super::{
    claims,
    measured::{LINE, PEAK, SEQUENCE},
    published,
};
use crate::bench::{Bench, Column, Key, Rows, Sweep, Unit};

/// Where throughputs are compared under contention: 48 chunks of 96 lines, and 1 MiB.
pub(crate) const TWO_LONG: &str = "sizes=147456,1048576";

/// Lines between those of latencies and 48 chunks, for the curve of throughputs: 512, 1024 and 2048.
const BETWEEN: &str = "sizes=16384,32768,65536";

/// Lengths at which roots are compared: in one line with its tag, a line, and around a chunk and a buffer of RCCE's.
const AT_ROOTS: &str = "sizes=1,28,32,3072,3104,8064";

/// The shortest message whose throughput may count as an algorithm's peak: 48 chunks of 96 lines, the length of the
/// paper's analysis.
pub(crate) const LEAST_PEAK_BYTES: u64 = 48 * 96 * LINE;

/// Our default and the paper's algorithm, of three degrees.
pub(crate) const TREES: &str = "algorithm={default|oc-k2|oc-k7|oc-k47}";

/// The same, and one that is not the paper's.
const ONE_SIDED: &str = "algorithm={default|oc-k2|oc-k7|oc-k47|scatter-allgather-one-sided}";

/// Algorithms over two-sided messages, with RCCE's payload, as published.
const TWO_SIDED: &str = "algorithm={binomial|scatter-allgather|scatter-allgather-overlapped} profile";

/// Those of them that slice messages.
const SLICED: &str = "algorithm={scatter-allgather|scatter-allgather-overlapped} profile";

/// Alone, and in a sequence of them.
const BOTH: &str = "modes=separated,back-to-back";

/// What the model is compared with.
const MODELLED: &str = "machine=+flat sizes=short,lines,147456 modes=separated,together repetitions=1";

/// Runs on the emulated board, which keeps time.
const ON_BOARD: &str = "machine=scc-board algorithm={default|oc-k7}";

/// Runs with contention.
pub(crate) const CONTENTION: &str = "machine=+contention";

/// The paper's algorithms, their successors, and ours.
pub(crate) const BROADCAST: Bench = Bench {
    name: "broadcast",
    about: "one rank's message to all: latency and throughput by length, root and sequence, model and paper beside \
            it (OC-Bcast, 5 and 6)",
    // The longest ones come first, so that the last to run are short.
    runs: &[
        Sweep("bench-broadcast", &[ON_BOARD, "sizes=147456", "modes=back-to-back", "repetitions=1"]),
        Sweep("bench-broadcast", &[ON_BOARD, "sizes=28,3072", "modes=separated", "repetitions=3"]),
        Sweep("bench-mpb-distance", &["machine=scc-board cores=2"]),
        Sweep("bench-broadcast", &[ONE_SIDED, "sizes=long", BOTH, "repetitions=2"]),
        Sweep("bench-broadcast", &[TWO_SIDED, "sizes=long", BOTH, "repetitions=2"]),
        Sweep("bench-broadcast", &["algorithm=oc-k7+{leaves|tiles|single}", "sizes=1048576", BOTH, "repetitions=2"]),
        Sweep("bench-broadcast", &[TREES, "sizes=short,lines"]),
        Sweep("bench-broadcast", &["algorithm=oc-k7+{leaves|tiles|single|notify3|notify7}", "sizes=short,lines"]),
        Sweep("bench-broadcast", &["algorithm=oc-k47+{notify3|notify47}", "sizes=short,lines"]),
        Sweep("bench-broadcast", &["algorithm=scatter-allgather-one-sided", "sizes=short,lines"]),
        Sweep("bench-broadcast", &[TWO_SIDED, "sizes=short,lines"]),
        Sweep("bench-broadcast", &[SLICED, CONTENTION, TWO_LONG, BOTH, "repetitions=1"]),
        Sweep("bench-broadcast", &[ONE_SIDED, CONTENTION, TWO_LONG, BOTH, "repetitions=2"]),
        Sweep("bench-broadcast", &[ONE_SIDED, CONTENTION, "sizes=short,lines", BOTH, "repetitions=3"]),
        Sweep(
            "bench-broadcast",
            &["algorithm=binomial profile", CONTENTION, "sizes=short,lines", "modes=separated", "repetitions=3"],
        ),
        Sweep(
            "bench-broadcast",
            &["algorithm=scatter-allgather profile", CONTENTION, BETWEEN, "modes=back-to-back", "repetitions=1"],
        ),
        Sweep("bench-broadcast", &[TREES, CONTENTION, BETWEEN, "modes=back-to-back", "repetitions=2"]),
        Sweep("bench-broadcast", &[TREES, "machine=+flat", "sizes=1048576", "modes=back-to-back", "repetitions=2"]),
        Sweep("bench-broadcast", &[TREES, MODELLED]),
        Sweep("bench-broadcast", &[TWO_SIDED, MODELLED]),
        Sweep("bench-broadcast", &[ONE_SIDED, AT_ROOTS, "roots=middle,opposite", "modes=separated"]),
        Sweep(
            "bench-broadcast",
            &["algorithm={binomial|scatter-allgather} profile", AT_ROOTS, "roots=middle,opposite", "modes=separated"],
        ),
        Sweep("bench-broadcast-model", &["sizes=short,lines,long"]),
    ],
    shown: &[0],
    sizes: &[1, 28, LINE, 96 * LINE, 97 * LINE],
    columns: &[
        Column("1 B (us)", "latency", 1),
        Column("28 B", "latency", 28),
        Column("32 B", "latency", LINE),
        Column("96 lines", "latency", 96 * LINE),
        Column("97 lines", "latency", 97 * LINE),
        Column("192 lines", "latency", 192 * LINE),
        Column("96 lines (MB/s)", SEQUENCE, 96 * LINE),
        Column("97 lines", SEQUENCE, 97 * LINE),
        Column("peak", PEAK, 0),
    ],
    derive: |rows| {
        add_peaks(rows);
        add_published(rows);
    },
    claims: claims::ALL,
    ..Bench::PLAIN
};

/// Adds a row for the largest throughput of long messages in a sequence of them.
pub(crate) fn add_peaks(rows: &mut Rows) {
    let mut peaks: Vec<(Key, f64)> = Vec::new();
    // The model has a formula of its own for that.
    let is_long = |key: &Key| key.bytes >= LEAST_PEAK_BYTES && !key.algorithm.starts_with("model-");
    for row in rows.iter().filter(|row| row.key.metric == SEQUENCE && is_long(&row.key)) {
        let key = Key { metric: PEAK.into(), bytes: 0, ..row.key.clone() };
        match peaks.iter_mut().find(|(other, _)| *other == key) {
            Some((_, peak)) => *peak = peak.max(row.quartiles.median),
            None => peaks.push((key, row.quartiles.median)),
        }
    }
    rows.add_known(peaks);
}

/// Adds the paper's numbers, where there is anything to compare them with.
fn add_published(rows: &mut Rows) {
    if !rows.iter().any(|row| row.key.ranks == published::RANKS && row.key.unit.is_of_time()) {
        return;
    }
    let key = |algorithm: &str, bytes: u64, metric: &str, unit: Unit| Key {
        algorithm: format!("published-{algorithm}"),
        variant: String::new(),
        ranks: published::RANKS,
        param: 0,
        bytes,
        metric: metric.into(),
        unit,
    };
    let peaks = published::PEAKS.map(|(name, value)| (key(name, 0, PEAK, Unit::MegabytesPerSecond), value));
    let latencies = published::LATENCIES.map(|(name, value)| (key(name, LINE, "latency", Unit::Microseconds), value));
    rows.add_known(peaks.into_iter().chain(latencies));
}

#[cfg(test)]
mod tests;
