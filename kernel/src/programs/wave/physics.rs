//! The wave equation on cells: what one cell does in a step, and how the wave begins.
//!
//! Second order in time and fourth in space, as AWM-Olsen: a cell looks two cells far in each of six directions.
//! Outside of the grid
//! nothing moves.

use hal::p54c;

/// Cells that a cell looks far.
pub(super) const REACH: usize = 2;

/// What lies on top of all displacements, so that no value comes near 0: where results are subnormal, the x87 rounds
/// them differently in registers and in memory, and the front of a wave gets there.
pub(super) const GROUND: f64 = 1.0;

/// Square of the cells that a wave travels in a step, and the denominator of the differences. Stable up to a square
/// of 0.25.
const RATE: f64 = 0.125 / 12.0;

/// Cycles for a cell: fourteen loads, a store, 20 additions, subtractions and comparisons, 5 multiplications, and the
/// loop around them.
pub(super) const CELL_CYCLES: u64 =
    14 * p54c::FLOAD + 20 * p54c::FADD + 5 * p54c::FMUL + p54c::FSTORE + 4 * p54c::INTEGER;

/// Cycles to copy an element between a field and a buffer.
pub(super) const COPY_CYCLES: u64 = p54c::FLOAD + p54c::FSTORE + p54c::INTEGER;

/// The displacement of a cell after a step, and what the cell then adds to the totals. The one expression that
/// decides the result; its order is part of it. Neighbours come in the order of x, y, z, lower first: six that are
/// next to the cell, six behind those.
///
/// The sum of all energies is what the scheme conserves: kinetic at the half step, potential as the product of both
/// its ends.
#[inline]
pub(super) fn step(before: f64, here: f64, near: [f64; 6], far: [f64; 6]) -> (f64, f64) {
    let sum = |[a, b, c, d, e, f]: [f64; 6]| a + b + c + d + e + f;
    let pull = RATE * (16.0 * sum(near) - sum(far) - 90.0 * here);
    let next = here + here - before + pull;
    let moved = next - here;
    (next, moved * moved - (next - GROUND) * pull)
}

/// Radius of the first displacement, in cells.
const RADIUS: i64 = 4;

/// Its height, for the square of a squared radius.
const HEIGHT: f64 = 0.5 / 256.0;

/// How a cell is displaced in the beginning, at rest: a smooth hill, off the middle so that no two directions are
/// alike.
pub(super) fn first(cell: [usize; 3], size: [usize; 3]) -> f64 {
    let middles = [size[0] / 2, size[1] / 3, size[2] / 4];
    let squares = cell.iter().zip(middles).map(|(at, middle)| (*at as i64 - middle as i64).pow(2));
    let inside = (RADIUS * RADIUS - squares.sum::<i64>()).max(0);
    GROUND + HEIGHT * (inside * inside) as f64
}

/// What all cells have together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Totals {
    /// The energy.
    pub(super) energy: f64,
    /// The highest displacement.
    pub(super) highest: f64,
}

impl Totals {
    /// The totals of no cells.
    pub(super) const NONE: Self = Self { energy: 0.0, highest: f64::MIN };

    /// Adds a cell.
    #[inline]
    pub(super) fn add(&mut self, displacement: f64, energy: f64) {
        self.energy += energy;
        if displacement > self.highest {
            self.highest = displacement;
        }
    }

    /// Adds those of other cells.
    pub(super) fn merge(&mut self, other: Self) {
        self.add(other.highest, other.energy);
    }

    /// The numbers as they travel.
    pub(super) fn to_array(self) -> [f64; 2] {
        [self.energy, self.highest]
    }

    /// Numbers that have travelled.
    pub(super) fn from_array([energy, highest]: [f64; 2]) -> Self {
        Self { energy, highest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ground_stays_ground() {
        assert_eq!(step(GROUND, GROUND, [GROUND; 6], [GROUND; 6]), (GROUND, 0.0));
    }

    #[test]
    fn the_hill_is_where_it_should_be() {
        let size = [20, 30, 40];
        assert_eq!(first([10, 10, 10], size), 1.5);
        assert!(first([11, 10, 10], size) < 1.5 && first([10, 10, 13], size) > GROUND);
        assert_eq!(first([14, 10, 10], size), GROUND);
        assert_eq!(first([0, 0, 0], [1, 1, 1]), 1.5);
    }
}
