//! One-sided operations and requests: what is under way, and what must not meet it.
//!
//! Here is no hardware. An operation is under way from its call until its program has made sure that it is over, at its origin
//! or at its target, whenever the runtime happens to carry it out; and who comes before whom is what the ranks say to each other by
//! their program ([`order`]). So a race is one on any machine, and with any library that does what the standard says.
//!
//! What is under way has [ends] in memory. Loads and stores of memory that others reach are [noted](notes), since an operation that
//! begins later may not be ordered after them.

mod acts;
mod assertions;
mod ends;
mod notes;
mod order;

use rustc_hash::FxHashMap;

use crate::{
    CoreId,
    act::{Atomic, Bytes, Part, Target},
};

use super::{
    finding::{Mistake, Remedy, Where},
    terms::Id,
};

use self::{
    assertions::Synchronised,
    ends::{End, Ends},
    notes::Notes,
    order::Order,
};

/// Bytes up to which an atomic operation is taken for one by which ranks synchronise.
const MOST_SYNCHRONISING: usize = 16;

/// Operations that are over and that not all know of, before all are looked at for the first time.
const FIRST_SWEEP: usize = 256;

/// An operation.
struct Operation {
    id: Id,
    number: u64,
    window: Option<u64>,
    target: Option<CoreId>,
    atomic: Option<Atomic>,
    writes_target: bool,
    /// Whether only operations of its own origin may meet it.
    among_own: bool,
    /// The step of its origin in which its own memory was free again.
    over_here: Option<u32>,
    /// That in which it was over at its target.
    over_there: Option<u32>,
    ends: Vec<End>,
}

impl Operation {
    /// When it was over at one of its ends.
    fn over_at(&self, end: &End) -> Option<u32> {
        if end.is_target { self.over_there } else { self.over_here }
    }

    /// Whether it is atomic with another one, where they meet.
    fn is_atomic_with(&self, end: &End, other: &Self, at: &End) -> bool {
        let (Some(one), Some(two)) = (self.atomic, other.atomic) else { return false };
        let operators_agree = self.id.core == other.id.core
            || one.operator.is_none()
            || two.operator.is_none()
            || one.operator == two.operator;
        let values_agree =
            one.basic == two.basic && end.bytes.start.abs_diff(at.bytes.start).is_multiple_of(one.value_bytes.max(1));
        end.is_target && at.is_target && values_agree && operators_agree
    }
}

/// Memory of a core's that is of a window.
struct Exposed {
    window: u64,
    owner: CoreId,
    bytes: Bytes,
    unit: Option<usize>,
}

/// All that is known of one-sided operations.
pub(super) struct OneSided {
    order: Order,
    /// Of each core, what it reaches of windows by itself.
    exposed: Vec<Vec<Exposed>>,
    notes: Notes,
    ends: Ends,
    operations: FxHashMap<usize, Operation>,
    next: usize,
    /// Of each core, those that are not over.
    open: Vec<Vec<usize>>,
    /// Those that are over, and that not all know of.
    over: Vec<usize>,
    sweep_at: usize,
    /// What those know who have changed a small value atomically.
    updates: FxHashMap<usize, Vec<u32>>,
    windows: FxHashMap<u64, Synchronised>,
}

/// Something that must not meet an access.
struct Met {
    mistake: Mistake,
    remedy: Remedy,
    other: Id,
    place: Where,
}

impl OneSided {
    pub(super) fn new(cores: usize) -> Self {
        Self {
            order: Order::new(cores),
            exposed: (0..cores).map(|_| Vec::new()).collect(),
            notes: Notes::default(),
            ends: Ends::default(),
            operations: FxHashMap::default(),
            next: 0,
            open: vec![Vec::new(); cores],
            over: Vec::new(),
            sweep_at: FIRST_SWEEP,
            updates: FxHashMap::default(),
            windows: FxHashMap::default(),
        }
    }

    /// The bytes as their owner has them, and whether others reach them.
    fn locate(&self, core: usize, bytes: Bytes) -> (Bytes, bool) {
        let overlaps = |exposed: &&Exposed| exposed.bytes.start < bytes.end && bytes.start < exposed.bytes.end;
        let Some(exposed) = self.exposed[core].iter().find(overlaps) else { return (bytes, false) };
        if exposed.owner.index() == core {
            return (bytes, true);
        }
        let of_owner = self.part(exposed.window, exposed.owner);
        let Some(start) = of_owner.map(|part| part.bytes.start) else { return (bytes, false) };
        let moved = |address: usize| start + address.saturating_sub(exposed.bytes.start);
        (moved(bytes.start)..moved(bytes.end), true)
    }

