//! Machine files: TOML that describes a machine of the simulator, its layout and what everything costs.
//!
//! The files next to this crate are the machines that have names, and the one place where their parameters are written
//! down, each with its source as its comment. A file of one's own has the same form, or says what it is based on and
//! gives only what differs:
//!
//! ```toml
//! base = "scc"
//!
//! [prices]
//! # chosen: what if routers were four times as slow?
//! hop_ps = 20_000
//! ```
//!
//! What there is to say is in [`KEYS`]. A file with the key `layout.nodes` describes a cluster, others a mesh of tiles;
//! who is based on a machine of the other shape inherits what both have.

mod given;
mod keys;
mod machine_file;
mod name;
mod parameter;
mod read;
mod sources;

pub use self::{
    given::Given,
    keys::{KEYS, Key, MOST_CONTROLLERS, MOST_CORES, Shape, Type},
    machine_file::{Error, MachineFile},
    name::{Feature, Kind, Machine, Variant},
    parameter::{Parameter, Value},
    read::names,
    sources::{KINDS, Source},
};

/// What the name of a machine file ends with.
pub const EXTENSION: &str = ".toml";
