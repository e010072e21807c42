//! Broadcasts, after sections 5 and 6 of the OC-Bcast paper (Petrović, Shahmirzadi, Ropars and Schiper, SPAA 2012).
//!
//! `bench-broadcast` measures one algorithm, `bench-broadcast-model` computes what the paper's model says of those that
//! it describes, and `cargo xtask bench broadcast` puts the two beside each other.
//!
//! As the paper defines it (5.2), the latency of a broadcast is the time from the root's call until the last rank
//! returns. Clocks are the same on all ranks; those of an SCC's cores are not, so that the paper's authors read the
//! board's, which takes time: see [`clock`]. Every broadcast has a place of its own in a large array (6.1), so that no
//! cache holds what it reads or writes, and is checked, before and after what is timed. What the ranks saw comes
//! together when all is measured.

mod clock;
mod messages;
mod mode;
mod model;
mod roots;
mod sizes;
#[cfg(test)]
mod tests;
mod times;

use alloc::{format, string::ToString, vec::Vec};
use core::{fmt, str::FromStr};

use collectives::{Broadcast, Comm, Error};
use hal::{Core, Counters};

use self::{clock::Clock, messages::Messages, mode::Mode, roots::Root};
use super::measure::{Of, demand, let_pass, repetitions, throughput};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

pub use self::model::Model;
pub(super) use self::{
    messages::FLUSHING_BYTES,
    sizes::Sizes,
    times::{Span, Times, combine},
};

/// Bytes of the messages that a rank keeps at most.
const MOST_BYTES: usize = 256 << 20;

/// Broadcasts of a sequence that do not count.
const WARM_UP: usize = 1;

/// The counters that count lines of MPBs.
const COUNTERS: [&str; 2] = ["mpb_lines_read", "mpb_lines_written"];

/// Measures broadcasts.
pub struct Bcast;

impl Program for Bcast {
    const NAME: &'static str = "bench-broadcast";
    const ABOUT: &'static str = "measures broadcasts, by length, root, and how they follow each other";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", "the broadcast, default if not given"),
        ("profile", "lends the MPBs to two-sided messages, as RCCE has them"),
        ("sizes", Sizes::ABOUT),
        ("roots", Root::ABOUT),
        ("clock", Clock::ABOUT),
        ("modes", "separated, together, back-to-back and skewed with commas between, all but together if not given"),
        ("repetitions", "broadcasts of each kind that count, 5 if not given"),
        ("skew", "cycles that ranks are apart at most where they are skewed, 8192 if not given"),
        ("seed", "what skews are drawn from"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", Broadcast::Default)?;
        let name = algorithm.to_string();
        let sizes = rank.args.get("sizes", Sizes::of_latencies())?;
        let mut roots = Vec::new();
        for root in rank.args.get("roots", List([Root::Corner].into()))?.0 {
            let root = root.rank(rank.comm).map_err(|why| Failure::new(why).on_all_ranks())?;
            // Each once.
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        let clock = rank.args.get("clock", Clock::default())?;
        let has_board = rank.hal().layout().atomic_counters() > 0;
        demand(clock != Clock::Board || has_board, "`clock=board`: this machine has no board")?;
        // The others are only for the model.
        let modes = List([Mode::Separated, Mode::BackToBack, Mode::Skewed].into());
        let modes = rank.args.get("modes", modes)?.0;
        let repetitions = repetitions(rank, 5)?;
        let calls = WARM_UP.saturating_add(repetitions);
        demand(
            messages::room(sizes.most(), calls).is_some_and(|bytes| bytes <= MOST_BYTES),
            "messages of these `sizes`, times `repetitions`, take more than 256 MB on each rank; ask for less",
        )?;
        let mut bench = Bench {
            algorithm,
            clock,
            repetitions,
            most_skew: rank.args.get("skew", 8192)?,
            seed: rank.args.get("seed", 0)?,
            messages: Messages::new(sizes.most(), calls),
            made: 0,
            times: Times::default(),
            counts: Vec::new(),
        };
        let profile = if rank.args.flag("profile")? { Some(rank.comm.rcce_profile()?) } else { None };
        let mut cases = Vec::new();
        for mode in modes {
            for &root in &roots {
                rank.phase(&format!("{mode}, root {root}"));
                for bytes in sizes.iter() {
                    let case = Case { mode, root, bytes };
                    bench.measure(rank, case)?;
                    cases.push(case);
                }
            }
        }
        drop(profile);
        bench.send(rank, &name, &cases)
    }
}

/// What is measured in one sequence.
#[derive(Clone, Copy)]
struct Case {
    mode: Mode,
    root: usize,
    bytes: usize,
}

/// What all of them have in common, and what was measured so far.
struct Bench {
    algorithm: Broadcast,
    clock: Clock,
    repetitions: usize,
    most_skew: u64,
    seed: u64,
    messages: Messages,
    /// Calls so far.
    made: u64,
    times: Times,
    /// A value of each of [`COUNTERS`] for each case.
    counts: Vec<u64>,
}

impl Bench {
    fn measure<C: Core>(&mut self, rank: &Rank<'_, C>, case: Case) -> Result<(), Failure> {
        let Case { mode, root, bytes } = case;
        let (comm, hal) = (rank.comm, rank.hal());
        let (me, calls) = (comm.rank(), WARM_UP + self.repetitions);
        let is_root = me == root;
        let places = self.messages.places(bytes, calls);
        if is_root {
            (0..calls).for_each(|index| self.messages.write(&places, index));
            self.messages.displace(&places, calls);
        }
        let (look, is_own) = (self.clock.look_ticks(hal), self.clock.is_own(hal));
        comm.barrier();
        let mut counts = [0; COUNTERS.len()];
        for index in 0..calls {
            match mode {
                Mode::Separated => comm.barrier(),
                Mode::Together => meet(comm)?,
                Mode::BackToBack | Mode::Skewed => {}
            }
            self.made += 1;
            let_pass(hal, mode.delay(self.seed, self.made, me, root, self.most_skew));
            let (call, before) = (Clock::read(hal, is_own), hal.counters());
            comm.using(self.algorithm, |comm| comm.broadcast(self.messages.at(&places, index), root))?;
            let (did, returned) = (hal.counters() - before, Clock::read(hal, is_own));
            self.times.push(is_root, call + look / 2, returned - look / 2);
            if index >= WARM_UP {
                counts.iter_mut().zip(counted(&did)).for_each(|(sum, count)| *sum += count);
            }
        }
        self.counts.extend(counts);
        (0..calls).try_for_each(|index| self.messages.check(&places, index))
    }

