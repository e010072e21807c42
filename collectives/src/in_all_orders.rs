//! Programs of two ranks, run once for each order in which their operations can happen.

use hal::{
    MpbCoherence,
    sim::{Failure, Machine, Outcome, SimCore, Spontaneous, explore_exhaustively},
};

use crate::Comm;

/// Runs that an exploration may take: more than the longest one here takes.
const LIMIT: u64 = 400_000;

/// Write-combine buffers drain whenever they like.
pub(crate) const DRAINS: Spontaneous = Spontaneous { drains: true, evictions: false, stores_through: false };

/// Runs `program` on both ranks in all orders, each of which must come to its end. Returns how many there are.
pub(crate) fn in_all_orders<R>(spontaneous: Spontaneous, program: impl Fn(&Comm<'_, SimCore>) -> R) -> u64 {
    in_all_orders_of(2, spontaneous, program)
}

/// The same on this many ranks. The number of orders grows with what each rank does: a third one should do next to nothing.
pub(crate) fn in_all_orders_of<R>(
    ranks: usize,
    spontaneous: Spontaneous,
    program: impl Fn(&Comm<'_, SimCore>) -> R,
) -> u64 {
    explore(ranks, spontaneous, program, |outcome| {
        outcome.expect("every order comes to its end");
    })
}

/// Runs `program` on both ranks in all orders, looks at each outcome, and returns how many there are.
pub(crate) fn look_at_all_orders<R>(
    spontaneous: Spontaneous,
    program: impl Fn(&Comm<'_, SimCore>) -> R,
    look: impl Fn(Result<Outcome<R>, Failure>),
) -> u64 {
    explore(2, spontaneous, program, look)
}

/// Runs `program` on these ranks in all orders, and looks at each outcome.
fn explore<R>(
    ranks: usize,
    spontaneous: Spontaneous,
    program: impl Fn(&Comm<'_, SimCore>) -> R,
    look: impl Fn(Result<Outcome<R>, Failure>),
) -> u64 {
    let exploration = explore_exhaustively(
        &Machine::scc(ranks),
        spontaneous,
        LIMIT,
        |core| {
            let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
            let result = program(&comm);
            core.drain();
            result
        },
        look,
    );
    assert!(exploration.complete, "more than {LIMIT} runs");
    exploration.runs
}
