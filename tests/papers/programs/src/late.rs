//! `bench-pscw-late`: what the calls of an epoch take whose target posts late, and one whose target has posted before,
//! in each class of synchronisation (Table I of the SCOSCo paper).
//!
//! Rank 0 starts, computes, puts and completes, rank 1 posts and waits, and the others only take part in making the
//! windows. A late target computes before its post, half as long as the origin between START and PUT. So what an origin
//! waits for in START adds to the epoch, and what it would wait for later is there by then.

use alloc::vec;

use collectives::{Class, Group, Window};
use hal::Core;

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::measure::{Of, Splits, demand, repetitions};

/// How long a target may be late, in cycles: 100 µs on the SCC.
const LATE_CYCLES: u64 = 53_300;

/// Words that are put: 1 KB. What a post writes back of them takes less time than the target is late.
const WORDS: usize = 256;

/// Measures epochs whose target is late.
pub struct Late;

impl Program for Late {
    const NAME: &'static str = "bench-pscw-late";
    const ABOUT: &'static str = "measures the calls of an epoch with a put, whose target has posted or is late";
    const OPTIONS: &'static [KnownOption] = &[("repetitions", "epochs of each kind that count, 3 if not given")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        demand(rank.comm.size() > 1, "one rank alone has no target")?;
        let repetitions = repetitions(rank, 3)?;
        Class::ALL.into_iter().try_for_each(|class| measure(rank, class, repetitions))
    }
}

fn measure<C: Core>(rank: &mut Rank<'_, C>, class: Class, repetitions: u32) -> Result<(), Failure> {
    let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
    rank.phase(class.name());
    let len = if me == 1 { WORDS } else { 0 };
    let (window, mut view) = Window::<C, u32>::with_class(comm, &mut rank.caches, len, class)?;
    let [origin, target] = [Group::of([0])?, Group::of([1])?];
    for late_cycles in [0, LATE_CYCLES] {
        let [mut start, mut put, mut complete, mut epoch] = ["start", "put", "complete", "epoch"].map(Splits::new);
        for number in 0..repetitions {
            let source = vec![number + 1; WORDS];
            comm.barrier();
            if me == 0 {
                if late_cycles == 0 {
                    // The target has posted by then.
                    hal.compute(2 * LATE_CYCLES);
                }
                epoch.take(hal, true, || -> Result<(), Failure> {
                    let access = start.take(hal, true, || window.start(&target))?;
                    hal.compute(2 * late_cycles);
                    put.take(hal, true, || access.put(1, 0, &source))?;
                    complete.take(hal, true, || access.complete());
                    Ok(())
                })?;
            } else if me == 1 {
                hal.compute(late_cycles);
                window.while_posted(&mut view, &mut rank.caches, &origin, |_| ())?;
                if view.load(WORDS - 1) != number + 1 {
                    return Err(Failure::new(format_args!("{class}: what was put is not there after WAIT")));
                }
            }
        }
        if me == 0 {
            for splits in [start, put, complete, epoch] {
                let of = Of(class.name(), late_cycles, WORDS * size_of::<u32>());
                splits.send(rank, of, &["words_read", "words_written", "tsr_acquired"]);
            }
        }
    }
    window.free(view, &mut rank.caches)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refused, run};

    #[test]
    fn only_classes_that_wait_in_start_do() {
        let printed = run::<Late>("cores=3 repetitions=1");
        for class in Class::ALL {
            let start = printed.value(class.name(), "start", (LATE_CYCLES, 1024));
            assert_eq!(start > 90_000, class == Class::Immediate, "{class}");
        }
    }

    #[test]
    fn what_cannot_be_measured_is_said_once() {
        refused::<Late>(&[("cores=1", "one rank alone"), ("cores=2 repetitions=0", "nothing to measure")]);
    }
}
