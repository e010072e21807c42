//! What non-blocking operations are to do: on any communicator, or between any two groups, with lengths at random.

use std::{vec, vec::Vec};

use hal::sim::SimCore;

use crate::{
    Comm, InPlace, Intercommunicator, Operation, Pieces, Request, Root,
    testing::{Map, Random, compose, composed},
};

/// What a rank of the world has in an operation with this number.
fn elements(rank: usize, len: usize, number: usize) -> Vec<Map> {
    let value = |at: usize| (rank * 7919 + at * 104_729 + number * 31) as u32;
    (0..len).map(|at| [value(at).wrapping_mul(2_654_435_761) | 1, value(at) ^ 77]).collect()
}

/// Who takes part in an operation: ranks of the world, as one of them sees them.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'g> {
    pub(crate) ours: &'g [usize],
    /// The other group of an intercommunicator, or the own one again.
    pub(crate) theirs: &'g [usize],
    /// This rank in its group, and the root in its own.
    pub(crate) me: usize,
    pub(crate) root: usize,
    /// Whose rank the root is, if there are two groups.
    pub(crate) has_root: Option<bool>,
}

impl Sides<'_> {
    fn is_root(&self) -> bool {
        self.has_root != Some(false) && self.me == self.root
    }

    /// Whether something goes to the root, or comes from there.
    fn is_at_other_end(&self) -> bool {
        self.has_root != Some(true)
    }

    fn place(&self) -> Root {
        match (self.is_at_other_end(), self.is_root()) {
            (true, _) => Root::At(self.root),
            (false, true) => Root::Here,
            (false, false) => Root::Beside,
        }
    }
}

/// Memory for an operation: what goes out, what comes, what comes according to the oracle, and where pieces are.
pub(crate) struct Case {
    kind: usize,
    number: usize,
    root: usize,
    place: Root,
    own: Vec<Map>,
    result: Vec<Map>,
    wanted: Vec<Map>,
    counts: [Vec<usize>; 2],
    starts: Vec<usize>,
}

/// How many kinds of operations there are, and which of them need no open messages.
pub(crate) const KINDS: usize = 16;
pub(crate) const WITHOUT_MESSAGES: [usize; 4] = [0, 1, 3, 4];

/// Which of them there are between two groups, and how many of these, the first ones, are not in pieces.
pub(crate) const BETWEEN: [usize; 13] = [0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15];
pub(crate) const BETWEEN_WITHOUT_PIECES: usize = 9;

impl Case {
    /// An operation of some kind, of which all ranks of a communicator choose the rest alike; `ranks` are its ranks in the world.
    pub(crate) fn new(
        random: &mut Random,
        kind: usize,
        (ranks, me): (&[usize], usize),
        number: usize,
        longest: usize,
    ) -> Self {
        let root = random.below(ranks.len());
        Self::of(random, kind, Sides { ours: ranks, theirs: ranks, me, root, has_root: None }, number, longest)
    }

