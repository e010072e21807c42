//! Complex numbers, and what computing with them costs a P54C.
//!
//! Pairs and no type of their own, so that shared memory can hold them as they are.

use hal::p54c;

/// Real and imaginary part.
pub type Complex = [f64; 2];

/// Bytes of a complex number.
pub const COMPLEX_BYTES: usize = size_of::<Complex>();

/// Cycles of an addition or subtraction of values on the stack.
pub(super) const ADD_CYCLES: u64 = 2 * p54c::FADD;
/// Cycles of a multiplication of values on the stack.
pub(super) const MUL_CYCLES: u64 = 4 * p54c::FMUL + 2 * p54c::FADD;
/// Cycles of a load that L1 holds.
pub(super) const LOAD_CYCLES: u64 = 2 * p54c::FLOAD;
/// Cycles of a store.
pub(super) const STORE_CYCLES: u64 = 2 * p54c::FSTORE;
/// Cycles in which a value that L1 holds is moved, with the loop around it.
pub(super) const MOVE_CYCLES: u64 = LOAD_CYCLES + STORE_CYCLES + 2 * p54c::INTEGER;

#[inline]
pub(super) fn sum(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline]
pub(super) fn difference(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline]
pub(super) fn product(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The square of the absolute value.
#[inline]
pub(super) fn power(a: Complex) -> f64 {
    a[0] * a[0] + a[1] * a[1]
}
