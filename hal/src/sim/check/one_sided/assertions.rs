//! What ranks assert when they synchronise windows, and whether it is so.

use rustc_hash::FxHashMap;

use crate::{
    CoreId,
    act::{Asserted, Synchronisation},
};

use super::{
    super::{
        finding::{Mistake, Remedy, Where},
        terms::Id,
    },
    Met, OneSided, Operation,
};

/// What all ranks have to assert alike.
const OF_ALL: Asserted = Asserted::NO_PRECEDE.union(Asserted::NO_SUCCEED);

/// A fence that a core has called.
#[derive(Clone, Copy)]
struct Fence {
    id: Id,
    /// Which of its fences.
    count: u64,
    asserted: Asserted,
}

/// A core's part is exposed, or a core accesses the parts of others.
struct Epoch {
    id: Id,
    step: u32,
    others: Vec<CoreId>,
    asserted: Asserted,
    /// Those whose other half of it has come.
    matched: Vec<CoreId>,
}

impl Epoch {
    fn awaits(&self, core: CoreId) -> bool {
        self.others.contains(&core) && !self.matched.contains(&core)
    }
}

/// What is known of a core on a window.
#[derive(Default)]
struct OfCore {
    /// The number of its last event that has synchronised it.
    synchronised: u64,
    fences: u64,
    /// The last fence, and the one before: nobody is further behind.
    last: [Option<Fence>; 2],
    exposure: Option<Epoch>,
    start: Option<Epoch>,
}

/// A lock that a core has, wants, or had.
struct Lock {
    id: Id,
    target: Option<CoreId>,
    alone: bool,
    asserted: Asserted,
    /// The step in which it was given back.
    until: Option<u32>,
}

/// How the ranks of a window have synchronised it.
#[derive(Default)]
pub(super) struct Synchronised {
    cores: FxHashMap<usize, OfCore>,
    locks: Vec<Lock>,
}

fn is_misuse(why: &'static str, other: Id) -> Met {
    Met { mistake: Mistake::OneSided, remedy: Remedy::Said(why), other, place: Where::Nowhere }
}

impl OneSided {
    /// A core synchronises a window. What it asserts, and what others have asserted, may not be so.
    pub(super) fn synchronise(&mut self, core: usize, id: Id, window: u64, how: Synchronisation<'_>) -> Vec<Met> {
        let synchronises_own = match how {
            Synchronisation::Fence(_) | Synchronisation::Post(..) | Synchronisation::Wait => true,
            Synchronisation::Start(..) | Synchronisation::Complete => false,
            Synchronisation::Lock { target, .. } | Synchronisation::Unlock(target) => {
                target.is_none_or(|target| target.index() == core)
            }
        };
        let met = match how {
            Synchronisation::Fence(asserted) => {
                let mut met = self.meet_stores(core, window, asserted);
                met.extend(self.meet_preceding(core, window, asserted));
                met.extend(self.fence(core, id, window, asserted));
                met
            }
            Synchronisation::Post(others, asserted) => {
                let mut met = self.meet_stores(core, window, asserted);
                met.extend(self.post(core, id, window, others, asserted));
                met
            }
            Synchronisation::Start(others, asserted) => self.start(core, id, window, others, asserted),
            Synchronisation::Lock { target, alone, asserted } => {
                let lock = Lock { id, target, alone, asserted, until: None };
                self.lock(core, window, lock)
            }
            Synchronisation::Wait => {
                self.of_core(core, window).exposure = None;
                Vec::new()
            }
            Synchronisation::Complete => {
                self.of_core(core, window).start = None;
                Vec::new()
            }
            Synchronisation::Unlock(target) => {
                let step = self.order.step(core);
                let locks = &mut self.windows.entry(window).or_default().locks;
                let is_it = |lock: &&mut Lock| {
                    usize::from(lock.id.core) == core && lock.target == target && lock.until.is_none()
                };
                if let Some(lock) = locks.iter_mut().find(is_it) {
                    lock.until = Some(step);
                }
                Vec::new()
            }
        };
        if synchronises_own {
            self.of_core(core, window).synchronised = id.number;
        }
        met
    }

