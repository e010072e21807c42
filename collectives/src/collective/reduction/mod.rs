//! Reductions: reduce, allreduce, reduce-scatter, and inclusive and exclusive scan.
//!
//! Each has an algorithm for short vectors, one for long ones and one over two-sided messages to compare with, and by
//! default takes the one that is fastest for the size and the number of ranks. All of them work for any size, root
//! and number of ranks; ranks may use different ones one after the other, as long as all use the same one at a time.
//!
//! **Order.** Operands are combined strictly in the order of ranks, so that operations need not be commutative. Where
//! the brackets are depends on the algorithm, the number of ranks, and the number, size and (for reduce-scatter)
//! distribution of elements; it does not depend on timing, on the root, or on the machine. So floating-point results
//! are the same bits each time, and on every rank that gets them. Each algorithm says where its brackets are.
//!
//! **Arguments.** All ranks name the same algorithm, operation, root, type and number of elements; counts may be 0,
//! and nothing is sent then. Where a rank gets no result (reduce on ranks other than the root, exclusive scan on rank
//! 0) its `result` stays as it was; that of reduce may be empty there. Variants `…_in_place` replace the operands by
//! the result, and leave them as they were where there is none.
//!
//! **Errors.** What all ranks can see, such as a root that does not exist or an element that is too large, all refuse
//! alike, and nothing is sent; and so with [`Error::ProfileInForce`], while the MPBs are lent to two-sided messages,
//! all algorithms but those over them. A rank whose `result` alone has a wrong length takes part all the same, leaves
//! it as it was, and then returns the error; the others are not told. A number of operands that differs from rank to
//! rank leaves them waiting or is wrong unnoticed, as in MPI, unless [arguments are checked](Comm::check_arguments).

mod blocks;
mod buffers;
mod chain;
mod combine;
mod counts;
mod doubling;
mod interface;
mod pieces;
mod scatter;
mod select;
mod short;
mod tree;
mod two_sided;

use core::{fmt, iter::repeat_n, str::FromStr};

use bytemuck::Pod;
use hal::{Messenger, Span};

pub use self::combine::{Combine, Operation};
use self::{
    buffers::Buffers,
    counts::Counts,
    select::{Spread, Way},
    short::Wanted,
};
use crate::{
    Comm, Error,
    collective::{
        call::{Call, Collective},
        lengths::{check_len, with_buffer},
    },
};

/// An algorithm for reduce, allreduce and reduce-scatter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Reduction {
    /// The fastest of the others for the size and the number of ranks.
    #[default]
    Default,
    /// Partial results in tagged lines up a tree, and pulled from where the result was made; for short vectors.
    Tree,
    /// Each rank combines its part of the vector from the MPBs of all; for long vectors.
    Blocks,
    /// Two-sided messages: binomial trees for short vectors, pairwise exchanges for long ones.
    TwoSided,
}

/// An algorithm for scans.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Scan {
    /// The fastest of the others for the size and the number of ranks.
    #[default]
    Default,
    /// Tagged lines to ranks at distances that double; for short vectors.
    Doubling,
    /// A pipeline from rank to rank; for long vectors.
    Chain,
    /// Two-sided messages to ranks at distances that double.
    TwoSided,
}

/// Whether a rank's own operands are part of its result of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Inclusive,
    Exclusive,
}