    /// An operation of some kind, of which all ranks that take part choose the rest alike.
    pub(crate) fn of(random: &mut Random, kind: usize, sides: Sides<'_>, number: usize, longest: usize) -> Self {
        let Sides { ours, theirs, me, root, .. } = sides;
        let is_root = sides.is_root();
        let len = [0, 1, 3, 29, 64, 200, 1500][random.below(7)].min(longest);
        let salt = random.below(1 << 16);
        // What one rank sends to another one, where these differ.
        let between =
            |from: usize, to: usize| if len == 0 { 0 } else { (from * 5 + to * 3 + salt) % (len.min(50) + 1) };
        let of = |rank: usize, len: usize| elements(rank, len, number);
        let mine = |len: usize| of(ours[me], len);
        let of_root = || of(if sides.has_root == Some(false) { theirs[root] } else { ours[root] }, len);
        let all = |len: usize| theirs.iter().flat_map(|rank| of(*rank, len)).collect::<Vec<_>>();
        let untouched = |len: usize| vec![[9, 9]; len];
        let only_if = |has_it: bool, wanted: Vec<Map>| if has_it { wanted } else { untouched(wanted.len()) };
        let reduced = |to: usize, len: usize| match to {
            0 => untouched(len),
            _ => composed(theirs[..to].iter().map(|rank| of(*rank, len))),
        };
        // What is combined and divided both groups can divide.
        let operands = if sides.has_root.is_some() { len * ours.len() * theirs.len() } else { len * ours.len() };
        let part = operands / ours.len();
        let (mut counts, starts) = ([vec![], vec![]], vec![]);
        let wanted = match kind {
            0 => vec![],
            1 => only_if(is_root || sides.is_at_other_end(), of_root()),
            2 => only_if(is_root, reduced(theirs.len(), len)),
            3 | 4 => reduced(theirs.len(), len),
            5 => reduced(me + 1, len),
            6 => reduced(me, len),
            7 => only_if(is_root, all(len)),
            8 => only_if(sides.is_at_other_end(), mine(len)),
            9 => all(len),
            10 => theirs.iter().flat_map(|rank| of(*rank, len * ours.len())[me * len..][..len].to_vec()).collect(),
            11 => reduced(theirs.len(), operands)[me * part..][..part].to_vec(),
            // Pieces, with a gap before each.
            12 | 13 => {
                counts[1] = (0..theirs.len()).map(|rank| between(rank, 0)).collect();
                let placed = theirs.iter().zip(&counts[1]);
                let placed = placed.flat_map(|(rank, count)| [untouched(2), of(*rank, *count)].concat()).collect();
                only_if(kind == 13 || is_root, placed)
            }
            14 => {
                counts[0] = (0..theirs.len()).map(|rank| between(0, rank)).collect();
                only_if(sides.is_at_other_end(), mine(between(0, me)))
            }
            _ => {
                counts[0] = (0..theirs.len()).map(|to| between(me, to)).collect();
                counts[1] = (0..theirs.len()).map(|from| between(from, me)).collect();
                let sent = |from: usize| {
                    let before: usize = (0..me).map(|to| between(from, to)).sum();
                    of(theirs[from], ours.len() * (len + 1))[before..][..between(from, me)].to_vec()
                };
                (0..theirs.len()).flat_map(|from| [untouched(2), sent(from)].concat()).collect()
            }
        };
        let result = match kind {
            1 if is_root => of_root(),
            4 => mine(len),
            _ => untouched(wanted.len()),
        };
        let own = match kind {
            8 => {
                if is_root {
                    all(len)
                } else {
                    vec![]
                }
            }
            10 => mine(len * theirs.len()),
            11 => mine(operands),
            12 | 13 => mine(between(me, 0)),
            14 if is_root => theirs.iter().zip(&counts[0]).flat_map(|(rank, count)| of(*rank, *count)).collect(),
            14 => vec![],
            15 => mine(theirs.len() * (len + 1)),
            _ => mine(len),
        };
        let mut case = Self { kind, number, root, place: sides.place(), own, result, wanted, counts, starts };
        let mut end = 0;
        case.starts = case.counts[1].iter().map(|count| (end + 2, end += 2 + count).0).collect();
        case
    }

    /// Begins it.
    pub(crate) fn begin<'r, 'c>(&'r mut self, comm: &'r Comm<'c, SimCore>) -> Request<'r, 'c, SimCore> {
        let Self { kind, root, own, result, counts, starts, .. } = self;
        let (root, maps, own) = (*root, Operation::new(compose), &own[..]);
        let [sent, received] = &*counts;
        match *kind {
            0 => comm.start_barrier(),
            1 => comm.start_broadcast(result, root),
            2 => comm.start_reduce(own, result, maps, root),
            3 => comm.start_allreduce(own, result, maps),
            4 => comm.start_allreduce(InPlace, result, maps),
            5 => comm.start_scan(own, result, maps),
            6 => comm.start_exscan(own, result, maps),
            7 => comm.start_gather(own, &mut result[..], root),
            8 => comm.start_scatter(own, &mut result[..], root),
            9 => comm.start_allgather(own, &mut result[..]),
            10 => comm.start_alltoall(own, &mut result[..]),
            11 => comm.start_reduce_scatter(own, result, maps),
            12 => comm.start_gather(own, Pieces::at(received, starts).of_mut(result), root),
            13 => comm.start_allgather(own, Pieces::at(received, starts).of_mut(result)),
            14 => comm.start_scatter(Pieces::packed(sent).of(own), &mut result[..], root),
            _ => comm.start_alltoall(Pieces::packed(sent).of(own), Pieces::at(received, starts).of_mut(result)),
        }
        .unwrap()
    }

