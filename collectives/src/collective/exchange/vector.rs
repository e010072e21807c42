//! The variants with blocks of different lengths.

use alloc::vec;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use hal::{Messenger, Mpb, Wait};

use crate::{
    Comm, Error,
    collective::{
        call::{Call, Collective},
        lengths::check_len,
    },
};

use super::{
    Exchange, Pieces,
    alltoall::Buffers,
    ends::{Way, check_between_all, check_with_root},
    pieces::Spans,
    scatter,
};

/// Calls `part` with this rank's own block, where that is apart, with the buffer that `pieces` of are written, and
/// with where these lie in it; if something is wrong with them, with no block and with zeros instead, and returns what
/// is wrong.
fn with_pieces<C: Mpb + Wait, T: Pod>(
    comm: &Comm<'_, C>,
    own: Option<&[T]>,
    all: &mut [T],
    pieces: &Pieces<'_>,
    part: impl FnOnce(Option<&[u8]>, &mut [u8], &Spans) -> Result<(), Error>,
) -> Result<(), Error> {
    let checked = own.map_or(Ok(()), |own| check_len(own.len(), pieces.count(comm.rank())));
    let checked = checked.and(pieces.check(comm.size(), all.len(), true));
    if checked.is_err() {
        let (spans, len) = pieces.spans_apart::<T>(comm.size());
        return part(None, &mut vec![0; len], &spans).and(checked);
    }
    part(own.map(cast_slice), cast_slice_mut(all), &pieces.spans::<T>())
}

