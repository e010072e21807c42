//! Everything that is left open, decided in one place.
//!
//! Timing and hardware leave much open: which of two cores comes first, whether a core is held up, when a
//! write-combine buffer drains, which line is evicted and when. Each such question is put to [`Chooser::choose`] as
//! "a number below so many", where 0 is what nothing special means. A run is therefore described completely by the
//! list of answers, and random, replayed and exhaustive exploration differ only in where the answers come from. Who goes first in
//! a run that [deviates](Deviation) from the plain one, its `Course` decides.

use std::time::Duration;

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use crate::{CoreId, emulated::Choice};

use super::{by_itself::ByItself, deviation::Deviation};

/// What decides which core goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Virtual time; only ties are open.
    ByTime,
    /// Virtual time, but for cores that are told to be slow. Accesses do not meet, and waits with a deadline time out only when
    /// whoever is held up has gone on.
    Deviating,
    /// Nothing: any core that has an operation to do may go next, whatever its clock shows. Waits with a deadline
    /// time out only when nobody can move.
    Free,
}

/// What is left open in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Freedom {
    /// Who goes next.
    pub schedule: Schedule,
    /// Whether ties are broken at choice, rather than writes first and lower cores first.
    pub ties: bool,
    /// Whether cores are held up for arbitrary times.
    pub delays: bool,
    /// Whether write-combine buffers drain by themselves.
    pub drains: bool,
    /// Whether dirty lines are evicted by themselves, and victims chosen.
    pub evictions: bool,
    /// Whether stores to lines that are not cached may go to memory at once.
    pub stores_through: bool,
}

impl Freedom {
    /// No freedom: nothing is left open.
    pub const NONE: Self = Self {
        schedule: Schedule::ByTime,
        ties: false,
        delays: false,
        drains: false,
        evictions: false,
        stores_through: false,
    };

    /// Everything that a machine in real time may do.
    pub const TIMED: Self = Self {
        schedule: Schedule::ByTime,
        ties: true,
        delays: true,
        drains: true,
        evictions: true,
        stores_through: true,
    };

    /// What a deviation can be about.
    pub(super) const DEVIATING: Self =
        Self { schedule: Schedule::Deviating, ties: false, delays: false, ..Self::TIMED };
}

/// The answers of a run, enough to repeat it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// What was open.
    pub freedom: Freedom,
    /// The answers, in the order of the questions. Where the list ends, 0 is answered.
    pub choices: Vec<u32>,
}

/// Where the answers come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Nothing is open: virtual time decides, ties go to writes and then to lower cores, and hardware does nothing by
    /// itself.
    Timed,
    /// Chance decides ties, delays, drains and evictions.
    Seeded {
        /// Equal seeds give equal runs.
        seed: u64,
    },
    /// The answers of an earlier run, or a part of them.
    Replay(Recording),
    /// The plain run, but for these.
    Deviating(Vec<Deviation>),
}

/// A question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Question {
    /// Which of the cores that are ready at the same time goes first.
    Tie,
    /// Which core makes the next operation, in a free schedule.
    Next,
    /// How long the core is held up; see [`delay_ps`].
    Delay,
    /// What hardware does.
    Hardware(CoreId, Choice),
}

/// Answers that [`Question::Delay`] has.
pub(super) const DELAYS: usize = 32;

/// The delay that an answer stands for: 1 ns to 16 µs in steps of √2, roughly; so that both the order of two stores and
/// the order of two whole protocol steps get changed.
pub(super) fn delay_ps(answer: usize) -> u64 {
    match answer {
        0 => 0,
        odd if odd % 2 == 1 => 1_000 << (odd / 2),
        even => 1_500 << (even / 2 - 1),
    }
}

enum Source {
    Zero,
    Random(Box<Xoshiro256PlusPlus>),
    Script {
        choices: Vec<u32>,
        next: usize,
    },
    /// Nothing but what hardware does by itself is different.
    Deviations,
}

/// What decides who goes next in a deviating schedule.
#[derive(Clone, Debug)]
pub(super) enum Slow {
    /// These say who is slow.
    Told(Vec<Deviation>),
    /// Chance says it, for mistakes of this depth in runs of `accesses` accesses.
    ByChance { seed: u64, depth: u32, accesses: u64 },
}

/// Where a run is broken off that does not come to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Turns of cores.
    pub(super) turns: u64,
    /// Processor time of the process.
    pub(super) processor: Duration,
}

/// An answer, and how many there were to choose from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Answer {
    pub(super) chosen: u32,
    pub(super) options: u32,
}

/// Answers questions.
pub(super) struct Chooser {
    freedom: Freedom,
    source: Source,
    answers: Option<Vec<Answer>>,
    /// Where it is accounted for what hardware does by itself.
    by_itself: Option<ByItself>,
    slow: Option<Slow>,
    bounds: Option<Bounds>,
    /// Whether runs are left out that no program could tell from others.
    reduces: bool,
}

