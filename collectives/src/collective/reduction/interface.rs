//! Reductions by the fastest algorithm, as methods of the communicator.

use bytemuck::Pod;
use hal::Messenger;

use super::{Combine, Reduction, Scan};
use crate::{Comm, Error};

impl<C: Messenger> Comm<'_, C> {
    /// [`Reduction::reduce`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::ElementTooLarge`]; [`Error::Length`], on the root, if `result` is
    /// not as long as `operands`; [`Error::ProfileInForce`].
    pub fn reduce<T: Pod>(
        &self,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
        root: usize,
    ) -> Result<(), Error> {
        Reduction::Default.reduce(self, operands, result, operation, root)
    }

    /// [`Reduction::reduce_in_place`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root; [`Error::ElementTooLarge`]; [`Error::ProfileInForce`].
    pub fn reduce_in_place<T: Pod>(
        &self,
        data: &mut [T],
        operation: &impl Combine<T>,
        root: usize,
    ) -> Result<(), Error> {
        Reduction::Default.reduce_in_place(self, data, operation, root)
    }

    /// [`Reduction::allreduce`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::Length`] if `result` is not as long as `operands`;
    /// [`Error::ProfileInForce`].
    pub fn allreduce<T: Pod>(
        &self,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        Reduction::Default.allreduce(self, operands, result, operation)
    }

    /// [`Reduction::allreduce_in_place`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::ProfileInForce`].
    pub fn allreduce_in_place<T: Pod>(&self, data: &mut [T], operation: &impl Combine<T>) -> Result<(), Error> {
        Reduction::Default.allreduce_in_place(self, data, operation)
    }

    /// [`Reduction::reduce_scatter`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one count for each rank, `operands` is not as long as all blocks, or `result`
    /// not as long as the own block; [`Error::ElementTooLarge`]; [`Error::ProfileInForce`].
    pub fn reduce_scatter<T: Pod>(
        &self,
        operands: &[T],
        counts: &[usize],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        Reduction::Default.reduce_scatter(self, operands, counts, result, operation)
    }

    /// [`Reduction::reduce_scatter_in_place`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one count for each rank, or `data` is not as long as all blocks;
    /// [`Error::ElementTooLarge`]; [`Error::ProfileInForce`].
    pub fn reduce_scatter_in_place<T: Pod>(
        &self,
        data: &mut [T],
        counts: &[usize],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        Reduction::Default.reduce_scatter_in_place(self, data, counts, operation)
    }

    /// [`Reduction::reduce_scatter_block`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of operands is no multiple of the number of ranks, or `result` is not as long as
    /// a block; [`Error::ElementTooLarge`]; [`Error::ProfileInForce`].
    pub fn reduce_scatter_block<T: Pod>(
        &self,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        Reduction::Default.reduce_scatter_block(self, operands, result, operation)
    }

    /// [`Reduction::reduce_scatter_block_in_place`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of operands is no multiple of the number of ranks; [`Error::ElementTooLarge`];
    /// [`Error::ProfileInForce`].
    pub fn reduce_scatter_block_in_place<T: Pod>(
        &self,
        data: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        Reduction::Default.reduce_scatter_block_in_place(self, data, operation)
    }

    /// [`Scan::scan`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::Length`] if `result` is not as long as `operands`;
    /// [`Error::ProfileInForce`].
    pub fn scan<T: Pod>(&self, operands: &[T], result: &mut [T], operation: &impl Combine<T>) -> Result<(), Error> {
        Scan::Default.scan(self, operands, result, operation)
    }

    /// [`Scan::scan_in_place`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::ProfileInForce`].
    pub fn scan_in_place<T: Pod>(&self, data: &mut [T], operation: &impl Combine<T>) -> Result<(), Error> {
        Scan::Default.scan_in_place(self, data, operation)
    }

    /// [`Scan::exscan`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::Length`] if `result` is not as long as `operands`;
    /// [`Error::ProfileInForce`].
    pub fn exscan<T: Pod>(&self, operands: &[T], result: &mut [T], operation: &impl Combine<T>) -> Result<(), Error> {
        Scan::Default.exscan(self, operands, result, operation)
    }

    /// [`Scan::exscan_in_place`] by the fastest algorithm.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`]; [`Error::ProfileInForce`].
    pub fn exscan_in_place<T: Pod>(&self, data: &mut [T], operation: &impl Combine<T>) -> Result<(), Error> {
        Scan::Default.exscan_in_place(self, data, operation)
    }
}
