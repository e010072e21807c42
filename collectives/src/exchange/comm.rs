//! Exchanges as operations of a communicator, by the fastest algorithm.

use bytemuck::Pod;
use hal::{Clock, Mpb, MpbCopy, Wait};

use crate::{Comm, Error};

use super::{Exchange, Pieces};

impl<C: Mpb + MpbCopy + Clock + Wait> Comm<'_, C> {
    /// [`Exchange::gather`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn gather<T: Pod>(&self, block: &[T], all: &mut [T], root: usize) -> Result<(), Error> {
        Exchange::Default.gather(self, block, all, root)
    }

    /// [`Exchange::gather_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn gather_in_place<T: Pod>(&self, buffer: &mut [T], count: usize, root: usize) -> Result<(), Error> {
        Exchange::Default.gather_in_place(self, buffer, count, root)
    }

    /// [`Exchange::gatherv`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn gatherv<T: Pod>(&self, block: &[T], all: &mut [T], pieces: &Pieces<'_>, root: usize) -> Result<(), Error> {
        Exchange::Default.gatherv(self, block, all, pieces, root)
    }

    /// [`Exchange::gatherv_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn gatherv_in_place<T: Pod>(&self, all: &mut [T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.gatherv_in_place(self, all, pieces)
    }

    /// [`Exchange::scatter`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn scatter<T: Pod>(&self, all: &[T], block: &mut [T], root: usize) -> Result<(), Error> {
        Exchange::Default.scatter(self, all, block, root)
    }

    /// [`Exchange::scatter_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn scatter_in_place<T: Pod>(&self, buffer: &mut [T], count: usize, root: usize) -> Result<(), Error> {
        Exchange::Default.scatter_in_place(self, buffer, count, root)
    }

    /// [`Exchange::scatterv`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn scatterv<T: Pod>(&self, all: &[T], pieces: &Pieces<'_>, block: &mut [T], root: usize) -> Result<(), Error> {
        Exchange::Default.scatterv(self, all, pieces, block, root)
    }

    /// [`Exchange::scatterv_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn scatterv_in_place<T: Pod>(&self, all: &[T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.scatterv_in_place(self, all, pieces)
    }

    /// [`Exchange::allgather`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn allgather<T: Pod>(&self, block: &[T], all: &mut [T]) -> Result<(), Error> {
        Exchange::Default.allgather(self, block, all)
    }

    /// [`Exchange::allgather_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn allgather_in_place<T: Pod>(&self, all: &mut [T]) -> Result<(), Error> {
        Exchange::Default.allgather_in_place(self, all)
    }

    /// [`Exchange::allgatherv`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn allgatherv<T: Pod>(&self, block: &[T], all: &mut [T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.allgatherv(self, block, all, pieces)
    }

    /// [`Exchange::allgatherv_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn allgatherv_in_place<T: Pod>(&self, all: &mut [T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.allgatherv_in_place(self, all, pieces)
    }

    /// [`Exchange::alltoall`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn alltoall<T: Pod>(&self, send: &[T], receive: &mut [T]) -> Result<(), Error> {
        Exchange::Default.alltoall(self, send, receive)
    }

    /// [`Exchange::alltoall_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn alltoall_in_place<T: Pod>(&self, buffer: &mut [T]) -> Result<(), Error> {
        Exchange::Default.alltoall_in_place(self, buffer)
    }

    /// [`Exchange::alltoallv`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn alltoallv<T: Pod>(&self, send: (&[T], &Pieces<'_>), receive: (&mut [T], &Pieces<'_>)) -> Result<(), Error> {
        Exchange::Default.alltoallv(self, send, receive)
    }

    /// [`Exchange::alltoallv_in_place`] by the fastest algorithm. Collective.
    ///
    /// # Errors
    /// The same.
    pub fn alltoallv_in_place<T: Pod>(&self, buffer: &mut [T], pieces: &Pieces<'_>) -> Result<(), Error> {
        Exchange::Default.alltoallv_in_place(self, buffer, pieces)
    }
}
