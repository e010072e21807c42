//! The right to make regions of numbers, for tests: of what hardware does with memory, and of crates in which no code is
//! unsafe. Nothing but tests depends on it.

#![no_std]

use hal::{Regions, topology::MAX_CONTROLLERS};

/// The right to make regions, on the core of a test.
pub fn of_a_test() -> Regions {
    // SAFETY: not for programs, 1. to 3. of `Regions::new`. 1. and 2. A test gives it to its one communicator, or makes
    // regions of memory that nothing else in its machine uses, or that a rank has allocated and told the others of; 3. its
    // ranks share no secrets; 4. it allocates behind the machine's controllers.
    unsafe { Regions::new(MAX_CONTROLLERS) }
}
