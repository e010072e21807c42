//! All operations on communicators of all kinds, against what they mean.

use std::{format, vec, vec::Vec};

use hal::sim::{Machine, SimCore};

use crate::{
    Broadcast, Comm, Exchange, InPlace, Intercommunicator, OcBcast, Operation, Reduction, Scan,
    collective::nonblocking::oracle::{BETWEEN, BETWEEN_WITHOUT_PIECES, Case, Sides},
    testing::{Map, Random, compose, composed},
};

/// A communicator, and which ranks of the world are in it.
pub(super) struct Tested<'c> {
    pub(super) comm: Comm<'c, SimCore>,
    pub(super) ranks: Vec<usize>,
}

/// What a rank of the world contributes to an operation.
pub(super) fn element(rank: usize, index: usize, number: u32) -> Map {
    let mixed = (rank as u32 + 1).wrapping_mul(2_654_435_761) ^ (index as u32).wrapping_mul(40_503) ^ number << 7;
    [mixed | 1, mixed.rotate_left(11)]
}

pub(super) fn elements(rank: usize, len: usize, number: u32) -> Vec<Map> {
    (0..len).map(|index| element(rank, index, number)).collect()
}

const LENGTHS: [usize; 10] = [0, 1, 2, 3, 5, 12, 40, 150, 420, 900];

impl<'c> Tested<'c> {
    pub(super) fn world(core: &'c SimCore) -> Self {
        let comm = Comm::world(core, regions::of_a_test()).unwrap();
        let ranks = (0..comm.size()).collect();
        Self { comm, ranks }
    }

    /// What the operands of these ranks make.
    pub(super) fn composed(&self, ranks: core::ops::Range<usize>, len: usize, number: u32) -> Vec<Map> {
        composed(ranks.map(|rank| elements(self.ranks[rank], len, number)))
    }

    /// One operation, which `random` chooses; `number` tells it from others.
    pub(super) fn operate(&self, random: &mut Random, number: u32) {
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
    pub(super) fn operate_meanwhile(&self, number: u32) {
        let (comm, size, me) = (&self.comm, self.ranks.len(), self.comm.rank());
        let root = number as usize % size;
        let mut message = if me == root { elements(self.ranks[me], 9, number) } else { vec![[0; 2]; 9] };
        comm.start_broadcast(&mut message, root).unwrap().wait().unwrap();
        assert_eq!(message, elements(self.ranks[root], 9, number));
        let mut all = elements(self.ranks[me], 7, number);
        comm.start_allreduce(crate::InPlace, &mut all, Operation::new(compose)).unwrap().wait().unwrap();
        assert_eq!(all, self.composed(0..size, 7, number));
        let whole: [Map; 7] = elements(self.ranks[me], 7, number).try_into().unwrap();
        let mut long = [[whole[0], whole[1], whole[2], whole[3], whole[4]]; 2];
        let each = |left: [Map; 5], right: [Map; 5]| core::array::from_fn(|at| compose(left[at], right[at]));
        comm.start_allreduce(crate::InPlace, &mut long, Operation::new(each)).unwrap().wait().unwrap();
        assert_eq!(long, [all[..5].to_vec(), all[..5].to_vec()].map(|part| <[Map; 5]>::try_from(part).unwrap()));
        comm.start_barrier().unwrap().wait().unwrap();
    }

    pub(super) fn exchange(
        &self,
        kind: usize,
        exchange: Exchange,
        (len, root): (usize, usize),
        number: u32,
        what: &str,
    ) {
        let (comm, size, me) = (&self.comm, self.ranks.len(), self.comm.rank());
        let own = elements(self.ranks[me], len, number);
        let of_all: Vec<Map> = self.ranks.iter().flat_map(|rank| elements(*rank, len, number)).collect();
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
    pub(super) fn part(&self, color: impl Fn(usize) -> Option<u32>, key: impl Fn(usize) -> i32) -> Option<Tested<'_>> {
        let me = self.comm.rank();
        let comm = self.comm.split(color(me), key(me)).unwrap()?;
        let mut ranks: Vec<_> = (0..self.ranks.len()).filter(|rank| color(*rank) == color(me)).collect();
        ranks.sort_by_key(|rank| (key(*rank), *rank));
        Some(Tested { comm, ranks: ranks.into_iter().map(|rank| self.ranks[rank]).collect() })
    }

    /// Those below `first` or the others: where this rank is. The last one is the first.
    pub(super) fn half(&self, first: usize) -> Tested<'_> {
        self.part(|rank| Some((rank < first).into()), |rank| -(rank as i32)).expect("each is in a half")
    }

    /// Joins both halves.
    pub(super) fn join<'t>(&self, half: &'t Tested<'_>, first: usize) -> Joined<'t> {
        let (me, size) = (self.comm.rank(), self.ranks.len());
        let theirs = if me < first { first..size } else { 0..first };
        let inter = half.comm.create_intercommunicator(0, &self.comm, theirs.end - 1, 0).unwrap();
        Joined {
            inter,
            ours: &half.ranks,
            theirs: self.ranks[theirs].iter().rev().copied().collect(),
            is_first: me < first,
        }
    }

    /// Makes one of some kind.
    pub(super) fn divide(&self, random: &mut Random) -> Option<Tested<'_>> {
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
}

/// An intercommunicator, and which ranks of the world are in its groups.
pub(super) struct Joined<'c> {
    pub(super) inter: Intercommunicator<'c, SimCore>,
    ours: &'c [usize],
    theirs: Vec<usize>,
    is_first: bool,
}

impl Joined<'_> {
    /// An operation of some kind.
    pub(super) fn case(&self, random: &mut Random, kind: usize, number: u32) -> Case {
        let (ours, theirs) = (self.ours, &self.theirs[..]);
        let has_root = (random.below(2) == 0) == self.is_first;
        let root = random.below(if has_root { ours.len() } else { theirs.len() });
        let sides = Sides { ours, theirs, me: self.inter.rank(), root, has_root: Some(has_root) };
        Case::of(random, kind, sides, number as usize, if ours.len() + theirs.len() > 10 { 3 } else { 64 })
    }

    /// One operation, which `random` chooses; `number` tells it from others.
    pub(super) fn operate(&self, random: &mut Random, number: u32) {
        let kind = random.of(&BETWEEN[..BETWEEN_WITHOUT_PIECES]);
        self.case(random, kind, number).operate_between(&self.inter);
    }
}

pub(super) fn run<R>(machine: &Machine, program: impl Fn(&Tested<'_>) -> R) -> Vec<R> {
    machine.run(|core| program(&Tested::world(core))).unwrap().results()
}
