//! What a machine that checks programs is told of operations: which bytes of a part each reads or writes until its epoch, or a
//! flush, is over.
//!
//! That is for two operations of one origin, which the epoch leaves unordered, though this library carries them out one after the
//! other. Operations of two origins meet in memory, and types keep programs from their buffers, and from their own parts.

use alloc::vec::Vec;

use hal::{
    Act, Core, Home, Pod, SharedAddress,
    act::{Atomic, Target},
};

use super::{
    Window,
    operation::{Blocks, Operation},
};

/// Bits of an address below its home.
const OFFSET_BITS: u32 = 40;

/// An operation on a target's part is under way from now on.
#[cold]
pub(super) fn begin<C: Core, T: Pod>(window: &Window<'_, C, T>, target: usize, operation: &Operation<'_, T>) {
    let atomic = Atomic { basic: 0, value_bytes: size_of::<T>(), operator: None, fetches: false };
    let part = window.peers.part(target).start();
    let blocks = |blocks: &Blocks| -> Vec<(i64, usize)> {
        let firsts = blocks.firsts().map(|first| part.plus(first * size_of::<T>()));
        firsts.map(|first| (place(first), blocks.block * size_of::<T>())).collect()
    };
    let (what, pieces, writes, atomic) = match operation {
        Operation::Put { to, .. } => ("puts", blocks(to), true, None),
        Operation::Get { from, .. } => ("gets", blocks(from), false, None),
        Operation::Accumulate { first, source, .. } => {
            ("accumulates", blocks(&Blocks::run(*first, source.elements().len())), true, Some(atomic))
        }
        Operation::CompareAndSwap { index, .. } => {
            ("compares and swaps", blocks(&Blocks::run(*index, 1)), true, Some(atomic))
        }
        Operation::CopyTo(copy) => ("puts", [(place(copy.to), copy.len_bytes)].into(), true, None),
        Operation::CopyFrom(copy) => ("gets", [(place(copy.from), copy.len_bytes)].into(), false, None),
        Operation::Notify { .. } => return,
    };
    let core = window.comm().core_of(target);
    let target =
        Target { window: number(window), core, displacement: 0, pieces: &pieces, writes, atomic, is_memory: true };
    // Nothing ends one of them alone.
    window.comm().hal().declare(&Act::Begins { number: 0, what, own: &[], target: Some(target) });
}

/// Operations of this rank are over at a target, or at all, or only those that have written nothing there.
#[cold]
pub(super) fn end<C: Core, T: Pod>(window: &Window<'_, C, T>, target: Option<usize>, locally: bool) {
    let target = target.map(|target| window.comm().core_of(target));
    window.comm().hal().declare(&Act::Completes { window: number(window), target, locally });
}

/// Windows of two communicators may have one number, but not one place while an epoch borrows them.
fn number<C: Core, T: Pod>(window: &Window<'_, C, T>) -> u64 {
    core::ptr::from_ref(window).addr() as u64
}

/// A number for a place in memory that no other one has.
fn place(at: SharedAddress) -> i64 {
    let home = match at.home() {
        Home::Controller(controller) => 2 * controller as i64 + 2,
        Home::Core(core) => 2 * core.index() as i64 + 3,
    };
    home << OFFSET_BITS | at.offset() as i64
}
