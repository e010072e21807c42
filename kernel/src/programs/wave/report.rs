//! What the steps took, for the user and for measurements.

use alloc::{format, vec, vec::Vec};

use hal::Core;

use crate::{Failure, Rank, Series, Unit, println, programs::time::Shown};

use super::{
    grid::Side,
    options::{Options, Version},
};

/// What is measured in each step, in ticks: all of it, the exchange of faces with the waits in it, and the reduction
/// likewise.
const METRICS: [&str; 3] = ["step", "halo", "reduction"];

/// What the steps of a rank took.
pub(super) struct Laps {
    steps: Vec<[u64; METRICS.len()]>,
}

impl Laps {
    /// No step was made yet.
    pub(super) fn new() -> Self {
        Self { steps: Vec::new() }
    }

    /// Takes note of a step: when it began, when its reduction began, when it ended, and for how long there was
    /// computation.
    pub(super) fn note(&mut self, begin: u64, reduction: u64, end: u64, computing: u64) {
        self.steps.push([end - begin, reduction - begin - computing, end - reduction]);
    }

    /// What all steps took.
    fn sums(&self) -> [u64; METRICS.len()] {
        let mut sums = [0; METRICS.len()];
        for step in &self.steps {
            sums.iter_mut().zip(step).for_each(|(sum, ticks)| *sum += ticks);
        }
        sums
    }

    /// Sends the steps to whoever measures, as series over the number of ranks. Ranks without a block have nothing to
    /// say.
    pub(super) fn send<C: Core>(&self, rank: &Rank<'_, C>, options: &Options) {
        let (comm, grid) = (rank.comm, &options.grid);
        if comm.rank() >= grid.blocks() {
            return;
        }
        let sent = |rank: usize| -> usize {
            let sides = Side::all().filter(|side| grid.neighbour(rank, *side).is_some());
            sides.map(|side| grid.face_len(rank, side) * size_of::<f64>()).sum()
        };
        let bytes = (0..grid.blocks()).map(sent).max().unwrap_or(0) as u64;
        for (place, name) in METRICS.iter().enumerate() {
            let metric = if options.is_weak { format!("weak.{name}") } else { (*name).into() };
            let (algorithm, param) = (options.algorithm(), comm.size() as u64);
            let series = Series { algorithm, param, bytes, metric: &metric, unit: Unit::Ticks };
            rank.samples(&series, self.steps.iter().map(|step| step[place]));
        }
    }
}

/// Brings the times of all ranks to rank 0, which prints a table.
pub(super) fn print<C: Core>(rank: &Rank<'_, C>, options: &Options, laps: &Laps) -> Result<(), Failure> {
    let comm = rank.comm;
    let mut sums = vec![laps.sums(); comm.size()];
    if comm.rank() > 0 {
        return Ok(comm.send(bytemuck::cast_slice(&laps.sums()), 0)?);
    }
    for (sender, sums) in sums.iter_mut().enumerate().skip(1) {
        comm.receive(bytemuck::cast_slice_mut(sums), sender)?;
    }
    let Options { grid, steps, version, .. } = options;
    let class = if *version == Version::OneSided { format!(", class {}", options.class) } else { "".into() };
    println!(rank, "wave in {} cells, {grid}, {steps} steps, {version}{class}", grid.size());
    let shown = Shown::of(rank.hal());
    println!(rank, "{:<24}{:>16}{:>16}", format!("{} per step", shown.unit()), "rank 0", "longest");
    for (place, name) in METRICS.iter().enumerate() {
        let per_step = |sums: &[u64; METRICS.len()]| sums[place] / u64::from(*steps);
        let longest = sums.iter().map(per_step).max().unwrap_or(0);
        println!(rank, "  {name:<22}{:>16}{:>16}", shown.number(per_step(&sums[0])), shown.number(longest));
    }
    Ok(())
}
