//! All operations on communicators of all kinds, against what they mean.

use std::{boxed::Box, format, vec, vec::Vec};

use hal::{
    Counted, Layout,
    emulated::Omit,
    sim::{Description, Machine, SimCore, Spontaneous, Strategy},
};

use super::{
    Comm,
    division::Near,
    elsewhere::{Elsewhere, Words},
    members::Members,
};
use crate::{
    Broadcast, Error, Exchange, Group, InPlace, OcBcast, Operation, Operator, Reduction, Request, Scan, Window,
    in_all_orders::{DRAINS, in_all_orders},
    lock::Lock as _,
    mpb::layout::Share,
};

/// Numbers that all ranks find alike.
struct Random(u32);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A communicator, and which ranks of the world are in it.
struct Tested<'c> {
    comm: Comm<'c, SimCore>,
    ranks: Vec<usize>,
}

type Pair = [u32; 2];

/// What a rank of the world contributes to an operation.
fn element(rank: usize, index: usize, number: u32) -> Pair {
    let mixed = (rank as u32 + 1).wrapping_mul(2_654_435_761) ^ (index as u32).wrapping_mul(40_503) ^ number << 7;
    [mixed | 1, mixed.rotate_left(11)]
}

fn elements(rank: usize, len: usize, number: u32) -> Vec<Pair> {
    (0..len).map(|index| element(rank, index, number)).collect()
}

/// One map after the other, x to a x + b: associative, and not commutative.
fn compose(left: Pair, right: Pair) -> Pair {
    [left[0].wrapping_mul(right[0]), left[1].wrapping_mul(right[0]).wrapping_add(right[1])]
}

const LENGTHS: [usize; 10] = [0, 1, 2, 3, 5, 12, 40, 150, 420, 900];

impl<'c> Tested<'c> {
    fn world(core: &'c SimCore) -> Self {
        let comm = Comm::world(core, regions::of_a_test()).unwrap();
        let ranks = (0..comm.size()).collect();
        Self { comm, ranks }
    }

    /// What the operands of these ranks make.
    fn composed(&self, ranks: core::ops::Range<usize>, len: usize, number: u32) -> Vec<Pair> {
        let of = |rank: usize| elements(self.ranks[rank], len, number);
        ranks.map(of).reduce(|left, right| left.into_iter().zip(right).map(|(l, r)| compose(l, r)).collect()).unwrap()
    }

    /// One operation, which `random` chooses; `number` tells it from others.
    fn operate(&self, random: &mut Random, number: u32) {
        let (comm, size, me) = (&self.comm, self.ranks.len(), self.comm.rank());
        assert_eq!((comm.size(), comm.core_of(me)), (size, hal::Topology::core(comm.hal())));
        let (kind, root) = (random.below(14), random.below(size));
        let len = random.of(&LENGTHS[..if size > 20 { 8 } else { 10 }]);
        let what = format!("operation {kind} number {number} on {:?}, {len} elements, root {root}", self.ranks);
        let own = elements(self.ranks[me], len, number);
        let operation = Operation::new(compose);
        let broadcast = random.of(&[
            Broadcast::Default,
            Broadcast::Default,
            Broadcast::Short,
            Broadcast::Long,
            Broadcast::Binomial,
            Broadcast::OneSidedScatterAllgather,
            Broadcast::OcBcast(OcBcast::with_degree(3)),
            Broadcast::OcBcast(OcBcast { shared_tiles: true, straight_leaves: true, ..OcBcast::with_degree(2) }),
        ]);
        let reduction = random.of(&[
            Reduction::Default,
            Reduction::Default,
            Reduction::Tree,
            Reduction::Blocks,
            Reduction::TwoSided,
        ]);
        let scan = random.of(&[Scan::Default, Scan::Doubling, Scan::Chain, Scan::TwoSided]);
        let exchange = random.of(&[Exchange::Default, Exchange::Default, Exchange::Long, Exchange::TwoSided]);
        match kind {
            0 => comm.barrier(),
            1 | 2 => {
                let mut message = if me == root { own } else { vec![[0; 2]; len] };
                comm.using(broadcast, |comm| comm.broadcast(&mut message, root)).unwrap();
                assert_eq!(message, elements(self.ranks[root], len, number), "{what} by {broadcast:?}");
            }
            3 | 4 => {
                let mut all = own;
                comm.using(reduction, |comm| comm.allreduce(InPlace, &mut all, &operation)).unwrap();
                assert_eq!(all, self.composed(0..size, len, number), "{what} by {reduction:?}");
            }
            5 => {
                let mut all = vec![[0; 2]; len];
                comm.using(reduction, |comm| comm.reduce(&own, &mut all, &operation, root)).unwrap();
                if me == root {
                    assert_eq!(all, self.composed(0..size, len, number), "{what} by {reduction:?}");
                }
            }
            6 => {
                let own = elements(self.ranks[me], len.min(40) * size, number);
                let mut block = vec![[0; 2]; len.min(40)];
                comm.using(reduction, |comm| comm.reduce_scatter(&own, &mut block, &operation)).unwrap();
                let all = self.composed(0..size, own.len(), number);
                assert_eq!(block, all[me * block.len()..][..block.len()], "{what} by {reduction:?}");
            }
            7 => {
                let mut below = vec![[0; 2]; len];
                comm.using(scan, |comm| comm.scan(&own, &mut below, &operation)).unwrap();
                assert_eq!(below, self.composed(0..me + 1, len, number), "{what} by {scan:?}");
            }
            8 => {
                let mut below = vec![[0; 2]; len];
                comm.using(scan, |comm| comm.exscan(&own, &mut below, &operation)).unwrap();
                if me > 0 {
                    assert_eq!(below, self.composed(0..me, len, number), "{what} by {scan:?}");
                }
            }
            9..=12 => self.exchange(kind, exchange, (len.min(200), root), number, &what),
            _ => {
                // Pairs tell each other.
                let partner = me ^ 1;
                if partner < size {
                    let mut got = vec![0; len * 8];
                    for sends in [me % 2 == 0, me % 2 == 1] {
                        if sends {
                            comm.send(bytemuck::cast_slice(&own), partner).unwrap();
                        } else {
                            comm.receive(&mut got, partner).unwrap();
                        }
                    }
                    let theirs = elements(self.ranks[partner], len, number);
                    assert_eq!(got, bytemuck::cast_slice::<_, u8>(&theirs), "{what}");
                }
            }
        }
    }

