//! Gather, scatter, allgather and all-to-all, against what they should do.

use alloc::{vec, vec::Vec};

use collectives::{Error, Exchange, InPlace, Pieces};
use hal::{Core, Counters, LINE_BYTES};

use crate::{
    Context,
    barrier::cost_of_one,
    check::{Outcome, pattern},
    check_eq,
    random::Numbers,
};

/// All ways to exchange blocks.
pub const WAYS: [Exchange; 3] = [Exchange::Default, Exchange::Long, Exchange::TwoSided];

/// What is exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// To one rank.
    Gather,
    /// From one rank.
    Scatter,
    /// From each rank the same to all.
    Allgather,
    /// From each rank something else to each.
    Alltoall,
}

const OPERATIONS: [Operation; 4] = [Operation::Gather, Operation::Scatter, Operation::Allgather, Operation::Alltoall];

/// One exchange, the same on all ranks.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What is exchanged.
    pub operation: Operation,
    /// By which algorithms.
    pub way: Exchange,
    /// To or from whom.
    pub root: usize,
    /// Whether the rank's own block is in its place.
    pub in_place: bool,
    /// Length of all blocks, if they have one.
    pub common: Option<usize>,
    /// Longest block.
    pub longest: usize,
    /// Tells this exchange's data and lengths from those of others.
    pub salt: usize,
}

impl Case {
    /// Bytes of the block from one rank to another.
    fn len(&self, from: usize, to: usize) -> usize {
        let (from, to) = match self.operation {
            Operation::Gather | Operation::Allgather => (from, 0),
            Operation::Scatter => (0, to),
            // In place, both directions have one length.
            Operation::Alltoall if self.in_place => (from.min(to), from.max(to)),
            Operation::Alltoall => (from, to),
        };
        let mut numbers = Numbers::new(&[self.salt, from, to, 77]);
        self.common.unwrap_or_else(|| match numbers.below(4) {
            0 => 0,
            1 => numbers.below(self.longest.min(70) + 1),
            _ => numbers.below(self.longest + 1),
        })
    }

    fn block(&self, from: usize, to: usize) -> Vec<u8> {
        let to = if self.operation == Operation::Allgather { 0 } else { to };
        let salt = self.salt.wrapping_mul(7) + from * 5 + to * 3;
        (0..self.len(from, to)).map(|index| pattern(index, salt)).collect()
    }

    /// Where blocks of these lengths are, and how long the buffer is: rank by rank, or in any order with gaps.
    fn places(&self, lens: &[usize]) -> (Vec<usize>, usize) {
        let mut numbers = Numbers::new(&[self.salt, 33]);
        let (ranks, first) = (lens.len(), numbers.below(lens.len()));
        let mut starts = vec![0; ranks];
        let mut end = 0;
        for index in 0..ranks {
            let rank = if self.common.is_some() { index } else { (first + ranks - index) % ranks };
            starts[rank] = end;
            end += lens[rank] + if self.common.is_some() { 0 } else { numbers.below(4) };
        }
        (starts, end)
    }

    /// A buffer with these blocks, and something else where none is.
    fn buffer(&self, lens: &[usize], block: impl Fn(usize) -> Option<Vec<u8>>) -> Vec<u8> {
        let (starts, len) = self.places(lens);
        let mut buffer = vec![0xEE; len];
        for (rank, start) in starts.into_iter().enumerate() {
            if let Some(block) = block(rank) {
                buffer[start..start + block.len()].copy_from_slice(&block);
            }
        }
        buffer
    }

