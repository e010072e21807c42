//! Synchronisation data at each rank's nearest memory controller (`nearest`), against all of it at one
//! (`one-controller`).
//!
//! Measured are polls of the own word, and locked updates of a word of the rank that is half of all ranks further on,
//! without load and while every second rank reads memory without a pause.
//!
//! The paper's reason is contention at controllers. The simulator shows it on machines with contention, when all poll one
//! controller; elsewhere what virtual time shows is the effect of distance alone, and load changes nothing.

use alloc::vec;

use collectives::Placement;
use hal::{Core, LINE_BYTES, kind};

use kernel::{Failure, Rank};

use super::{allocate_for_all, free_for_all};
use crate::measure::{Of, Splits};

/// Accesses that are measured.
const REPETITIONS: usize = 8;

/// Bytes that a rank reads meanwhile: more than accesses take.
const LOAD: usize = 8 << 10;

pub(super) fn measure<C: Core>(rank: &Rank<'_, C>) -> Result<(), Failure> {
    let comm = rank.comm;
    let nearest = |rank| Placement::Near(comm.core_of(rank));
    measure_at(rank, "nearest", nearest)?;
    measure_at(rank, "one-controller", |_| Placement::Striped(0))
}

fn measure_at<C: Core>(
    rank: &Rank<'_, C>,
    algorithm: &str,
    placement: impl Fn(usize) -> Placement,
) -> Result<(), Failure> {
    let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
    let words = allocate_for_all(comm, LINE_BYTES, (0..comm.size()).map(placement))?;
    let loads = allocate_for_all(comm, LOAD, (0..comm.size()).map(|rank| Placement::Near(comm.core_of(rank))))?;
    let peer = (me + comm.size() / 2) % comm.size();
    for is_loaded in [false, true] {
        let loads_memory = is_loaded && me % 2 == 1;
        let [mut polls, mut updates] = ["poll", "update"].map(Splits::new);
        comm.barrier();
        if loads_memory {
            let mut bytes = vec![0; LOAD];
            hal.invalidate_mpb();
            hal.read(loads[me].mapped::<kind::Combined>(), 0, &mut bytes);
        }
        for _ in 0..REPETITIONS {
            if !loads_memory {
                polls.take(hal, true, || hal.load_word(words[me], 0));
                updates.take(hal, true, || {
                    let _guard = hal.lock(comm.core_of(peer), "a word of a peer");
                    let value = hal.load_word(words[peer], 1);
                    hal.store_word(words[peer], 1, value.wrapping_add(1));
                });
            }
        }
        let param = if is_loaded { comm.size() as u64 / 2 } else { 0 };
        for splits in [polls, updates] {
            splits.send(rank, Of(algorithm, param, 4), &["words_read", "words_written"]);
        }
    }
    free_for_all(comm, words)?;
    free_for_all(comm, loads)
}
