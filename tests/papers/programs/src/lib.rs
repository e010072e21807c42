//! The programs that measure. The laboratory (`cargo xtask bench`) runs them, pools what their ranks send, and checks claims
//! on it; `rounds`, which counts every operation, is for the comparison of backends, in the image with the tests, too.

#![cfg_attr(target_os = "none", no_std)]

extern crate alloc;

mod barrier;
mod broadcast;
mod collectives;
mod design;
mod host;
mod instructions;
mod late;
mod loads;
mod measure;
mod micro;
pub mod model;
mod mpi;
mod notification;
mod offload;
mod pscw;
mod rma;
mod rounds;
#[cfg(test)]
mod testing;
mod two_sided;

pub use self::{
    barrier::Barriers,
    broadcast::{Bcast, Model},
    collectives::Collectives,
    design::Design,
    host::Host,
    instructions::Instructions,
    late::Late,
    loads::Loads,
    micro::{MeshLink, MpbContention, MpbDistance, MpbModel},
    mpi::Mpi,
    notification::Notification,
    offload::Offload,
    pscw::Pscw,
    rma::{Bandwidth, Crowd, Engine, Latency, Lines, Overlap, Private, Skew, Synchronisation},
    rounds::Rounds,
    two_sided::TwoSided,
};

/// Hands all programs of the image `measurements`, in the order in which they are listed, to a macro.
#[macro_export]
macro_rules! programs {
    ($($with:tt)+) => {
        $($with)+!(
            Pscw, Late, Latency, Bandwidth, Synchronisation, Crowd, Skew, Overlap, Engine, Offload, Lines, Private, Design,
            MpbDistance, MpbContention, MeshLink, Loads, MpbModel, Notification, TwoSided, Mpi, Bcast, Model, Collectives, Barriers, Host
        );
    };
}
