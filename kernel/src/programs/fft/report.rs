//! What the transform took, for the user and for measurements.

use alloc::{collections::BTreeSet, format, string::String, vec, vec::Vec};

use hal::Core;

use crate::{Failure, Rank, Series, Unit, println, programs::time::Shown};

use super::{complex::COMPLEX_BYTES, memory::Memory, options::Options, transform::Times};

/// What is measured, in the order in which ranks tell each other.
const METRICS: [&str; 4] = ["total", "flush", "barrier", "transpose"];

fn numbers(times: &Times) -> [u64; METRICS.len()] {
    [times.total, times.flush, times.barrier, times.transpose]
}

/// What the run is called in measurements: memory, what is flushed if that is cached, and placement.
fn algorithm(options: &Options) -> String {
    let (plan, placement) = (&options.plan, options.placement);
    match plan.memory {
        Memory::Cached => format!("cached-{}-{placement}", plan.flush),
        Memory::Combined | Memory::Uncached => format!("{}-{placement}", plan.memory),
    }
}

/// Thousandths of a transform that were spent in flushes.
fn flush_share(times: &Times) -> u64 {
    times.flush * 1000 / times.total.max(1)
}

/// Sends the times of this rank to whoever measures, as series over the number of coherence domains: the nodes of a
/// cluster, the cores of the SCC.
pub(super) fn send<C: Core>(rank: &Rank<'_, C>, options: &Options, times: &Times) {
    let (comm, algorithm) = (rank.comm, algorithm(options));
    let domains = (0..comm.size()).map(|rank| comm.hal().layout().domain(comm.core_of(rank)));
    let param = domains.collect::<BTreeSet<_>>().len() as u64;
    let bytes = (options.plan.shape.values() * COMPLEX_BYTES) as u64;
    let series = Series { algorithm: &algorithm, param, bytes, metric: "", unit: Unit::Ticks };
    for (metric, ticks) in METRICS.into_iter().zip(numbers(times)) {
        rank.samples(&Series { metric, ..series }, [ticks].into_iter());
    }
    let share = Series { metric: "flush.share", unit: Unit::Permille, ..series };
    rank.samples(&share, [flush_share(times)].into_iter());
}

/// Brings the times of all ranks to rank 0, which prints a table.
pub(super) fn print<C: Core>(rank: &Rank<'_, C>, options: &Options, times: &Times) -> Result<(), Failure> {
    let comm = rank.comm;
    if comm.rank() > 0 {
        return Ok(comm.send(bytemuck::cast_slice(&numbers(times)), 0)?);
    }
    let mut ranks: Vec<_> = vec![numbers(times); comm.size()];
    for (sender, numbers) in ranks.iter_mut().enumerate().skip(1) {
        comm.receive(bytemuck::cast_slice_mut(numbers), sender)?;
    }
    let (len, samples) = (options.plan.shape.values(), options.samples);
    println!(rank, "transform of {samples} samples, {len} values, {}", algorithm(options));
    let shown = Shown::of(rank.hal());
    println!(rank, "{:<24}{:>16}{:>16}", shown.unit(), "rank 0", "longest");
    for (metric, name) in METRICS.iter().enumerate() {
        let longest = ranks.iter().map(|numbers| numbers[metric]).max().unwrap_or(0);
        println!(rank, "  {name:<22}{:>16}{:>16}", shown.number(ranks[0][metric]), shown.number(longest));
    }
    let [total, flush, barrier, _] = numbers(times);
    let percent = |part: u64| part as f64 * 100.0 / total.max(1) as f64;
    println!(rank, "rank 0 spent {:.1} % in flushes and {:.1} % in barriers", percent(flush), percent(barrier));
    rank.tell_host(format_args!("result total_ticks {total}"));
    rank.tell_host(format_args!("result flush_ticks {flush}"));
    rank.tell_host(format_args!("result barrier_ticks {barrier}"));
    Ok(())
}
