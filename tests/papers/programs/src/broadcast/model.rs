//! `bench-broadcast-model`: what the LogP model of the OC-Bcast paper says of broadcasts, as series like those of
//! measurements.
//!
//! | algorithm | what |
//! |---|---|
//! | `model-NAME` | the paper's flags, of a line each, and distances of 1: its figure 6 and table 2 |
//! | `model-signals-NAME` | the flags of this tree, distances of 1: what `NAME` takes where distances are 1 |
//! | `bound-mean`, `bound-slowest`, `bound-near` | a line read from an MPB and written to memory, for each line |
//!
//! A bound is the throughput of a rank that does nothing but read each line once from an MPB and write it once to its
//! memory, one access after the other, at the distance of its memory controller. The MPBs are one router away for
//! `bound-near`, that of the slowest rank, which nobody exceeds; otherwise the rank reads from all MPBs in equal parts,
//! and it is the slowest rank's for `bound-slowest`, as a broadcast is over when the last rank has the message, and
//! that of the mean time of all ranks for `bound-mean`. Whoever reads only from MPBs in the middle of the mesh can be a
//! little faster than these two.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use collectives::Comm;
use hal::{Core, CoreId, LINE_BYTES, Topology};

use super::Sizes;
use crate::{
    measure::{Of, ticks},
    model::{Allgather, OcBcastModel, Parameters, Setting, Time, TwoSidedModel, megabytes_per_second},
};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

/// Computes latencies and throughputs.
pub struct Model;

impl Program for Model {
    const NAME: &'static str = "bench-broadcast-model";
    const ABOUT: &'static str = "what the LogP model of the OC-Bcast paper says of broadcasts";
    const OPTIONS: &'static [KnownOption] = &[("sizes", Sizes::ABOUT)];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let sizes = rank.args.get("sizes", Sizes::of_latencies())?;
        if rank.comm.rank() == 0 {
            for flavour in [PAPER, SIGNALS] {
                for modelled in Modelled::all(flavour.setting) {
                    modelled.send(rank, &flavour, &sizes);
                }
            }
            for (name, bound) in bounds(rank.comm) {
                send(rank, name, 0, "throughput.peak", bound);
            }
        }
        Ok(())
    }
}

/// What is modelled, and what it is comparable with.
struct Flavour {
    prefix: &'static str,
    setting: Setting,
    /// The metric of measurements that its latencies are those of.
    latency: &'static str,
}

const PAPER: Flavour = Flavour { prefix: "model", setting: Setting::PAPER, latency: "latency" };
const SIGNALS: Flavour = Flavour { prefix: "model-signals", setting: Setting::SIGNALS, latency: "latency.together" };

/// A broadcast that the model describes.
struct Modelled {
    name: String,
    latency: Latency,
    peak: Peak,
}

/// A function of ranks and lines.
type Latency = Box<dyn Fn(usize, usize) -> Time>;

/// What throughputs of large messages come to.
enum Peak {
    /// That of the slowest node, and those of sequences are modelled, too.
    Pipeline(OcBcastModel),
    /// Where nothing overlaps: that of a chunk of 96 lines for each rank, as in the paper's table 2.
    ChunkEach,
}

impl Modelled {
    fn all(setting: Setting) -> Vec<Self> {
        let oc_bcast = |k| {
            let model = OcBcastModel::new(setting, k);
            let latency = move |ranks, lines| model.latency(ranks, lines);
            Self { name: format!("oc-k{k}"), latency: Box::new(latency), peak: Peak::Pipeline(model) }
        };
        let two_sided = TwoSidedModel::new(setting);
        let of_messages = |name: &str, latency: Latency| Self { name: name.into(), latency, peak: Peak::ChunkEach };
        let scatter_allgather = |name, allgather| {
            let latency = move |ranks, lines| two_sided.scatter_allgather_latency(ranks, lines, allgather);
            of_messages(name, Box::new(latency))
        };
        let others = [
            of_messages("binomial", Box::new(move |ranks, lines| two_sided.binomial_latency(ranks, lines))),
            scatter_allgather("scatter-allgather", Allgather::OneByOne),
            scatter_allgather("scatter-allgather-overlapped", Allgather::Overlapped),
        ];
        [2, 7, 47].map(oc_bcast).into_iter().chain(others).collect()
    }

    fn send<C: Core>(&self, rank: &Rank<'_, C>, flavour: &Flavour, sizes: &Sizes) {
        let (ranks, algorithm) = (rank.comm.size(), format!("{}-{}", flavour.prefix, self.name));
        if ranks < 2 {
            return;
        }
        for bytes in sizes.iter().filter(|bytes| *bytes > 0) {
            let lines = bytes.div_ceil(LINE_BYTES);
            let latency = (self.latency)(ranks, lines);
            Of(&algorithm, 0, bytes).send(rank, flavour.latency, Unit::Ticks, [ticks(rank.hal(), latency)]);
            // The last line need not be full.
            let filled = bytes as f64 / (lines * LINE_BYTES) as f64;
            send(rank, &algorithm, bytes, "throughput", filled * megabytes_per_second(lines, latency));
            if let Peak::Pipeline(model) = &self.peak {
                let throughput = filled * model.throughput_back_to_back(ranks, lines);
                send(rank, &algorithm, bytes, "throughput.back-to-back", throughput);
            }
        }
        let peak = match &self.peak {
            Peak::Pipeline(model) => model.peak_throughput(ranks),
            Peak::ChunkEach => {
                let lines = 96 * ranks;
                megabytes_per_second(lines, (self.latency)(ranks, lines))
            }
        };
        send(rank, &algorithm, 0, "throughput.peak", peak);
    }
}

/// Sends a throughput in MB/s.
fn send<C: Core>(rank: &Rank<'_, C>, algorithm: &str, bytes: usize, metric: &str, megabytes_per_second: f64) {
    // Rounded to nearest: there are no fractions of a kilobyte.
    Of(algorithm, 0, bytes).send(rank, metric, Unit::Rate, [(megabytes_per_second * 1000.0 + 0.5) as u64]);
}

/// The bounds, in MB/s.
fn bounds<C: Topology>(comm: &Comm<'_, C>) -> [(&'static str, f64); 3] {
    let (layout, parameters) = (comm.hal().layout(), Parameters::SCC);
    let cores = || (0..comm.size()).map(CoreId::new);
    let write = |core| {
        let controller = layout.controller_tile(layout.nearest_controller(core));
        parameters.write_memory_line(layout.tile(core).routers_to(controller) as usize)
    };
    // Sums of as many lines as there are MPBs, one from each.
    let all_read =
        |core| cores().map(|other| parameters.read_mpb_line(layout.distance(core, other) as usize)).sum::<Time>();
    let times: Vec<Time> = cores().map(|core| all_read(core) + write(core) * comm.size()).collect();
    let near = cores().map(|core| parameters.read_mpb_line(1) + write(core)).max().unwrap_or_default();
    let slowest = times.iter().copied().max().unwrap_or_default();
    let lines = comm.size() * times.len();
    [
        ("bound-mean", megabytes_per_second(lines, times.iter().copied().sum())),
        ("bound-slowest", megabytes_per_second(comm.size(), slowest)),
        ("bound-near", megabytes_per_second(1, near)),
    ]
}
