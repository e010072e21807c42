//! What is reduced in tests, and the references: the operands of all ranks folded in their order.

use alloc::{vec, vec::Vec};
use core::fmt::Debug;

use bytemuck::Pod;
use collectives::{Combine, InPlace, Operation, Pieces, Reduction, Scan};
use hal::Core;

use crate::{Context, check::Outcome, check_eq, random::Numbers};

/// All algorithms for reduce, allreduce and reduce-scatter.
pub const REDUCTIONS: [Reduction; 4] = [Reduction::Default, Reduction::Tree, Reduction::Blocks, Reduction::TwoSided];

/// All algorithms for scans.
pub const SCANS: [Scan; 4] = [Scan::Default, Scan::Doubling, Scan::Chain, Scan::TwoSided];

/// Combines two elements of `WORDS` words.
type OfWords<const WORDS: usize> = fn([u32; WORDS], [u32; WORDS]) -> [u32; WORDS];

/// Maps x ↦ a x + b of words, as pairs: their composition is associative and not commutative.
pub const AFFINE: Operation<OfWords<2>> = Operation::new(compose);

fn compose(left: [u32; 2], right: [u32; 2]) -> [u32; 2] {
    [left[0].wrapping_mul(right[0]), left[0].wrapping_mul(right[1]).wrapping_add(left[1])]
}

/// Triangular matrices in 12 bytes.
pub const TRIANGLE: Operation<OfWords<3>> = Operation::new(|left, right| {
    let product = |a: u32, b: u32| a.wrapping_mul(b);
    [
        product(left[0], right[0]),
        product(left[0], right[1]).wrapping_add(product(left[1], right[2])),
        product(left[2], right[2]),
    ]
});

/// Five maps in 40 bytes.
pub const FIVE_MAPS: Operation<OfWords<10>> = Operation::new(|left, right| {
    let mut all = [0; 10];
    for at in [0, 2, 4, 6, 8] {
        all[at..at + 2].copy_from_slice(&compose([left[at], left[at + 1]], [right[at], right[at + 1]]));
    }
    all
});

/// What is reduced: by which operation, and which operands each rank has.
pub struct Case<'o, O, F> {
    /// The operation.
    pub operation: &'o O,
    /// The operand at an index of a rank.
    pub operand: F,
    /// Elements of the vector.
    pub len: usize,
    /// Told when something is wrong.
    pub what: &'static str,
}

