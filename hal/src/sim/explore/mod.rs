//! Exploration: other runs of a program than the plain one, made to break it.
//!
//! [`explore_exhaustively`] walks through all runs of a litmus program. [`explore`] looks for one that goes wrong, in any program: it
//! walks through all runs while there is hope to come to an end, and otherwise lets chance say who is slow and what hardware does by
//! itself. A run that goes wrong is told by what it does differently from the plain one ([`Deviation`](super::Deviation)), of which all is taken
//! away that it goes wrong without.

mod exhaustive;
mod search;
mod shrink;

#[cfg(test)]
pub(super) use self::exhaustive::walk;
pub use self::{
    exhaustive::{Exploration, Spontaneous, explore_exhaustively},
    search::{Explored, Failing, Search, explore},
};
