//! Families of functions that programs call: each has a module here, a table that [`services`](crate::services) points to, and its
//! C side in a directory of its own beside `src`.

use core::marker::PhantomData;

use kernel::hal::Core;

/// What each family of functions keeps for a rank.
pub struct Families<'r, C: Core> {
    core: PhantomData<&'r C>,
}

impl<C: Core> Default for Families<'_, C> {
    fn default() -> Self {
        Self { core: PhantomData }
    }
}
