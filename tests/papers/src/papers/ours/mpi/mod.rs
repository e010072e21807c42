//! C's MPI on 2 ranks and on all, beside the calls of ours on which it stands, and beside the protocol of RCKMPI, which was written
//! for this chip.
//!
//! The goals are a third of RCKMPI's latency for 8 bytes and twice its bandwidth at 64 KB.
//!
//! **8 bytes.** No message takes less on this chip than one store of a line to where its receiver looks, and one look that finds it. By the
//! simulator's prices the store is 46 cycles of software, and seen 60 cycles and a hop for each router later; the look is 45 cycles, two
//! hops and 33 cycles of software: 360 ns between the cores of a tile, 400 ns over nine routers, and half of what lies between two looks,
//! of 84 cycles at least. Ours is that store and that look. RCKMPI's has two stores one after the other, header and number, as its
//! number is a flag of its own, a look that finds the number, another one that gets the message, and before all that a look whether the
//! section is free. So its accesses and those calls of the HAL take 3 times that. What both protocols execute beside those calls weighs
//! more than that with everything priced: both match messages and keep those for other receives, but what stands for RCKMPI has no requests, looks at
//! one section only, and takes from no source but that. So with everything priced ours is 1.3 to 1.6 times as fast, where the goal is 3; the emulated
//! board says 1.1 on 2 ranks. Messages in a row take longer than RCKMPI's there, 5.2 µs and 2.7 for each, as they are acknowledged one by one.
//!
//! **64 KB.** A message of which one half is put while the other one is got takes the slower of both copies, and the first half. A core puts
//! a line of 32 bytes to its own MPB in about 121 ns, as the next one waits for its answer (60 cycles and two hops), and gets one from
//! the other core of its tile in about 180 ns: 45 cycles and two hops, 18 cycles of software, 18 of L2 for the line that the buffer has
//! there. RCKMPI's protocol takes both, 301 ns, as a section has one packet at a time. So where sections are long, on 2 ranks, no protocol that puts and gets each
//! line once is faster than 301 / 180 = 1.67 times that, which ours is; twice would take a get of no more than a put. On 48 ranks sections have 5 lines.
//!
//! Puts of 64 KB are as fast as messages; what is got takes three times as long. What C's functions do themselves has no price here.

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
            .at_least(1.5, "", |rows| latency(rows, 2)),
        in_virtual_time("on 48 ranks: RCKMPI's latency for 8 bytes in ours (goal: 3)")
            .at_least(1.2, "", |rows| latency(rows, 48)),
        in_virtual_time(
            "on 2 ranks: RCKMPI's latency for 8 bytes in that of our call in Rust, accesses alone (Table 1)",
        )
        .at_least(1.8, "", |rows| latency_of_accesses(rows, 2)),
        in_virtual_time(
            "on 48 ranks: RCKMPI's latency for 8 bytes in that of our call in Rust, accesses alone (Table 1)",
        )
        .at_least(1.9, "", |rows| latency_of_accesses(rows, 48)),
        in_virtual_time("on 2 ranks: our bandwidth at 64 KB in RCKMPI's (goal: 2)")
            .at_least(1.6, "", |rows| bandwidth(rows, 2)),
        in_virtual_time("on 48 ranks: our bandwidth at 64 KB in RCKMPI's (goal: 2)")
            .at_least(4.5, "", |rows| bandwidth(rows, 48)),
        in_virtual_time("what C takes of the calls that it stands on, in the median (goal: 1.15)").at_most(
            1.1,
            "",
            |rows| Ok(beside_rust(rows)?[BESIDE_RUST.len()]),
        ),
        in_virtual_time("what C takes of any call that it stands on (goal: 1.15)")
            .at_most(1.2, "", |rows| beside_rust(rows)?.last().copied().ok_or(Missing)),
    ],
    ..Bench::PLAIN
};

/// What the names of rows end with: everything has its price, as on the board, but for what C's functions do in the library; or accesses
/// alone have.
const PRICED: &str = "@scc-priced";
const ACCESSES: &str = "@scc-accesses";

fn median(rows: &Rows, algorithm: &str, metric: &str, of: (u64, u64)) -> Result<f64, Missing> {
    rows.median(&format!("{algorithm}{PRICED}"), metric, of.0, of.1)
}

fn latency(rows: &Rows, ranks: u64) -> Result<f64, Missing> {
    let of = |algorithm| median(rows, algorithm, "latency", (ranks, 8));
    Ok(of("rckmpi")? / of("c")?)
}

/// The same of the protocols alone.
fn latency_of_accesses(rows: &Rows, ranks: u64) -> Result<f64, Missing> {
    let of = |algorithm| rows.median(&format!("{algorithm}{ACCESSES}"), "latency", ranks, 8);
    Ok(of("rckmpi")? / of("tagged")?)
}

fn bandwidth(rows: &Rows, ranks: u64) -> Result<f64, Missing> {
    let of = |algorithm| median(rows, algorithm, "bandwidth", (ranks, 1 << 16));
    Ok(of("c")? / of("rckmpi")?)
}

/// Ratios of calls in C to those in Rust, the smallest first: of first quartiles, as ranks that poll each other meet in one of several ways, a
/// poll apart, which way is chance, and most calls are not much longer than a poll.
fn beside_rust(rows: &Rows) -> Result<Vec<f64>, Missing> {
    let mut ratios = Vec::new();
    for ranks in RANKS {
        for (metric, bytes) in BESIDE_RUST {
            let of = |algorithm| {
                let line = rows.line(&format!("{algorithm}{PRICED}"), metric)?;
                Ok::<_, Missing>(line.row(ranks.into(), bytes)?.quartiles.q1)
            };
            ratios.push(of("c")? / of("tagged")?);
        }
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios)
}

/// Our programs, with everything priced and with accesses alone, and then that in C.
fn measure(setting: &Setting<'_>) -> Result<Vec<Samples>> {
    let ranks: Vec<_> = RANKS.into_iter().filter(|ranks| *ranks <= setting.cores).collect();
    let progress = Progress::bar("MPI in C, our calls, and RCKMPI's protocol", 5 * ranks.len() as u64);
    let mut all = Vec::new();
    let mut take = |samples: Vec<Samples>, variant: &str| {
        all.extend(samples.into_iter().map(|mut samples| {
            samples.key.variant = variant.to_owned();
            samples
        }));
        progress.step();
    };
    for cores in ranks {
        for (algorithm, priced) in [("tagged", true), ("rckmpi", true), ("tagged", false), ("rckmpi", false)] {
            let words = [format!("algorithm={algorithm}"), format!("repetitions={REPETITIONS}")];
            let run = xtask::Run {
                program: "bench-mpi",
                machine: setting.machine,
                cores,
                words: words.into_iter().chain(setting.words.iter().cloned()).collect(),
                has_input: false,
                heat_map: false,
                priced,
                flame: None,
                yes: setting.yes,
                limit: setting.limit,
            };
            take(run.transcript()?.samples, if priced { PRICED } else { ACCESSES });
        }
        let source = workspace::root().join("tests/papers/src/papers/ours/mpi/mpi.c");
        let tool = ["sim", &format!("--machine={}", setting.machine)];
        take(xtask::run_c(&tool, &source, cores, &[REPETITIONS.to_string()], setting.limit)?.samples, PRICED);
    }
    Ok(all)
}