impl Exchange {
    /// Gathers a block from every rank at `root`: in `pieces` of `all` there. Other ranks' `all` and `pieces` are not
    /// used, and may be empty.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike. On the root [`Error::Pieces`],
    /// [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces, [`Error::Length`] unless its own
    /// block fits its piece.
    pub fn gatherv<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        block: &[T],
        all: &mut [T],
        pieces: &Pieces<'_>,
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Gatherv).of::<T>().rooted(root).by(&self))?;
        comm.check_rank(root)?;
        let bytes = |rank| pieces.count(rank).saturating_mul(size_of::<T>());
        check_with_root(comm, Way::ToRoot, root, size_of_val(block), bytes)?;
        if comm.rank() != root {
            return self.send_to_root(comm, None, cast_slice(block), root);
        }
        with_pieces(comm, Some(block), all, pieces, |own, all, spans| self.collect(comm, None, own, all, spans))
    }

    /// The part of the root in a [`gatherv`](Self::gatherv) if its own block is in its place; the root is this rank.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces.
    pub fn gatherv_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        all: &mut [T],
        pieces: &Pieces<'_>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Gatherv).of::<T>().rooted(comm.rank()).by(&self))?;
        let bytes = |rank| pieces.count(rank).saturating_mul(size_of::<T>());
        check_with_root(comm, Way::ToRoot, comm.rank(), bytes(comm.rank()), bytes)?;
        with_pieces(comm, None, all, pieces, |own, all, spans| self.collect(comm, None, own, all, spans))
    }

    /// Scatters a block to every rank from `root`: from `pieces` of `all` there, which may overlap. Other ranks'
    /// `all` and `pieces` are not used, and may be empty.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike. On the root [`Error::Pieces`] or
    /// [`Error::PieceOutOfRange`] for wrong pieces, [`Error::Length`] unless its own piece fits its block.
    pub fn scatterv<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        all: &[T],
        pieces: &Pieces<'_>,
        block: &mut [T],
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Scatterv).of::<T>().rooted(root).by(&self))?;
        comm.check_rank(root)?;
        let bytes = |rank| pieces.count(rank).saturating_mul(size_of::<T>());
        check_with_root(comm, Way::FromRoot, root, size_of_val(block), bytes)?;
        if comm.rank() != root {
            return self.receive_from_root(comm, None, cast_slice_mut(block), root);
        }
        check_len(block.len(), pieces.count(root))
            .and(self.distribute_pieces(comm, all, pieces))
            .map(|()| scatter::keep_own(comm, cast_slice(all), &pieces.spans::<T>(), cast_slice_mut(block)))
    }

    /// The part of the root in a [`scatterv`](Self::scatterv) if its own block stays in its place; the root is this
    /// rank.
    ///
    /// # Errors
    /// [`Error::Pieces`] or [`Error::PieceOutOfRange`] for wrong pieces.
    pub fn scatterv_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        all: &[T],
        pieces: &Pieces<'_>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Scatterv).of::<T>().rooted(comm.rank()).by(&self))?;
        let bytes = |rank| pieces.count(rank).saturating_mul(size_of::<T>());
        check_with_root(comm, Way::FromRoot, comm.rank(), bytes(comm.rank()), bytes)?;
        self.distribute_pieces(comm, all, pieces)
    }

    fn distribute_pieces<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        all: &[T],
        pieces: &Pieces<'_>,
    ) -> Result<(), Error> {
        match pieces.check(comm.size(), all.len(), false) {
            Ok(()) => self.distribute(comm, None, cast_slice(all), &pieces.spans::<T>()),
            Err(wrong) => {
                let (spans, len) = pieces.spans_apart::<T>(comm.size());
                self.distribute(comm, None, &vec![0; len], &spans).and(Err(wrong))
            }
        }
    }

    /// Gathers a block from every rank on every rank, in `pieces` of `all`. All ranks name the same counts; where the
    /// pieces are is the business of each.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces, [`Error::Length`]
    /// unless the own block fits its piece.
    pub fn allgatherv<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        block: &[T],
        all: &mut [T],
        pieces: &Pieces<'_>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Allgatherv).of::<T>().each(pieces.counts()).by(&self))?;
        with_pieces(comm, Some(block), all, pieces, |own, all, spans| self.exchange_all(comm, own, all, spans))
    }

    /// Like [`allgatherv`](Self::allgatherv), with this rank's block in its place.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces.
    pub fn allgatherv_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        all: &mut [T],
        pieces: &Pieces<'_>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Allgatherv).of::<T>().each(pieces.counts()).by(&self))?;
        with_pieces(comm, None, all, pieces, |own, all, spans| self.exchange_all(comm, own, all, spans))
    }

    /// Sends a block to every rank, from pieces of `send`, which may overlap, and receives one from every rank, in
    /// pieces of `receive`.
    ///
    /// # Errors
    /// [`Error::Pieces`] or [`Error::PieceOutOfRange`] for wrong pieces, [`Error::PiecesOverlap`] for those of
    /// `receive`, [`Error::Length`] if the two pieces of this rank itself differ.
    pub fn alltoallv<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        send: (&[T], &Pieces<'_>),
        receive: (&mut [T], &Pieces<'_>),
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Alltoallv).of::<T>().by(&self))?;
        let bytes = |pieces: &Pieces<'_>, rank| pieces.count(rank).saturating_mul(size_of::<T>());
        check_between_all(comm, |rank| bytes(send.1, rank), |rank| bytes(receive.1, rank))?;
        let (size, me) = (comm.size(), comm.rank());
        let checked = check_len(send.1.count(me), receive.1.count(me))
            .and(send.1.check(size, send.0.len(), false))
            .and(receive.1.check(size, receive.0.len(), true));
        if checked.is_err() {
            let ((sent, send_len), (received, len)) = (send.1.spans_apart::<T>(size), receive.1.spans_apart::<T>(size));
            let (zeros, mut space) = (vec![0; send_len], vec![0; len]);
            let buffers = Buffers { send: Some((&zeros, &sent)), receive: &mut space, received: &received };
            return self.meet(comm, None, buffers).and(checked);
        }
        let (sent, received) = (send.1.spans::<T>(), receive.1.spans::<T>());
        let receive = cast_slice_mut(receive.0);
        self.meet(comm, None, Buffers { send: Some((cast_slice(send.0), &sent)), receive, received: &received })
    }

    /// Like [`alltoallv`](Self::alltoallv): blocks that arrive take the places of those that were sent, which have
    /// the same lengths.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces.
    pub fn alltoallv_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        buffer: &mut [T],
        pieces: &Pieces<'_>,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Alltoallv).of::<T>().by(&self))?;
        let bytes = |rank| pieces.count(rank).saturating_mul(size_of::<T>());
        check_between_all(comm, bytes, bytes)?;
        with_pieces(comm, None, buffer, pieces, |_, receive, received| {
            self.meet(comm, None, Buffers { send: None, receive, received })
        })
    }
}
