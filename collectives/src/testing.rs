//! What unit tests share: ranks of a simulated machine, and numbers that look random.

use std::vec::Vec;

use hal::sim::{Machine, SimCore};

use crate::Comm;

/// What each rank of a machine makes of a program, which must come to its end.
pub(crate) fn run<R>(machine: &Machine, program: impl Fn(&Comm<'_, SimCore>) -> R) -> Vec<R> {
    let outcome =
        machine.run(|core| program(&Comm::world(core, regions::of_a_test()).expect("the machine is small enough")));
    outcome.unwrap_or_else(|failure| panic!("{failure}")).results()
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
