//! Reductions as methods of the communicator.

use bytemuck::Pod;
use hal::Messenger;

use super::{Combine, Kind, Reduction, Scan};
use crate::{Comm, Divided, Error, OrInPlace};

/// By the fastest algorithm, or the one that it is [told](Self::using). All are collective.
impl<C: Messenger> Comm<'_, C> {
    /// Combines the operands of all ranks, element by element, into `result` of rank `root`.
    ///
    /// With [`InPlace`](crate::InPlace) a rank's operands are in `result`, where the root's are replaced; others may
    /// have no `result` if their operands are apart.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::ElementTooLarge`] for what fits no MPB; [`Error::Length`], on the
    /// root, if `result` is not as long as `operands`; [`Error::ProfileInForce`] while the MPBs are lent.
    pub fn reduce<'a, T: Pod>(
        &self,
        operands: impl Into<OrInPlace<&'a [T]>>,
        result: &mut [T],
        operation: &impl Combine<T>,
        root: usize,
    ) -> Result<(), Error> {
        self.preferred::<Reduction>().reduce(self, operands.into(), result, operation, Some(root))
    }

    /// Combines the operands of all ranks, element by element, into `result` of every rank. With
    /// [`InPlace`](crate::InPlace) they are in `result`, and replaced.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`] for what fits no MPB; [`Error::Length`] if `result` is not as long as `operands`;
    /// [`Error::ProfileInForce`] while the MPBs are lent.
    pub fn allreduce<'a, T: Pod>(
        &self,
        operands: impl Into<OrInPlace<&'a [T]>>,
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        self.preferred::<Reduction>().reduce(self, operands.into(), result, operation, None)
    }

    /// Combines the operands of all ranks, element by element, and gives each rank its block of what comes out, in
    /// `result`. Blocks are equally long, or the [`Pieces`](crate::Pieces) of the operands: all ranks name the same
    /// ones, in which every operand is.
    ///
    /// With [`InPlace`](crate::InPlace), or [`Pieces::in_place`](crate::Pieces::in_place), the operands are in `result`,
    /// and those of the own block are replaced; all others stay.
    ///
    /// # Errors
    /// On all ranks alike, with nothing sent: [`Error::Length`] if the number of operands is no multiple of the number
    /// of ranks, or not what all pieces have; [`Error::Pieces`] if there is not one piece for each rank,
    /// [`Error::PieceOutOfRange`] if one ends behind the operands, [`Error::PiecesOverlap`] if two of them share an
    /// operand; [`Error::ElementTooLarge`] for what fits no MPB; [`Error::ProfileInForce`] while the MPBs are lent.
    /// [`Error::Length`] on a rank whose `result` is not as long as its block.
    pub fn reduce_scatter<'a, T: Pod>(
        &self,
        operands: impl Into<Divided<'a, OrInPlace<&'a [T]>>>,
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        self.preferred::<Reduction>().reduce_scatter(self, operands.into(), result, operation)
    }

    /// Combines the operands of all ranks up to this one, element by element, into `result` (inclusive scan). With
    /// [`InPlace`](crate::InPlace) they are in `result`, and replaced.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`] for what fits no MPB; [`Error::Length`] if `result` is not as long as `operands`;
    /// [`Error::ProfileInForce`] while the MPBs are lent.
    pub fn scan<'a, T: Pod>(
        &self,
        operands: impl Into<OrInPlace<&'a [T]>>,
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        self.preferred::<Scan>().scan(self, operands.into(), result, operation, Kind::Inclusive)
    }

    /// Combines the operands of all ranks below this one, element by element, into `result` (exclusive scan), which
    /// stays as it was on rank 0. With [`InPlace`](crate::InPlace) they are in `result`, and replaced but on rank 0.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`] for what fits no MPB; [`Error::Length`] if `result` is not as long as `operands`;
    /// [`Error::ProfileInForce`] while the MPBs are lent.
    pub fn exscan<'a, T: Pod>(
        &self,
        operands: impl Into<OrInPlace<&'a [T]>>,
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        self.preferred::<Scan>().scan(self, operands.into(), result, operation, Kind::Exclusive)
    }
}
