//! Which algorithms the collective operations of a communicator take.

use core::cell::Cell;

use crate::{Broadcast, Comm, Exchange, Reduction, Scan};

/// The algorithms that a program has named; each is the fastest until it names one.
#[derive(Default)]
pub struct Preferences {
    broadcast: Cell<Broadcast>,
    reduction: Cell<Reduction>,
    scan: Cell<Scan>,
    exchange: Cell<Exchange>,
}

/// An algorithm that [`Comm::using`] can be told.
pub trait Algorithm: Copy {
    /// Which one of its kind is preferred.
    #[doc(hidden)]
    fn preferred(preferences: &Preferences) -> &Cell<Self>;
}

macro_rules! algorithms {
    ($($algorithm:ty, $preference:ident;)*) => {$(
        impl Algorithm for $algorithm {
            fn preferred(preferences: &Preferences) -> &Cell<Self> {
                &preferences.$preference
            }
        }
    )*};
}

algorithms! {
    Broadcast, broadcast;
    Reduction, reduction;
    Scan, scan;
    Exchange, exchange;
}

impl<C> Comm<'_, C> {
    /// Calls `body`, whose collective operations take this [`Broadcast`], [`Reduction`], [`Scan`] or [`Exchange`]
    /// instead of the fastest one; after that, what was preferred before is again. Collective, like the operations: all
    /// ranks name the same algorithm.
    ///
    /// One can be within another, of the same kind or of another one. What the library itself needs, such as when it
    /// makes a window, is as it always is.
    pub fn using<A: Algorithm, R>(&self, algorithm: A, body: impl FnOnce(&Self) -> R) -> R {
        let preferred = A::preferred(self.preferences());
        let earlier = preferred.replace(algorithm);
        let result = body(self);
        preferred.set(earlier);
        result
    }

    pub(crate) fn preferred<A: Algorithm>(&self) -> A {
        A::preferred(self.preferences()).get()
    }
}