    /// Carries it out and compares what came.
    pub fn check<C: Core>(&self, context: &Context<'_, '_, C>) -> Outcome {
        let (me, size, comm, way) = (context.rank(), context.size(), context.comm, self.way);
        let lens = |len: &dyn Fn(usize) -> usize| (0..size).map(len).collect::<Vec<_>>();
        let sent = lens(&|to| self.len(if self.operation == Operation::Scatter { self.root } else { me }, to));
        let received = lens(&|from| self.len(from, me));
        let ((sent_at, _), (received_at, _)) = (self.places(&sent), self.places(&received));
        let (to, from) = (Pieces::at(&sent, &sent_at), Pieces::at(&received, &received_at));
        let (is_root, equal) = (me == self.root, self.common.is_some());
        let arrived = |is_mine: bool| self.buffer(&received, |from| is_mine.then(|| self.block(from, me)));
        let own = |rank: usize| (rank == me && self.in_place).then(|| self.block(me, me));
        let (got, wanted) = match self.operation {
            Operation::Gather => {
                let block = self.block(me, self.root);
                let mut all = if is_root { self.buffer(&received, own) } else { Vec::new() };
                let mut copy = block.clone();
                comm.using(way, |comm| match (equal, self.in_place) {
                    (true, true) if is_root => comm.gather(InPlace, &mut all, self.root),
                    // Half of them say that their block is in place, too, and all of their buffer.
                    (true, true) if me % 2 == 0 => comm.gather(InPlace, &mut copy, self.root),
                    (true, _) => comm.gather(&block, &mut all, self.root),
                    (false, true) if is_root => comm.gather(InPlace, from.of_mut(&mut all), self.root),
                    (false, _) if is_root => comm.gather(&block, from.of_mut(&mut all), self.root),
                    (false, _) => comm.gather(&block, Pieces::default().of_mut(&mut []), self.root),
                })?;
                (all, if is_root { arrived(true) } else { Vec::new() })
            }
            Operation::Scatter => {
                let all = self.buffer(&sent, |to| is_root.then(|| self.block(me, to)));
                let wanted = self.block(self.root, me);
                let mut block = vec![0xEE; wanted.len()];
                comm.using(way, |comm| match (equal, self.in_place && is_root) {
                    (true, true) => comm.scatter(&all, InPlace, self.root),
                    (true, false) => comm.scatter(&all, &mut block, self.root),
                    (false, true) => comm.scatter(to.of(&all), InPlace, self.root),
                    (false, false) if is_root => comm.scatter(to.of(&all), &mut block, self.root),
                    (false, false) => comm.scatter(Pieces::default().of(&[]), &mut block, self.root),
                })?;
                if is_root && self.in_place { (Vec::new(), Vec::new()) } else { (block, wanted) }
            }
            Operation::Allgather => {
                let (block, mut all) = (self.block(me, 0), self.buffer(&received, own));
                comm.using(way, |comm| match (equal, self.in_place) {
                    (true, true) => comm.allgather(InPlace, &mut all),
                    (true, false) => comm.allgather(&block, &mut all),
                    (false, true) => comm.allgather(InPlace, from.of_mut(&mut all)),
                    (false, false) => comm.allgather(&block, from.of_mut(&mut all)),
                })?;
                (all, arrived(true))
            }
            Operation::Alltoall => {
                let all = self.buffer(&sent, |to| Some(self.block(me, to)));
                let mut got = if self.in_place { all.clone() } else { arrived(false) };
                comm.using(way, |comm| match (equal, self.in_place) {
                    (true, true) => comm.alltoall(InPlace, &mut got),
                    (true, false) => comm.alltoall(&all, &mut got),
                    (false, true) => comm.alltoall(InPlace, from.of_mut(&mut got)),
                    (false, false) => comm.alltoall(to.of(&all), from.of_mut(&mut got)),
                })?;
                (got, arrived(true))
            }
        };
        let wrong = got.iter().zip(&wanted).position(|(got, wanted)| got != wanted);
        check_eq!((wrong, got.len()), (None, wanted.len()), "first wrong byte, of {self:?}");
        Ok(())
    }
}

/// Exchanges that follow from a seed, back to back, some ranks being late.
pub fn at_random<C: Core>(context: &Context<'_, '_, C>, seed: usize, exchanges: usize, longest: usize) -> Outcome {
    let mut numbers = Numbers::new(&[seed, context.size()]);
    let mut skews = Numbers::new(&[seed, context.size(), context.rank() + 1]);
    for salt in 0..exchanges {
        let longest = [8, 60, 300, longest][numbers.below(4)].min(longest);
        let case = Case {
            operation: OPERATIONS[numbers.below(4)],
            way: [Exchange::Default, Exchange::Default, Exchange::Long, Exchange::TwoSided][numbers.below(4)],
            root: numbers.below(context.size()),
            in_place: numbers.below(2) == 0,
            common: (numbers.below(2) == 0).then_some(numbers.below(longest + 1)),
            longest,
            salt: salt + seed * 1000,
        };
        if skews.below(4) == 0 {
            context.hal().compute(skews.below(40_000) as u64);
        }
        case.check(context)?;
    }
    Ok(())
}