impl Chooser {
    pub(super) fn new(strategy: &Strategy, record: bool) -> Self {
        let (freedom, source) = match strategy {
            Strategy::Timed => (Freedom::NONE, Source::Zero),
            Strategy::Seeded { seed } => {
                (Freedom::TIMED, Source::Random(Box::new(Xoshiro256PlusPlus::seed_from_u64(*seed))))
            }
            Strategy::Replay(recording) => {
                (recording.freedom, Source::Script { choices: recording.choices.clone(), next: 0 })
            }
            Strategy::Deviating(_) => (Freedom::DEVIATING, Source::Deviations),
        };
        let (by_itself, slow) = match strategy {
            Strategy::Deviating(all) => (Some(ByItself::told(all)), Some(Slow::Told(all.clone()))),
            _ => (None, None),
        };
        Self { freedom, source, answers: record.then(Vec::new), by_itself, slow, bounds: None, reduces: true }
    }

    /// Who lets chance deviate from the plain run: for mistakes of this depth in the order of `accesses` accesses.
    pub(super) fn by_chance(seed: u64, depth: u32, accesses: u64) -> Self {
        let plain = Self::new(&Strategy::Deviating(Vec::new()), false);
        // The one says nothing about the other.
        let by_itself = Some(ByItself::by_chance(!seed));
        Self { by_itself, slow: Some(Slow::ByChance { seed, depth, accesses }), ..plain }
    }

    /// This chooser, in a run that is broken off at these bounds.
    pub(super) fn within(self, bounds: Bounds) -> Self {
        Self { bounds: Some(bounds), ..self }
    }

    /// This chooser, keeping account of what hardware does by itself.
    pub(super) fn noting(self) -> Self {
        Self { by_itself: Some(ByItself::default()), ..self }
    }

    /// This chooser, leaving no order of accesses out.
    #[cfg(test)]
    pub(super) fn unreduced(self) -> Self {
        Self { reduces: false, ..self }
    }

    /// Whether runs are left out that no program could tell from others.
    pub(super) fn reduces(&self) -> bool {
        self.reduces
    }

    /// Where the run is broken off.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        self.bounds
    }

    /// Who is slow, in a deviating schedule.
    pub(super) fn take_slow(&mut self) -> Option<Slow> {
        self.slow.take()
    }

    /// What hardware does by itself now, if nobody has asked since.
    pub(super) fn begun(&mut self) -> Option<Deviation> {
        self.by_itself.as_mut().and_then(ByItself::begun)
    }

    /// What hardware has done by itself, if there is an account of it.
    pub(super) fn made(&self) -> &[Deviation] {
        self.by_itself.as_ref().map_or(&[], ByItself::made)
    }

    pub(super) fn freedom(&self) -> Freedom {
        self.freedom
    }

    /// A number below `options`.
    pub(super) fn choose(&mut self, question: Question, options: usize) -> usize {
        // Also where there is but one victim: an eviction is over with its line.
        let is_victim = self.by_itself.is_some()
            && matches!(question, Question::Hardware(_, Choice::VictimPage | Choice::VictimLine));
        if options < 2 && !is_victim || !self.is_open(question) {
            return 0;
        }
        let chosen = match &mut self.source {
            Source::Zero => 0,
            Source::Random(random) => by_chance(random, question, options),
            Source::Script { choices, next } => {
                *next += 1;
                choices.get(*next - 1).map_or(0, |choice| *choice as usize % options)
            }
            Source::Deviations => match (question, &mut self.by_itself) {
                (Question::Hardware(core, choice), Some(by_itself)) => {
                    return by_itself.choose(core, choice, options);
                }
                _ => 0,
            },
        };
        if let (Question::Hardware(core, choice), Some(by_itself)) = (question, &mut self.by_itself) {
            by_itself.note(core, choice, chosen);
        }
        if let Some(answers) = &mut self.answers {
            answers.push(Answer { chosen: chosen as u32, options: options as u32 });
        }
        chosen
    }

    /// What was answered, if it was recorded.
    pub(super) fn answers(&self) -> Option<&[Answer]> {
        self.answers.as_deref()
    }

    pub(super) fn recording(&self) -> Option<Recording> {
        let choices = self.answers.as_ref()?.iter().map(|answer| answer.chosen).collect();
        Some(Recording { freedom: self.freedom, choices })
    }

    fn is_open(&self, question: Question) -> bool {
        match question {
            Question::Tie => self.freedom.ties,
            Question::Next => self.freedom.schedule == Schedule::Free,
            Question::Delay => self.freedom.delays,
            Question::Hardware(_, Choice::DrainEarly) => self.freedom.drains,
            Question::Hardware(_, Choice::StoreThrough) => self.freedom.stores_through,
            Question::Hardware(..) => self.freedom.evictions,
        }
    }
}

/// The unusual is rare, so that runs get far, and common enough to happen many times in each run.
fn by_chance(random: &mut Xoshiro256PlusPlus, question: Question, options: usize) -> usize {
    let one_in = match question {
        Question::Delay | Question::Hardware(_, Choice::DrainEarly) => 16,
        Question::Hardware(_, Choice::Evict) => 32,
        Question::Hardware(_, Choice::StoreThrough) => 2,
        Question::Tie | Question::Next | Question::Hardware(_, Choice::VictimPage | Choice::VictimLine) => {
            return below(random, options);
        }
    };
    if below(random, one_in) == 0 { 1 + below(random, options - 1) } else { 0 }
}

fn below(random: &mut Xoshiro256PlusPlus, options: usize) -> usize {
    ((u64::from(random.next_u32()) * options as u64) >> 32) as usize
}
