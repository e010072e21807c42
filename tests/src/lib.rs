#![doc = include_str!("../README.md")]
#![cfg_attr(target_os = "none", no_std)]
// Every test has the same errors: what it found wrong.
#![allow(clippy::missing_errors_doc)]

extern crate alloc;

#[doc(hidden)]
pub use alloc::format;

pub mod allocation;
pub mod arguments;
pub mod barrier;
pub mod barriers_elsewhere;
pub mod broadcast;
pub mod broadcast_cost;
pub mod channel;
pub mod check;
pub mod cluster;
pub mod coherence;
pub mod communicators;
pub mod conformance;
pub mod copy_engine;
pub mod default_broadcast;
pub mod domains;
pub mod epoch_cost;
pub mod epochs;
pub mod exchanges;
pub mod exposed;
pub mod fatal;
pub mod fence;
pub mod fft;
pub mod floating_point;
pub mod group_barriers;
pub mod hazards;
pub mod intercommunicators;
pub mod interrupting;
pub mod interrupts;
pub mod litmus;
pub mod locks;
pub mod marks;
pub mod memory;
pub mod messages;
pub mod nonblocking;
pub mod notification;
pub mod operations;
pub mod overlap;
pub mod passive;
pub mod private_window;
pub mod promises;
pub mod pscw;
pub mod queue;
pub mod random;
pub mod reductions;
pub mod registers;
pub mod suite;
pub mod traces;
pub mod waiting;
pub mod window;

pub use check::{Context, Failed};