    /// Non-blocking operations of several chunks, with elements of all lengths, completed in another order.
    fn operate_meanwhile(&self, number: u32) {
        let (comm, size, me) = (&self.comm, self.ranks.len(), self.comm.rank());
        let root = number as usize % size;
        let mut message = if me == root { elements(self.ranks[me], 9, number) } else { vec![[0; 2]; 9] };
        comm.start_broadcast(&mut message, root).unwrap().wait();
        assert_eq!(message, elements(self.ranks[root], 9, number));
        let mut all = elements(self.ranks[me], 7, number);
        comm.start_allreduce(&mut all, Operation::new(compose)).unwrap().wait();
        assert_eq!(all, self.composed(0..size, 7, number));
        let whole: [Pair; 7] = elements(self.ranks[me], 7, number).try_into().unwrap();
        let mut long = [[whole[0], whole[1], whole[2], whole[3], whole[4]]; 2];
        let each = |left: [Pair; 5], right: [Pair; 5]| core::array::from_fn(|at| compose(left[at], right[at]));
        comm.start_allreduce(&mut long, Operation::new(each)).unwrap().wait();
        assert_eq!(long, [all[..5].to_vec(), all[..5].to_vec()].map(|part| <[Pair; 5]>::try_from(part).unwrap()));
        comm.start_barrier().unwrap().wait();
    }

    fn exchange(&self, kind: usize, exchange: Exchange, (len, root): (usize, usize), number: u32, what: &str) {
        let (comm, size, me) = (&self.comm, self.ranks.len(), self.comm.rank());
        let own = elements(self.ranks[me], len, number);
        let of_all: Vec<Pair> = self.ranks.iter().flat_map(|rank| elements(*rank, len, number)).collect();
        comm.using(exchange, |comm| match kind {
            9 => {
                let mut all = vec![[0; 2]; if me == root { len * size } else { 0 }];
                comm.gather(&own, &mut all, root).unwrap();
                assert!(me != root || all == of_all, "{what} by {exchange:?}");
            }
            10 => {
                let mut block = vec![[0; 2]; len];
                comm.scatter(if me == root { &of_all[..] } else { &[] }, &mut block, root).unwrap();
                assert_eq!(block, own, "{what} by {exchange:?}");
            }
            11 => {
                let mut all = vec![[0; 2]; len * size];
                comm.allgather(&own, &mut all).unwrap();
                assert_eq!(all, of_all, "{what} by {exchange:?}");
            }
            _ => {
                let own = elements(self.ranks[me], len * size, number);
                let mut all = vec![[0; 2]; len * size];
                comm.alltoall(&own, &mut all).unwrap();
                let to_me = |rank: &usize| elements(*rank, len * size, number)[me * len..][..len].to_vec();
                assert_eq!(all, self.ranks.iter().flat_map(to_me).collect::<Vec<_>>(), "{what} by {exchange:?}");
            }
        });
    }