    /// What a core contributes to a window; the first of it if that is dynamic.
    fn part(&self, window: u64, owner: CoreId) -> Option<&Exposed> {
        self.exposed[owner.index()].iter().find(|part| part.window == window && part.owner == owner)
    }

    /// What an access of a core, or an operation that begins, meets of operations. Those that it is ordered after, it may.
    fn meet(&self, core: usize, end: &End, new: Option<&Operation>) -> Vec<Met> {
        let met = self.ends.meet(&end.bytes).filter_map(|(at, len)| {
            let other = &self.operations[&at.operation];
            let origin = usize::from(other.id.core);
            let is_own = origin == core;
            if !(at.writes || end.writes) || (other.among_own && !is_own) {
                return None;
            }
            let is_ordered = |step| is_own || self.order.knows(core, origin, step);
            if other.over_at(at).is_some_and(is_ordered) || new.is_some_and(|new| new.is_atomic_with(end, other, at)) {
                return None;
            }
            let are_atomic = new.is_some_and(|new| new.atomic.is_some()) && other.atomic.is_some();
            let remedy = match new {
                _ if !at.is_target => Remedy::KeepUntilOver,
                Some(new) if new.window != other.window => Remedy::OverFirst,
                Some(_) if are_atomic && end.is_target => Remedy::AlikeToBeAtomic,
                Some(_) if is_own && end.is_target => Remedy::FlushBetween,
                _ => Remedy::OverFirst,
            };
            Some(Met {
                mistake: mistake_of(other),
                remedy,
                other: other.id,
                place: Where::Memory { len, of: self.owner(at, other) },
            })
        });
        met.collect()
    }

    /// Whose memory an end is in.
    fn owner(&self, end: &End, operation: &Operation) -> CoreId {
        match operation.target {
            Some(target) if end.is_target => target,
            _ => CoreId::new(operation.id.core.into()),
        }
    }

    /// What an operation meets of the accesses that were noted.
    fn meet_notes(&self, core: usize, end: &End, new: &Operation) -> Vec<Met> {
        let mut all = Vec::new();
        self.notes.look(&end.bytes, |note, len| {
            let other = usize::from(note.id.core);
            if other != core && (note.stores || end.writes) && !self.order.knows(core, other, note.step) {
                let place = Where::Memory { len, of: self.owner(end, new) };
                all.push(Met { mistake: mistake_of(new), remedy: Remedy::OverFirst, other: note.id, place });
            }
        });
        all
    }

    /// The ends of an operation.
    fn ends_of(&self, core: usize, own: &[Part], target: Option<&Target<'_>>) -> Vec<End> {
        let operation = self.next;
        let here = own.iter().map(|part| End {
            operation,
            bytes: self.locate(core, part.bytes.clone()).0,
            writes: part.writes,
            is_target: false,
        });
        let there = target.into_iter().flat_map(|target| {
            let part = self.part(target.window, target.core).and_then(|part| Some((part.bytes.start, part.unit?)));
            let (base, unit) = part.unwrap_or((0, 1));
            let start = (base as i64).wrapping_add(target.displacement.wrapping_mul(unit as i64));
            target.pieces.iter().map(move |(offset, len)| {
                let first = start.wrapping_add(*offset) as usize;
                End { operation, bytes: first..first + len, writes: target.writes, is_target: true }
            })
        });
        here.chain(there).filter(|end| !end.bytes.is_empty()).collect()
    }

    fn begin(&mut self, new: Operation) {
        if let Some(atomic) = new.atomic.filter(|_| new.writes_target && !new.among_own)
            && let Some(granules) = synchronising(&new, atomic)
        {
            let told = self.order.tell(new.id.core.into());
            for granule in granules {
                let known = self.updates.entry(granule).or_default();
                known.resize(told.len(), 0);
                known.iter_mut().zip(&*told).for_each(|(known, told)| *known = (*known).max(*told));
            }
        }
        new.ends.iter().for_each(|end| self.ends.insert(end));
        self.open[usize::from(new.id.core)].push(self.next);
        self.operations.insert(self.next, new);
        self.next += 1;
    }

