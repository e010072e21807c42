//! Why a program failed.

use alloc::string::{String, ToString};
use core::{fmt, panic::Location};

/// Why a rank failed, in one line.
///
/// Every error type converts into it, so that `?` works on whatever a program calls; the line with the `?` is part of what
/// is shown. For the same reason it is no error type itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    message: String,
    /// Where an error became a failure.
    place: Option<&'static Location<'static>>,
    on_all_ranks: bool,
}

impl Failure {
    /// A failure with this message; line ends in it become spaces.
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string().replace('\n', " "), place: None, on_all_ranks: false }
    }

    /// The same failure, known to happen on all ranks alike: then one of them reports it.
    #[must_use]
    pub fn on_all_ranks(self) -> Self {
        Self { on_all_ranks: true, ..self }
    }

    /// Whether this is known to happen on all ranks.
    pub fn is_on_all_ranks(&self) -> bool {
        self.on_all_ranks
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        self.place.map_or(Ok(()), |place| write!(out, " (at {}:{})", place.file(), place.line()))
    }
}

impl<E: core::error::Error> From<E> for Failure {
    #[track_caller]
    fn from(error: E) -> Self {
        Self { place: Some(Location::caller()), ..Self::new(error) }
    }
}
