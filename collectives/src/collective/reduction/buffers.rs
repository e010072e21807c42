//! Operands and results of one rank, and what it costs to touch and combine them.
//!
//! **Prices.** Operands that the caller hands over are not in L1 and are read once, at the price of memory; results
//! are written once. In between everything is scratch of at most one chunk (6 KB), and operand, accumulator and what
//! came from a peer together stay below the 16 KB of L1: what was read or computed there a moment ago is read again
//! for nothing. Combining costs the [cycles](Combine::cycles) of the operation. Nothing else in this module's
//! siblings is free, and nothing is charged elsewhere.

use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;
use hal::{Clock, LINE_BYTES, Mpb, Wait};

use super::Combine;
use crate::Comm;

/// The operands of one rank and the place of its results, which may be the same.
pub(super) struct Buffers<'b, T> {
    /// `None` where results replace operands.
    operands: Option<&'b [T]>,
    result: &'b mut [T],
    /// Which element of the vector the first of `result` is.
    start: usize,
}

impl<'b, T: Pod> Buffers<'b, T> {
    /// Operands apart from the results, which are those of the elements from `start`.
    pub(super) fn apart(operands: &'b [T], result: &'b mut [T], start: usize) -> Self {
        Self { operands: Some(operands), result, start }
    }

    /// Results that replace operands.
    pub(super) fn in_place(data: &'b mut [T]) -> Self {
        Self { operands: None, result: data, start: 0 }
    }

    /// Elements of the vector.
    pub(super) fn len(&self) -> usize {
        self.operands().len()
    }

    fn operands(&self) -> &[T] {
        self.operands.unwrap_or(self.result)
    }

    /// Gives itself back if there is something to communicate. If there is no element, or just one rank, all is done;
    /// with one rank, the result of the first `none` ranks is none.
    pub(super) fn unless_trivial(mut self, comm: &Comm<'_, impl Mpb + Wait>, none: usize) -> Option<Self> {
        let len = self.len();
        if len * size_of::<T>() > 0 && comm.size() > 1 {
            return Some(self);
        }
        // Several ranks have no bytes here; and some of them no place for as many elements.
        if let (1, 0, Some(operands)) = (comm.size(), none, self.operands) {
            comm.hal().account_memory(memory_lines(operands), 0);
            self.write(comm.hal(), 0, operands);
        }
        None
    }

    /// The bytes of some operands, whose reads are accounted for by what puts them.
    pub(super) fn bytes(&self, elements: Range<usize>) -> &[u8] {
        bytemuck::cast_slice(&self.operands()[elements])
    }

    /// Reads operands.
    pub(super) fn read(&self, hal: &impl Clock, elements: Range<usize>) -> Vec<T> {
        let operands = &self.operands()[elements];
        hal.account_memory(memory_lines(operands), 0);
        operands.to_vec()
    }

    /// Writes results, the first of them for element `at`.
    pub(super) fn write(&mut self, hal: &impl Clock, at: usize, values: &[T]) {
        hal.account_memory(0, memory_lines(values));
        self.result[at - self.start..][..values.len()].copy_from_slice(values);
    }

    /// The bytes of some results, whose writes are accounted for by what gets them.
    pub(super) fn result_bytes(&mut self, elements: Range<usize>) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.result[elements.start - self.start..elements.end - self.start])
    }
}

fn memory_lines<T>(values: &[T]) -> usize {
    size_of_val(values).div_ceil(LINE_BYTES)
}

/// `there = there ∘ right`, element by element.
pub(super) fn combine<T: Pod>(hal: &impl Clock, operation: &impl Combine<T>, there: &mut [T], right: &[T]) {
    hal.compute(operation.cycles() * there.len() as u64);
    operation.combine_all(there, right);
}

/// `there = left ∘ there`, element by element.
pub(super) fn combine_before<T: Pod>(hal: &impl Clock, operation: &impl Combine<T>, left: &[T], there: &mut [T]) {
    hal.compute(operation.cycles() * there.len() as u64);
    operation.combine_all_before(left, there);
}

/// Operands of consecutive ranks that come in rank order from some rank on, around the end: 5, 6, 7, 0, 1, … 4.
/// Whoever combines starts with its own, so that no two ranks read the same MPB at a time, and still combines in the
/// order of ranks.
///
/// The brackets are (x₀ ∘ … ∘ x₄) ∘ (x₅ ∘ … ∘ x₇), each part from the left.
pub(super) struct Wrapped<T> {
    high: Vec<T>,
    low: Option<Vec<T>>,
}

impl<T: Pod> Wrapped<T> {
    /// Begins with the operands of the first rank.
    pub(super) fn new(first: Vec<T>) -> Self {
        Self { high: first, low: None }
    }

    /// Adds the operands of `rank`, the next one modulo the number of ranks.
    pub(super) fn add(&mut self, hal: &impl Clock, operation: &impl Combine<T>, rank: usize, operands: &[T]) {
        match &mut self.low {
            None if rank == 0 => self.low = Some(operands.to_vec()),
            None => combine(hal, operation, &mut self.high, operands),
            Some(low) => combine(hal, operation, low, operands),
        }
    }

    /// All combined.
    pub(super) fn finish(mut self, hal: &impl Clock, operation: &impl Combine<T>) -> Vec<T> {
        if let Some(low) = &self.low {
            combine_before(hal, operation, low, &mut self.high);
        }
        self.high
    }
}
