//! The schedule of a run that deviates from the plain one: virtual time, but for cores that are told to be slow.
//!
//! Each core has a level, 0 in the plain run, and goes on only while no core of a lower level can; among those of one level
//! virtual time decides. A core that could have gone on earlier does so at the time that has come meanwhile: it was held up.
//!
//! **Chance.** *A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs* (Burckhardt, Kothari, Musuvathi, Nagarakatte;
//! ASPLOS 2010), PCT: the n cores get levels of their own in an order by chance, and at d - 1 of the k accesses, drawn before, the core
//! that would make it gets a level below all others. A mistake that shows whenever d accesses come in one certain order is met with
//! a probability of 1/(n k^(d-1)) at least, as long as chance was right about k.
//!
//! **Spinning.** A core of a low level that looks at memory in a loop without a wait would go on for ever. Once it has looked often at
//! what it has seen already, with nobody else and no store of its own in between, it goes behind those that stand back for it.

use std::collections::VecDeque;

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use rustc_hash::FxHashSet;

use crate::CoreId;

use super::deviation::Deviation;

/// Looks at what a core has seen already, in a row, before it is taken to spin.
const PATIENCE: u32 = 100;

/// What a core is about to do, and when.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pending<E> {
    event: E,
    /// Whether it is an access that has just got its number.
    is_new: bool,
    does: Does,
}

/// What an access does, as far as it may be one of a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Does {
    /// Looks at this place.
    Look(u64),
    Store,
    /// Accesses no memory.
    Nothing,
}

/// A core that is held up before an access of its own.
#[derive(Clone, Copy, Debug)]
struct Held {
    access: u32,
    other: usize,
    until: u32,
}

/// What is known of one core.
#[derive(Debug)]
struct Runner<E> {
    pending: Option<Pending<E>>,
    level: u32,
    /// Accesses that it has begun.
    number: u32,
    waits_anew: bool,
    has_ended: bool,
    /// Levels to come, the next one last.
    behind: Vec<(u32, u32)>,
    held: Vec<Held>,
}

/// Levels that chance has drawn.
struct Drawn {
    /// When the core that would go on gets which level, the next one last; counted in accesses of all cores.
    changes: Vec<(u64, u32)>,
    /// Levels that cores have got.
    made: Vec<Deviation>,
}

/// Who goes on, of events of the type `E`, in their order.
pub(super) struct Course<E> {
    runners: Vec<Runner<E>>,
    /// The highest level that somebody has or will get.
    last_level: u32,
    /// Accesses of all cores.
    accesses: u64,
    drawn: Option<Drawn>,
    /// What was told.
    told: Vec<Deviation>,
    /// Who has gone on last.
    last: usize,
    /// Where that core has looked since.
    seen: FxHashSet<u64>,
    /// How often it has looked there again.
    again: u32,
    /// What has begun on a core, and nobody has asked for it yet.
    begun: VecDeque<Deviation>,
}

impl<E: Ord + Copy> Course<E> {
    /// The course that these deviations describe.
    pub(super) fn told(cores: usize, deviations: &[Deviation]) -> Self {
        let mut course = Self { told: deviations.to_vec(), ..Self::new(cores) };
        for deviation in deviations {
            match *deviation {
                Deviation::Behind { core, from, level } => {
                    course.last_level = course.last_level.max(level);
                    if let Some(runner) = course.runners.get_mut(core.index()) {
                        runner.behind.push((from, level));
                    }
                }
                Deviation::After { core, access, other, until } => {
                    if let Some(runner) = course.runners.get_mut(core.index()) {
                        runner.held.push(Held { access, other: other.index(), until });
                    }
                }
                Deviation::Drain { .. } | Deviation::Eviction { .. } | Deviation::StoreThrough { .. } => {}
            }
        }
        for runner in &mut course.runners {
            runner.behind.sort_by_key(|(from, _)| std::cmp::Reverse(*from));
        }
        course
    }

    /// As chance says, for mistakes of this depth in runs of `accesses` accesses.
    pub(super) fn by_chance(cores: usize, seed: u64, depth: u32, accesses: u64) -> Self {
        let mut course = Self::new(cores);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |options: u64| ((u128::from(random.next_u64()) * u128::from(options)) >> 64) as u64;
        let mut drawn = Drawn { changes: Vec::new(), made: Vec::new() };
        let mut levels: Vec<u32> = (0..cores as u32).collect();
        for left in (1..cores).rev() {
            levels.swap(left, below(left as u64 + 1) as usize);
        }
        for (core, level) in levels.into_iter().enumerate().filter(|(_, level)| *level > 0) {
            course.runners[core].level = level;
            drawn.made.push(Deviation::Behind { core: CoreId::new(core), from: 0, level });
        }
        course.last_level = cores as u32 + depth - 2;
        // In no order: which of two changes has the lower level is open.
        drawn.changes = (cores as u32..=course.last_level).map(|level| (1 + below(accesses.max(1)), level)).collect();
        drawn.changes.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
        course.drawn = Some(drawn);
        course
    }

