//! Locks of two ranks in all orders of their operations.

use hal::{
    CoreId, LINE_BYTES, Region, SharedAddress, Uncached, kind,
    sim::{SimCore, Spontaneous},
};

use super::{Lock, queue::Queue};
use crate::{Comm, in_all_orders::in_all_orders, memory::uncached::SharedWords};

/// Where nothing else lies: the tail, and what the lock protects.
fn words(index: usize) -> Region<kind::Uncached> {
    regions::of_a_test().region(SharedAddress::new(0, (1 << 20) + index * LINE_BYTES), LINE_BYTES)
}

/// Rank 0 raises a word under the lock twice and rank 1 once.
fn explore(exclusively: impl Fn(&Comm<'_, SimCore>, u32, &dyn Fn())) -> u64 {
    in_all_orders(Spontaneous::default(), |comm| {
        let (core, rounds) = (comm.hal(), 2 - comm.rank() as u32);
        exclusively(comm, rounds, &|| core.store_word(words(1), 0, core.load_word(words(1), 0) + 1));
        comm.barrier();
        assert_eq!(core.load_word(words(1), 0), 3, "a round was lost");
    })
}

#[test]
fn locks_exclude_in_all_orders() {
    let registers = explore(|comm, rounds, raise| {
        let mut lock = comm.register_lock(1).expect("there is such a rank");
        for _ in 0..rounds {
            let _guard = lock.lock();
            raise();
        }
    });
    assert!(registers > 1);
    let queues = explore(|comm, rounds, raise| {
        let line = comm.mpb_layout().spare().start;
        let queue = Queue::new(SharedWords { region: words(0), is_owner: false }, CoreId::new(0), line);
        for _ in 0..rounds {
            queue.acquire(comm);
            raise();
            queue.release(comm);
        }
    });
    assert!(queues > 1);
}
