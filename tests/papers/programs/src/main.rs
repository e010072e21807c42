//! The image `measurements`: all programs that measure.

#![no_std]
#![cfg_attr(target_os = "none", no_main)]

use measurements::{
    Bandwidth, Barriers, Bcast, Collectives, Crowd, Design, Engine, Late, Latency, Lines, Loads, MeshLink, Model,
    MpbContention, MpbDistance, MpbModel, Notification, Offload, Overlap, Private, Pscw, Rounds, Skew, Synchronisation,
};

kernel::image!(
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
