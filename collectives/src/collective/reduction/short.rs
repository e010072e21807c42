//! Short reductions: partial results in tagged lines up a [tree](super::tree), the result pulled from where it was
//! made.
//!
//! A rank combines its operands with those of its children, in the order of ranks, and puts the result into lines of
//! its parent's MPB that are for it alone; the parent polls its own MPB. Rank 0 puts the result of all into its own
//! MPB, from where ranks pull what they are to have: all of it, or their block. For all ranks to have all of it, some
//! of them put it into their own MPBs for others, so that few read one MPB at a time. Every line says itself that it
//! is there: no flags, no acknowledgements, no second round trip. Where the result is wanted at another root than
//! rank 0, that root pulls it like any other rank, so that the brackets and with them all bits of the result do not
//! depend on the root.
//!
//! Per rank and piece: a rank other than 0 puts its lines once to its parent; ranks that others pull from put it once
//! more. All reads are polls.

use core::ops::Range;

use bytemuck::Pod;
use hal::{Messenger, Reason};

use super::{
    Combine,
    buffers::{Buffers, combine},
    pieces::{Pieces, Room, Slots},
};
use crate::{Comm, Error};

/// Ranks that pull the result from one MPB when all want all of it: as few as keep polls from waiting for each other
/// at its port, and enough to reach 273 ranks in two steps.
pub(super) const PULLING: usize = 16;

/// Who gets which elements of the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// All elements, by all ranks.
    ByAll,
    /// All elements, by one rank.
    By(usize),
    /// These elements by this rank, and others by others, so that together they are all.
    Mine(Range<usize>),
}

impl Wanted {
    /// Which of the elements of a piece `rank` gets.
    fn elements_of(&self, rank: usize, piece: &Range<usize>) -> Range<usize> {
        let of_vector = match self {
            Self::ByAll => piece.clone(),
            Self::By(root) if *root == rank => piece.clone(),
            Self::By(_) => piece.start..piece.start,
            Self::Mine(elements) => elements.clone(),
        };
        let start = of_vector.start.max(piece.start);
        start..of_vector.end.min(piece.end).max(start)
    }
}

/// The delay of the tree for pieces of `lines` lines, of which there is a slot for each child and one for the result among
/// `staging_lines`, if the tree of that delay has `most_children` at most. The fewer lines, the more does a call cost beside them, and the
/// more children can be taken in meanwhile.
pub(super) fn delay_for(lines: usize, staging_lines: usize, most_children: impl Fn(usize) -> usize) -> usize {
    let delay = match lines {
        0..=1 => 3,
        2..=4 => 2,
        _ => 1,
    };
    if (most_children(delay) + 1) * lines <= staging_lines { delay } else { 1 }
}

/// Reduces along the tree.
pub(super) fn reduce<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    buffers: &mut Buffers<'_, T>,
    operation: &impl Combine<T>,
    wanted: &Wanted,
) -> Result<(), Error> {
    let (hal, rank, size) = (comm.hal(), comm.rank(), comm.size());
    let room = Room::of(comm);
    let lines = crate::mpb::tagged::tagged_lines(buffers.len() * size_of::<T>());
    let (tree, node) = comm.tree(delay_for(lines, room.most, |delay| comm.tree(delay).0.most_children()));
    // One slot for each child, and one for the result.
    let children = tree.most_children();
    let pieces = Pieces::new::<T>(buffers.len(), room.slot_lines(children))?;
    for (number, piece) in pieces.iter().enumerate() {
        let lines = [children * pieces.lines, pieces.lines];
        let turn = comm.slots_turn(lines, *wanted == Wanted::ByAll, number);
        let slots = Slots::new(turn, children, pieces.lines);
        let mut values = buffers.read(hal, piece.clone());
        if !node.children.is_empty() {
            slots.begin_taking(comm, rank);
        }
        for (place, &child) in node.children.iter().enumerate() {
            let reason = Reason::new("operands of a reduction").from(comm.core_of(child));
            let operands = slots.take(comm, (rank, place), 0..piece.len(), reason);
            combine(hal, operation, &mut values, &operands);
        }
        let mine = wanted.elements_of(rank, &piece);
        let within = mine.start - piece.start..mine.end - piece.start;
        if let Some((parent, place)) = node.parent {
            slots.put(comm, &values, parent, place);
            if mine.is_empty() {
                continue;
            }
            let from = if *wanted == Wanted::ByAll { (rank - 1) / PULLING } else { 0 };
            let reason = Reason::new("the result of a reduction").from(comm.core_of(from));
            slots.begin_taking(comm, from);
            let result = slots.take(comm, (from, children), within, reason);
            if *wanted == Wanted::ByAll && rank * PULLING + 1 < size {
                slots.put(comm, &result, rank, children);
            }
            buffers.write(hal, mine.start, &result);
        } else {
            if *wanted != Wanted::By(rank) && size > 1 {
                slots.put(comm, &values, rank, children);
            }
            if !mine.is_empty() {
                buffers.write(hal, mine.start, &values[within]);
            }
        }
        if *wanted == Wanted::ByAll {
            // The result is there only after all have put their operands.
            comm.sequence().earlier_complete();
        }
    }
    Ok(())
}
