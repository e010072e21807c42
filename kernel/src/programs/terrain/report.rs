//! The table of times and operations.
//!
//! Times are milliseconds where the clock tells the time, in virtual time and on boards. There the same computation on
//! one core, which the result is compared with anyway, gives the speed-up. The simulator charges both for arithmetic
//! alone, as if the heights were always in a cache: one core would be slower on a board, and the speed-up larger.
//! Under QEMU, whose clock counts instructions of all cores together, no time and no speed-up can be told.

use alloc::{vec, vec::Vec};

use collectives::Comm;
use hal::{Clock, Core, Counters, counters::COUNTS};

use crate::{
    Failure, Rank, println,
    programs::time::{Shown, decimal},
};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Broadcast,
    Preparation,
    Stencil,
    Gather,
    /// On rank 0 only.
    Alone,
}

const PHASES: [&str; 5] = ["broadcast", "windows and barrier", "stencil", "gather", "one core alone"];

/// What each phase took.
type Ticks = [u64; PHASES.len()];

/// Measures phases, one after the other.
pub(super) struct Stopwatch {
    since: u64,
    ticks: Ticks,
}

impl Stopwatch {
    pub(super) fn start(clock: &impl Clock) -> Self {
        Self { since: clock.now(), ticks: [0; PHASES.len()] }
    }

    /// Ends `phase`; the next one begins.
    pub(super) fn stop(&mut self, clock: &impl Clock, phase: Phase) {
        let now = clock.now();
        self.ticks[phase as usize] = now - self.since;
        self.since = now;
    }

    /// What happened since the last phase belongs to none.
    pub(super) fn restart(&mut self, clock: &impl Clock) {
        self.since = clock.now();
    }
}

/// What a rank contributes: ticks of the phases, then the counters that are compared.
type Numbers = [u64; PHASES.len() + Counters::COMPARED];

fn numbers(watch: &Stopwatch, counters: Counters) -> Numbers {
    let mut numbers = [0; PHASES.len() + Counters::COMPARED];
    let (ticks, counts) = numbers.split_at_mut(PHASES.len());
    ticks.copy_from_slice(&watch.ticks);
    counts.iter_mut().zip(counters.compared()).for_each(|(count, (_, value))| *count = value);
    numbers
}

/// Sends the numbers of a rank other than 0.
pub(super) fn contribute<C: Core>(comm: &Comm<'_, C>, watch: &Stopwatch, counters: Counters) -> Result<(), Failure> {
    Ok(comm.send(bytemuck::cast_slice(&numbers(watch, counters)), 0)?)
}

/// Receives the numbers of all other ranks and prints the table.
pub(super) fn print<C: Core>(rank: &Rank<'_, C>, watch: &Stopwatch, counters: Counters) -> Result<(), Failure> {
    let comm = rank.comm;
    let mut ranks: Vec<Numbers> = vec![numbers(watch, counters); comm.size()];
    for (sender, numbers) in ranks.iter_mut().enumerate().skip(1) {
        comm.receive(bytemuck::cast_slice_mut(numbers), sender)?;
    }
    let mut longest = watch.ticks;
    for numbers in &ranks {
        longest.iter_mut().zip(numbers).for_each(|(longest, ticks)| *longest = (*longest).max(*ticks));
    }
    print_times(rank, &watch.ticks, &longest);
    if !COUNTS {
        return Ok(());
    }
    println!(rank, "{:<24}{:>16}{:>16}{:>16}", "operations of a rank", "least", "median", "most");
    for (counter, (name, _)) in counters.compared().enumerate() {
        let mut counts: Vec<u64> = ranks.iter().map(|numbers| numbers[PHASES.len() + counter]).collect();
        counts.sort_unstable();
        let (least, median, most) = (counts[0], counts[counts.len() / 2], counts[counts.len() - 1]);
        if most > 0 {
            println!(rank, "  {name:<22}{least:>16}{median:>16}{most:>16}");
        }
    }
    Ok(())
}

fn print_times<C: Core>(rank: &Rank<'_, C>, own: &Ticks, longest: &Ticks) {
    let shown = Shown::of(rank.hal());
    println!(rank, "{:<24}{:>16}{:>16}", shown.unit(), "rank 0", "longest");
    for ((name, own), longest) in PHASES.iter().zip(own).zip(longest) {
        println!(rank, "  {name:<22}{:>16}{:>16}", shown.number(*own), shown.number(*longest));
    }
    if shown.tells_time {
        let [parallel @ .., alone] = longest;
        let speed_up = |ticks: u64| decimal(*alone, ticks, 0, 1);
        let (stencil, whole) = (speed_up(longest[Phase::Stencil as usize]), speed_up(parallel.iter().sum()));
        println!(rank, "  speed-up over one core: {stencil} of the stencil, {whole} of the whole");
    } else {
        println!(rank, "  QEMU's clock counts the instructions of all cores together: work, not time");
    }
}