    /// Some operations of a core are over, at their origin or everywhere.
    fn end(&mut self, core: usize, is_meant: impl Fn(&Operation) -> bool, locally: bool) {
        let step = self.order.step(core);
        let open = std::mem::take(&mut self.open[core]);
        for key in open {
            let Some(operation) = self.operations.get_mut(&key) else { continue };
            if !is_meant(operation) {
                self.open[core].push(key);
                continue;
            }
            let was_here = operation.over_here.replace(operation.over_here.unwrap_or(step)).is_some();
            if !locally || operation.target.is_none() || !operation.writes_target {
                operation.over_there.get_or_insert(step);
            }
            let is_over = operation.over_there.is_some();
            if is_over && operation.among_own {
                self.forget(key);
                continue;
            }
            if !was_here {
                self.leave_buffers(core, key);
                self.learn_from_updates(core, key);
            }
            if is_over {
                self.over.push(key);
            } else {
                self.open[core].push(key);
            }
        }
        if self.over.len() >= self.sweep_at {
            self.sweep();
        }
    }

    /// Memory that only its own core reaches is its own again.
    fn leave_buffers(&mut self, core: usize, key: usize) {
        let Some(mut operation) = self.operations.remove(&key) else { return };
        operation.ends.retain(|end| {
            let stays = end.is_target || self.locate(core, end.bytes.clone()).1;
            if !stays {
                self.ends.remove(end);
            }
            stays
        });
        self.operations.insert(key, operation);
    }

    /// Whoever has fetched a small value comes after those who had changed it.
    fn learn_from_updates(&mut self, core: usize, key: usize) {
        let operation = &self.operations[&key];
        let Some(atomic) = operation.atomic.filter(|atomic| atomic.fetches && !operation.among_own) else { return };
        for granule in synchronising(operation, atomic).unwrap_or_default() {
            if let Some(known) = self.updates.get(&granule) {
                self.order.learn(core, known);
            }
        }
    }

    /// Forgets what all know of.
    fn sweep(&mut self) {
        let over = std::mem::take(&mut self.over);
        for key in over {
            let operation = &self.operations[&key];
            let last = operation.over_here.max(operation.over_there).unwrap_or(0);
            if self.order.is_known_to_all(operation.id.core.into(), last) {
                self.forget(key);
            } else {
                self.over.push(key);
            }
        }
        self.sweep_at = FIRST_SWEEP.max(2 * self.over.len());
    }

    fn forget(&mut self, key: usize) {
        if let Some(operation) = self.operations.remove(&key) {
            operation.ends.iter().for_each(|end| self.ends.remove(end));
        }
    }

    /// Memory of a core is not of a window any more.
    fn withdraw(&mut self, core: usize, window: u64, start: Option<usize>) {
        if start.is_none() {
            self.leave(core, window);
        }
        let is_meant =
            |exposed: &Exposed| exposed.window == window && start.is_none_or(|start| start == exposed.bytes.start);
        let (gone, kept): (Vec<_>, Vec<_>) = self.exposed[core].drain(..).partition(is_meant);
        self.exposed[core] = kept;
        for exposed in gone.iter().filter(|exposed| exposed.owner.index() == core) {
            self.notes.forget(&exposed.bytes);
            self.updates.retain(|granule, _| !exposed.bytes.contains(granule));
            let met: Vec<_> = self.ends.meet(&exposed.bytes).map(|(end, _)| end.operation).collect();
            met.into_iter().for_each(|key| {
                let is_over =
                    self.operations.get(&key).is_some_and(|met| met.over_here.is_some() && met.over_there.is_some());
                if is_over {
                    self.forget(key);
                    self.over.retain(|over| *over != key);
                }
            });
        }
    }
}

/// The granules of a value by which ranks may synchronise.
fn synchronising(operation: &Operation, atomic: Atomic) -> Option<Vec<usize>> {
    let ends = operation.ends.iter().filter(|end| end.is_target);
    let bytes: usize = ends.clone().map(|end| end.bytes.len()).sum();
    let values = ends.flat_map(|end| end.bytes.clone().step_by(atomic.value_bytes.max(1)));
    (bytes <= MOST_SYNCHRONISING).then(|| values.collect())
}

/// What a mistake about an operation is called.
fn mistake_of(operation: &Operation) -> Mistake {
    if operation.window.is_some() { Mistake::OneSided } else { Mistake::BufferInUse }
}
