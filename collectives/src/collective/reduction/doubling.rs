//! Short scan: distances double (Hillis and Steele).
//!
//! In round r every rank puts what it has combined, its own operands and those of the 2^r − 1 ranks below, into lines
//! of the rank 2^r above that are for this round alone, and combines it with what it finds from the rank 2^r below.
//! After ⌈log₂ P⌉ rounds each has those of all ranks below. The exclusive result leaves the own operands out
//! throughout.
//!
//! Brackets: x combines with (x of the 2^r ranks below) on the left, round by round; they depend on the rank and on
//! nothing else.
//!
//! Per rank and piece: at most ⌈log₂ P⌉ times the lines of a piece are put, in [tagged](crate::mpb::tagged) lines without
//! a drain or an acknowledgement; all reads are polls of the own MPB.

use bytemuck::Pod;
use hal::{Messenger, Reason};

use super::{
    Combine, Kind,
    buffers::{Buffers, combine_before},
    pieces::{Pieces, Room, Slots},
};
use crate::{Comm, Error};

/// Scans with doubling distances.
pub(super) fn scan<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    kind: Kind,
) -> Result<(), Error> {
    let (hal, rank, size) = (comm.hal(), comm.rank(), comm.size());
    let rounds = size.next_power_of_two().trailing_zeros() as usize;
    let pieces = Pieces::new::<T>(buffers.len(), Room::of(comm).most / rounds.max(1))?;
    for (number, piece) in pieces.iter().enumerate() {
        let turn = comm.slots_turn([rounds * pieces.lines, 0], false, number);
        let slots = Slots::new(turn, rounds, pieces.lines);
        let mut with_own = buffers.read(hal, piece.clone());
        let mut below: Option<alloc::vec::Vec<T>> = None;
        for round in 0..rounds {
            let distance = 1 << round;
            if rank + distance < size {
                slots.put(comm, &with_own, rank + distance, round);
            }
            let Some(from) = rank.checked_sub(distance) else { continue };
            let reason = Reason::new("operands of a scan").from(comm.core_of(from));
            slots.begin_taking(comm, rank);
            let operands = slots.take(comm, (rank, round), 0..piece.len(), reason);
            if rank + 2 * distance < size || kind == Kind::Inclusive {
                combine_before(hal, operation, &operands, &mut with_own);
            }
            match &mut below {
                _ if kind == Kind::Inclusive => {}
                None => below = Some(operands),
                Some(below) => combine_before(hal, operation, &operands, below),
            }
        }
        match (kind, below) {
            (Kind::Inclusive, _) => buffers.write(hal, piece.start, &with_own),
            (Kind::Exclusive, Some(below)) => buffers.write(hal, piece.start, &below),
            (Kind::Exclusive, None) => {}
        }
    }
    Ok(())
}