    /// Sends what all ranks have measured.
    fn send<C: Core>(mut self, rank: &Rank<'_, C>, name: &str, cases: &[Case]) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let spans = self.times.combine(comm)?;
        combine(comm, &mut self.counts, |one, other| one + other)?;
        if comm.rank() > 0 {
            return Ok(());
        }
        let sequences = spans.chunks_exact(WARM_UP + self.repetitions);
        for ((case, sequence), counts) in cases.iter().zip(sequences).zip(self.counts.chunks_exact(COUNTERS.len())) {
            let of = Of(name, case.root as u64, case.bytes);
            let timed = |metric: &str| format!("{metric}{}", self.clock.suffix());
            let send = |metric: &str, ticks: &[u64]| of.send(rank, &timed(metric), Unit::Ticks, ticks.iter().copied());
            let send_throughput = |metric: &str, ticks: &[u64]| {
                let rates = ticks.iter().map(|ticks| throughput(hal, case.bytes, *ticks));
                of.send(rank, &timed(metric), Unit::Rate, rates);
            };
            let counting = &sequence[WARM_UP..];
            let each = |of: fn(&Span) -> u64| counting.iter().map(of).collect::<Vec<_>>();
            match case.mode {
                Mode::Separated => {
                    let latencies = each(|span| span.last_return - span.root_call);
                    send("latency", &latencies);
                    send("latency.data", &each(|span| span.last_other_return - span.root_call));
                    send_throughput("throughput", &latencies);
                    for (metric, count) in COUNTERS.iter().zip(counts) {
                        of.send(rank, metric, Unit::Count, [count / self.repetitions as u64]);
                    }
                }
                Mode::Together => send("latency.together", &each(|span| span.last_return - span.root_call)),
                Mode::BackToBack => {
                    // From one broadcast's end to a later one's, since a root may be ahead of the others.
                    let first = sequence[WARM_UP - 1].last_return;
                    let last = sequence.last().map_or(first, |span| span.last_return);
                    let period = [(last - first) / self.repetitions as u64];
                    send("back-to-back", &period);
                    send_throughput("throughput.back-to-back", &period);
                    // A root that is ahead has called long before its message gets anywhere.
                    send("latency.back-to-back", &each(|span| span.last_return - span.root_call));
                }
                Mode::Skewed => send("skewed", &each(|span| span.last_return.saturating_sub(span.last_call))),
            }
        }
        Ok(())
    }
}

/// Lets all ranks go on at one moment, to within a cycle. Where computation is not charged, they only meet in a
/// barrier.
pub(super) fn meet<C: Core>(comm: &Comm<'_, C>) -> Result<(), Error> {
    const TRIAL_CYCLES: u64 = 1 << 10;
    /// Longer than it takes until all know the moment.
    const AHEAD_CYCLES: u64 = 1 << 16;
    let hal = comm.hal();
    let before = hal.now();
    hal.compute(TRIAL_CYCLES);
    let trial = hal.now() - before;
    comm.barrier();
    let mut moment = (hal.now() + trial * (AHEAD_CYCLES / TRIAL_CYCLES)).to_le_bytes();
    // Two-sided, which goes with RCCE's profile.
    comm.using(Broadcast::Binomial, |comm| comm.broadcast(&mut moment, 0))?;
    let moment = u64::from_le_bytes(moment);
    // What a trial takes is rounded, so that the first computation ends a little early.
    for _ in 0..4 {
        hal.compute(moment.saturating_sub(hal.now()) * TRIAL_CYCLES / (trial + 1));
    }
    Ok(())
}

/// The values of [`COUNTERS`].
fn counted(counters: &Counters) -> [u64; COUNTERS.len()] {
    COUNTERS.map(|wanted| {
        let named = Counters::NAMES.iter().zip(counters.values()).find(|(name, _)| **name == wanted);
        named.map_or(0, |(_, value)| value)
    })
}

/// Items of an option, with commas between.
struct List<T>(Vec<T>);

impl<T: FromStr> FromStr for List<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl<T: fmt::Display> fmt::Display for List<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(index, item)| {
            out.write_str(if index == 0 { "" } else { "," })?;
            item.fmt(out)
        })
    }
}
