//! Exchanges as operations of a communicator, by the fastest algorithm.

use bytemuck::Pod;
use hal::Messenger;

use crate::{Comm, Error};

use super::{Exchange, Pieces};

impl<C: Messenger> Comm<'_, C> {
    /// [`Exchange::gather`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::Length`], on the root, unless `all` has as many elements as all
    /// blocks; [`Error::ProfileInForce`].
    pub fn gather<T: Pod>(&self, block: &[T], all: &mut [T], root: usize) -> Result<(), Error> {
        Exchange::Default.gather(self, block, all, root)
    }

    /// [`Exchange::gather_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::Length`] on every rank whose buffer has another length than it
    /// should; [`Error::ProfileInForce`].
    pub fn gather_in_place<T: Pod>(&self, buffer: &mut [T], count: usize, root: usize) -> Result<(), Error> {
        Exchange::Default.gather_in_place(self, buffer, count, root)
    }

    /// [`Exchange::gatherv`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; on the root [`Error::Pieces`], [`Error::PieceOutOfRange`] or
    /// [`Error::PiecesOverlap`] for wrong pieces, and [`Error::Length`] unless its own block fits its piece;
    /// [`Error::ProfileInForce`].
    pub fn gatherv<T: Pod>(&self, block: &[T], all: &mut [T], pieces: &Pieces<'_>, root: usize) -> Result<(), Error> {
        Exchange::Default.gatherv(self, block, all, pieces, root)
    }

    /// [`Exchange::gatherv_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces;
    /// [`Error::ProfileInForce`].
    pub fn gatherv_in_place<T: Pod>(&self, all: &mut [T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.gatherv_in_place(self, all, pieces)
    }

    /// [`Exchange::scatter`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::Length`], on the root, unless `all` has as many elements as all
    /// blocks; [`Error::ProfileInForce`].
    pub fn scatter<T: Pod>(&self, all: &[T], block: &mut [T], root: usize) -> Result<(), Error> {
        Exchange::Default.scatter(self, all, block, root)
    }

    /// [`Exchange::scatter_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::Length`] on every rank whose buffer has another length than it
    /// should; [`Error::ProfileInForce`].
    pub fn scatter_in_place<T: Pod>(&self, buffer: &mut [T], count: usize, root: usize) -> Result<(), Error> {
        Exchange::Default.scatter_in_place(self, buffer, count, root)
    }

    /// [`Exchange::scatterv`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; on the root [`Error::Pieces`] or [`Error::PieceOutOfRange`] for wrong
    /// pieces, and [`Error::Length`] unless its own piece fits its block; [`Error::ProfileInForce`].
    pub fn scatterv<T: Pod>(&self, all: &[T], pieces: &Pieces<'_>, block: &mut [T], root: usize) -> Result<(), Error> {
        Exchange::Default.scatterv(self, all, pieces, block, root)
    }

    /// [`Exchange::scatterv_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Pieces`] or [`Error::PieceOutOfRange`] for wrong pieces; [`Error::ProfileInForce`].
    pub fn scatterv_in_place<T: Pod>(&self, all: &[T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.scatterv_in_place(self, all, pieces)
    }

    /// [`Exchange::allgather`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Length`] unless `all` has as many elements as all blocks, which have equal lengths;
    /// [`Error::ProfileInForce`].
    pub fn allgather<T: Pod>(&self, block: &[T], all: &mut [T]) -> Result<(), Error> {
        Exchange::Default.allgather(self, block, all)
    }

    /// [`Exchange::allgather_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Length`] unless the elements of `all` are a multiple of the ranks; [`Error::ProfileInForce`].
    pub fn allgather_in_place<T: Pod>(&self, all: &mut [T]) -> Result<(), Error> {
        Exchange::Default.allgather_in_place(self, all)
    }

    /// [`Exchange::allgatherv`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces, [`Error::Length`]
    /// unless the own block fits its piece; [`Error::ProfileInForce`].
    pub fn allgatherv<T: Pod>(&self, block: &[T], all: &mut [T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.allgatherv(self, block, all, pieces)
    }

    /// [`Exchange::allgatherv_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces;
    /// [`Error::ProfileInForce`].
    pub fn allgatherv_in_place<T: Pod>(&self, all: &mut [T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.allgatherv_in_place(self, all, pieces)
    }

    /// [`Exchange::alltoall`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Length`] unless the elements of `send` are a multiple of the ranks, and `receive` has as many;
    /// [`Error::ProfileInForce`].
    pub fn alltoall<T: Pod>(&self, send: &[T], receive: &mut [T]) -> Result<(), Error> {
        Exchange::Default.alltoall(self, send, receive)
    }

    /// [`Exchange::alltoall_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Length`] unless the elements are a multiple of the ranks; [`Error::ProfileInForce`].
    pub fn alltoall_in_place<T: Pod>(&self, buffer: &mut [T]) -> Result<(), Error> {
        Exchange::Default.alltoall_in_place(self, buffer)
    }

    /// [`Exchange::alltoallv`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Pieces`] or [`Error::PieceOutOfRange`] for wrong pieces, [`Error::PiecesOverlap`] for those of
    /// `receive`, [`Error::Length`] if the two pieces of this rank itself differ; [`Error::ProfileInForce`].
    pub fn alltoallv<T: Pod>(&self, send: (&[T], &Pieces<'_>), receive: (&mut [T], &Pieces<'_>)) -> Result<(), Error> {
        Exchange::Default.alltoallv(self, send, receive)
    }

    /// [`Exchange::alltoallv_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] for wrong pieces;
    /// [`Error::ProfileInForce`].
    pub fn alltoallv_in_place<T: Pod>(&self, buffer: &mut [T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.alltoallv_in_place(self, buffer, pieces)
    }
}
