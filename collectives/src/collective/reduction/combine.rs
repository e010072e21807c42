//! What combines two operands.

use bytemuck::Pod;
use hal::p54c;

use crate::Operator;

/// An associative operation on elements: a predefined [`Operator`], or an [`Operation`] of the user's own.
///
/// It need not be commutative. All reductions combine strictly in the order of ranks, the operand of the lower rank
/// on the left; only where the brackets are is up to the algorithm.
pub trait Combine<T> {
    /// Combines the operands of lower ranks (`left`) with those of higher ranks.
    fn combine(&self, left: T, right: T) -> T;

    /// Combines elements one by one, `there = there ∘ right`: in one go, where that is quicker.
    fn combine_all(&self, there: &mut [T], right: &[T])
    where
        T: Copy,
    {
        for (there, right) in there.iter_mut().zip(right) {
            *there = self.combine(*there, *right);
        }
    }

    /// Combines many elements with those of lower ranks: `there = left ∘ there`.
    fn combine_all_before(&self, left: &[T], there: &mut [T])
    where
        T: Copy,
    {
        for (left, there) in left.iter().zip(there) {
            *there = self.combine(*left, *there);
        }
    }

    /// P54C cycles that one combination takes, operands and result in L1.
    fn cycles(&self) -> u64;

    /// What tells it from other operations, where the [arguments of ranks are
    /// compared](crate::Comm::check_arguments): a name of its own, or that of its type.
    fn name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }
}

impl<T: Pod> Combine<T> for Operator<T> {
    fn combine(&self, left: T, right: T) -> T {
        Operator::combine(self, left, right)
    }

    fn combine_all(&self, there: &mut [T], right: &[T]) {
        self.apply(there, right);
    }

    fn combine_all_before(&self, left: &[T], there: &mut [T]) {
        self.apply_to(left, there);
    }

    fn cycles(&self) -> u64 {
        Operator::cycles(self)
    }

    fn name(&self) -> &'static str {
        Operator::name(self)
    }
}

/// An operation of the user's own on elements of any plain type.
#[derive(Clone, Copy, Debug)]
pub struct Operation<F> {
    combine: F,
    cycles: u64,
}

impl<F> Operation<F> {
    /// The operation `combine`, which has to be associative; the same on all ranks. It counts as one load, one simple
    /// instruction and one store, unless [`taking`](Self::taking) says otherwise.
    pub const fn new(combine: F) -> Self {
        Self { combine, cycles: 3 * p54c::INTEGER }
    }

    /// This operation, where one combination takes `cycles` cycles of a P54C in virtual time.
    #[must_use]
    pub fn taking(self, cycles: u64) -> Self {
        Self { cycles, ..self }
    }
}

impl<T, F: Fn(T, T) -> T> Combine<T> for Operation<F> {
    fn combine(&self, left: T, right: T) -> T {
        (self.combine)(left, right)
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }
}
