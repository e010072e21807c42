//! Errors that give back what a refused call had taken.

use core::{error::Error, fmt};

/// An error that gives back what the refused call had taken.
pub struct Returned<E, T> {
    /// Why the call was refused.
    pub error: E,
    /// What the refused call had taken, unchanged.
    pub taken: T,
}

impl<E: fmt::Debug, T> fmt::Debug for Returned<E, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(out)
    }
}

impl<E: fmt::Display, T> fmt::Display for Returned<E, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(out)
    }
}

impl<E: Error, T> Error for Returned<E, T> {}