    /// The part of these that this rank is in.
    fn part(&self, color: impl Fn(usize) -> Option<u32>, key: impl Fn(usize) -> i32) -> Option<Tested<'_>> {
        let me = self.comm.rank();
        let comm = self.comm.split(color(me), key(me)).unwrap()?;
        let mut ranks: Vec<_> = (0..self.ranks.len()).filter(|rank| color(*rank) == color(me)).collect();
        ranks.sort_by_key(|rank| (key(*rank), *rank));
        Some(Tested { comm, ranks: ranks.into_iter().map(|rank| self.ranks[rank]).collect() })
    }

    /// Makes one of some kind.
    fn divide(&self, random: &mut Random) -> Option<Tested<'_>> {
        let size = self.ranks.len();
        match random.below(5) {
            0 => Some(Tested { comm: self.comm.dup().unwrap(), ranks: self.ranks.clone() }),
            1 => {
                let columns = 1 + random.below(size);
                self.part(|rank| Some((rank % columns) as u32), |_| 0)
            }
            2 => {
                let columns = 1 + random.below(size);
                self.part(|rank| Some((rank / columns) as u32), |rank| -(rank as i32))
            }
            3 => {
                let seed = random.below(1 << 20) as u32;
                let color = |rank| Some(Random(seed ^ (rank as u32 * 977)).below(3) as u32).filter(|color| *color > 0);
                self.part(color, |rank| Random(seed ^ (rank as u32 * 31)).below(7) as i32)
            }
            _ => {
                let (first, step) = (random.below(size), 1 + random.below(3));
                let list: Vec<_> = (first..size).rev().step_by(step).collect();
                let comm = self.comm.create(&list).unwrap()?;
                Some(Tested { comm, ranks: list.into_iter().map(|rank| self.ranks[rank]).collect() })
            }
        }
    }

    /// Operations on this communicator and on two of its parts in turns, and on parts of these.
    fn grow(&self, random: &mut Random, depth: usize, steps: usize) {
        let parts = [self.divide(random), self.divide(random)];
        for step in 0..steps {
            // All of a part choose alike, whatever is chosen in others.
            let which = random.below(5);
            let mut chosen = Random(random.below(1 << 24) as u32);
            let number = step as u32 * 8 + depth as u32;
            match which {
                0 => self.operate(&mut chosen, number),
                1 | 2 => parts[0].iter().for_each(|part| part.operate(&mut chosen, number)),
                _ => parts[1].iter().for_each(|part| part.operate(&mut chosen, number)),
            }
        }
        for part in parts.iter().flatten().filter(|_| depth > 1) {
            part.grow(&mut Random(random.0 ^ 0x55), depth - 1, steps);
        }
        for part in parts.into_iter().flatten() {
            part.comm.free().unwrap();
        }
        self.operate(random, 7);
    }
}