    /// Begins it between two groups.
    pub(crate) fn begin_between<'r, 'c>(
        &'r mut self,
        inter: &'r Intercommunicator<'c, SimCore>,
    ) -> Request<'r, 'c, SimCore> {
        let Self { kind, place, own, result, counts, starts, .. } = self;
        let (root, maps, own) = (*place, Operation::new(compose), &own[..]);
        let [sent, received] = &*counts;
        match *kind {
            0 => inter.start_barrier(),
            1 => inter.start_broadcast(result, root),
            2 => inter.start_reduce(own, result, maps, root),
            3 => inter.start_allreduce(own, result, maps),
            7 => inter.start_gather(own, &mut result[..], root),
            8 => inter.start_scatter(own, result, root),
            9 => inter.start_allgather(own, &mut result[..]),
            10 => inter.start_alltoall(own, &mut result[..]),
            11 => inter.start_reduce_scatter(own, result, maps),
            12 => inter.start_gather(own, Pieces::at(received, starts).of_mut(result), root),
            13 => inter.start_allgather(own, Pieces::at(received, starts).of_mut(result)),
            14 => inter.start_scatter(Pieces::packed(sent).of(own), result, root),
            _ => inter.start_alltoall(Pieces::packed(sent).of(own), Pieces::at(received, starts).of_mut(result)),
        }
        .unwrap()
    }

    /// Does it between two groups, if it is not in pieces, and waits for it.
    pub(crate) fn operate_between(mut self, inter: &Intercommunicator<'_, SimCore>) {
        let Self { kind, place, own, result, .. } = &mut self;
        let (root, maps) = (*place, Operation::new(compose));
        let done = match *kind {
            0 => {
                inter.barrier();
                Ok(())
            }
            1 => inter.broadcast(result, root),
            2 => inter.reduce(own, result, &maps, root),
            3 => inter.allreduce(own, result, &maps),
            7 => inter.gather(own, result, root),
            8 => inter.scatter(own, result, root),
            9 => inter.allgather(own, result),
            10 => inter.alltoall(own, result),
            _ => inter.reduce_scatter(own, result, &maps),
        };
        done.unwrap();
        self.check();
    }

    /// Looks at what has come, now that it is over.
    pub(crate) fn check(self) {
        let Self { kind, number, root, result, wanted, .. } = self;
        assert!(result == wanted, "operation {number} of kind {kind} with root {root}");
    }
}

/// Completes requests in an order and in ways that `own` chooses, for each rank on its own; unless all are to be waited for, some by being
/// dropped.
pub(crate) fn complete(mut requests: Vec<Request<'_, '_, SimCore>>, own: &mut Random, waits_for_all: bool) {
    while !requests.is_empty() {
        let at = own.below(requests.len());
        match own.below(if waits_for_all { 5 } else { 6 }) {
            0 => {
                requests.swap_remove(at).wait().unwrap();
            }
            1 => while requests[at].test().unwrap().is_none() {},
            2 => Request::wait_some(&mut requests).unwrap().into_iter().for_each(|(_, one)| assert!(one.is_ok())),
            3 => assert!(Request::wait_any(&mut requests).unwrap().is_none_or(|(_, one)| one.is_ok())),
            4 => assert!(Request::wait_all(&mut requests).iter().all(Result::is_ok)),
            _ => drop(requests.swap_remove(at)),
        }
        requests.retain(|request| !request.is_over());
    }
}
