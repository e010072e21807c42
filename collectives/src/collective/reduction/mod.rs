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
//! 0) its `result` stays as it was; that of reduce may be empty there. With [`InPlace`](crate::InPlace) for the
//! operands, these are in `result`, which replaces them, and stay as they were where there is none.
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
mod doubling;
mod goes;
mod interface;
mod pairs;
mod pieces;
mod scatter;
mod select;
mod short;
mod tree;
mod two_sided;

use core::iter::repeat_n;

use bytemuck::Pod;
use hal::{Messenger, Span};

pub use self::combine::{Combine, Operation};
use self::{
    buffers::Buffers,
    select::{Spread, Way},
    short::Wanted,
};
use crate::{
    Broadcast, Comm, Divided, Error, OrInPlace,
    collective::{
        call::{Call, Collective},
        exchange::Spans,
        lengths::{check_len, with_buffer},
    },
    names,
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

/// Calls `part` with operands and the place of results; where that has a wrong length, with another one, and returns
/// what is wrong.
fn with_buffers<T: Pod>(
    operands: OrInPlace<&[T]>,
    result: &mut [T],
    part: impl FnOnce(Buffers<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    let OrInPlace::Apart(operands) = operands else { return part(Buffers::in_place(result)) };
    with_buffer(check_len(result.len(), operands.len()), result, operands.len(), |result| {
        part(Buffers::apart(operands, result, 0))
    })
}

impl Reduction {
    /// Reduces to `root`, or to all.
    fn reduce<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: OrInPlace<&[T]>,
        result: &mut [T],
        operation: &impl Combine<T>,
        root: Option<usize>,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            let call = root.map_or(Call::new(Collective::Allreduce), |root| Call::new(Collective::Reduce).rooted(root));
            call.of::<T>().len(operands.or(result).len()).combined(operation).by(&self)
        })?;
        match (root, operands) {
            // This rank writes no result, so that none is needed.
            (Some(root), OrInPlace::Apart(operands)) if root != comm.rank() => {
                self.reduce_buffers(comm, Buffers::apart(operands, &mut [], 0), operation, Some(root))
            }
            _ => with_buffers(operands, result, |buffers| self.reduce_buffers(comm, buffers, operation, root)),
        }
    }

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
        comm.operate(|| match select::reduction::<T>(self, comm, buffers.len(), spread) {
            Way::Tree => short::reduce(comm, &mut buffers, operation, &wanted),
            Way::Blocks => blocks::reduce(comm, buffers, operation, root),
            Way::TreeAndBroadcast => {
                let all = 0..buffers.len();
                short::reduce(comm, &mut buffers, operation, &Wanted::By(0))?;
                Broadcast::Default.broadcast(comm, buffers.result_bytes(all), 0)
            }
            Way::TwoSided => two_sided::reduce(comm, buffers, operation, root),
        })
    }

    /// Reduces, and each rank keeps its block.
    fn reduce_scatter<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: Divided<'_, OrInPlace<&[T]>>,
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        let (Divided { buffer: operands, pieces }, size) = (operands, comm.size());
        let len = operands.or(result).len();
        comm.check_call(|| {
            let call = Call::new(Collective::ReduceScatter).of::<T>().len(len).combined(operation).by(&self);
            match pieces {
                Some(pieces) => call.each(pieces.counts()),
                // Not what `result` has room for: that may be wrong on one rank only.
                None => call.each(repeat_n(len / size, size)),
            }
        })?;
        let blocks = Spans::of_vector(pieces, len, size)?;
        match operands {
            OrInPlace::InPlace => self.scatter_buffers(comm, Buffers::in_place(result), operation, &blocks),
            OrInPlace::Apart(operands) => {
                let own = blocks.of(comm.rank());
                with_buffer(check_len(result.len(), own.len()), result, own.len(), |result| {
                    self.scatter_buffers(comm, Buffers::apart(operands, result, own.start), operation, &blocks)
                })
            }
        }
    }

    fn scatter_buffers<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        buffers: Buffers<'_, T>,
        operation: &impl Combine<T>,
        blocks: &Spans,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("reduce-scatter").of(buffers.len() * size_of::<T>()));
        let Some(mut buffers) = buffers.unless_trivial(comm, 0) else { return Ok(()) };
        comm.operate(|| match select::reduction::<T>(self, comm, buffers.len(), Spread::Blocks) {
            Way::Tree => short::reduce(comm, &mut buffers, operation, &Wanted::Mine(blocks.of(comm.rank()))),
            Way::Blocks => scatter::reduce_scatter(comm, buffers, operation, blocks),
            Way::TreeAndBroadcast | Way::TwoSided => two_sided::reduce_scatter(comm, buffers, operation, blocks),
        })
    }

    /// Refuses an algorithm whose lines are lent.
    fn check_lines<C>(self, comm: &Comm<'_, C>) -> Result<(), Error> {
        comm.check_lines(self == Self::TwoSided)
    }
}

/// Combines the operands of all ranks in place, by the fastest algorithm whatever is preferred.
pub(crate) fn allreduce<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    data: &mut [T],
    operation: &impl Combine<T>,
) -> Result<(), Error> {
    Reduction::Default.reduce(comm, OrInPlace::InPlace, data, operation, None)
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
    fn scan<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        operands: OrInPlace<&[T]>,
        result: &mut [T],
        operation: &impl Combine<T>,
        kind: Kind,
    ) -> Result<(), Error> {
        comm.check_call(|| {
            let name = if kind == Kind::Inclusive { Collective::Scan } else { Collective::Exscan };
            Call::new(name).of::<T>().len(operands.or(result).len()).combined(operation).by(&self)
        })?;
        with_buffers(operands, result, |buffers| self.run(comm, buffers, operation, kind))
    }

    fn run<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        buffers: Buffers<'_, T>,
        operation: &impl Combine<T>,
        kind: Kind,
    ) -> Result<(), Error> {
        comm.check_lines(self == Self::TwoSided)?;
        let _span = comm.hal().span(Span::new("scan").of(buffers.len() * size_of::<T>()));
        let none = usize::from(kind == Kind::Exclusive);
        let Some(buffers) = buffers.unless_trivial(comm, none) else { return Ok(()) };
        comm.operate(|| match select::scan::<T>(self, comm, buffers.len(), kind) {
            Scan::Doubling => doubling::scan(comm, buffers, operation, kind),
            Scan::Chain => chain::scan(comm, buffers, operation, kind),
            Scan::Default | Scan::TwoSided => two_sided::scan(comm, buffers, operation, kind),
        })
    }
}

names! { "reduction": pub Reduction { Default => "default", Tree => "tree", Blocks => "blocks", TwoSided => "two-sided" } }

names! { "scan": pub Scan { Default => "default", Doubling => "doubling", Chain => "chain", TwoSided => "two-sided" } }
