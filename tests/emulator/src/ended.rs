//! How runs end.

use crate::Violation;

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The program said that it has succeeded.
    Succeeded,
    /// It said that it has failed.
    Failed,
    /// A core did what no program may do. Second is where its code was: the first instruction of the block.
    Refused(Violation, u32),
    /// No core will ever do anything again.
    Stuck(String),
    /// A debugger has ended it.
    Killed,
    /// It was given up.
    GivenUp(String),
}
