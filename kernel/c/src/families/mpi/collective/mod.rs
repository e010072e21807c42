//! Operations of all ranks of a communicator.

pub(crate) mod blocks;
pub(crate) mod calls;
mod compared;
pub(crate) mod native;
mod neighbours;
pub(crate) mod party;
pub(crate) mod plan;
mod work;
