//! Collective operations: what all ranks, or all of a group, call together.

mod arguments;
pub mod barrier;
pub mod broadcast;
pub(crate) mod call;
pub mod coherence;
pub mod element;
pub mod exchange;
mod goes;
pub(crate) mod lengths;
pub mod nonblocking;
pub mod notification;
pub mod placing;
pub(crate) mod preference;
pub mod reduction;