impl<O, F> Case<'_, O, F> {
    pub(super) fn operands<T>(&self, rank: usize) -> Vec<T>
    where
        F: Fn(usize, usize) -> T,
    {
        (0..self.len).map(|index| (self.operand)(rank, index)).collect()
    }

    /// The operands of ranks `0..ranks` combined; none of no rank.
    pub(super) fn folded<T: Pod>(&self, ranks: usize) -> Option<Vec<T>>
    where
        O: Combine<T>,
        F: Fn(usize, usize) -> T,
    {
        let of = |index| {
            (0..ranks).map(|rank| (self.operand)(rank, index)).reduce(|left, right| self.operation.combine(left, right))
        };
        (0..self.len).map(of).collect::<Option<_>>().filter(|_| ranks > 0)
    }

    /// Reduce and allreduce, in place and not.
    pub fn reduce<C: Core, T: Pod + PartialEq + Debug>(
        &self,
        context: &Context<'_, '_, C>,
        reduction: Reduction,
        root: usize,
    ) -> Outcome
    where
        O: Combine<T>,
        F: Fn(usize, usize) -> T,
    {
        context.comm.using(reduction, |comm| {
            let rank = context.rank();
            let operands = self.operands(rank);
            let expected = self.folded(context.size()).unwrap_or_default();
            let untouched = vec![T::zeroed(); self.len];

            let mut result = untouched.clone();
            comm.reduce(&operands, &mut result, self.operation, root)?;
            let wanted = if rank == root { &expected } else { &untouched };
            self.compare(&result, wanted, reduction, "reduce", root)?;

            let mut data = operands.clone();
            comm.allreduce(InPlace, &mut data, self.operation)?;
            self.compare(&data, &expected, reduction, "allreduce in place", 0)?;

            let mut data = operands.clone();
            comm.reduce(InPlace, &mut data, self.operation, root)?;
            let wanted = if rank == root { &expected } else { &operands };
            self.compare(&data, wanted, reduction, "reduce in place", root)?;

            let mut result = untouched;
            comm.allreduce(&operands, &mut result, self.operation)?;
            self.compare(&result, &expected, reduction, "allreduce", 0)
        })
    }

    /// Reduce-scatter with these counts, in place and not.
    pub fn scatter<C: Core, T: Pod + PartialEq + Debug>(
        &self,
        context: &Context<'_, '_, C>,
        reduction: Reduction,
        counts: &[usize],
    ) -> Outcome
    where
        O: Combine<T>,
        F: Fn(usize, usize) -> T,
    {
        context.comm.using(reduction, |comm| {
            let rank = context.rank();
            let mut operands = self.operands(rank);
            let expected = self.folded(context.size()).unwrap_or_default();
            let start: usize = counts[..rank].iter().sum();
            let own = start..start + counts[rank];

            let mut result = vec![T::zeroed(); own.len()];
            comm.reduce_scatter(Pieces::packed(counts).of(&operands), &mut result, self.operation)?;
            self.compare(&result, &expected[own.clone()], reduction, "reduce-scatter", rank)?;
            if counts.iter().all(|&count| count == counts[0]) {
                result.fill(T::zeroed());
                comm.reduce_scatter(&operands, &mut result, self.operation)?;
                self.compare(&result, &expected[own.clone()], reduction, "reduce-scatter of blocks", rank)?;
            }

            // Blocks in the order of ranks, or the other way round.
            let starts: Vec<usize> = (0..counts.len()).map(|rank| counts[rank + 1..].iter().sum()).collect();
            let (pieces, start) = match self.len % 2 {
                0 => (Pieces::packed(counts), start),
                _ => (Pieces::at(counts, &starts), starts[rank]),
            };
            let own = start..start + counts[rank];
            let mut wanted = operands.clone();
            wanted[own.clone()].copy_from_slice(&expected[own]);
            comm.reduce_scatter(pieces.in_place(), &mut operands, self.operation)?;
            self.compare(&operands, &wanted, reduction, "reduce-scatter in place", rank)
        })
    }

    /// Both scans, in place and not.
    pub fn scan<C: Core, T: Pod + PartialEq + Debug>(&self, context: &Context<'_, '_, C>, scan: Scan) -> Outcome
    where
        O: Combine<T>,
        F: Fn(usize, usize) -> T,
    {
        context.comm.using(scan, |comm| {
            let rank = context.rank();
            let operands = self.operands(rank);
            let inclusive = self.folded(rank + 1).unwrap_or_default();
            let untouched = vec![T::zeroed(); self.len];

            let mut result = untouched.clone();
            comm.scan(&operands, &mut result, self.operation)?;
            self.compare(&result, &inclusive, scan, "scan", rank)?;

            let mut result = untouched.clone();
            comm.exscan(&operands, &mut result, self.operation)?;
            self.compare(&result, &self.folded(rank).unwrap_or(untouched), scan, "exscan", rank)?;

            let mut data = operands.clone();
            comm.scan(InPlace, &mut data, self.operation)?;
            self.compare(&data, &inclusive, scan, "scan in place", rank)?;

            let mut data = operands.clone();
            comm.exscan(InPlace, &mut data, self.operation)?;
            self.compare(&data, &self.folded(rank).unwrap_or(operands), scan, "exscan in place", rank)
        })
    }

    pub(super) fn compare<T: PartialEq + Debug>(
        &self,
        result: &[T],
        expected: &[T],
        algorithm: impl Debug,
        operation: &str,
        root: usize,
    ) -> Outcome {
        let wrong = result.iter().zip(expected).position(|(got, wanted)| got != wanted);
        let (what, len) = (self.what, self.len);
        let wrong = wrong.map(|at| (at, &result[at], &expected[at]));
        check_eq!(wrong, None, "{algorithm:?} {operation} of {len} {what}, rank or root {root}: wrong element");
        check_eq!(result.len(), expected.len(), "elements of {operation}");
        Ok(())
    }
}

/// Everything that there is, on one case, with a root and counts by chance.
pub fn everything<C: Core, T: Pod + PartialEq + Debug, O: Combine<T>>(
    context: &Context<'_, '_, C>,
    case: &Case<'_, O, impl Fn(usize, usize) -> T>,
    numbers: &mut Numbers,
) -> Outcome {
    let size = context.size();
    for reduction in REDUCTIONS {
        case.reduce(context, reduction, numbers.below(size))?;
        case.scatter(context, reduction, &random_counts(case.len, size, numbers))?;
    }
    for scan in SCANS {
        case.scan(context, scan)?;
    }
    Ok(())
}

/// One algorithm of each kind, the next one each time; on few ranks everything.
pub(super) fn one_or_all<C: Core, T: Pod + PartialEq + Debug, O: Combine<T>>(
    context: &Context<'_, '_, C>,
    turn: &mut usize,
    case: &Case<'_, O, impl Fn(usize, usize) -> T>,
    numbers: &mut Numbers,
) -> Outcome {
    if context.size() < 5 {
        return everything(context, case, numbers);
    }
    *turn += 1;
    let reduction = REDUCTIONS[*turn % 4];
    case.reduce(context, reduction, numbers.below(context.size()))?;
    case.scatter(context, reduction, &random_counts(case.len, context.size(), numbers))?;
    case.scan(context, SCANS[*turn % 4])
}

/// As many counts as ranks that sum up to `len`, some of them zero.
pub fn random_counts(len: usize, ranks: usize, numbers: &mut Numbers) -> Vec<usize> {
    let mut ends: Vec<_> = (1..ranks).map(|_| numbers.below(len + 1)).collect();
    ends.push(len);
    ends.sort_unstable();
    let mut start = 0;
    ends.into_iter().map(|end| end - core::mem::replace(&mut start, end)).collect()
}

/// Operands that differ in ranks and indices.
pub fn mixed(rank: usize, index: usize) -> u32 {
    let mixed = (rank as u32).wrapping_mul(0x9E37_79B9) ^ (index as u32).wrapping_mul(0x85EB_CA6B);
    mixed ^ mixed >> 15
}

/// Maps for [`AFFINE`].
pub fn map(rank: usize, index: usize) -> [u32; 2] {
    [mixed(rank, index) | 1, mixed(index, rank)]
}
