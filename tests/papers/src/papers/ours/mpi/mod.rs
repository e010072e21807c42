//! C's MPI on 2 ranks and on all, beside the calls of ours on which it stands, and beside the protocol of RCKMPI, which was written
//! for this chip.
//!
//! The goal was a third of RCKMPI's latency for 8 bytes and twice its bandwidth at 64 KB. By its protocol alone, without what its
//! library does for each packet, the latency is 1.8 to 2.1 times ours, as a message of 8 bytes comes with the look that finds it; our
//! bandwidth is 1.7 times that of 2 ranks, whose sections are half an MPB each, and 3.8 times that of 48. Puts of 64 KB are as fast as
//! messages; what is got takes three times as long.
//!
//! Everything has its price here but what the library's functions for C and messages with tags do themselves, which on the board is most of
//! what 8 bytes take.

use crate::{
    bench::{Bench, Machine, Missing, Rows, Samples, Setting, Sweep, in_virtual_time},
    xtask,
};
use anyhow::Result;
use host::{progress::Progress, workspace};

/// Turns that count, of each call.
const REPETITIONS: u32 = 10;

/// Ranks that are measured.
const RANKS: [u32; 2] = [2, 48];

/// What is compared with its call in Rust, and at how many bytes.
const BESIDE_RUST: [(&str, u64); 14] = [
    ("latency", 8),
    ("latency", 1 << 10),
    ("latency", 1 << 16),
    ("each-of-a-burst", 8),
    ("barrier", 8),
    ("broadcast", 8),
    ("broadcast", 1 << 10),
    ("reduce", 8),
    ("reduce", 1 << 10),
    ("allreduce", 8),
    ("allreduce", 1 << 10),
    ("allgather", 1 << 10),
    ("alltoall", 8),
    ("alltoall", 1 << 10),
];

/// Messages, puts and gets, and operations of all.
pub(crate) const MPI: Bench = Bench {
    name: "mpi",
    about: "messages, windows and operations of all through C's MPI on 2 and 48 ranks, beside our own calls, and messages by RCKMPI's protocol",
    runs: &[Sweep("bench-mpi", &["algorithm={tagged|rckmpi}", "cores={2|48}"])],
    measure: Some(measure),
    // It is more than runs of the image.
    only_on: Some(Machine::Simulated(host::machine::Machine::SCC)),
    claims: &[
        in_virtual_time("on 2 ranks: RCKMPI's latency for 8 bytes in ours (goal: 3)")
            .at_least(1.7, "", |rows| latency(rows, 2)),
        in_virtual_time("on 48 ranks: RCKMPI's latency for 8 bytes in ours (goal: 3)")
            .at_least(1.9, "", |rows| latency(rows, 48)),
        in_virtual_time("on 2 ranks: our bandwidth at 64 KB in RCKMPI's (goal: 2)")
            .at_least(1.5, "", |rows| bandwidth(rows, 2)),
        in_virtual_time("on 48 ranks: our bandwidth at 64 KB in RCKMPI's (goal: 2)")
            .at_least(3.0, "", |rows| bandwidth(rows, 48)),
        in_virtual_time("what C takes of the calls that it stands on, in the median (goal: 1.15)").at_most(
            1.1,
            "",
            |rows| Ok(beside_rust(rows)?[BESIDE_RUST.len()]),
        ),
        in_virtual_time("what C takes of any call that it stands on (goal: 1.15)")
            .at_most(1.4, "", |rows| beside_rust(rows)?.last().copied().ok_or(Missing)),
    ],
    ..Bench::PLAIN
};

/// What the names of all rows end with: everything has its price, as on the board, but for what messages with tags and C's functions do in
/// the library.
const PRICED: &str = "@scc-priced";

fn median(rows: &Rows, algorithm: &str, metric: &str, of: (u64, u64)) -> Result<f64, Missing> {
    rows.median(&format!("{algorithm}{PRICED}"), metric, of.0, of.1)
}

fn latency(rows: &Rows, ranks: u64) -> Result<f64, Missing> {
    let of = |algorithm| median(rows, algorithm, "latency", (ranks, 8));
    Ok(of("rckmpi")? / of("c")?)
}

fn bandwidth(rows: &Rows, ranks: u64) -> Result<f64, Missing> {
    let of = |algorithm| median(rows, algorithm, "bandwidth", (ranks, 1 << 16));
    Ok(of("c")? / of("rckmpi")?)
}

/// Ratios of calls in C to those in Rust, the smallest first.
fn beside_rust(rows: &Rows) -> Result<Vec<f64>, Missing> {
    let mut ratios = Vec::new();
    for ranks in RANKS {
        for (metric, bytes) in BESIDE_RUST {
            let of = |algorithm| median(rows, algorithm, metric, (ranks.into(), bytes));
            ratios.push(of("c")? / of("tagged")?);
        }
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios)
}

/// Our programs, and then that in C.
fn measure(setting: &Setting<'_>) -> Result<Vec<Samples>> {
    let ranks: Vec<_> = RANKS.into_iter().filter(|ranks| *ranks <= setting.cores).collect();
    let progress = Progress::bar("MPI in C, our calls, and RCKMPI's protocol", 3 * ranks.len() as u64);
    let mut all = Vec::new();
    for cores in ranks {
        for algorithm in ["tagged", "rckmpi"] {
            let words = [format!("algorithm={algorithm}"), format!("repetitions={REPETITIONS}")];
            let run = xtask::Run {
                program: "bench-mpi",
                machine: setting.machine,
                cores,
                words: words.into_iter().chain(setting.words.iter().cloned()).collect(),
                has_input: false,
                heat_map: false,
                priced: true,
                flame: None,
                yes: setting.yes,
                limit: setting.limit,
            };
            all.extend(run.transcript()?.samples);
            progress.step();
        }
        let source = workspace::root().join("tests/papers/src/papers/ours/mpi/mpi.c");
        let tool = ["sim", &format!("--machine={}", setting.machine)];
        all.extend(xtask::run_c(&tool, &source, cores, &[REPETITIONS.to_string()], setting.limit)?.samples);
        progress.step();
    }
    all.iter_mut().for_each(|samples| samples.key.variant = PRICED.to_owned());
    Ok(all)
}
