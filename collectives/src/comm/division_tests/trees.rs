//! Communicators that were made of communicators, by chance, with all that they can do at once.

use std::{array, vec::Vec};

use hal::{
    Cached, Caches, Layout,
    sim::{Description, Machine, Strategy},
};

use super::{Tested, errands::Errand, run, windows::Shared};
use crate::{collective::nonblocking::oracle::complete, testing::Random};

/// Operations that begin and end while others are under way.
const BATCH: usize = 5;

/// How large trees are, and whether messages are open.
#[derive(Clone, Copy)]
struct Tree {
    depth: usize,
    batches: usize,
    has_messages: bool,
}

impl Tree {
    /// Operations and epochs on this communicator and on two of its parts in turns, with others under way on these, and on parts of these;
    /// and, if messages are open, between its halves.
    fn grow(self, on: &Tested<'_>, caches: &mut Caches, random: &mut Random) {
        let parts = [on.divide(random), on.divide(random)];
        let all = [Some(on), parts[0].as_ref(), parts[1].as_ref()];
        let size = on.ranks.len();
        let first = 1 + random.below(size.max(2) - 1);
        let half = (self.has_messages && (2..100).contains(&size)).then(|| on.half(first));
        let joined = half.as_ref().map(|half| on.join(half, first));
        let mut own = Random(random.0 ^ (on.comm.rank() as u32 * 77));
        let mut shared = all[random.below(3)].and_then(|on| Shared::make(on, caches));
        for batch in 0..self.batches {
            let number = |at: usize| ((self.depth * 64 + batch) * 16 + at) as u32;
            // All of a communicator choose alike, whatever is chosen in others.
            let mut choose = |of| (random.below(of), Random(random.below(1 << 24) as u32));
            let begun: [_; BATCH] = array::from_fn(|_| choose(4));
            let done: [_; BATCH] = array::from_fn(|_| choose(5));
            let errands = begun.into_iter().enumerate().filter_map(|(at, (which, mut chosen))| match all.get(which) {
                Some(on) => Some(Errand::choose((*on)?, &mut chosen, number(at), self.has_messages)),
                None => Some(Errand::between(on, joined.as_ref()?, &mut chosen, number(at))),
            });
            let (errands, mut rooms): (Vec<_>, Vec<_>) = errands.unzip();
            let requests: Vec<_> =
                errands.iter().zip(&mut rooms).flat_map(|(errand, room)| errand.begin(room)).collect();
            for (at, (which, mut chosen)) in done.into_iter().enumerate() {
                match all.get(which) {
                    Some(on) => on.iter().for_each(|on| on.operate(&mut chosen, number(at))),
                    None if which == 4 => joined.iter().for_each(|joined| joined.operate(&mut chosen, number(at))),
                    None => shared.iter_mut().for_each(|shared| shared.open(caches, &mut chosen, number(at))),
                }
            }
            if batch + 1 == self.batches && self.depth > 1 {
                let below = Self { depth: self.depth - 1, ..self };
                parts.iter().flatten().for_each(|part| below.grow(part, caches, &mut Random(random.0 ^ 0x55)));
            }
            errands.iter().for_each(Errand::receive_late);
            complete(requests, &mut own, true);
            errands.iter().zip(rooms).for_each(|(errand, room)| errand.check(room));
        }
        shared.into_iter().for_each(|shared| shared.free(caches));
        joined.into_iter().for_each(|joined| joined.inter.free().unwrap());
        half.into_iter().for_each(|half| half.comm.free().unwrap());
        parts.into_iter().flatten().for_each(|part| part.comm.free().unwrap());
        on.operate(random, 7);
    }

    fn grow_on(self, machine: &Machine, seed: u32) {
        run(machine, |world| {
            let mut caches = world.comm.hal().take_caches().unwrap();
            let messages = self.has_messages.then(|| world.comm.open_messages().unwrap());
            self.grow(world, &mut caches, &mut Random(seed));
            messages.into_iter().for_each(|messages| messages.close().unwrap());
        });
    }
}

#[test]
fn trees_of_communicators_do_what_operations_mean() {
    for (ranks, seeds, depth, batches) in [(1, 2, 2, 2), (2, 8, 3, 4), (5, 10, 3, 4), (16, 6, 2, 4), (48, 2, 2, 2)] {
        for seed in 0..seeds {
            let machine = Machine::scc(ranks);
            // Chance delays ranks, and drains and evicts lines, in every second run.
            let chance = Strategy::Seeded { seed: seed.into() };
            let machine = if seed % 2 == 1 { machine.with_strategy(chance) } else { machine };
            Tree { depth, batches, has_messages: seed % 4 < 2 }.grow_on(&machine, seed * 7919 + ranks as u32);
        }
    }
}

#[test]
fn many_ranks_have_communicators_too() {
    Tree { depth: 1, batches: 2, has_messages: true }.grow_on(&Machine::scc(255), 3);
}

#[test]
fn nodes_of_coherent_cores_have_communicators_too() {
    for (nodes, cores) in [(2, 4), (3, 2)] {
        let layout = Layout::cluster(nodes, cores);
        let machine = Machine::new(Description { layout, ..Description::parse("cluster-fpga").unwrap() });
        for seed in 0..3 {
            // Few enough for the lines of MPBs: beyond, who is in no communicator with the first domain cannot allocate.
            Tree { depth: 1, batches: 2, has_messages: seed == 1 }.grow_on(&machine, seed);
        }
    }
}