impl Reduction {
    /// Combines the operands of all ranks, element by element, into `result` of rank `root`. Collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::ElementTooLarge`]; [`Error::Length`], on the root, if `result` is
    /// not as long as `operands`.
    pub fn reduce<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            Call::new(Collective::Reduce).of::<T>().len(operands.len()).rooted(root).combined(operation).by(&self)
        })?;
        if comm.rank() != root {
            // This rank writes no result, so that none is needed.
            return self.reduce_buffers(comm, Buffers::apart(operands, &mut [], 0), operation, Some(root));
        }
        with_buffer(check_len(result.len(), operands.len()), result, operands.len(), |result| {
            self.reduce_buffers(comm, Buffers::apart(operands, result, 0), operation, Some(root))
        })
    }

    /// Like [`reduce`](Self::reduce), with the result in place of the root's operands; those of others stay.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::ElementTooLarge`].
    pub fn reduce_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        data: &mut [T],
        operation: &impl Combine<T>,
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            Call::new(Collective::Reduce).of::<T>().len(data.len()).rooted(root).combined(operation).by(&self)
        })?;
        self.reduce_buffers(comm, Buffers::in_place(data), operation, Some(root))
    }

    /// Reduces to `root`, or to all.
    fn reduce_buffers<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        buffers: Buffers<'_, T>,
        operation: &impl Combine<T>,
        root: Option<usize>,
    ) -> Result<(), Error> {
        if let Some(root) = root {
            comm.check_rank(root)?;
        }
        self.check_lines(comm)?;
        let span = match root {
            Some(root) => Span::new("reduce").with(comm.core_of(root)),
            None => Span::new("allreduce"),
        };
        let _span = comm.hal().span(span.of(buffers.len() * size_of::<T>()));
        let Some(mut buffers) = buffers.unless_trivial(comm, 0) else { return Ok(()) };
        let (spread, wanted) = root.map_or((Spread::All, Wanted::ByAll), |root| (Spread::One, Wanted::By(root)));
        match select::reduction::<T>(self, comm, buffers.len(), spread) {
            Way::Tree => short::reduce(comm, &mut buffers, operation, &wanted),
            Way::Blocks => blocks::reduce(comm, buffers, operation, root),
            Way::TreeAndBroadcast => {
                let all = 0..buffers.len();
                short::reduce(comm, &mut buffers, operation, &Wanted::By(0))?;
                comm.broadcast(buffers.result_bytes(all), 0)
            }
            Way::TwoSided => two_sided::reduce(comm, buffers, operation, root),
        }
    }

    /// Combines the operands of all ranks, element by element, into `result` of every rank. Collective.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::Length`] if `result` is not as long as `operands`.
    pub fn allreduce<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            Call::new(Collective::Allreduce).of::<T>().len(operands.len()).combined(operation).by(&self)
        })?;
        with_buffer(check_len(result.len(), operands.len()), result, operands.len(), |result| {
            self.reduce_buffers(comm, Buffers::apart(operands, result, 0), operation, None)
        })
    }

    /// Like [`allreduce`](Self::allreduce), with the result in place of the operands.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`].
    pub fn allreduce_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        data: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Allreduce).of::<T>().len(data.len()).combined(operation).by(&self))?;
        self.reduce_buffers(comm, Buffers::in_place(data), operation, None)
    }

    /// Combines the operands of all ranks, element by element; rank r gets block r of the result, where block r has
    /// `counts[r]` elements and begins behind block r − 1. Collective, with the same counts on all ranks.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one count for each rank, or if `operands` is not as long as all blocks, with
    /// nothing sent; or if `result` is not as long as the own block. [`Error::ElementTooLarge`].
    pub fn reduce_scatter<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: &[T],
        counts: &[usize],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            Call::new(Collective::ReduceScatter)
                .of::<T>()
                .len(operands.len())
                .combined(operation)
                .each(counts.iter().copied())
                .by(&self)
        })?;
        let counts = Counts::of(counts, comm.size())?;
        self.scatter_apart(comm, operands, &counts, result, operation)
    }

    /// Like [`reduce_scatter`](Self::reduce_scatter), with the result in place of the operands of the own block; all
    /// other operands stay.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one count for each rank, or `data` is not as long as all blocks, with nothing
    /// sent; [`Error::ElementTooLarge`].
    pub fn reduce_scatter_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        data: &mut [T],
        counts: &[usize],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            Call::new(Collective::ReduceScatter)
                .of::<T>()
                .len(data.len())
                .combined(operation)
                .each(counts.iter().copied())
                .by(&self)
        })?;
        let counts = Counts::of(counts, comm.size())?;
        self.scatter_in_place(comm, data, &counts, operation)
    }

    /// Like [`reduce_scatter`](Self::reduce_scatter) with blocks of equal length, which `result` has.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of operands is no multiple of the number of ranks, with nothing sent; or if
    /// `result` is not as long as a block. [`Error::ElementTooLarge`].
    pub fn reduce_scatter_block<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            Call::new(Collective::ReduceScatter)
                .of::<T>()
                .len(operands.len())
                .combined(operation)
                .each(repeat_n(operands.len() / comm.size(), comm.size()))
                .by(&self)
        })?;
        // Not what `result` has room for: that may be wrong on one rank only.
        let counts = Counts::equal(operands.len() / comm.size(), comm.size());
        self.scatter_apart(comm, operands, &counts, result, operation)
    }

    /// Like [`reduce_scatter_in_place`](Self::reduce_scatter_in_place) with blocks of equal length.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of operands is no multiple of the number of ranks; [`Error::ElementTooLarge`].
    pub fn reduce_scatter_block_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        data: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            Call::new(Collective::ReduceScatter)
                .of::<T>()
                .len(data.len())
                .combined(operation)
                .each(repeat_n(data.len() / comm.size(), comm.size()))
                .by(&self)
        })?;
        self.scatter_in_place(comm, data, &Counts::equal(data.len() / comm.size(), comm.size()), operation)
    }

    fn scatter_apart<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: &[T],
        counts: &Counts,
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        let own = counts.block(comm.rank());
        check_len(operands.len(), counts.total())?;
        with_buffer(check_len(result.len(), own.len()), result, own.len(), |result| {
            self.scatter_buffers(comm, Buffers::apart(operands, result, own.start), operation, counts)
        })
    }

    fn scatter_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        data: &mut [T],
        counts: &Counts,
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        check_len(data.len(), counts.total())?;
        self.scatter_buffers(comm, Buffers::in_place(data), operation, counts)
    }

    fn scatter_buffers<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        buffers: Buffers<'_, T>,
        operation: &impl Combine<T>,
        counts: &Counts,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("reduce-scatter").of(buffers.len() * size_of::<T>()));
        let Some(mut buffers) = buffers.unless_trivial(comm, 0) else { return Ok(()) };
        match select::reduction::<T>(self, comm, buffers.len(), Spread::Blocks) {
            Way::Tree => short::reduce(comm, &mut buffers, operation, &Wanted::Mine(counts.block(comm.rank()))),
            Way::Blocks => scatter::reduce_scatter(comm, buffers, operation, counts),
            Way::TreeAndBroadcast | Way::TwoSided => two_sided::reduce_scatter(comm, buffers, operation, counts),
        }
    }

    /// Refuses an algorithm whose lines are lent.
    fn check_lines<C>(self, comm: &Comm<'_, C>) -> Result<(), Error> {
        if self == Self::TwoSided { Ok(()) } else { comm.check_no_profile() }
    }
}

