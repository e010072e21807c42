//! The programs of the tree.

mod bench;
pub mod fft;
mod hello;
mod terrain;
mod wave;

pub use self::{
    bench::{
        Bandwidth, Barriers, Bcast, Collectives, Crowd, Design, Engine, Late, Latency, Lines, Loads, MeshLink, Model,
        MpbContention, MpbDistance, MpbModel, Notification, Offload, Overlap, Private, Pscw, Rounds, Skew,
        Synchronisation,
    },
    fft::Fft,
    hello::Hello,
    terrain::Terrain,
    wave::Wave,
};
