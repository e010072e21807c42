//! Exchanges as operations of a communicator.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use hal::Messenger;

use crate::{
    Comm, Divided, Error,
    OrInPlace::{self, Apart},
    collective::{call::Collective, lengths::check_len},
};

use super::{Exchange, alltoall::Buffers, ends::Way, named::Met, pieces::Laid, scatter};

/// By the fastest algorithm, or the one that it is [told](Self::using). All are collective.
impl<C: Messenger> Comm<'_, C> {
    /// Gathers a block from every rank at `root`: in `all` there, rank by rank or in [`Pieces`](super::Pieces). Other
    /// ranks' `all` is not used, and may be empty.
    ///
    /// With [`InPlace`](crate::InPlace) the root's own block is in its place in `all`, and that of another rank is all
    /// of its `all`.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::ProfileInForce`] while the MPBs are lent. On
    /// the root [`Error::Length`] unless `all` has as many elements as all blocks, or the own piece as many as its
    /// block; [`Error::Pieces`] if there is not one piece for each rank, [`Error::PieceOutOfRange`] if one ends
    /// behind `all`, [`Error::PiecesOverlap`] if two share an element.
    pub fn gather<'a, T: Pod>(
        &self,
        block: impl Into<OrInPlace<&'a [T]>>,
        all: impl Into<Divided<'a, &'a mut [T]>>,
        root: usize,
    ) -> Result<(), Error> {
        let (block, Divided { buffer: all, pieces }) = (block.into(), all.into());
        let (by, size, is_root) = (self.preferred::<Exchange>(), self.size(), self.rank() == root);
        let names = [Collective::Gather, Collective::GatherPieces];
        let count = self.check_rooted::<T>(names, &by, Way::ToRoot, (apart(&block), all.len()), pieces, root)?;
        let common = pieces.is_none().then(|| count * size_of::<T>());
        if !is_root {
            return by.send_to_root(self, common, cast_slice(block.or(all)), root);
        }
        let own = pieces.map_or(Ok(()), |pieces| check_len(count, pieces.count(root)));
        let mut laid = Laid::new::<T>(own, pieces, count, (all.len(), size), true);
        let (checked, (all, spans)) = (laid.checked, laid.write(cast_slice_mut(all)));
        by.collect(self, common, own_block(&block).filter(|_| own.is_ok()), all, spans).and(checked)
    }

    /// Scatters a block to every rank from `root`: from `all` there, rank by rank or from [`Pieces`](super::Pieces),
    /// which may overlap. Other ranks' `all` is not used, and may be empty.
    ///
    /// With [`InPlace`](crate::InPlace) for its block, the root's own stays where it is in `all`; on other ranks that
    /// stands for no elements.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::ProfileInForce`] while the MPBs are lent. On
    /// the root [`Error::Length`] unless `all` has as many elements as all blocks, or the own piece as many as its
    /// block; [`Error::Pieces`] if there is not one piece for each rank, [`Error::PieceOutOfRange`] if one ends behind
    /// `all`.
    pub fn scatter<'a, T: Pod>(
        &self,
        all: impl Into<Divided<'a, &'a [T]>>,
        block: impl Into<OrInPlace<&'a mut [T]>>,
        root: usize,
    ) -> Result<(), Error> {
        let (Divided { buffer: all, pieces }, block) = (all.into(), block.into());
        let (by, size, is_root) = (self.preferred::<Exchange>(), self.size(), self.rank() == root);
        let block = if let Apart(block) = block { Some(block) } else { None };
        let (names, apart) =
            ([Collective::Scatter, Collective::ScatterPieces], block.as_ref().map(|block| block.len()));
        let count = self.check_rooted::<T>(names, &by, Way::FromRoot, (apart, all.len()), pieces, root)?;
        let common = pieces.is_none().then(|| count * size_of::<T>());
        if !is_root {
            return by.receive_from_root(self, common, cast_slice_mut(block.unwrap_or_default()), root);
        }
        let laid = Laid::new::<T>(Ok(()), pieces, count, (all.len(), size), false);
        by.distribute(self, common, (laid.read(cast_slice(all)), &laid.spans), || {
            laid.checked?;
            pieces.map_or(Ok(()), |pieces| check_len(count, pieces.count(root)))?;
            if let Some(block) = block {
                scatter::keep_own(self, cast_slice(all), &laid.spans, cast_slice_mut(block));
            }
            Ok(())
        })
    }

    /// Gathers a block from every rank on every rank, in `all`, rank by rank or in [`Pieces`](super::Pieces): all ranks
    /// name the same counts, where the pieces are is the business of each. With [`InPlace`](crate::InPlace) a rank's
    /// own block is in its place in `all`.
    ///
    /// # Errors
    /// [`Error::ProfileInForce`] while the MPBs are lent; [`Error::Length`] unless `all` has as many elements as all
    /// blocks, or the own piece as many as the block; [`Error::Pieces`] if there is not one piece for each rank,
    /// [`Error::PieceOutOfRange`] if one ends behind `all`, [`Error::PiecesOverlap`] if two share an element.
    pub fn allgather<'a, T: Pod>(
        &self,
        block: impl Into<OrInPlace<&'a [T]>>,
        all: impl Into<Divided<'a, &'a mut [T]>>,
    ) -> Result<(), Error> {
        let (block, Divided { buffer: all, pieces }) = (block.into(), all.into());
        let by = self.preferred::<Exchange>();
        let names = [Collective::Allgather, Collective::AllgatherPieces];
        let (mut laid, own, _) = self.check_gathered::<T>(names, &by, apart(&block), all.len(), pieces)?;
        let (checked, (all, spans)) = (laid.checked, laid.write(cast_slice_mut(all)));
        by.exchange_all(self, own_block(&block).filter(|_| own.is_ok()), all, spans).and(checked)
    }

    /// Sends a block to every rank from `send`, rank by rank or from [`Pieces`](super::Pieces), which may overlap, and
    /// receives one from every rank in `receive`, rank by rank or in pieces. With [`InPlace`](crate::InPlace) blocks
    /// that arrive take the places of those that were sent, which have the same lengths.
    ///
    /// # Errors
    /// [`Error::ProfileInForce`] while the MPBs are lent; [`Error::Length`] if the number of elements is no multiple of
    /// the number of ranks, on every rank alike if all send equal lengths as they have to, if `receive` has not as many
    /// as `send`, or if the two pieces of this rank itself differ; [`Error::Pieces`] if there is not one piece for each
    /// rank, [`Error::PieceOutOfRange`] if one ends behind its buffer, [`Error::PiecesOverlap`] if two of `receive` share
    /// an element.
    pub fn alltoall<'a, T: Pod>(
        &self,
        send: impl Into<OrInPlace<Divided<'a, &'a [T]>>>,
        receive: impl Into<Divided<'a, &'a mut [T]>>,
    ) -> Result<(), Error> {
        let (send, Divided { buffer: receive, pieces: received }) = (send.into(), receive.into());
        let by = self.preferred::<Exchange>();
        let sent = match &send {
            Apart(send) => (send.buffer.len(), send.pieces),
            OrInPlace::InPlace => (receive.len(), received),
        };
        let names = [Collective::Alltoall, Collective::AlltoallPieces];
        let Met { common, from, mut to } = self.check_met::<T>(names, &by, sent, (receive.len(), received))?;
        let (checked, (receive, received)) = (to.checked, to.write(cast_slice_mut(receive)));
        let send = match &send {
            Apart(send) => Some((from.read(cast_slice(send.buffer)), &from.spans)),
            OrInPlace::InPlace => None,
        };
        let common = common.map(|count| count * size_of::<T>());
        by.meet(self, common, Buffers { send, receive, received }).and(checked)
    }
}

/// Elements of this rank's own block, if it is apart.
pub(in crate::collective) fn apart<T>(block: &OrInPlace<&[T]>) -> Option<usize> {
    match block {
        Apart(block) => Some(block.len()),
        OrInPlace::InPlace => None,
    }
}

/// This rank's own block, if it is apart.
pub(in crate::collective) fn own_block<'b, T: Pod>(block: &OrInPlace<&'b [T]>) -> Option<&'b [u8]> {
    match block {
        Apart(block) => Some(cast_slice(block)),
        OrInPlace::InPlace => None,
    }
}