/// A rank count that is worth fewer cases, since each takes long.
fn is_large<C: Core>(context: &Context<'_, '_, C>) -> bool {
    context.size() >= 64
}

/// One operation with blocks of lengths around everything at which something changes.
fn all_sizes<C: Core>(context: &Context<'_, '_, C>, operation: Operation) -> Outcome {
    let staging = context.comm.mpb_layout().buffer_lines() * LINE_BYTES;
    let shared = staging / context.size();
    let mut sizes = vec![0, 1, 14, 15, 28, 29, 32, 33, 56, 57, shared, shared + 1];
    if context.size() <= 16 {
        sizes.extend([staging / 4, staging / 2 + 1, staging - 1, staging, staging + 1, 3 * staging + 17]);
    } else if is_large(context) {
        sizes.retain(|size| [0, 14, 33, 57].contains(size));
    }
    for (salt, len) in sizes.into_iter().enumerate() {
        for way in WAYS {
            // What takes its time everywhere is done once.
            if way == Exchange::Default || context.size() <= 16 || len == 33 {
                let (root, in_place) = (salt * 5 % context.size(), salt % 2 == 1);
                Case { operation, way, root, in_place, common: Some(len), longest: len, salt }.check(context)?;
            }
        }
    }
    Ok(())
}

/// Blocks of one length.
pub fn gathers<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    all_sizes(context, Operation::Gather)
}

/// Blocks of one length.
pub fn scatters<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    all_sizes(context, Operation::Scatter)
}

/// Blocks of one length.
pub fn allgathers<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    all_sizes(context, Operation::Allgather)
}

/// Blocks of one length.
pub fn alltoalls<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    all_sizes(context, Operation::Alltoall)
}

/// Blocks of different lengths, in any order and with gaps, among them empty ones; back to back.
pub fn different_lengths<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let longest = if is_large(context) { 100 } else { 2000 };
    for salt in 0..if is_large(context) { 4 } else { 16 } {
        let (operation, in_place) = (OPERATIONS[salt % 4], salt / 4 % 2 == 1);
        let way = WAYS[if is_large(context) { 0 } else { salt / 8 * (1 + salt % 2) }];
        let root = salt * 3 % context.size();
        Case { operation, way, root, in_place, common: None, longest, salt }.check(context)?;
    }
    Ok(())
}

/// Many short ones with changing roots back to back, so that cells and staging lines come around again.
pub fn short_back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let turns = if is_large(context) { 12 } else { 60 };
    for salt in 0..turns {
        let (operation, root) = (OPERATIONS[salt % 3], salt * 7 % context.size());
        if salt % context.size() == context.rank() {
            context.hal().compute(5000);
        }
        let (way, common) = (Exchange::Default, Some(1 + salt % 40));
        Case { operation, way, root, in_place: false, common, longest: 40, salt }.check(context)?;
    }
    Ok(())
}

/// Elements of more than a byte.
pub fn wider_elements<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (me, size) = (context.rank(), context.size());
    let block = [me as f64 + 0.5, -(me as f64)];
    let mut all = vec![0.0; 2 * size];
    context.comm.allgather(&block, &mut all)?;
    check_eq!((0..size).all(|rank| all[2 * rank..][..2] == [rank as f64 + 0.5, -(rank as f64)]), true, "all blocks");
    let send: Vec<u32> = (0..size).map(|to| (me * 1000 + to) as u32).collect();
    let mut receive = vec![0; size];
    context.comm.alltoall(&send, &mut receive)?;
    check_eq!((0..size).all(|from| receive[from] as usize == from * 1000 + me), true, "all words");
    Ok(())
}

/// In an all-to-all, one of the two buffers may be in pieces and the other have blocks of one length.
pub fn pieces_on_one_side<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, me, size) = (context.comm, context.rank(), context.size());
    let (counts, starts) = (vec![2; size], (0..size).map(|rank| 2 * (size - 1 - rank)).collect::<Vec<_>>());
    let backwards = Pieces::at(&counts, &starts);
    let send: Vec<u32> = (0..2 * size).map(|word| (me * 1000 + word) as u32).collect();
    let from = |rank: usize, word: usize| (rank * 1000 + word) as u32;
    let mut got = vec![0; 2 * size];
    comm.alltoall(&send, backwards.of_mut(&mut got))?;
    let right = (0..size).all(|rank| got[starts[rank]..][..2] == [from(rank, 2 * me), from(rank, 2 * me + 1)]);
    check_eq!(right, true, "blocks to pieces");
    comm.alltoall(backwards.of(&send), &mut got)?;
    let right = (0..size).all(|rank| got[2 * rank..][..2] == [from(rank, starts[me]), from(rank, starts[me] + 1)]);
    check_eq!(right, true, "blocks from pieces");
    Ok(())
}

