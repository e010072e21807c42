//! `bench-barrier`: how long barriers take, and what their ranks do meanwhile.
//!
//! As in *Highly Scalable Barriers for Future High-Performance Computing Clusters* (Fröning et al., section IV.B), the
//! latency is the mean of many barriers back to back: the time of all of them by their number. In virtual time the
//! barriers soon repeat each other, so a mean of fewer differs only by what the first ones bring to it; those that warm
//! up do not count. Measured are, for each algorithm,
//!
//! * `latency`: that mean;
//! * `last-to-last`: from the last arrival at a barrier to the last departure, of [`RECORDED`] more barriers, at which ranks
//!   look at the clock; the only time that there is where ranks are late on purpose;
//! * `reads` and `writes`: loads of lines and words by all members together in one barrier, polls among them, and stores
//!   (the paper's Fig. 5); `rank-reads` and `rank-writes` of each member. Means, rounded to whole ones;
//! * `registers`: accesses to test-and-set registers by all members, those that found one taken among them;
//! * `chosen:NAME`, for the default: the algorithm that it is.
//!
//! What was varied is the number of coherence domains that members are in: the nodes of a cluster, the cores of the SCC.
//! Series of groups and of late ranks have names of their own: `dissemination/half`, `world/skewed`.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use collectives::{Barrier, Comm, Error, Group, GroupBarrier};
use hal::{Core, Counters};

use super::{
    broadcast::{Times, combine},
    measure::{Of, demand, look_ticks, repetitions, spread},
};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

/// The name of the barrier of all ranks, which collective operations use.
const WORLD: &str = "world";

/// The group of all ranks.
const ALL: &str = "all";

/// What the metric that tells the default's choice begins with.
const CHOSEN: &str = "chosen:";

/// Barriers that do not count.
const WARM_UP: u64 = 16;

/// Barriers that are looked at one by one, after those that count.
const RECORDED: u64 = 256;

/// Measures barriers.
pub struct Barriers;

impl Program for Barriers {
    const NAME: &'static str = "bench-barrier";
    const ABOUT: &'static str = "measures barriers, by algorithm";
    const OPTIONS: &'static [KnownOption] = &[
        (
            "algorithm",
            "barriers with commas between, or `world` for that of all ranks which collective operations use; default \
             if not given",
        ),
        ("group", "all, half for the first half of the ranks, or odd for every other one; all if not given"),
        ("repetitions", "barriers that count, 10000 if not given"),
        ("skew", "cycles that each member computes at most before it arrives, drawn anew each time; 0 if not given"),
        ("seed", "what skews are drawn from"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let names = rank.args.get("algorithm", String::from("default"))?;
        let group = rank.args.get("group", String::from(ALL))?;
        let members = members(rank.comm, &group)?;
        let repetitions = repetitions(rank, 10_000)?;
        let (skew, seed) = (rank.args.get("skew", 0)?, rank.args.get("seed", 0)?);
        let mut suffix = String::new();
        if group != ALL {
            suffix += &format!("/{group}");
        }
        if skew > 0 {
            suffix += "/skewed";
        }
        let plan = Plan { members, repetitions, skew, seed, suffix };
        let barriers = names.split(',').map(|name| Ok((name, parse(name, plan.is_all(rank.comm))?)));
        for (name, barrier) in barriers.collect::<Result<Vec<_>, Failure>>()? {
            rank.phase(name);
            plan.measure(rank, name, barrier)?;
        }
        Ok(())
    }
}

/// The group of an option's word.
fn members<C: Core>(comm: &Comm<'_, C>, word: &str) -> Result<Group, Failure> {
    let size = comm.size();
    let group = match word {
        ALL => comm.group(),
        "half" => Group::of(0..size.div_ceil(2))?,
        "odd" => Group::of((0..size).skip(1).step_by(2))?,
        _ => {
            let why = format!("option `group={word}`: no such group; there are all, half and odd");
            return Err(Failure::new(why).on_all_ranks());
        }
    };
    demand(!group.is_empty(), format_args!("option `group={word}`: nobody is in it"))?;
    Ok(group)
}

/// The barrier of this name; nothing is that of all ranks.
fn parse(name: &str, is_all: bool) -> Result<Option<Barrier>, Failure> {
    let why = match name.parse() {
        Ok(barrier) => return Ok(Some(barrier)),
        Err(_) if name == WORLD && is_all => return Ok(None),
        Err(_) if name == WORLD => format!("option `algorithm={WORLD}`: that is a barrier of all ranks"),
        Err(why) => format!("option `algorithm={name}`: {why}"),
    };
    Err(Failure::new(why).on_all_ranks())
}

/// A barrier that cannot be made here, which all ranks hear alike.
fn refused(name: &str, why: Error) -> Failure {
    Failure::new(format_args!("option `algorithm={name}`: {why}")).on_all_ranks()
}