    fn new(cores: usize) -> Self {
        let runner = || Runner {
            pending: None,
            level: 0,
            number: 0,
            waits_anew: false,
            has_ended: false,
            behind: Vec::new(),
            held: Vec::new(),
        };
        Self {
            runners: std::iter::repeat_with(runner).take(cores).collect(),
            last_level: 0,
            accesses: 0,
            drawn: None,
            told: Vec::new(),
            last: 0,
            seen: FxHashSet::default(),
            again: 0,
            begun: VecDeque::new(),
        }
    }

    /// A core begins to wait: the accesses of all polls to come are one.
    pub(super) fn begins_wait(&mut self, core: usize) {
        self.runners[core].waits_anew = true;
    }

    /// A core is about to make an access, in a poll or not.
    pub(super) fn reaches(&mut self, core: usize, event: E, does: Does, is_polling: bool) {
        let runner = &mut self.runners[core];
        let is_new = if is_polling { std::mem::take(&mut runner.waits_anew) } else { true };
        if is_new {
            runner.number += 1;
            if runner.number == 1 && runner.level > 0 {
                self.begun.push_back(Deviation::Behind { core: CoreId::new(core), from: 0, level: runner.level });
            }
            while let Some((from, level)) = runner.behind.pop_if(|(from, _)| *from <= runner.number) {
                runner.level = level;
                self.begun.push_back(Deviation::Behind { core: CoreId::new(core), from, level });
            }
            for &Held { access, other, until } in runner.held.iter().filter(|held| held.access == runner.number) {
                let other = CoreId::new(other);
                self.begun.push_back(Deviation::After { core: CoreId::new(core), access, other, until });
            }
        }
        self.runners[core].pending = Some(Pending { event, is_new, does });
    }

    /// A core can go on, to no access yet.
    pub(super) fn can_run(&mut self, core: usize, event: E) {
        let runner = &mut self.runners[core];
        // The level that it has from its start on.
        while let Some((_, level)) = runner.behind.pop_if(|(from, _)| *from == 0) {
            runner.level = level;
        }
        runner.pending = Some(Pending { event, is_new: false, does: Does::Nothing });
    }

    /// A core's program has ended.
    pub(super) fn ends(&mut self, core: usize) {
        self.runners[core].has_ended = true;
    }

    /// What comes first of all that cores are about to do.
    pub(super) fn soonest(&self) -> Option<E> {
        self.runners.iter().filter_map(|runner| Some(runner.pending?.event)).min()
    }

    /// What happens next; it is taken off.
    pub(super) fn next(&mut self) -> Option<E> {
        loop {
            let core = self.first(false).or_else(|| self.first(true))?;
            let pending = self.runners[core].pending?;
            if pending.is_new && self.falls_back(core) || self.spins(core, pending.does) {
                continue;
            }
            self.accesses += u64::from(pending.is_new);
            return self.runners[core].pending.take().map(|pending| pending.event);
        }
    }

    /// The core that goes first among those that are held up, or those that are not.
    fn first(&self, held: bool) -> Option<usize> {
        let can = |core: &usize| self.runners[*core].pending.is_some() && self.is_held(*core) == held;
        let cores = (0..self.runners.len()).filter(can);
        cores.min_by_key(|core| (self.runners[*core].level, self.runners[*core].pending.map(|pending| pending.event)))
    }

    fn is_held(&self, core: usize) -> bool {
        let runner = &self.runners[core];
        runner.held.iter().filter(|held| held.access == runner.number).any(|held| {
            self.runners.get(held.other).is_some_and(|other| !other.has_ended && other.number <= held.until)
        })
    }

    /// Whether a core that is about to make an access gets another level first, by chance: once, so that a list of levels tells all.
    fn falls_back(&mut self, core: usize) -> bool {
        let next = self.accesses + 1;
        let Some(drawn) = &mut self.drawn else { return false };
        let runner = &mut self.runners[core];
        let has_fallen = |made: &Deviation| matches!(made, Deviation::Behind { core: of, from, .. } if of.index() == core && *from == runner.number);
        if drawn.changes.last().is_none_or(|(at, _)| *at > next) || drawn.made.iter().any(has_fallen) {
            return false;
        }
        let Some((_, level)) = drawn.changes.pop() else { return false };
        runner.level = level;
        drawn.made.push(Deviation::Behind { core: CoreId::new(core), from: runner.number, level });
        true
    }

    /// Whether a core has gone behind the others, since it spins.
    fn spins(&mut self, core: usize, does: Does) -> bool {
        if core != self.last || does == Does::Store {
            self.seen.clear();
            (self.last, self.again) = (core, 0);
        }
        if let Does::Look(place) = does
            && !self.seen.insert(place)
        {
            self.again += 1;
        }
        let level = self.runners[core].level;
        let stands_back = |other: &Runner<E>| other.pending.is_some() && other.level > level;
        if self.again < PATIENCE || !self.runners.iter().any(stands_back) {
            return false;
        }
        self.again = 0;
        self.last_level += 1;
        self.runners[core].level = self.last_level;
        true
    }