fn run<R>(machine: &Machine, program: impl Fn(&Tested<'_>) -> R) -> Vec<R> {
    machine.run(|core| program(&Tested::world(core))).unwrap().results()
}

#[test]
fn trees_of_communicators_do_what_operations_mean() {
    for (ranks, seeds, depth, steps) in [(1, 2, 2, 10), (2, 8, 3, 30), (5, 10, 3, 30), (16, 6, 2, 30), (48, 1, 2, 15)] {
        for seed in 0..seeds {
            let machine = Machine::scc(ranks);
            // Chance delays ranks, and drains and evicts lines, in every second run.
            let chance = Strategy::Seeded { seed: seed.into() };
            let machine = if seed % 2 == 1 { machine.with_strategy(chance) } else { machine };
            run(&machine, |world| world.grow(&mut Random(seed * 7919 + ranks as u32), depth, steps));
        }
    }
}

#[test]
fn many_ranks_have_communicators_too() {
    run(&Machine::scc(255), |world| world.grow(&mut Random(3), 1, 8));
}

#[test]
fn nodes_of_coherent_cores_have_communicators_too() {
    for (nodes, cores) in [(2, 4), (3, 2)] {
        let layout = Layout::cluster(nodes, cores);
        let machine = Machine::new(Description { layout, ..Description::parse("cluster-fpga").unwrap() });
        for seed in 0..3 {
            // Few enough for the lines of MPBs: beyond, who is in no communicator with the first domain cannot allocate.
            run(&machine, |world| world.grow(&mut Random(seed), 1, 30));
        }
    }
}

/// More communicators than there are lines: they work as well, and when they are given up, the next one has lines again.
#[test]
fn where_lines_run_out_communicators_get_slower() {
    for ranks in [2, 5, 16, 48] {
        let lines = run(&Machine::scc(ranks), |world| {
            let dup = || Tested { comm: world.comm.dup().unwrap(), ranks: world.ranks.clone() };
            let all: Vec<_> = (0..9).map(|_| dup()).collect();
            let have_lines = |all: &[Tested<'_>]| -> Vec<bool> {
                all.iter().map(|one| one.comm.mpb_layout().has_own_lines()).collect()
            };
            let at_first = have_lines(&all);
            let mut random = Random(ranks as u32);
            for number in 0..60 {
                let which = random.below(all.len());
                all[which].operate(&mut random, number);
                if number % 4 == 0 {
                    all[which].operate_meanwhile(number);
                }
            }
            // Each has one under way, whatever it has.
            let mut sums = [[world.comm.rank() as u32; 9]; 9];
            let begun = all.iter().zip(&mut sums);
            let begun: Vec<_> =
                begun.map(|(one, sums)| one.comm.start_allreduce(sums, Operator::SUM).unwrap()).collect();
            begun.into_iter().rev().for_each(Request::wait);
            assert_eq!(sums, [[(ranks * (ranks - 1) / 2) as u32; 9]; 9]);
            all.into_iter().for_each(|one| one.comm.free().unwrap());
            let again = dup();
            again.operate(&mut random, 3);
            (at_first, again.comm.mpb_layout().has_own_lines())
        });
        for (at_first, again) in lines {
            assert!(at_first[0] && !at_first[8] && at_first.is_sorted_by(|one, next| one >= next), "{at_first:?}");
            assert!(again);
        }
    }
}

#[test]
fn lines_are_used_again_after_they_were_freed() {
    run(&Machine::scc(5), |world| {
        let mut random = Random(11);
        let mut layouts = Vec::new();
        for number in 0..40 {
            let odd = world.part(|rank| Some(rank as u32 % 2), |rank| -(rank as i32)).unwrap();
            odd.operate(&mut random.copy(), number);
            odd.operate(&mut random, number + 1);
            layouts.push(odd.comm.mpb_layout());
            odd.comm.free().unwrap();
        }
        assert!(layouts.windows(2).all(|two| two[0] == two[1]));
    });
}

impl Random {
    fn copy(&self) -> Self {
        Self(self.0)
    }
}

#[test]
fn lists_that_make_no_sense_are_refused_on_all_ranks() {
    run(&Machine::scc(3), |world| {
        let me = world.comm.rank();
        let refused = world.comm.create(if me == 1 { &[0, 3] } else { &[0] }).err();
        assert_eq!(refused, Some(Error::NoSuchRank { rank: 3, size: 3 }));
        let refused = world.comm.create(if me == 2 { &[1, 2, 1] } else { &[] }).err();
        assert_eq!(refused, Some(Error::RankTwice { rank: 1 }));
        // Two lists at once.
        let list: &[usize] = if me == 1 { &[1] } else { &[2, 0] };
        let comm = world.comm.create(list).unwrap().unwrap();
        assert_eq!((comm.rank(), comm.size()), ([1, 0, 0][me], list.len()));
        assert_eq!(world.comm.create(&[]).unwrap().map(|comm| comm.size()), None);
        assert_eq!(world.comm.name(), "world");
        comm.set_name("pairs");
        assert_eq!(comm.name(), "pairs");
        assert!(matches!(comm.rcce_profile().err(), Some(Error::WholeMachine { .. })));
    });
}

#[test]
fn ranks_that_are_near_have_communicators() {
    run(&Machine::scc(5), |world| {
        let tile = world.comm.split_near(Near::Tile, 0).unwrap();
        assert_eq!((tile.size(), tile.rank()), (if world.comm.rank() == 4 { 1 } else { 2 }, world.comm.rank() % 2));
        assert_eq!(world.comm.split_near(Near::Domain, 0).unwrap().size(), 1);
    });
}

/// Windows, barriers of groups, locks and non-blocking operations on two communicators that overlap.
#[test]
fn everything_else_works_on_communicators() {
    run(&Machine::scc(6), |world| {
        let rows = world.part(|rank| Some(rank as u32 / 3), |rank| -(rank as i32)).unwrap();
        let columns = world.part(|rank| Some(rank as u32 % 3), |_| 0).unwrap();
        let mut caches = hal::Cached::take_caches(world.comm.hal()).unwrap();
        for part in [&rows, &columns] {
            let (comm, size, me) = (&part.comm, part.ranks.len(), part.comm.rank());
            // A ring of puts.
            let (window, mut view) = Window::<_, u32>::create(comm, &mut caches, 2).unwrap();
            view.store(0, 0);
            let (right, left) = ((me + 1) % size, (me + size - 1) % size);
            let exposure = window.post(view, &mut caches, &Group::of([left]).unwrap()).unwrap();
            let word = [part.ranks[me] as u32];
            let access = window.start(&Group::of([right]).unwrap()).unwrap();
            access.put(right, 0, &word).unwrap();
            access.complete();
            let view = exposure.wait(&mut caches);
            assert_eq!(view.load(0), part.ranks[left] as u32);
            let epoch = window.fence(view, &mut caches, Default::default()).unwrap();
            epoch.accumulate(0, 1, &[1], Operator::SUM).unwrap();
            let view = epoch.close(&mut caches, Default::default());
            assert!(me > 0 || view.load(1) == size as u32);
            window.free(view, &mut caches).unwrap();

            let mut barrier = comm.barrier_of(&Group::of([0, size - 1]).unwrap(), crate::Barrier::Default).unwrap();
            barrier.wait();
            let mut lock = comm.queue_lock(0).unwrap();
            drop(lock.lock());
            drop(lock);
            drop(barrier);

            // One that is begun here goes on in a wait of the other communicator, and of all.
            let mut sum = [1_u32, me as u32];
            let request = comm.start_allreduce(&mut sum, Operator::SUM).unwrap();
            columns.comm.barrier();
            world.comm.barrier();
            request.wait();
            assert_eq!(sum, [size as u32, (0..size as u32).sum()]);
        }
        rows.comm.free().unwrap();
        columns.comm.free().unwrap();
    });
}

/// All communicators send from the same lines, of which a message in steps has all.
#[test]
fn one_message_in_steps_is_under_way_on_all_communicators() {
    run(&Machine::scc(2), |world| {
        let dup = world.comm.dup().unwrap();
        let message = [5; 40];
        if dup.rank() == 0 {
            for [one, other] in [[&world.comm, &dup], [&dup, &world.comm]] {
                let mut sending = one.start_sending(&message, 1).unwrap();
                assert_eq!(other.start_sending(&message, 1).err(), Some(Error::RequestsOutstanding));
                while !one.step_sending(&mut sending, &message).unwrap() {
                    one.await_step(&[], Some(1), hal::Deadline::Never).unwrap();
                }
            }
        } else {
            for comm in [&world.comm, &dup] {
                let mut received = [0; 40];
                comm.receive(&mut received, 0).unwrap();
                assert_eq!(received, message);
            }
        }
        dup.free().unwrap();
    });
}

/// One that lines are lent to clears cells in each operation, where the payload of the profile is.
#[test]
fn the_profile_refuses_even_messages_on_what_has_no_lines() {
    run(&Machine::scc(5), |world| {
        let mut all: Vec<_> = (0..9).map(|_| world.comm.dup().unwrap()).collect();
        let last = all.pop().unwrap();
        assert!(!last.mpb_layout().has_own_lines());
        all.into_iter().for_each(|one| one.free().unwrap());
        let operate = |comm: &Comm<'_, SimCore>| {
            let (own, mut sum, mut gathered) = ([1_u32], [0], [0; 5]);
            [
                comm.using(Broadcast::Binomial, |comm| comm.broadcast(&mut [0_u8; 100], 0)),
                comm.using(Reduction::TwoSided, |comm| comm.allreduce(&own, &mut sum, &Operator::SUM)),
                comm.using(Reduction::TwoSided, |comm| comm.reduce_scatter(&[1; 5], &mut sum, &Operator::SUM)),
                comm.using(Scan::TwoSided, |comm| comm.scan(&own, &mut sum, &Operator::SUM)),
                comm.using(Exchange::TwoSided, |comm| comm.allgather(&own, &mut gathered)),
            ]
        };
        let profile = world.comm.rcce_profile().unwrap();
        assert_eq!(operate(&world.comm), [Ok(()); 5]);
        assert_eq!(operate(&last), [Err(Error::ProfileInForce); 5]);
        // Nor are calls compared.
        last.check_arguments(true);
        assert_eq!(operate(&last), [Err(Error::ProfileInForce); 5]);
        last.check_arguments(false);
        last.barrier();
        drop(profile);
        assert_eq!(operate(&last), [Ok(()); 5]);
        last.free().unwrap();
    });
}

