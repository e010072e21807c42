//! Roots of unity, computed once.
//!
//! A transform of `n = n1 n2` values needs all `n` roots for its twiddle factors. Two tables make them: every `n1`-th
//! root, which are the roots that rows are transformed with, and the first `n1`; any root is a product of one of each.
//! That takes `n1 + n2` places instead of `n`, and an error of one rounding more.

use alloc::vec::Vec;
use core::f64::consts::FRAC_PI_4;

use hal::{Clock, p54c};

use super::{
    complex::{Complex, MUL_CYCLES, STORE_CYCLES, product},
    shape::Shape,
};

/// Cycles for a place in a table: reduction to the first octant, sine and cosine, store.
const ROOT_CYCLES: u64 = p54c::FDIV + p54c::FMUL + 8 * p54c::INTEGER + p54c::FSINCOS + STORE_CYCLES;

/// Cycles of a root that is made of both tables, beside its loads.
pub(super) const AT_CYCLES: u64 = MUL_CYCLES + 4 * p54c::INTEGER;

/// The roots of unity of a transform: powers of `exp(-2 pi i / n)`.
pub(super) struct Roots {
    /// Roots in the second table, a power of two.
    fine_len: usize,
    coarse: Vec<Complex>,
    fine: Vec<Complex>,
}

impl Roots {
    /// Computes the tables.
    pub(super) fn new(clock: &impl Clock, shape: Shape) -> Self {
        let (rows, columns) = (shape.rows(), shape.columns());
        clock.compute((rows + columns) as u64 * ROOT_CYCLES);
        Self {
            fine_len: rows,
            coarse: (0..columns).map(|index| root(index, columns)).collect(),
            fine: (0..rows).map(|index| root(index, shape.values())).collect(),
        }
    }

    /// The power `exponent` of the first root; it is below the length of the transform.
    #[inline]
    pub(super) fn at(&self, exponent: usize) -> Complex {
        product(self.coarse[exponent / self.fine_len], self.fine[exponent % self.fine_len])
    }

    /// The roots for rows of `columns` values or a part of that, each `n / len` roots from the next.
    pub(super) fn of_rows(&self) -> &[Complex] {
        &self.coarse
    }
}

/// `exp(-2 pi i index / len)` for a power of two. Angles are halved octants, which are exact: so all eight octants
/// have the same values, and the roots on the axes are what they should be.
fn root(index: usize, len: usize) -> Complex {
    let (octant, rest) = (8 * index / len, 8 * index % len);
    let rest = if octant.is_multiple_of(2) { rest } else { len - rest };
    let (sine, cosine) = libm::sincos(rest as f64 / len as f64 * FRAC_PI_4);
    match octant {
        0 => [cosine, -sine],
        1 => [sine, -cosine],
        2 => [-sine, -cosine],
        3 => [-cosine, -sine],
        4 => [-cosine, sine],
        5 => [-sine, cosine],
        6 => [sine, cosine],
        _ => [cosine, sine],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_those_of_the_host() {
        for len in [4, 8, 64, 1024] {
            for index in 0..len {
                let (sine, cosine) = (-std::f64::consts::TAU * index as f64 / len as f64).sin_cos();
                let [real, imaginary] = root(index, len);
                assert!((real - cosine).abs() < 1e-15 && (imaginary - sine).abs() < 1e-15, "{index} of {len}");
            }
        }
        assert_eq!([0, 2, 4, 6].map(|index| root(index, 8)), [[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn any_root_is_a_product() {
        for len in [4, 8, 32, 4096] {
            let shape = Shape::of(len).unwrap();
            let roots = Roots::new(&crate::programs::fft::tests::NoClock, shape);
            for exponent in 0..len {
                let ([real, imaginary], expected) = (roots.at(exponent), root(exponent, len));
                assert!((real - expected[0]).abs() < 5e-16 && (imaginary - expected[1]).abs() < 5e-16);
            }
        }
    }
}
