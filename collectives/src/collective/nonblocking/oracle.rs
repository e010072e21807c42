//! What non-blocking operations are to do: on any communicator, with lengths at random.

use std::{vec, vec::Vec};

use hal::sim::SimCore;

use crate::{
    Comm, InPlace, Operation, Pieces, Request,
    testing::{Map, Random, compose, composed},
};

/// What a rank of the world has in an operation with this number.
fn elements(rank: usize, len: usize, number: usize) -> Vec<Map> {
    let value = |at: usize| (rank * 7919 + at * 104_729 + number * 31) as u32;
    (0..len).map(|at| [value(at).wrapping_mul(2_654_435_761) | 1, value(at) ^ 77]).collect()
}

/// Memory for an operation: what goes out, what comes, what comes according to the oracle, and where pieces are.
#[derive(Default)]
pub(crate) struct Case {
    kind: usize,
    number: usize,
    root: usize,
    own: Vec<Map>,
    result: Vec<Map>,
    wanted: Vec<Map>,
    counts: [Vec<usize>; 2],
    starts: Vec<usize>,
}

/// How many kinds of operations there are, and which of them need no open messages.
pub(crate) const KINDS: usize = 16;
pub(crate) const WITHOUT_MESSAGES: [usize; 4] = [0, 1, 3, 4];

impl Case {
    /// An operation of some kind, of which all ranks of a communicator choose the rest alike; `ranks` are its ranks in the world.
    pub(crate) fn new(
        random: &mut Random,
        kind: usize,
        (ranks, me): (&[usize], usize),
        number: usize,
        longest: usize,
    ) -> Self {
        let (size, root) = (ranks.len(), random.below(ranks.len()));
        let len = [0, 1, 3, 29, 64, 200, 1500][random.below(7)].min(longest);
        let salt = random.below(1 << 16);
        // What one rank sends to another one, where these differ.
        let between =
            |from: usize, to: usize| if len == 0 { 0 } else { (from * 5 + to * 3 + salt) % (len.min(50) + 1) };
        let of = |rank: usize, len: usize| elements(ranks[rank], len, number);
        let all = |len: usize| (0..size).flat_map(|rank| of(rank, len)).collect::<Vec<_>>();
        let untouched = |len: usize| vec![[9, 9]; len];
        let mut case = Self { kind, number, root, own: of(me, len), ..Self::default() };
        let at_root = |wanted: Vec<Map>| if me == root { wanted } else { untouched(wanted.len()) };
        let reduced = |to: usize| if to == 0 { untouched(len) } else { composed((0..to).map(|rank| of(rank, len))) };
        case.wanted = match kind {
            0 => vec![],
            1 => of(root, len),
            2 => at_root(reduced(size)),
            3 | 4 => reduced(size),
            5 => reduced(me + 1),
            6 => reduced(me),
            7 => at_root(all(len)),
            8 => of(me, len),
            9 => all(len),
            10 => (0..size).flat_map(|rank| of(rank, len * size)[me * len..][..len].to_vec()).collect(),
            11 => composed((0..size).map(|rank| of(rank, len * size)))[me * len..][..len].to_vec(),
            // Pieces, with a gap before each.
            12 | 13 => {
                case.counts[1] = (0..size).map(|rank| between(rank, 0)).collect();
                case.own = of(me, case.counts[1][me]);
                let placed: Vec<_> = case.counts[1]
                    .iter()
                    .enumerate()
                    .flat_map(|(rank, count)| [untouched(2), of(rank, *count)].concat())
                    .collect();
                if kind == 12 { at_root(placed) } else { placed }
            }
            14 => {
                case.counts[0] = (0..size).map(|rank| between(0, rank)).collect();
                of(me, case.counts[0][me])
            }
            _ => {
                case.counts[0] = (0..size).map(|to| between(me, to)).collect();
                case.counts[1] = (0..size).map(|from| between(from, me)).collect();
                let sent = |from: usize| {
                    let before: usize = (0..me).map(|to| between(from, to)).sum();
                    of(from, size * (len + 1))[before..][..between(from, me)].to_vec()
                };
                (0..size).flat_map(|from| [untouched(2), sent(from)].concat()).collect()
            }
        };
        case.result = match kind {
            1 if me == root => of(root, len),
            4 => case.own.clone(),
            _ => untouched(case.wanted.len()),
        };
        match kind {
            8 => case.own = if me == root { all(len) } else { vec![] },
            10 | 11 => case.own = of(me, len * size),
            14 => {
                let blocks = (0..size).flat_map(|rank| of(rank, case.counts[0][rank]));
                case.own = if me == root { blocks.collect() } else { vec![] };
            }
            15 => case.own = of(me, size * (len + 1)),
            _ => {}
        }
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