#[test]
fn who_is_too_far_ahead_is_noticed_without_lines_too() {
    for has_lines in [true, false] {
        let failure = Machine::scc(2).run(|core| {
            let world = Comm::world(core, regions::of_a_test()).unwrap();
            let comm = made_silently(&world, has_lines, 0);
            if comm.rank() == 0 {
                (0..57).for_each(|_| comm.signal(1));
            }
            world.barrier();
            if comm.rank() == 1 {
                comm.take_signal(0, hal::Reason::new("a signal"));
            }
        });
        let failure = failure.map(|_| ()).expect_err("a broken protocol").to_string();
        assert!(failure.contains("rank 0 is 57 signals ahead"), "{failure}");
    }
}

#[test]
fn lines_of_a_program_are_as_many_as_they_can_be() {
    run(&Machine::scc(5), |world| {
        let dup = world.comm.dup().unwrap();
        let mut lines = dup.reserve_lines(1).unwrap();
        let most = lines.limit_bytes() / hal::LINE_BYTES;
        assert_eq!(lines.extend(most + 1), Err(Error::NoSpareLines { wanted: most + 1 }));
        assert!(most > 1);
        lines.extend(most).unwrap();
        assert_eq!(lines.limit_bytes(), lines.len_bytes());
        drop(lines);
        dup.free().unwrap();
    });
}

