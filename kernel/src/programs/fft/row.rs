//! The transform of one row, in private memory that L1 holds: radix 2, in place.

use hal::{Clock, p54c};

use super::{
    complex::{ADD_CYCLES, Complex, LOAD_CYCLES, MUL_CYCLES, STORE_CYCLES, difference, product, sum},
    roots::{AT_CYCLES, Roots},
};

/// Cycles of a butterfly: two values and a root are loaded, two values stored, and the indices of the next one found.
const BUTTERFLY_CYCLES: u64 = 3 * LOAD_CYCLES + MUL_CYCLES + 2 * ADD_CYCLES + 2 * STORE_CYCLES + 4 * p54c::INTEGER;

/// Cycles for a value that is brought to its place before the butterflies.
const REVERSAL_CYCLES: u64 = LOAD_CYCLES + STORE_CYCLES + 6 * p54c::INTEGER;

/// Cycles of a twiddle factor and the multiplication with it.
const TWIDDLE_CYCLES: u64 = 3 * LOAD_CYCLES + AT_CYCLES + MUL_CYCLES + STORE_CYCLES + 2 * p54c::INTEGER;

/// Transforms `row`, whose length is a power of two and divides the number of roots for rows.
pub(super) fn transform(clock: &impl Clock, row: &mut [Complex], roots: &Roots) {
    let (len, roots) = (row.len(), roots.of_rows());
    let stages = len.ilog2();
    clock.compute(len as u64 * REVERSAL_CYCLES + u64::from(stages) * (len / 2) as u64 * BUTTERFLY_CYCLES);
    for index in 0..len {
        let other = index.reverse_bits() >> (usize::BITS - stages);
        if index < other {
            row.swap(index, other);
        }
    }
    let mut half = 1;
    while half < len {
        let stride = roots.len() / (2 * half);
        for pair in row.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for ((low, high), root) in low.iter_mut().zip(high).zip(roots.iter().step_by(stride)) {
                let turned = product(*high, *root);
                (*low, *high) = (sum(*low, turned), difference(*low, turned));
            }
        }
        half *= 2;
    }
}

/// Multiplies the values of row `number` of the transposed matrix with their twiddle factors.
pub(super) fn twiddle(clock: &impl Clock, row: &mut [Complex], number: usize, roots: &Roots) {
    clock.compute(row.len() as u64 * TWIDDLE_CYCLES);
    for (column, value) in row.iter_mut().enumerate() {
        *value = product(*value, roots.at(number * column));
    }
}
