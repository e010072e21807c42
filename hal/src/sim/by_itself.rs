//! What hardware does by itself in a run that deviates from the plain one: as it is told, or by chance.

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};
use rustc_hash::FxHashMap;

use crate::{CoreId, emulated::Choice};

use super::deviation::Deviation;

/// What could happen, of which each occasion has a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Drain,
    Eviction,
    StoreThrough,
}

impl Kind {
    fn of(choice: Choice) -> Option<Self> {
        match choice {
            Choice::DrainEarly => Some(Self::Drain),
            Choice::Evict => Some(Self::Eviction),
            Choice::StoreThrough => Some(Self::StoreThrough),
            Choice::VictimPage | Choice::VictimLine => None,
        }
    }
}

/// What is written back in an eviction.
type Victim = (u32, u32);

/// Decides what hardware does by itself, and keeps account of it.
#[derive(Default)]
pub(super) struct ByItself {
    occasions: FxHashMap<(CoreId, Kind), u32>,
    /// What is to happen, and when.
    told: FxHashMap<(CoreId, Kind, u32), Victim>,
    chance: Option<Chance>,
    /// What has happened.
    made: Vec<Deviation>,
    /// The last of it, if nobody has asked for it yet.
    begun: Option<Deviation>,
    /// Of each core, what its last eviction was to write back, if it was told so, and where that is in the account.
    evicting: FxHashMap<CoreId, (Option<Victim>, usize)>,
}

struct Chance {
    random: Box<Xoshiro256PlusPlus>,
    /// Something happens at one of this many occasions; never if 0.
    one_in: u32,
}

impl Chance {
    fn below(&mut self, options: usize) -> usize {
        ((u64::from(self.random.next_u32()) * options as u64) >> 32) as usize
    }
}

impl ByItself {
    /// What these deviations say, and nothing else.
    pub(super) fn told(deviations: &[Deviation]) -> Self {
        let told = deviations.iter().filter_map(|deviation| match *deviation {
            Deviation::Drain { core, occasion } => Some(((core, Kind::Drain, occasion), (0, 0))),
            Deviation::Eviction { core, occasion, page, line } => {
                Some(((core, Kind::Eviction, occasion), (page, line)))
            }
            Deviation::StoreThrough { core, occasion } => Some(((core, Kind::StoreThrough, occasion), (0, 0))),
            Deviation::Behind { .. } | Deviation::After { .. } => None,
        });
        Self { told: told.collect(), ..Self::default() }
    }

    /// What chance says: in one run nothing, in another one much.
    pub(super) fn by_chance(seed: u64) -> Self {
        let mut random = Box::new(Xoshiro256PlusPlus::seed_from_u64(seed));
        let one_in = [0, 2, 16, 128][random.next_u32() as usize % 4];
        Self { chance: Some(Chance { random, one_in }), ..Self::default() }
    }

    /// A number below `options`.
    pub(super) fn choose(&mut self, core: CoreId, choice: Choice, options: usize) -> usize {
        let Some(kind) = Kind::of(choice) else { return self.choose_victim(core, choice, options) };
        let occasion = *self.occasions.get(&(core, kind)).unwrap_or(&0) + 1;
        let told = self.told.get(&(core, kind, occasion)).copied();
        let by_chance = |chance: &mut Chance| chance.one_in > 0 && chance.below(chance.one_in as usize) == 0;
        let happens = told.is_some() || self.chance.as_mut().is_some_and(by_chance);
        self.note(core, choice, usize::from(happens));
        if let Some((victim, _)) = self.evicting.get_mut(&core).filter(|_| happens && kind == Kind::Eviction) {
            *victim = told;
        }
        happens.into()
    }

    fn choose_victim(&mut self, core: CoreId, choice: Choice, options: usize) -> usize {
        // Room for other lines is made as in the plain run.
        let Some(&(victim, _)) = self.evicting.get(&core) else { return 0 };
        let chosen = match (victim, &mut self.chance) {
            (Some((page, line)), _) => (if choice == Choice::VictimPage { page } else { line }) as usize % options,
            (None, Some(chance)) => chance.below(options),
            (None, None) => 0,
        };
        self.note(core, choice, chosen);
        chosen
    }

    /// Keeps account of an answer.
    pub(super) fn note(&mut self, core: CoreId, choice: Choice, chosen: usize) {
        let Some(kind) = Kind::of(choice) else {
            let of_last = self.evicting.get(&core).and_then(|(_, at)| self.made.get_mut(*at));
            if let Some(Deviation::Eviction { page, line, .. }) = of_last {
                *(if choice == Choice::VictimPage { page } else { line }) = chosen as u32;
            }
            if choice == Choice::VictimLine {
                self.evicting.remove(&core);
            }
            return;
        };
        let occasion = self.occasions.entry((core, kind)).or_insert(0);
        *occasion += 1;
        if kind == Kind::Eviction {
            self.evicting.remove(&core);
        }
        if chosen == 0 {
            return;
        }
        let occasion = *occasion;
        if kind == Kind::Eviction {
            self.evicting.insert(core, (None, self.made.len()));
        }
        let deviation = match kind {
            Kind::Drain => Deviation::Drain { core, occasion },
            Kind::Eviction => Deviation::Eviction { core, occasion, page: 0, line: 0 },
            Kind::StoreThrough => Deviation::StoreThrough { core, occasion },
        };
        self.made.push(deviation);
        self.begun = Some(deviation);
    }

    /// What has happened last, if nobody has asked since.
    pub(super) fn begun(&mut self) -> Option<Deviation> {
        self.begun.take()
    }

    /// What has happened so far.
    pub(super) fn made(&self) -> &[Deviation] {
        &self.made
    }
}
