//! The image `atoll`: all programs of the tree. The first one is what runs if none is named.

#![cfg_attr(target_os = "none", no_std, no_main)]

use kernel::programs::{
    Bandwidth, Barriers, Bcast, Collectives, Crowd, Design, Engine, Fft, Hello, Late, Latency, Lines, Loads, MeshLink,
    Model, MpbContention, MpbDistance, MpbModel, Notification, Offload, Overlap, Private, Pscw, Rounds, Skew,
    Synchronisation, Terrain, Wave,
};

kernel::image!(
    Terrain,
    Wave,
    Fft,
    Hello,
    Pscw,
    Late,
    Latency,
    Bandwidth,
    Synchronisation,
    Crowd,
    Skew,
    Overlap,
    Engine,
    Offload,
    Lines,
    Private,
    Design,
    MpbDistance,
    MpbContention,
    MeshLink,
    Loads,
    MpbModel,
    Notification,
    Bcast,
    Model,
    Collectives,
    Barriers,
    Rounds
);
