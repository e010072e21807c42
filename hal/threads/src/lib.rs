//! The host's own threads as a machine: a core is a thread, and time is the host's.
//!
//! Cores really run side by side, so this machine finds what depends on that, and its times are those of the host. It is
//! written against the public interface of `hal` only, as a machine of anybody else's would be: a
//! [`Platform`](hal::emulated::Platform) below an emulated core. Its caches are the emulated ones, or memory is coherent, as
//! the host's is.
//!
//! What cores share is reached by atomic accesses. Views of a machine that is coherent access memory itself, as programs on
//! such a machine do.

mod machine;
mod memory;
mod platform;
mod stuck;

pub use self::{
    machine::{Failure, Machine},
    platform::{ThreadCore, ThreadPlatform},
};
