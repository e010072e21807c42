//! What an origin asks for, as a value, so that it can be carried out now, later, or by somebody else.

use alloc::vec;

use hal::{Core, LINE_BYTES, Pod, Region, Span, kind};

use crate::{
    collective::element::Operator,
    one_sided::copy_engine::{CopyEngines, Transfer},
};

use super::peers::Peers;

/// Elements of a part: `count` blocks of `block` elements each, whose firsts are `stride` elements apart.
///
/// The elements of a vector operation lie one after another in the origin's buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// First element of the first block.
    pub first: usize,
    /// Elements of each block.
    pub block: usize,
    /// Elements from the first of a block to the first of the next; may be less than a block for a get.
    pub stride: usize,
    /// Number of blocks.
    pub count: usize,
}

impl Blocks {
    /// `len` elements one after another.
    pub const fn run(first: usize, len: usize) -> Self {
        Self { first, block: len, stride: len, count: 1 }
    }

    /// Elements in all blocks, saturating.
    pub const fn len(&self) -> usize {
        self.block.saturating_mul(self.count)
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// First element behind the last block, saturating; 0 if there are no elements.
    pub const fn end(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.first.saturating_add(self.stride.saturating_mul(self.count - 1)).saturating_add(self.block)
    }

    /// The first element of each block.
    pub(super) fn firsts(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { first, stride, count, .. } = *self;
        (0..count).map(move |index| first + index * stride)
    }
}

/// Elements on their way to a target.
#[derive(Clone, Copy)]
pub(super) enum Source<'b, T> {
    /// The user's, until the epoch is complete.
    Borrowed(&'b [T]),
    /// One that was handed over.
    Value(T),
}

impl<T> Source<'_, T> {
    pub(super) fn elements(&self) -> &[T] {
        match self {
            Self::Borrowed(elements) => elements,
            Self::Value(element) => core::slice::from_ref(element),
        }
    }
}

/// One operation on one target's part. Its range was checked.
pub(super) enum Operation<'b, T> {
    /// Writes the source over the blocks.
    Put { to: Blocks, source: Source<'b, T> },
    /// Reads the blocks.
    Get { from: Blocks, into: &'b mut [T] },
    /// Combines the source with the elements from `first` on, and may fetch what was there.
    Accumulate { first: usize, source: Source<'b, T>, fetched: Option<&'b mut [T]>, operator: Operator<T> },
    /// Replaces an element if it has the expected bytes, and fetches what was there.
    CompareAndSwap { index: usize, expected: T, replacement: T, found: &'b mut T },
    /// Copies shared memory of the origin to the part, or has it copied.
    CopyTo(Transfer),
    /// Copies from the part to shared memory of the origin, or has it copied.
    CopyFrom(Transfer),
    /// Raises a notification counter, after all operations before.
    Notify { counter: usize },
}

/// Bytes that an atomic operation works on at a time; as long the target's register is held.
const ATOMIC_BYTES: usize = 8 * LINE_BYTES;

impl<T: Pod> Operation<'_, T> {
    /// What a timeline shows of it.
    pub(super) fn span(&self) -> Span {
        let (name, bytes) = match self {
            Self::Put { source, .. } => ("put", size_of_val(source.elements())),
            Self::Get { into, .. } => ("get", size_of_val(*into)),
            Self::Accumulate { source, .. } => ("accumulate", size_of_val(source.elements())),
            Self::CompareAndSwap { .. } => ("compare and swap", size_of::<T>()),
            Self::CopyTo(transfer) => ("put of an engine", transfer.len_bytes),
            Self::CopyFrom(transfer) => ("get of an engine", transfer.len_bytes),
            Self::Notify { .. } => ("notify", 0),
        };
        Span::new(name).of(bytes)
    }

    /// Carries the operation out on the memory of `target`, whose post this rank has seen.
    pub(super) fn perform<C: Core>(&mut self, at: &Peers<'_, C>, engines: Option<&CopyEngines<'_, C>>, target: usize) {
        let hal = at.comm.hal();
        let part = at.reach(target);
        match self {
            Self::Put { to, source } => {
                for (first, block) in to.firsts().zip(source.elements().chunks(to.block.max(1))) {
                    hal.write(part, first * size_of::<T>(), bytemuck::cast_slice(block));
                }
            }
            Self::Get { from, into } => {
                for (first, block) in from.firsts().zip(into.chunks_mut(from.block.max(1))) {
                    hal.read(part, first * size_of::<T>(), bytemuck::cast_slice_mut(block));
                }
            }
            Self::Accumulate { first, source, fetched, operator } => {
                let per_turn = (ATOMIC_BYTES / size_of::<T>()).max(1);
                let mut there = vec![T::zeroed(); per_turn.min(source.elements().len())];
                for (turn, operands) in source.elements().chunks(per_turn).enumerate() {
                    let from = turn * per_turn;
                    let there = &mut there[..operands.len()];
                    atomically(at, target, part, *first + from, there, |there| {
                        if let Some(fetched) = fetched {
                            fetched[from..from + there.len()].copy_from_slice(there);
                        }
                        operator.apply(there, operands);
                        true
                    });
                }
            }
            Self::CompareAndSwap { index, expected, replacement, found } => {
                let mut there = [T::zeroed()];
                atomically(at, target, part, *index, &mut there, |there| {
                    **found = there[0];
                    let equal = bytemuck::bytes_of(&there[0]) == bytemuck::bytes_of(expected);
                    there[0] = *replacement;
                    equal
                });
            }
            Self::CopyTo(copy) | Self::CopyFrom(copy) => match engines {
                Some(engines) => engines.copy(*copy),
                None => copy.perform(at.comm),
            },
            Self::Notify { counter } => {
                engines.inspect(|engines| engines.finish());
                super::notify::raise(at, target, *counter);
            }
        }
    }
}

/// Reads elements of a part, changes them, and writes them back if `change` says so, while the target's register is
/// held.
///
/// The register keeps other origins out; it is no fence. So stale lines are forgotten before the read, and the write is
/// drained before the register is freed.
fn atomically<C: Core, T: Pod>(
    at: &Peers<'_, C>,
    target: usize,
    part: Region<kind::Combined>,
    first: usize,
    elements: &mut [T],
    change: impl FnOnce(&mut [T]) -> bool,
) {
    let hal = at.comm.hal();
    let offset = first * size_of::<T>();
    let _guard = hal.lock(at.comm.core_of(target), "elements of a window");
    hal.invalidate_mpb();
    hal.read(part, offset, bytemuck::cast_slice_mut(elements));
    if change(elements) {
        hal.write(part, offset, bytemuck::cast_slice(elements));
        hal.drain();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_the_last_one_does() {
        assert_eq!(Blocks::run(3, 4).end(), 7);
        assert_eq!(Blocks { first: 1, block: 2, stride: 10, count: 3 }.end(), 23);
        assert_eq!(Blocks { first: 9, block: 2, stride: 10, count: 0 }.end(), 0);
        assert_eq!(Blocks { first: 9, block: 2, stride: usize::MAX, count: 3 }.end(), usize::MAX);
        assert_eq!(Blocks { first: 1, block: 2, stride: 10, count: 3 }.firsts().collect::<vec::Vec<_>>(), [1, 11, 21]);
    }
}
