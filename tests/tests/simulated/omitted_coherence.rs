//! Coherence points with one of their halves taken away: each has to fail, or it was there for nothing.

use crate::common::run;
use collectives::{Barrier, Scope};
use hal::{
    Cached, Clock, LINE_BYTES,
    emulated::Omit,
    kind,
    sim::{Machine, SimCore},
};
use tests::{
    Context, Failed, check_eq,
    memory::{free, shared},
    suite,
};

/// Which half of a coherent barrier is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Halves {
    Both,
    WriteBack,
    Invalidate,
}

/// Rank 1 stores a word, and both look at it after a barrier; rank 0 has cached the word before, and if `looks`, looks at
/// it between arrival and release.
fn publish(context: &mut Context<'_, '_, SimCore>, halves: Halves, whole: bool, looks: bool) -> Result<(), Failed> {
    let hal = context.hal();
    let region = shared::<_, kind::Cached>(context, LINE_BYTES)?;
    let mut view = hal.claim::<u32>(region, 8)?;
    let ranges = [region];
    let scope = if whole { Scope::Whole } else { Scope::Ranges(&ranges) };
    let mut barrier = context.comm.barrier_of(&context.comm.group(), Barrier::Default)?;
    if context.rank() == 0 {
        check_eq!(view.load(3), 0, "fresh memory");
    } else {
        hal.compute(100_000);
        view.store(3, 5);
    }
    if halves != Halves::Invalidate {
        scope.write_back(hal, context.caches);
    }
    let arrived = barrier.arrive();
    if looks && context.rank() == 0 {
        view.load(3);
    }
    arrived.wait();
    if context.rank() == 1 {
        // Nobody says that all leave at a time.
        hal.compute(100_000_000);
    }
    if halves != Halves::WriteBack {
        scope.invalidate(hal, context.caches);
    }
    check_eq!(view.load(3), 5, "the word after the barrier");
    drop(barrier);
    drop(view);
    free(context, region)
}

#[test]
fn coherent_barriers_need_both_halves() {
    for whole in [false, true] {
        let outcome = |halves, looks| run(&Machine::scc(2), |context| publish(context, halves, whole, looks));
        assert_eq!(outcome(Halves::Both, true), Ok(()));
        for (halves, looks) in [(Halves::WriteBack, true), (Halves::Invalidate, false), (Halves::Invalidate, true)] {
            let failure = outcome(halves, looks).expect_err("one half was enough");
            assert!(failure.contains("the word after the barrier"), "{failure}");
        }
        // This is the case in which one would do.
        assert_eq!(outcome(Halves::WriteBack, false), Ok(()));
    }
}

#[test]
fn coherent_barriers_need_their_flushes() {
    for name in ["coherence::barriers_publish", "coherence::split_phase_barriers_publish", "coherence::groups_publish"]
    {
        let without = |omitted| {
            run(&Machine::scc(5), |context| {
                context.hal().omit(omitted);
                suite::run_simulated(name, context)
            })
        };
        assert_eq!(without(Omit::empty()), Ok(()));
        let failure = without(Omit::FLUSH).expect_err(name);
        assert!(failure.contains("stored in round"), "{name} failed for another reason: {failure}");
    }
}
