//! Threads of the host beside MPICH and Open MPI, in real time: the same operations on as many ranks, in turns.
//!
//! A round has a run of each; runs of a round have the host for themselves, one after the other, and each round begins with
//! another one. What is compared are the medians of a round, so that a host that grows slower slows down both sides; over
//! rounds there are quartiles. Nothing is claimed: what else the host does decides as well.

mod contender;
mod report;

use crate::bench::{Bench, Key, Machine, Memory, Samples, Setting, Sweep, Unit};
use anyhow::Result;
use contender::Contender;
use host::progress::Progress;
use report::report;
use std::collections::HashMap;

/// Runs of each.
const ROUNDS: usize = 5;

/// The machine whose rows have no name of another one.
const OWN: Memory = Memory::Coherent;

/// Ours and theirs, in real time.
pub(crate) const HOST: Bench = Bench {
    name: "host",
    about: "epochs, barriers, broadcasts, reductions and puts on threads of the host, beside MPICH and Open MPI, in real time",
    runs: &[Sweep("bench-host", &[])],
    measure: Some(measure),
    only_on: Some(Machine::Threads(OWN)),
    report: Some(report),
    ..Bench::PLAIN
};

/// Runs all contenders that this host has.
fn measure(setting: &Setting<'_>) -> Result<Vec<Samples>> {
    let mut contenders = Contender::all(setting)?;
    let progress =
        Progress::bar(format!("{} ranks of each, in turns", setting.cores), (ROUNDS * contenders.len()) as u64);
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        let mut medians = HashMap::new();
        for contender in &contenders {
            let outcome = contender.run(setting)?;
            if round == 0 {
                outcome.said.iter().for_each(|line| progress.print(&format!("{contender}: {line}")));
            }
            medians.insert(contender.key(), outcome.samples.iter().map(median).collect::<Vec<_>>());
            all.extend(outcome.samples.into_iter().map(|mut samples| {
                samples.key.variant = contender.variant();
                samples
            }));
            progress.step();
        }
        all.extend(ratios(&medians));
        contenders.rotate_left(1);
    }
    Ok(all)
}

/// What was measured, and the median of it.
fn median(samples: &Samples) -> (Key, u64) {
    let mut values = samples.values.clone();
    values.sort_unstable();
    (samples.key.clone(), values[values.len() / 2])
}

/// How many times as long each of ours takes as each of theirs.
fn ratios(medians: &HashMap<String, Vec<(Key, u64)>>) -> Vec<Samples> {
    let mut all = Vec::new();
    let (ours, theirs): (Vec<_>, Vec<_>) = medians.iter().partition(|(name, _)| name.starts_with("threads"));
    for ((our_name, ours), (their_name, theirs)) in
        ours.iter().flat_map(|our| theirs.iter().map(move |their| (our, their)))
    {
        for (key, our) in *ours {
            let Some((_, their)) = theirs.iter().find(|(other, _)| other == key) else { continue };
            // Who moves more in a second takes less long.
            let (long, short) = if key.unit == Unit::MegabytesPerSecond { (their, our) } else { (our, their) };
            let ratio = Key {
                variant: format!("@{our_name}/{their_name}"),
                metric: format!("{}-ratio", key.metric),
                unit: Unit::Fraction,
                ..key.clone()
            };
            all.push(Samples { key: ratio, values: vec![long * 1000 / short.max(&1)] });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    #[test]
    fn ratios_are_of_times() {
        let of = |latency, throughput| {
            let samples = [("put", "latency ns", latency), ("put", "throughput kBps", throughput)];
            samples.map(|(name, metric, value)| median(&sample(name, [2, 0, 64], metric, value))).to_vec()
        };
        let medians =
            HashMap::from([("threads+coherent".to_owned(), of(300, 100)), ("mpich".to_owned(), of(200, 400))]);
        let ratios = ratios(&medians);
        let found: Vec<_> = ratios.iter().map(|ratio| (ratio.key.metric.as_str(), ratio.values[0])).collect();
        assert_eq!(found, [("latency-ratio", 1500), ("throughput-ratio", 4000)]);
        assert!(ratios.iter().all(|ratio| ratio.key.name() == "put@threads+coherent/mpich"));
    }
}