    fn of_core(&mut self, core: usize, window: u64) -> &mut OfCore {
        self.windows.entry(window).or_default().cores.entry(core).or_default()
    }

    /// Stores of a core to its own part since it has synchronised the window last, if it says that there are none.
    fn meet_stores(&self, core: usize, window: u64, asserted: Asserted) -> Vec<Met> {
        let mut met = Vec::new();
        if !asserted.contains(Asserted::NO_STORE) {
            return met;
        }
        let since = self.windows.get(&window).and_then(|all| all.cores.get(&core)).map_or(0, |own| own.synchronised);
        for part in self.exposed[core].iter().filter(|part| part.window == window && part.owner.index() == core) {
            self.notes.look(&part.bytes, |note, _| {
                let is_own = usize::from(note.id.core) == core;
                if is_own && note.stores && note.id.number > since && met.is_empty() {
                    met.push(is_misuse(
                        "MPI_MODE_NOSTORE says that the rank has not stored to its part of the window since it \
                         synchronised it last: the assertion has to go",
                        note.id,
                    ));
                }
            });
        }
        met
    }

    /// Operations of a core that a fence would complete, if it says that there are none.
    fn meet_preceding(&self, core: usize, window: u64, asserted: Asserted) -> Option<Met> {
        let first = || {
            let open = self.open[core].iter().filter_map(|key| self.operations.get(key));
            open.filter(|operation| operation.window == Some(window)).map(|operation| operation.id).next()
        };
        let other = asserted.contains(Asserted::NO_PRECEDE).then(first)??;
        Some(is_misuse(
            "MPI_MODE_NOPRECEDE says that the fence completes nothing, and this operation is not over: the assertion has to go",
            other,
        ))
    }

    fn fence(&mut self, core: usize, id: Id, window: u64, asserted: Asserted) -> Option<Met> {
        let own = self.of_core(core, window);
        own.fences += 1;
        let count = own.fences;
        own.last = [Some(Fence { id, count, asserted }), own.last[0]];
        let cores = self.windows.get(&window).into_iter().flat_map(|all| &all.cores);
        let mut same = cores.filter(|(other, _)| **other != core).flat_map(|(_, other)| other.last).flatten();
        let other = same.find(|other| other.count == count && (other.asserted ^ asserted).intersects(OF_ALL))?;
        Some(is_misuse(
            "MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED have to be asserted by all ranks of a fence or by none",
            other.id,
        ))
    }

    fn post(&mut self, core: usize, id: Id, window: u64, others: &[CoreId], asserted: Asserted) -> Vec<Met> {
        let step = self.order.step(core);
        let me = CoreId::new(core);
        let cores = &mut self.windows.entry(window).or_default().cores;
        let (mut met, mut matched) = (Vec::new(), Vec::new());
        for other in others {
            let start = cores.get_mut(&other.index()).and_then(|other| other.start.as_mut());
            let Some(start) = start.filter(|start| start.awaits(me)) else { continue };
            start.matched.push(me);
            matched.push(*other);
            let is_early = asserted.contains(Asserted::NO_CHECK);
            met.extend(unlike(start, asserted).or_else(|| is_early.then(|| is_misuse(EARLY, start.id))));
        }
        let exposure = Epoch { id, step, others: others.to_vec(), asserted, matched };
        cores.entry(core).or_default().exposure = Some(exposure);
        met
    }