/// Two parts of different sizes, for whose words there is no room: all say how many bytes there were none for first.
#[test]
fn all_ranks_name_the_same_words_that_there_is_no_room_for() {
    let refused = run(&Machine::scc(5), |world| {
        let _all: Vec<_> = (0..9).map(|_| world.comm.dup().unwrap()).collect();
        let near = crate::Placement::Near(hal::Topology::core(world.comm.hal()));
        for len_bytes in (5..30).rev().map(|bits| 1_usize << bits) {
            while world.comm.allocator().allocate::<hal::kind::Uncached>(len_bytes, near).is_ok() {}
        }
        world.comm.barrier();
        let color = u32::from(world.comm.rank() > 2);
        let refused = world.comm.split(Some(color), 0).err();
        world.comm.barrier();
        refused
    });
    assert_eq!(refused, [Some(Error::OutOfSharedMemory { len_bytes: Words::len_bytes(3) }); 5]);
}

/// Counters are the board's, and parts do not know of each other's.
#[test]
fn atomic_counters_are_for_all_ranks() {
    run(&Machine::scc(4), |world| {
        let part = world.comm.dup().unwrap();
        for barrier in [crate::Barrier::AtomicCounters, crate::Barrier::Registers] {
            let refused = part.barrier_of(&part.group(), barrier).err();
            assert!(matches!(refused, Some(Error::WholeMachine { .. })), "{barrier:?}: {refused:?}");
        }
        part.free().unwrap();
    });
}

/// As long as there is no other communicator, the world does exactly what it did: nothing is asked for or told.
#[test]
fn the_world_pays_for_nothing_before_it_is_divided() {
    let read = run(&Machine::scc(5), |world| {
        let mut random = Random(1);
        world.operate(&mut random, 1);
        world.comm.barrier();
        let before = world.comm.hal().counters();
        let _ = world.comm.take_spare_lines(3, "a test");
        (world.comm.hal().counters() - before).mpb_lines_read
    });
    assert_eq!(read, [0; 5]);
}

/// A part of all ranks that is made without a word, so that explorations begin with what they are about: with lines of its own, of
/// the smallest share, or with nothing.
fn made_silently<'c>(world: &'c Comm<'c, SimCore>, has_lines: bool, number: usize) -> Comm<'c, SimCore> {
    let (core, ranks) = (world.hal(), world.size());
    let share = Share::fitting(ranks, 2 * ranks + 12).expect("the smallest share");
    let first = world.mpb_layout().spare().start + number * share.lines(ranks);
    let cores = (0..ranks).map(|rank| world.core_of(rank)).collect();
    let members = Members::some(hal::Topology::core(core), cores, hal::Topology::layout(core)).expect("a member");
    let region = regions::of_a_test()
        .region(hal::SharedAddress::new(0, (1 << 20) + number * 256), Words::len_bytes(ranks).next_multiple_of(32));
    let elsewhere: Box<dyn Elsewhere<SimCore>> = Box::new(Words { region, ranks, owner: 0 });
    let layout = world.mpb_layout().beside(ranks, has_lines.then_some((first, share)));
    world.assemble(members, layout, (!has_lines).then_some(elsewhere), number as u32 + 1)
}

/// Runs something on two ranks and two communicators of both in all orders, and returns how many there are.
fn explore(
    spontaneous: Spontaneous,
    have_lines: [bool; 2],
    program: impl Fn(&Comm<'_, SimCore>, [&Comm<'_, SimCore>; 2]),
) -> u64 {
    in_all_orders(spontaneous, |world| {
        let [one, other] = [0, 1].map(|number| made_silently(world, have_lines[number], number));
        program(world, [&one, &other]);
    })
}

/// Broadcasts a message of this length, from a root.
fn broadcast(comm: &Comm<'_, SimCore>, algorithm: Broadcast, len: usize, root: usize, number: u8) {
    let byte = |rank: usize| 0x10 * rank as u8 + number;
    let mut message = vec![byte(comm.rank()); len];
    comm.using(algorithm, |comm| comm.broadcast(&mut message, root)).expect("there is such a root");
    assert_eq!(message, vec![byte(root); len], "broadcast {number}");
}

