//! What unit tests share: ranks of a simulated machine, an operator whose order shows, numbers that look random, and which prices there are.

use std::vec::Vec;

use descriptions::SoftwarePrices;
use hal::sim::{Machine, SimCore};

use crate::Comm;

/// What each rank of a machine makes of a program, which must come to its end.
pub(crate) fn run<R>(machine: &Machine, program: impl Fn(&Comm<'_, SimCore>) -> R) -> Vec<R> {
    let outcome =
        machine.run(|core| program(&Comm::world(core, regions::of_a_test()).expect("the machine is small enough")));
    outcome.unwrap_or_else(|failure| panic!("{failure}")).results()
}

/// A map: x to a x + b.
pub(crate) type Map = [u32; 2];

/// One map after the other: associative, and not commutative.
pub(crate) fn compose(left: Map, right: Map) -> Map {
    [left[0].wrapping_mul(right[0]), left[1].wrapping_mul(right[0]).wrapping_add(right[1])]
}

/// What vectors of maps make, element by element, in the order of their ranks.
pub(crate) fn composed(operands: impl Iterator<Item = Vec<Map>>) -> Vec<Map> {
    let two = |left: Vec<Map>, right| left.into_iter().zip(right).map(|(left, right)| compose(left, right)).collect();
    operands.reduce(two).expect("there is a rank")
}

/// Numbers that look random and are the same wherever the seed is.
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u32);

impl Random {
    /// The next number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit
    }

    /// One of `all`.
    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Whether the simulator's table of software's prices has one by this name; others are free there.
pub(crate) fn has_price(name: &str) -> bool {
    SoftwarePrices::measured().spans().any(|(known, _)| known == name)
}
