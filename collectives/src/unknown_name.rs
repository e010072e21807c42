//! Names of algorithms that nobody has.

use core::fmt;

/// No algorithm of the kind has the name that was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownName {
    /// The kind of algorithm, as in "no such barrier".
    pub(crate) kind: &'static str,
    /// The names that there are, as the end of a sentence.
    pub(crate) known: &'static str,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no such {}; there are {}", self.kind, self.known)
    }
}

impl core::error::Error for UnknownName {}
