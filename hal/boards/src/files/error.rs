//! Why a file describes no board.

use std::{error, fmt};

/// Why a file describes no board, in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(pub(super) String);

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl error::Error for Error {}