/// Combines one element of each rank on every rank, in the order of ranks. It uses nothing but messages, so it can be
/// where nobody knows which operation ranks are in.
pub(crate) fn over_messages<C: Messenger, T: Pod>(comm: &Comm<'_, C>, own: T, combine: impl Fn(T, T) -> T) -> T {
    let mut all = [own];
    let buffers = Buffers::in_place(&mut all);
    let done = Reduction::TwoSided.reduce_buffers(comm, buffers, &Operation::new(combine), None);
    debug_assert_eq!(done, Ok(()), "messages between ranks that there are");
    all[0]
}

impl Scan {
    /// Combines the operands of all ranks up to this one, element by element, into `result` (inclusive scan).
    /// Collective.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::Length`] if `result` is not as long as `operands`.
    pub fn scan<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Scan).of::<T>().len(operands.len()).combined(operation).by(&self))?;
        with_buffer(check_len(result.len(), operands.len()), result, operands.len(), |result| {
            self.run(comm, Buffers::apart(operands, result, 0), operation, Kind::Inclusive)
        })
    }

    /// Like [`scan`](Self::scan), with the result in place of the operands.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`].
    pub fn scan_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        data: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Scan).of::<T>().len(data.len()).combined(operation).by(&self))?;
        self.run(comm, Buffers::in_place(data), operation, Kind::Inclusive)
    }

    /// Combines the operands of all ranks below this one, element by element, into `result` (exclusive scan), which
    /// stays as it was on rank 0. Collective.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::Length`] if `result` is not as long as `operands`.
    pub fn exscan<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Exscan).of::<T>().len(operands.len()).combined(operation).by(&self))?;
        with_buffer(check_len(result.len(), operands.len()), result, operands.len(), |result| {
            self.run(comm, Buffers::apart(operands, result, 0), operation, Kind::Exclusive)
        })
    }

    /// Like [`exscan`](Self::exscan), with the result in place of the operands, which stay on rank 0.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`].
    pub fn exscan_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        data: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Exscan).of::<T>().len(data.len()).combined(operation).by(&self))?;
        self.run(comm, Buffers::in_place(data), operation, Kind::Exclusive)
    }

    fn run<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        buffers: Buffers<'_, T>,
        operation: &impl Combine<T>,
        kind: Kind,
    ) -> Result<(), Error> {
        if self != Self::TwoSided {
            comm.check_no_profile()?;
        }
        let _span = comm.hal().span(Span::new("scan").of(buffers.len() * size_of::<T>()));
        let none = usize::from(kind == Kind::Exclusive);
        let Some(buffers) = buffers.unless_trivial(comm, none) else { return Ok(()) };
        match select::scan::<T>(self, comm, buffers.len()) {
            Scan::Doubling => doubling::scan(comm, buffers, operation, kind),
            Scan::Chain => chain::scan(comm, buffers, operation, kind),
            Scan::Default | Scan::TwoSided => two_sided::scan(comm, buffers, operation, kind),
        }
    }
}

/// No reduction algorithm has this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownReduction;

impl fmt::Display for UnknownReduction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(
            "no such reduction; there are default, tree, blocks and two-sided, and for scans default, doubling, chain and two-sided",
        )
    }
}

impl core::error::Error for UnknownReduction {}

impl FromStr for Reduction {
    type Err = UnknownReduction;

    /// Understands the names that measurements use.
    fn from_str(name: &str) -> Result<Self, UnknownReduction> {
        match name {
            "default" => Ok(Self::Default),
            "tree" => Ok(Self::Tree),
            "blocks" => Ok(Self::Blocks),
            "two-sided" => Ok(Self::TwoSided),
            _ => Err(UnknownReduction),
        }
    }
}

impl FromStr for Scan {
    type Err = UnknownReduction;

    /// Understands the names that measurements use.
    fn from_str(name: &str) -> Result<Self, UnknownReduction> {
        match name {
            "default" => Ok(Self::Default),
            "doubling" => Ok(Self::Doubling),
            "chain" => Ok(Self::Chain),
            "two-sided" => Ok(Self::TwoSided),
            _ => Err(UnknownReduction),
        }
    }
}
