//! The programs that measure. The laboratory (`cargo xtask bench`) runs them, pools what their ranks send, and checks claims
//! on it; `rounds`, which counts every operation, is for the comparison of backends.

#![cfg_attr(target_os = "none", no_std)]

extern crate alloc;

mod barrier;
mod broadcast;
mod collectives;
mod design;
mod late;
mod loads;
mod micro;
mod notification;
mod offload;
mod pscw;
mod rma;
mod rounds;
mod splits;

pub use self::{
    barrier::Barriers,
    broadcast::{Bcast, Model},
    collectives::Collectives,
    design::Design,
    late::Late,
    loads::Loads,
    micro::{MeshLink, MpbContention, MpbDistance, MpbModel},
    notification::Notification,
    offload::Offload,
    pscw::Pscw,
    rma::{Bandwidth, Crowd, Engine, Latency, Lines, Overlap, Private, Skew, Synchronisation},
    rounds::Rounds,
};

/// Throughput in kilobytes (10^3) in a second.
fn throughput(clock: &impl hal::Clock, bytes: usize, ticks: u64) -> u64 {
    let kilobytes = bytes as u128 * u128::from(clock.ticks_per_second()) / u128::from(ticks.max(1)) / 1000;
    u64::try_from(kilobytes).unwrap_or(u64::MAX)
}