/// What is wrong on all ranks is refused by all; what is wrong on one is refused there, and the others are not kept
/// waiting.
pub fn refuse_bad_arguments<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    let (ways, lengths) = if !context.has_many_ranks() { (&WAYS[..], &[3, 700][..]) } else { (&WAYS[..1], &[3][..]) };
    for &way in ways {
        comm.using(way, |_| refuse_bad_buffers(context, lengths))?;
    }
    let profile = comm.rcce_profile()?;
    for way in [Exchange::Default, Exchange::Long] {
        comm.using(way, |_| refuse_while_lines_are_lent(context))?;
    }
    check_eq!(
        comm.using(Exchange::TwoSided, |comm| comm.gather(&[1u8], &mut vec![0; size], 0)),
        Ok(()),
        "gather by messages"
    );
    drop(profile);
    // Everything works as before.
    at_random(context, 5, 4, 100)
}

/// What is wrong with roots, buffers and pieces.
fn refuse_bad_buffers<C: Core>(context: &Context<'_, '_, C>, lengths: &[usize]) -> Outcome {
    let (comm, me, size) = (context.comm, context.rank(), context.size());
    let no_root = Err(Error::NoSuchRank { rank: size, size });
    check_eq!(comm.gather(&[1u8], &mut vec![0; size], size), no_root, "gather at no rank");
    check_eq!(comm.scatter(&vec![0u8; size], &mut [0], size), no_root, "scatter from no rank");
    for &len in lengths {
        let (block, short) = (vec![me as u8; len], |right: usize| right - usize::from(me == 0));
        let mine = |refused: Error| if me == 0 { Err(refused) } else { Ok(()) };
        let wrong = mine(Error::Length { len: size * len - 1, wanted: size * len });
        let mut all = vec![9u8; short(size * len)];
        check_eq!(comm.gather(&block, &mut all, 0), wrong, "gather to a buffer that is too short");
        check_eq!(me != 0 || all.iter().all(|byte| *byte == 9), true, "the buffer was written to");
        check_eq!(comm.allgather(&block, &mut all), wrong, "allgather to a buffer that is too short");
        let send = vec![me as u8; size * len];
        check_eq!(comm.alltoall(&send, &mut all), wrong, "all-to-all to a buffer that is too short");
        let mut got = vec![5u8; len];
        check_eq!(comm.scatter(&all, &mut got, 0), wrong, "scatter of a buffer that is too short");
        check_eq!(got[0], if me == 0 { 5 } else { 0 }, "what is scattered in place of that");
        let counts = vec![len; size];
        let end = mine(Error::PieceOutOfRange { rank: size - 1, end: size * len, len: size * len - 1 });
        let pieces = Pieces::packed(&counts);
        check_eq!(comm.gather(&block, pieces.of_mut(&mut all), 0), end, "gather of pieces beyond the end");
        check_eq!(comm.scatter(pieces.of(&all), &mut got, 0), end, "scatter of pieces from beyond the end");
        check_eq!(comm.allgather(&block, pieces.of_mut(&mut all)), end, "allgather of pieces beyond the end");
        let outcome = comm.alltoall(pieces.of(&send), pieces.of_mut(&mut all));
        check_eq!(outcome, end, "all-to-all of pieces beyond the end");
        let mut others = counts.clone();
        others[me] -= usize::from(me == 0);
        let own = mine(Error::Length { len, wanted: len - 1 });
        let mut right = vec![9u8; size * len];
        let outcome = comm.alltoall(pieces.of(&send), Pieces::packed(&others).of_mut(&mut right));
        check_eq!(outcome, own, "all-to-all of pieces with two counts for itself");
        check_eq!(me != 0 || right.iter().all(|byte| *byte == 9), true, "the buffer was written to");
        let starts = vec![0; size];
        let overlap = if size > 1 { mine(Error::PiecesOverlap { rank: 0, other: 1 }) } else { Ok(()) };
        let overlapping = Pieces::at(&counts, &starts);
        let mut all = vec![9u8; size * len];
        check_eq!(comm.gather(&block, overlapping.of_mut(&mut all), 0), overlap, "gather of pieces to one place");
        check_eq!(comm.scatter(overlapping.of(&all), &mut got, 0), Ok(()), "scatter of pieces from one place");
    }
    Ok(())
}