    fn start(&mut self, core: usize, id: Id, window: u64, others: &[CoreId], asserted: Asserted) -> Vec<Met> {
        let step = self.order.step(core);
        let (me, order) = (CoreId::new(core), &self.order);
        let cores = &mut self.windows.entry(window).or_default().cores;
        let (mut met, mut matched) = (Vec::new(), Vec::new());
        for other in others {
            let exposure = cores.get_mut(&other.index()).and_then(|other| other.exposure.as_mut());
            let Some(exposure) = exposure.filter(|exposure| exposure.awaits(me)) else { continue };
            exposure.matched.push(me);
            matched.push(*other);
            let unlike = unlike(exposure, asserted);
            let is_known = other.index() == core || order.knows(core, other.index(), exposure.step);
            if unlike.is_none() && asserted.contains(Asserted::NO_CHECK) && !is_known {
                met.push(is_misuse(EARLY, exposure.id));
            }
            met.extend(unlike);
        }
        let start = Epoch { id, step, others: others.to_vec(), asserted, matched };
        cores.entry(core).or_default().start = Some(start);
        met
    }

    fn lock(&mut self, core: usize, window: u64, new: Lock) -> Vec<Met> {
        let order = &self.order;
        let locks = &mut self.windows.entry(window).or_default().locks;
        let is_one = |lock: &&Lock| {
            let other = usize::from(lock.id.core);
            let is_same = lock.target.is_none() || new.target.is_none() || lock.target == new.target;
            other != core
                && is_same
                && (lock.alone || new.alone)
                && (lock.asserted | new.asserted).contains(Asserted::NO_CHECK)
                && !lock.until.is_some_and(|until| order.knows(core, other, until))
        };
        let why = "MPI_MODE_NOCHECK says that nobody has, or asks for, a lock that this one keeps out: nothing orders the two, so \
                   that the assertion has to go";
        let met = locks.iter().filter(is_one).map(|lock| is_misuse(why, lock.id)).collect();
        // Whoever is ordered after this one is ordered after those.
        locks.retain(|lock| {
            let is_like = (lock.target, lock.alone, lock.asserted) == (new.target, new.alone, new.asserted);
            !(lock.until.is_some() && usize::from(lock.id.core) == core && is_like)
        });
        locks.push(new);
        met
    }

    /// A core has nothing to do with a window any more.
    pub(super) fn leave(&mut self, core: usize, window: u64) {
        if let Some(all) = self.windows.get_mut(&window) {
            all.cores.remove(&core);
            all.locks.retain(|lock| usize::from(lock.id.core) != core);
            if all.cores.is_empty() {
                self.windows.remove(&window);
            }
        }
    }

    /// An operation that writes to a part whose owner has said that nobody would.
    pub(super) fn meet_no_put(&self, core: usize, new: &Operation) -> Option<Met> {
        let (window, target) = (new.window?, new.target.filter(|_| new.writes_target)?);
        let all = self.windows.get(&window)?;
        let (own, other) = (all.cores.get(&core)?, all.cores.get(&target.index())?);
        let (id, asserted) = if own.start.as_ref().is_some_and(|start| start.others.contains(&target)) {
            let exposure = other.exposure.as_ref().filter(|exposure| exposure.others.contains(&CoreId::new(core)))?;
            (exposure.id, exposure.asserted)
        } else if all.locks.iter().any(|lock| usize::from(lock.id.core) == core && lock.until.is_none()) {
            return None;
        } else {
            let fence = other.last.iter().flatten().find(|fence| fence.count == own.fences)?;
            (fence.id, fence.asserted)
        };
        asserted.contains(Asserted::NO_PUT).then(|| {
            let why = "MPI_MODE_NOPUT says that nobody puts to this rank's part of the window in this epoch: the assertion has to go";
            is_misuse(why, id)
        })
    }
}

/// Why a start is too early.
const EARLY: &str = "MPI_MODE_NOCHECK says that the post was called before the start: a message or a barrier between the two is missing";

/// A post and its start that do not assert the same.
fn unlike(one: &Epoch, asserted: Asserted) -> Option<Met> {
    let are_unlike = (one.asserted ^ asserted).contains(Asserted::NO_CHECK);
    are_unlike.then(|| {
        is_misuse("MPI_MODE_NOCHECK has to be asserted by both, the post and the start, or by neither", one.id)
    })
}