/// What all measurements have in common.
struct Plan {
    /// What names of series end with.
    suffix: String,
    members: Group,
    repetitions: u64,
    skew: u64,
    seed: u64,
}

impl Plan {
    /// Whether everybody is a member.
    fn is_all<C: Core>(&self, comm: &Comm<'_, C>) -> bool {
        self.members.len() == comm.size()
    }

    fn measure<C: Core>(&self, rank: &Rank<'_, C>, name: &str, by: Option<Barrier>) -> Result<(), Failure> {
        let comm = rank.comm;
        let make = |by| comm.barrier_of(&self.members, by).map_err(|why| refused(name, why));
        let mut barrier = by.map(make).transpose()?;
        comm.barrier();
        let is_member = self.members.contains(comm.rank());
        let outcome = if is_member { self.repeat(comm, barrier.as_mut()) } else { Outcome::default() };
        // Before anything comes together: what barriers of a group used is theirs until it is dropped.
        drop(barrier);
        self.send(rank, name, is_member, outcome)?;
        Ok(())
    }

    /// All barriers of a member.
    fn repeat<C: Core>(&self, comm: &Comm<'_, C>, mut barrier: Option<&mut GroupBarrier<'_, '_, C>>) -> Outcome {
        let hal = comm.hal();
        let late = |number: u64| {
            if self.skew > 0 {
                hal.compute(spread(self.seed, number << 16 | comm.rank() as u64) % (self.skew + 1));
            }
        };
        let mut wait = || match &mut barrier {
            Some(barrier) => barrier.wait(),
            None => comm.barrier(),
        };
        for number in 0..WARM_UP {
            late(number);
            wait();
        }
        let (counters, begin) = (hal.counters(), hal.now());
        for number in 0..self.repetitions {
            late(WARM_UP + number);
            wait();
        }
        let mut outcome = Outcome { ticks: hal.now() - begin, did: hal.counters() - counters, ..Outcome::default() };
        let look = look_ticks(hal);
        for number in 0..self.repetitions.min(RECORDED) {
            late(WARM_UP + self.repetitions + number);
            let arrival = hal.now() + look / 2;
            wait();
            outcome.times.push((arrival, hal.now() - look / 2));
        }
        outcome
    }

    /// Brings together what members saw and sends it. Collective.
    fn send<C: Core>(
        &self,
        rank: &Rank<'_, C>,
        algorithm: &str,
        is_member: bool,
        outcome: Outcome,
    ) -> Result<(), Error> {
        let comm = rank.comm;
        let mean = |total: u64| (total + self.repetitions / 2) / self.repetitions;
        let is_default = matches!(algorithm.parse(), Ok(Barrier::Default)) || algorithm == WORLD;
        let algorithm = format!("{algorithm}{}", self.suffix);
        let of = Of(&algorithm, self.domains(comm) as u64, 0);
        let send = |metric: &str, unit, values: &[u64]| of.send(rank, metric, unit, values.iter().copied());
        let done = Done::of(&outcome.did);
        if is_member {
            send("rank-reads", Unit::Count, &[mean(done.reads)]);
            send("rank-writes", Unit::Count, &[mean(done.writes)]);
        }
        let mut times = Times::default();
        for place in 0..self.repetitions.min(RECORDED) as usize {
            let (arrival, departure) = outcome.times.get(place).copied().unwrap_or_default();
            times.push(false, arrival, departure);
        }
        let spans = times.combine(comm)?;
        let mut totals = [done.reads, done.writes, done.registers];
        combine(comm, &mut totals, |own, other| own + other)?;
        let mut most = [outcome.ticks];
        combine(comm, &mut most, u64::max)?;
        if comm.rank() == 0 {
            if is_default {
                let chosen = Barrier::fastest(&self.members, comm.hal().layout());
                send(&format!("{CHOSEN}{chosen}"), Unit::Count, &[1]);
            }
            if self.skew == 0 {
                send("latency", Unit::Ticks, &[mean(most[0])]);
            }
            let last_to_last = spans.iter().map(|span| span.last_return.saturating_sub(span.last_call));
            send("last-to-last", Unit::Ticks, &last_to_last.collect::<Vec<_>>());
            for (metric, total) in ["reads", "writes", "registers"].into_iter().zip(totals) {
                send(metric, Unit::Count, &[mean(total)]);
            }
        }
        Ok(())
    }

    /// Coherence domains that members are in.
    fn domains<C: Core>(&self, comm: &Comm<'_, C>) -> usize {
        let layout = comm.hal().layout();
        self.members.iter().map(|rank| layout.domain(comm.core_of(rank))).collect::<BTreeSet<_>>().len()
    }
}

