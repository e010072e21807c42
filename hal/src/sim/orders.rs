//! What a run has done differently from the plain one, and which order of accesses that was if it was made without time.

use crate::CoreId;

use super::{deviation::Deviation, engine::Engine, free::Made};

/// What a run that is one of many has done differently from the plain one until now, when `last` has made an access and nobody is to make
/// another one before that.
pub(super) fn so_far(engine: &Engine, last: Option<CoreId>) -> Option<Vec<Deviation>> {
    let cores = engine.clocks.len();
    let operations: Option<Vec<_>> = engine.free.as_ref().map(|free| {
        let number = |core: usize| free.made().iter().rfind(|made| made.core == core).map_or(0, |made| made.number);
        let others = (0..cores).map(CoreId::new).filter_map(|core| {
            let other = last.filter(|last| *last != core)?;
            Some(Deviation::After { core, access: number(core.index()) + 1, other, until: number(other.index()) })
        });
        orders(free.made(), cores).into_iter().chain(others).collect()
    });
    let is_one_of_many = operations.is_some() || engine.course.is_some();
    is_one_of_many.then(|| engine.made().into_iter().chain(operations.unwrap_or_default()).collect())
}

/// Accesses above which a run that goes wrong is not told in order, but left to chance: it spins.
const MOST_TOLD: usize = 4_000;

/// What keeps the order of accesses of which the order makes a difference, on `cores` cores. Of a wait, only the last look at each place
/// counts. Nothing of a run that spins.
pub(super) fn orders(operations: &[Made], cores: usize) -> Vec<Deviation> {
    if operations.len() > MOST_TOLD {
        return Vec::new();
    }
    let is_last = |at: usize, made: &Made| {
        !made.is_poll
            || !operations[at + 1..]
                .iter()
                .any(|later| (later.core, later.number, later.access) == (made.core, made.number, made.access))
    };
    let all: Vec<_> = operations.iter().enumerate().filter(|(at, made)| is_last(*at, made)).collect();
    let mut orders = Vec::new();
    for (index, (_, made)) in all.iter().enumerate() {
        let mut others = Vec::new();
        for (_, before) in all[..index].iter().rev() {
            if others.len() + 1 == cores {
                break;
            }
            let is_met = before.core != made.core && before.access.conflicts(&made.access);
            if is_met && !others.contains(&before.core) {
                others.push(before.core);
                orders.push(Deviation::After {
                    core: CoreId::new(made.core),
                    access: made.number,
                    other: CoreId::new(before.core),
                    until: before.number,
                });
            }
        }
    }
    orders.sort_unstable();
    orders.dedup();
    orders
}
