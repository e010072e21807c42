//! Epochs of few ranks in all orders of their operations.

use alloc::vec::Vec;

use hal::{
    Combined, Deadline, Region, SharedAddress, kind,
    sim::{SimCore, Spontaneous},
};

use crate::{
    Class, Comm, Group,
    in_all_orders::{DRAINS, in_all_orders},
};

use super::{
    peers::{self, Peers, Seen},
    synchronisation::Synchronisation,
    table::Entry,
};

/// Where nothing else lies.
const FREE: usize = 1 << 20;

/// What a rank has for epochs on a window without parts.
struct Epochs<'c> {
    peers: Peers<'c, SimCore>,
    synchronisation: Synchronisation,
    posts: Seen,
    completions: Seen,
}

impl<'c> Epochs<'c> {
    fn new(comm: &'c Comm<'c, SimCore>, class: Class) -> Self {
        let synchronisation = Synchronisation::of(class, comm).expect("there is room");
        let class_word_count = synchronisation.words(comm.size());
        let sync = |rank| SharedAddress::new(0, FREE + rank * peers::sync_bytes(class_word_count));
        let entry = |rank| Entry { memory: None, len: 0, sync: Some(sync(rank)) };
        let parts: Vec<Entry> = (0..comm.size()).map(entry).collect();
        let seen = || Seen::new(comm.size());
        let peers = Peers::new(comm, 0, &parts, 4, class_word_count);
        Self { peers, synchronisation, posts: seen(), completions: seen() }
    }

    /// A line of `rank` that origins write to.
    fn data(rank: usize) -> Region<kind::Combined> {
        regions::of_a_test().region(SharedAddress::new(1, FREE + rank * 32), 32)
    }

    /// An exposure epoch to `origins`; returns what they have put: a byte each.
    fn expose(&self, rank: usize, origins: &Group) -> Vec<u8> {
        self.synchronisation.post(&self.peers, origins);
        let _ = self.synchronisation.await_completion(&self.peers, &self.completions, origins, Deadline::Never);
        let mut bytes = [0; 8];
        self.peers.comm.hal().read(Self::data(rank), 0, &mut bytes);
        origins.iter().map(|origin| bytes[origin]).collect()
    }

    /// An access epoch that puts `value` to `targets`, to the first as soon as its post is there, to the others at
    /// the end.
    fn access(&self, rank: usize, targets: &Group, value: u8) {
        let hal = self.peers.comm.hal();
        let first = targets.iter().next().expect("there is a target");
        let early = self.synchronisation.has_posted(&self.peers, &self.posts, targets, first);
        self.synchronisation.await_posts(&self.peers, &self.posts, targets);
        for target in targets.iter().filter(|target| !early || *target != first) {
            hal.write(Self::data(target), rank, &[value]);
        }
        if early {
            hal.write(Self::data(first), rank, &[value]);
        }
        self.synchronisation.complete(&self.peers, &self.posts, targets);
    }
}

/// Runs a program of two ranks in all orders. Returns how many there are.
fn explore(class: Class, spontaneous: Spontaneous, program: impl Fn(&Epochs<'_>, usize)) -> u64 {
    in_all_orders(spontaneous, |comm| program(&Epochs::new(comm, class), comm.rank()))
}

#[test]
fn one_origin_and_one_target_in_all_orders() {
    for class in [Class::Default, Class::TriggerOnly] {
        let (origin, target) = (Group::of([0]).unwrap(), Group::of([1]).unwrap());
        let runs = explore(class, Spontaneous::default(), |epochs, rank| {
            for epoch in 1..=3 {
                match rank {
                    0 => epochs.access(0, &target, epoch),
                    _ => assert_eq!(epochs.expose(1, &origin), [epoch]),
                }
            }
        });
        assert!(runs > 10, "{class}: {runs} runs");
    }
}

/// Rank 0 is its own second target, so that it keeps its marks from the second epoch on: they move from the target's
/// MPB to its own.
#[test]
fn marks_that_move_in_all_orders() {
    let (origin, targets) = (Group::of([0]).unwrap(), Group::of([0, 1]).unwrap());
    explore(Class::Default, Spontaneous::default(), |epochs, rank| {
        for epoch in 1..=3 {
            if rank == 0 {
                epochs.synchronisation.post(&epochs.peers, &origin);
                epochs.access(0, &targets, epoch);
                let (peers, seen) = (&epochs.peers, &epochs.completions);
                let _ = epochs.synchronisation.await_completion(peers, seen, &origin, Deadline::Never);
            } else {
                assert_eq!(epochs.expose(1, &origin), [epoch]);
            }
        }
    });
}

/// Marks and data are in order whenever write-combine buffers drain by themselves.
#[test]
fn spontaneous_drains_in_all_orders() {
    let (origin, target) = (Group::of([0]).unwrap(), Group::of([1]).unwrap());
    explore(Class::Default, DRAINS, |epochs, rank| {
        for epoch in 1..=2 {
            match rank {
                0 => epochs.access(0, &target, epoch),
                _ => assert_eq!(epochs.expose(1, &origin), [epoch]),
            }
        }
    });
}
