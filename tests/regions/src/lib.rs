//! The right to make regions of numbers, for tests: of what hardware does with memory, and of crates in which no code is
//! unsafe. Nothing but tests depends on it.

#![no_std]

use hal::{Caches, LocalView, Pod, Regions, topology::MAX_CONTROLLERS};

/// The right to make regions, on the core of a test.
pub fn of_a_test() -> Regions {
    // SAFETY: not for programs, 1. to 3. of `Regions::new`. 1. and 2. A test gives it to its one communicator, or makes
    // regions of memory that nothing else in its machine uses, or that a rank has allocated and told the others of; 3. its
    // ranks share no secrets; 4. it allocates behind the machine's controllers.
    unsafe { Regions::new(MAX_CONTROLLERS) }
}

/// A slice of a view, for a test whose ranks keep their hands off what it looks at.
pub fn slice_of<'s, T: Pod>(view: &'s LocalView<'_, T>, caches: &'s Caches) -> &'s [T] {
    // SAFETY: not for programs. A test takes slices of memory that its ranks store to before or afterwards only.
    unsafe { view.as_slice(caches) }
}

/// A mutable slice of a view, for a test whose ranks keep their hands off what it looks at.
pub fn mut_slice_of<'s, T: Pod>(view: &'s mut LocalView<'_, T>, caches: &'s Caches) -> &'s mut [T] {
    // SAFETY: as above, for loads as well.
    unsafe { view.as_mut_slice(caches) }
}
