//! Broadcasts: Petrović, Shahmirzadi, Ropars and Schiper, *High-Performance RMA-Based Broadcast on the Intel SCC*
//! (OC-Bcast), sections 5 and 6.
//!
//! Each algorithm runs on three machines: with distances and without contention, which is the machine that the user
//! names; on its variant `+flat`, which the paper's analysis is about; and on `+contention`, which is nearest to the
//! paper's measurements. Rows of the model and published numbers stand beside what was measured.

use super::{claims, published};
use crate::bench::{Bench, Column, Key, Rows, Run, Unit};

/// One run for each algorithm and list of words.
macro_rules! each {
    ($program:literal: $([$($algorithm:literal),+] $words:tt)+) => {
        &[$($( each!(@ $program, $algorithm, $words), )+)+ Run { program: "bench-broadcast-model", words: &[LONG_AND_SHORT] }]
    };
    (@ $program:literal, $algorithm:literal, [$($word:expr),+]) => {
        Run { program: $program, words: &[$algorithm, $($word),+] }
    };
}

/// All lengths.
const LONG_AND_SHORT: &str = "sizes=short,lines,long";

/// Where throughputs are compared under contention: 48 chunks of 96 lines, and 1 MiB.
pub(crate) const TWO_LONG: &str = "sizes=147456,1048576";

/// Lines between those of latencies and 48 chunks, for the curve of throughputs: 512, 1024 and 2048.
const BETWEEN: &str = "sizes=16384,32768,65536";

/// Lengths at which roots are compared: in one line with its tag, a line, and around a chunk and a buffer of RCCE's.
const AT_ROOTS: &str = "sizes=1,28,32,3072,3104,8064";

/// The shortest message whose throughput may count as an algorithm's peak: 48 chunks of 96 lines, the length of the
/// paper's analysis.
const LEAST_PEAK_BYTES: u64 = 48 * 96 * 32;

/// The metric of an algorithm's peak: the largest throughput that its long messages have in a sequence of them.
pub(crate) const PEAK: &str = "throughput.peak";

/// The paper's algorithms, their successors, and ours.
pub(crate) const BROADCAST: Bench = Bench {
    name: "broadcast",
    about: "one rank's message to all: latency and throughput by length, root and sequence, model and paper beside it (OC-Bcast, 5 and 6)",
    // The longest ones come first, so that the last to run are short.
    runs: each!("bench-broadcast":
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47",
         "algorithm=scatter-allgather-one-sided"]
            ["sizes=long", "modes=separated,back-to-back", "repetitions=2"]
        ["algorithm=binomial", "algorithm=scatter-allgather", "algorithm=scatter-allgather-overlapped"]
            ["profile", "sizes=long", "modes=separated,back-to-back", "repetitions=2"]
        ["algorithm=oc-k7+leaves", "algorithm=oc-k7+tiles", "algorithm=oc-k7+single"]
            ["sizes=1048576", "modes=separated,back-to-back", "repetitions=2"]
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47",
         "algorithm=oc-k7+leaves", "algorithm=oc-k7+tiles", "algorithm=oc-k7+single",
         "algorithm=oc-k7+notify3", "algorithm=oc-k7+notify7", "algorithm=oc-k47+notify3", "algorithm=oc-k47+notify47",
         "algorithm=scatter-allgather-one-sided"]
            ["sizes=short,lines"]
        ["algorithm=binomial", "algorithm=scatter-allgather", "algorithm=scatter-allgather-overlapped"]
            ["profile", "sizes=short,lines"]
        ["algorithm=scatter-allgather", "algorithm=scatter-allgather-overlapped"]
            ["machine=+contention", "profile", TWO_LONG, "modes=separated,back-to-back", "repetitions=1"]
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47",
         "algorithm=scatter-allgather-one-sided"]
            ["machine=+contention", TWO_LONG, "modes=separated,back-to-back", "repetitions=2"]
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47",
         "algorithm=scatter-allgather-one-sided"]
            ["machine=+contention", "sizes=short,lines", "modes=separated,back-to-back", "repetitions=3"]
        ["algorithm=binomial"]
            ["machine=+contention", "profile", "sizes=short,lines", "modes=separated", "repetitions=3"]
        ["algorithm=scatter-allgather"]
            ["machine=+contention", "profile", BETWEEN, "modes=back-to-back", "repetitions=1"]
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47"]
            ["machine=+contention", BETWEEN, "modes=back-to-back", "repetitions=2"]
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47"]
            ["machine=+flat", "sizes=1048576", "modes=back-to-back", "repetitions=2"]
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47"]
            ["machine=+flat", "sizes=short,lines,147456", "modes=separated,together", "repetitions=1"]
        ["algorithm=binomial", "algorithm=scatter-allgather", "algorithm=scatter-allgather-overlapped"]
            ["machine=+flat", "profile", "sizes=short,lines,147456", "modes=separated,together", "repetitions=1"]
        ["algorithm=default", "algorithm=oc-k2", "algorithm=oc-k7", "algorithm=oc-k47",
         "algorithm=scatter-allgather-one-sided"]
            [AT_ROOTS, "roots=middle,opposite", "modes=separated"]
        ["algorithm=binomial", "algorithm=scatter-allgather"]
            ["profile", AT_ROOTS, "roots=middle,opposite", "modes=separated"]
    ),
    shown: &[0],
    sizes: &[1, 28, 32, 96 * 32, 97 * 32],
    columns: &[
        Column { title: "1 B (us)", metric: "latency", bytes: 1 },
        Column { title: "28 B", metric: "latency", bytes: 28 },
        Column { title: "32 B", metric: "latency", bytes: 32 },
        Column { title: "96 lines", metric: "latency", bytes: 96 * 32 },
        Column { title: "97 lines", metric: "latency", bytes: 97 * 32 },
        Column { title: "192 lines", metric: "latency", bytes: 192 * 32 },
        Column { title: "96 lines (MB/s)", metric: "throughput.back-to-back", bytes: 96 * 32 },
        Column { title: "97 lines", metric: "throughput.back-to-back", bytes: 97 * 32 },
        Column { title: "peak", metric: PEAK, bytes: 0 },
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
    for row in rows.iter().filter(|row| row.key.metric == "throughput.back-to-back" && is_long(&row.key)) {
        let key = Key { metric: PEAK.into(), bytes: 0, ..row.key.clone() };
        match peaks.iter_mut().find(|(other, _)| *other == key) {
            Some((_, peak)) => *peak = peak.max(row.quartiles.median),
            None => peaks.push((key, row.quartiles.median)),
        }
    }
    peaks.into_iter().for_each(|(key, value)| rows.add_known(key, value));
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
    for (algorithm, value) in published::PEAKS {
        rows.add_known(key(algorithm, 0, PEAK, Unit::MegabytesPerSecond), value);
    }
    for (algorithm, value) in published::LATENCIES {
        rows.add_known(key(algorithm, 32, "latency", Unit::Microseconds), value);
    }
}

#[cfg(test)]
#[path = "broadcast_tests.rs"]
mod tests;