/// What a member saw.
#[derive(Default)]
struct Outcome {
    /// Of all barriers that count.
    ticks: u64,
    did: Counters,
    /// When it arrived at the last ones and when it departed.
    times: Vec<(u64, u64)>,
}

/// Accesses to what other cores see.
struct Done {
    reads: u64,
    writes: u64,
    registers: u64,
}

impl Done {
    fn of(counters: &Counters) -> Self {
        let Counters { mpb_lines_read, combined_lines_read, words_read, .. } = *counters;
        let polled = counters.failed_polls + counters.lines_polled + counters.words_polled;
        Self {
            reads: mpb_lines_read + combined_lines_read + words_read + polled,
            writes: counters.mpb_lines_written + counters.combined_lines_written + counters.words_written,
            registers: counters.tsr_acquired + counters.failed_acquires,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Printed, median, refused, run};

    /// The numbers of a series, of all ranks.
    fn numbers(printed: &Printed, algorithm: &str, metric: &str) -> Vec<u64> {
        printed.samples(algorithm, metric).into_values().flatten().collect()
    }

    #[test]
    fn everything_is_measured_on_any_number_of_cores() {
        for cores in [1, 2, 5, 16] {
            for group in ["all", "half", "odd"].into_iter().filter(|group| cores > 1 || *group != "odd") {
                let printed = run::<Barriers>(&format!(
                    "cores={cores} group={group} algorithm=default,tree-k2-push repetitions=20"
                ));
                let suffix = if group == "all" { String::new() } else { format!("/{group}") };
                for algorithm in ["default", "tree-k2-push"].map(|name| format!("{name}{suffix}")) {
                    for (metric, count) in [("latency", 1), ("last-to-last", 20), ("reads", 1), ("writes", 1)] {
                        let found = numbers(&printed, &algorithm, metric);
                        assert_eq!(found.len(), count, "{cores} {group} {algorithm} {metric}");
                    }
                }
            }
        }
    }

    #[test]
    fn barriers_in_virtual_time_repeat_each_other() {
        let latency = |repetitions: u64| {
            let printed = run::<Barriers>(&format!("cores=16 algorithm=world,tree-k3-pull repetitions={repetitions}"));
            ["world", "tree-k3-pull"].map(|name| numbers(&printed, name, "latency")[0])
        };
        let (few, many) = (latency(50), latency(1000));
        for (few, many) in few.into_iter().zip(many) {
            assert!(few.abs_diff(many) * 50 <= many, "{few} and {many} ns");
        }
    }

    #[test]
    fn the_default_says_what_it_is() {
        for cores in [2, 9] {
            let printed = run::<Barriers>(&format!("cores={cores} algorithm=default,world,butterfly repetitions=20"));
            assert_eq!(printed.0.matches(" metric=chosen:").count(), 2, "{}", printed.0);
        }
    }

    #[test]
    fn flags_are_counted() {
        // Each but the root sets its own, and the root one that they all poll.
        let printed = run::<Barriers>("cores=5 algorithm=tree-k4-pull repetitions=30");
        assert_eq!(numbers(&printed, "tree-k4-pull", "writes"), [5]);
        assert_eq!(numbers(&printed, "tree-k4-pull", "rank-writes"), [1; 5]);
        assert!(numbers(&printed, "tree-k4-pull", "rank-reads").iter().all(|reads| *reads >= 1));
    }

    #[test]
    fn late_ranks_are_waited_for_and_their_computation_is_no_part_of_it() {
        let median_of = |skew: u64| {
            let printed = run::<Barriers>(&format!("cores=8 algorithm=world repetitions=101 skew={skew}"));
            let name = if skew == 0 { "world" } else { "world/skewed" };
            assert_eq!(numbers(&printed, name, "latency").len(), usize::from(skew == 0));
            median(numbers(&printed, name, "last-to-last"))
        };
        let (together, apart) = (median_of(0), median_of(100_000));
        assert!(apart < 3 * together, "{together} ns together, {apart} ns apart");
    }

    #[test]
    fn what_cannot_be_measured_is_said_once() {
        refused::<Barriers>(&[
            ("cores=3 algorithm=magic", "option `algorithm=magic`: no such barrier"),
            ("cores=3 algorithm=default,", "option `algorithm=`: no such barrier"),
            ("cores=3 group=odd algorithm=world", "option `algorithm=world`: that is a barrier of all ranks"),
            ("cores=3 group=even", "option `group=even`: no such group"),
            ("cores=1 group=odd", "option `group=odd`: nobody is in it"),
            ("cores=3 repetitions=0", "nothing to measure"),
            ("machine=cluster-fpga:3x1 algorithm=registers", "option `algorithm=registers`: core 2 cannot reach"),
            ("machine=cluster-fpga:3x1 algorithm=atomic-counters", "option `algorithm=atomic-counters`: 2 atomic"),
        ]);
    }
}