/// Both communicators borrow the same staging lines, one right after the other, from different roots: neither overwrites what the
/// other's rank has not read.
#[test]
fn staging_is_lent_in_all_orders() {
    for have_lines in [[true, true], [true, false], [false, false]] {
        let runs = explore(Spontaneous::default(), have_lines, |_, [one, other]| {
            broadcast(one, Broadcast::Long, 100, 0, 1);
            broadcast(other, Broadcast::Long, 100, 1, 2);
        });
        assert!(runs > 1, "{runs} runs");
    }
}

/// Short operations of both, and of all ranks in between, none of which waits for the other rank to have read.
#[test]
fn short_operations_overlap_in_all_orders() {
    for have_lines in [[true, true], [true, false]] {
        for spontaneous in [Spontaneous::default(), DRAINS] {
            let runs = explore(spontaneous, have_lines, |world, [one, other]| {
                broadcast(one, Broadcast::Short, 5, 0, 1);
                broadcast(world, Broadcast::Short, 5, 0, 2);
                broadcast(other, Broadcast::Short, 5, 1, 3);
            });
            assert!(runs > 1, "{runs} runs");
        }
    }
}

/// A non-blocking operation through lines and through words.
#[test]
fn operations_that_were_begun_go_on_in_all_orders() {
    for have_lines in [true, false] {
        let runs = explore(Spontaneous::default(), [have_lines, true], |world, [one, _]| {
            let mut ranks = [world.rank() as u32 + 1];
            one.start_allreduce(&mut ranks, Operation::new(|left, right| left * 10 + right)).unwrap().wait();
            assert_eq!(ranks, [12]);
        });
        assert!(runs > 1, "{runs} runs");
    }
}

/// What is left out of a barrier of signals in words fails: a store of one rank, and what the other one sees after it.
#[test]
fn words_need_the_drain_before_and_the_invalidation_behind() {
    let stored_and_seen = |omitted: Omit| {
        let outcome = Machine::scc(2).run(|core| {
            let world = Comm::world(core, regions::of_a_test()).unwrap();
            let comm = made_silently(&world, false, 0);
            let line = world.mpb_line(1, world.mpb_layout().spare().end - 1);
            // What L1 has of it is out of date by then.
            let _ = hal::Mpb::load_line(core, line);
            core.omit(omitted);
            if comm.rank() == 0 {
                hal::Mpb::store(core, line, 0, &[7]);
            }
            comm.barrier();
            core.omit(Omit::empty());
            let found = hal::Mpb::load_line(core, line).0[0];
            world.barrier();
            found
        });
        outcome.map(|outcome| outcome.results()[1])
    };
    assert_eq!(stored_and_seen(Omit::empty()).ok(), Some(7));
    for omitted in [Omit::DRAIN, Omit::INVALIDATE_MPB] {
        assert_ne!(stored_and_seen(omitted).ok(), Some(7), "{omitted:?}");
    }
}

/// Allreduces in a row have the same lines again where there are few: nobody's operands or result are another operation's.
#[test]
fn allreduces_in_a_row_share_their_lines() {
    for (ranks, seed) in [(8, 1), (8, 2), (8, 3), (20, 4), (48, 5)] {
        let machine = Machine::scc(ranks).with_strategy(hal::sim::Strategy::Seeded { seed });
        let barriers = run(&machine, |world| {
            use hal::{Clock, Counted};
            let comm = world.comm.dup().unwrap();
            let (me, mut random) = (comm.rank(), Random(seed as u32 ^ (comm.rank() as u32) << 8));
            let mut most_drains = 0;
            for round in 0..40_u32 {
                comm.hal().compute(random.below(4000) as u64);
                // Of other lengths, and other operations, in between.
                let len = if round % 13 == 12 { 9 } else { 2 };
                let mut values: Vec<_> = (0..len).map(|index| me as u32 * (round + 1) + index).collect();
                let before = comm.hal().counters().drains;
                comm.allreduce(InPlace, &mut values, &Operator::SUM).unwrap();
                if round % 13 > 1 && round % 13 < 12 {
                    most_drains = most_drains.max(comm.hal().counters().drains - before);
                }
                let sum = (ranks * (ranks - 1) / 2) as u32 * (round + 1);
                let expected: Vec<_> = (0..len).map(|index| sum + ranks as u32 * index).collect();
                assert_eq!(values, expected, "round {round} on rank {me}");
            }
            most_drains
        });
        assert!(barriers.iter().all(|drains| *drains == 0), "{ranks} ranks took barriers: {barriers:?}");
    }
}