/// While lines are lent nothing is sent, and all buffers stay as they are.
fn refuse_while_lines_are_lent<C: Core>(context: &Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    let lent = Err(Error::ProfileInForce);
    let (ones, counts) = (vec![1u8; size], vec![1; size]);
    let pieces = Pieces::packed(&counts);
    let (mut one, mut all) = ([0], vec![0; size]);
    check_eq!(comm.gather(&[1], &mut all, 0), lent, "gather while lines are lent");
    check_eq!(comm.gather(&[1], pieces.of_mut(&mut all), 0), lent, "gather of pieces while lines are lent");
    check_eq!(comm.allgather(&[1], &mut all), lent, "allgather while lines are lent");
    check_eq!(comm.allgather(InPlace, &mut all), lent, "allgather in place while lines are lent");
    check_eq!(comm.allgather(&[1], pieces.of_mut(&mut all)), lent, "allgather of pieces while lines are lent");
    check_eq!(comm.alltoall(&ones, &mut all), lent, "all-to-all while lines are lent");
    let outcome = comm.alltoall(pieces.of(&ones), pieces.of_mut(&mut all));
    check_eq!(outcome, lent, "all-to-all of pieces while lines are lent");
    check_eq!(comm.scatter(&ones, &mut one, 0), lent, "scatter while lines are lent");
    check_eq!(comm.scatter(pieces.of(&ones), &mut one, 0), lent, "scatter of pieces while lines are lent");
    check_eq!((all, one), (vec![0; size], [0]), "buffers that were written to while lines are lent");
    Ok(())
}

/// Lines read and written by one call.
fn lines_of<C: Core>(
    context: &Context<'_, '_, C>,
    call: impl FnOnce() -> Result<(), Error>,
) -> Result<(u64, u64), Error> {
    let before = context.hal().counters();
    call()?;
    let done: Counters = context.hal().counters() - before;
    Ok((done.mpb_lines_read, done.mpb_lines_written))
}

/// Each line is read once from an MPB and written once to one; short blocks need nothing else.
pub fn cost_what_they_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (comm, me, size) = (context.comm, context.rank(), context.size());
    let (others, is_root) = (size as u64 - 1, me == 0);
    let mut all = vec![0u8; size * 320];
    // Counted from a barrier, so that none of these has to begin with one.
    let barrier = cost_of_one(context).mpb_lines_written;
    let short = lines_of(context, || comm.gather(&[1u8; 28], &mut all[..28 * size], 0))?;
    check_eq!(short, if is_root { (0, 0) } else { (0, 1) }, "lines of a short gather");
    let long = lines_of(context, || comm.gather(&[1u8; 320], &mut all, 0))?;
    check_eq!(long, if is_root { (10 * others, 0) } else { (0, 11) }, "lines of a long gather");
    let short = lines_of(context, || comm.scatter(&all[..32 * size], &mut [0u8; 32], 0))?;
    let fits = size <= comm.mpb_layout().buffer_lines();
    // A line for each rank, which all get from the root, and one for all flags. To one other rank two lines that say
    // themselves that their data is there: it polls them in its own MPB.
    let (written, read) = if size <= 2 { (2 * others, 0) } else { (size as u64 + 1, 1) };
    let wanted = if is_root { (0, written) } else { (read, 0) };
    check_eq!(!fits || short == wanted, true, "lines of a short scatter: {short:?}");
    comm.barrier();
    let long = lines_of(context, || comm.using(Exchange::Long, |comm| comm.scatter(&all, &mut [0u8; 320], 0)))?;
    check_eq!(long, if is_root { (0, 11 * others) } else { (10, 0) }, "lines of a long scatter");
    let short = lines_of(context, || comm.allgather(&[1u8; 28], &mut all[..28 * size]))?;
    check_eq!(short, if size == 1 { (0, 0) } else { (0, 1) }, "lines of a short allgather");
    let long = lines_of(context, || comm.allgather(&[1u8; 320], &mut all))?;
    let own = if size == 1 { 0 } else { 10 };
    check_eq!(long, (10 * others, own + barrier), "lines of a long allgather");
    Ok(())
}
