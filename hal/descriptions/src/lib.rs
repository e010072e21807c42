//! Descriptions of machines of the simulator and of boards: TOML files, what they say, and how an image is told of its
//! board. And what images and emulators tell tools: the lines of a [trace].
//!
//! The files next to this crate are the machines and boards that have names, and the one place where what is known of
//! them is written down, each with its source as its comment. A file of one's own has the same form, or says what it is
//! based on and gives only what differs:
//!
//! ```toml
//! base = "scc"
//!
//! [prices]
//! # chosen: what if routers were four times as slow?
//! hop_ps = 20_000
//! ```
//!
//! Every file is read by [`Described`]; what there is to say in it is in [`machines::KEYS`] and [`boards::KEYS`].
//! Without the feature `files` there are no files: what is left is for images.

#![cfg_attr(not(feature = "files"), no_std)]

#[cfg(all(test, not(feature = "files")))]
extern crate std;

pub mod boards;
#[cfg(feature = "files")]
mod calls_in_c;
#[cfg(feature = "files")]
mod contention;
pub mod costs;
#[cfg(feature = "files")]
mod described;
#[cfg(feature = "files")]
mod hardware;
#[cfg(feature = "files")]
pub mod machines;
#[cfg(feature = "files")]
mod software;
mod tile;
pub mod trace;

#[cfg(feature = "files")]
pub use calls_in_c::{CallPrice, CallPrices};
#[cfg(feature = "files")]
pub use contention::Contention;
pub use costs::Costs;
#[cfg(feature = "files")]
pub use described::{
    Described, EXTENSION, Error, Given, KINDS, Key, Parameter, Shape, Source, Subject, Type, Value, Values,
};
#[cfg(feature = "files")]
pub use hardware::Hardware;
#[cfg(feature = "files")]
pub use software::{SoftwarePrices, SpanPrice};
pub use tile::Tile;

/// Memory controllers that a file can place.
pub const MOST_CONTROLLERS: usize = 8;