/// A name, what it took on the first, the second and the last duplicate of 6, 8 and 48 ranks, in per cent, and what it is.
type Measured = (&'static str, [[u32; 3]; 3], fn(&Comm<'_, SimCore>));

/// What operations take in a row on duplicates of all ranks, beside what they take on all ranks before these are made: no more than 5 %
/// above what was measured when this was written.
#[test]
fn operations_take_no_longer_than_they_took() {
    use hal::Clock;
    let kinds: [Measured; 8] = [
        ("barrier", [[100, 100, 140], [100, 100, 147], [100, 100, 319]], |comm| comm.barrier()),
        ("broadcast of 8 bytes", [[100, 100, 554], [100, 100, 551], [98, 119, 937]], |comm| {
            comm.broadcast(&mut [0_u8; 8], 0).unwrap()
        }),
        ("broadcast of 1 KB", [[107, 107, 122], [110, 110, 124], [112, 117, 142]], |comm| {
            comm.broadcast(&mut [0_u8; 1024], 0).unwrap()
        }),
        ("broadcast of 16 KB", [[100, 100, 102], [101, 101, 103], [101, 101, 104]], |comm| {
            comm.broadcast(&mut [0_u8; 16384], 0).unwrap()
        }),
        ("allreduce of 8 bytes", [[100, 98, 378], [100, 100, 377], [100, 100, 468]], |comm| {
            comm.allreduce(InPlace, &mut [0_u32; 2], &Operator::SUM).unwrap()
        }),
        ("allreduce of 4 KB", [[103, 103, 114], [103, 103, 112], [112, 112, 136]], |comm| {
            comm.allreduce(InPlace, &mut [0_u32; 1024], &Operator::SUM).unwrap()
        }),
        ("allgather of 8 bytes", [[100, 102, 211], [100, 100, 204], [100, 101, 165]], |comm| {
            comm.allgather(&[0_u64], &mut vec![0_u64; comm.size()]).unwrap()
        }),
        ("alltoall of 8 bytes", [[100, 100, 183], [100, 99, 181], [105, 105, 142]], |comm| {
            comm.alltoall(&vec![0_u64; comm.size()], &mut vec![0_u64; comm.size()]).unwrap();
        }),
    ];
    for (size, ranks) in [6, 8, 48].into_iter().enumerate() {
        for (name, measured, kind) in kinds {
            let times = run(&Machine::scc(ranks), |world| {
                let time = |comm: &Comm<'_, SimCore>| {
                    (0..3).for_each(|_| kind(comm));
                    comm.barrier();
                    let before = comm.hal().now();
                    (0..8).for_each(|_| kind(comm));
                    comm.barrier();
                    (comm.hal().now() - before) as f64
                };
                let before = time(&world.comm);
                let made: Vec<_> = (0..6).map(|_| world.comm.dup().unwrap()).collect();
                assert!(!made[5].mpb_layout().has_own_lines());
                [&world.comm, &made[0], &made[1], &made[5]].map(|comm| time(comm) / before)
            });
            let [world, first, second, last] = times[0].map(|ratio| (ratio * 100.0).round());
            std::println!("{ranks} ranks, {name}: {world} % on all ranks, then {first}, {second}, {last}");
            let bounds = measured[size].map(|per_cent| f64::from(per_cent) * 1.05 / 100.0);
            let are_met = times[0][1..].iter().zip(bounds).all(|(time, bound)| *time <= bound);
            assert!(times[0][0] < 1.05 && are_met, "{ranks} ranks, {name}: {:?}, at most {bounds:?}", times[0]);
        }
    }
}

/// Where registers reach inside nodes only, windows are made by a rank that can allocate, whatever its number is.
#[test]
fn windows_need_a_rank_of_the_first_domain() {
    run(&Machine::new(Description::parse("cluster-fpga:2x3").unwrap()), |world| {
        let mut caches = hal::Cached::take_caches(world.comm.hal()).unwrap();
        for (order, is_possible) in [([0, 4], true), ([4, 0], true), ([5, 3], false)] {
            let Some(comm) = world.comm.create(&order).unwrap() else { continue };
            match Window::<_, u32>::create(&comm, &mut caches, 4) {
                Ok((window, view)) => {
                    assert!(is_possible, "ranks {order:?}");
                    window.free(view, &mut caches).unwrap();
                }
                Err(error) => {
                    let is_out_of_reach = matches!(error, Error::RegisterOutOfReach { .. });
                    assert!(!is_possible && is_out_of_reach, "ranks {order:?}: {error}");
                }
            }
            comm.free().unwrap();
        }
    });
}