    /// What has begun on the core that was about to make an access last, one thing at a time.
    pub(super) fn begun(&mut self) -> Option<Deviation> {
        self.begun.pop_front()
    }

    /// Accesses that all cores have made.
    pub(super) fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Accesses that a core has begun.
    pub(super) fn number(&self, core: usize) -> u32 {
        self.runners[core].number
    }

    /// What is different: by chance until now, or as it was told.
    pub(super) fn made(&self) -> &[Deviation] {
        self.drawn.as_ref().map_or(&self.told, |drawn| &drawn.made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(index: usize) -> CoreId {
        CoreId::new(index)
    }

    /// Who makes accesses in which order, if each core makes three, and the time of each is given.
    fn order(course: Course<(u64, usize)>, times: [[u64; 3]; 2]) -> String {
        order_and_made(course, times).0
    }

    /// Who makes accesses in which order, and what is different from the plain run.
    fn order_and_made(mut course: Course<(u64, usize)>, times: [[u64; 3]; 2]) -> (String, Vec<Deviation>) {
        let mut made = [0, 0];
        let mut order = String::new();
        for (of, times) in times.iter().enumerate() {
            course.reaches(of, (times[0], of), Does::Store, false);
        }
        while let Some((_, of)) = course.next() {
            order += ["a", "b"][of];
            made[of] += 1;
            match times[of].get(made[of]) {
                Some(time) => course.reaches(of, (*time, of), Does::Store, false),
                None => course.ends(of),
            }
        }
        (order, course.made().to_vec())
    }

    const TIMES: [[u64; 3]; 2] = [[1, 3, 5], [2, 4, 6]];

    #[test]
    fn time_decides_unless_a_core_is_slow_or_held_up() {
        let told = |deviations: &[Deviation]| order(Course::told(2, deviations), TIMES);
        assert_eq!(told(&[]), "ababab");
        assert_eq!(told(&[Deviation::Behind { core: core(0), from: 2, level: 1 }]), "abbbaa");
        assert_eq!(told(&[Deviation::After { core: core(0), access: 1, other: core(1), until: 2 }]), "bbaaab");
        // Nobody can be held up by who is held up.
        let [one, two] =
            [(0, 1), (1, 0)].map(|(of, by)| Deviation::After { core: core(of), access: 1, other: core(by), until: 1 });
        assert_eq!(told(&[one, two]).len(), 6);
    }

    #[test]
    fn chance_meets_each_order_of_two_accesses_and_repeats_itself_when_told() {
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..5_000 {
            // Of many changes some are before the same access.
            let course = Course::<(u64, usize)>::by_chance(2, seed, if seed < 100 { 2 } else { 6 }, 6);
            let (by_chance, made) = order_and_made(course, TIMES);
            assert_eq!(order(Course::told(2, &made), TIMES), by_chance, "{made:?}");
            orders.insert(by_chance);
        }
        // All that a core is overtaken in once.
        for expected in ["aaabbb", "bbbaaa", "abbbaa", "aabbba", "baaabb", "bbaaab"] {
            assert!(orders.contains(expected), "{expected} is not among {orders:?}");
        }
    }

    #[test]
    fn chance_lowers_a_core_once_before_one_access() {
        let mut course = Course::new(2);
        // Three changes before the first access, for which there are two cores: the third one is before the second access.
        course.drawn = Some(Drawn { changes: vec![(1, 4), (1, 3), (1, 2)], made: Vec::new() });
        let (by_chance, made) = order_and_made(course, TIMES);
        let behind = |of, from, level| Deviation::Behind { core: core(of), from, level };
        assert_eq!(made, [behind(0, 1, 2), behind(1, 1, 3), behind(0, 2, 4)]);
        assert_eq!((by_chance.as_str(), order(Course::told(2, &made), TIMES).as_str()), ("abbbaa", "abbbaa"));
    }

    /// Accesses of core 0 until core 1, which stands back, goes on.
    fn accesses_before_the_other(does: impl Fn(u64) -> Does) -> u64 {
        let mut course = Course::<(u64, usize)>::told(2, &[Deviation::Behind { core: core(1), from: 0, level: 1 }]);
        course.can_run(1, (0, 1));
        let mut until = (1..1_000).filter(|time| {
            course.reaches(0, (*time, 0), does(*time), false);
            course.next().is_some_and(|(_, of)| of == 1)
        });
        until.next().unwrap_or(u64::MAX)
    }

    #[test]
    fn who_spins_goes_behind() {
        let spun = accesses_before_the_other(|time| Does::Look(time % 4));
        assert_eq!(spun, u64::from(PATIENCE) + 4);
        // Who looks elsewhere each time, or stores, does not.
        assert_eq!(accesses_before_the_other(Does::Look), u64::MAX);
        assert_eq!(
            accesses_before_the_other(|time| if time % 50 == 0 { Does::Store } else { Does::Look(0) }),
            u64::MAX
        );
    }
}
