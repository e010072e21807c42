#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod arguments;
pub mod barrier;
pub mod broadcast;
mod choices;
pub mod coherence;
pub mod comm;
pub mod copy_engine;
pub mod element;
pub mod error;
pub mod exchange;
pub mod group;
mod lengths;
pub mod lock;
pub mod message;
pub mod model;
pub mod mpb_layout;
pub mod nonblocking;
pub mod notification;
pub mod rcce_profile;
pub mod reduction;
mod registers;
mod sequence;
pub mod shared_alloc;
mod shared_memory;
mod shared_words;
pub mod signals;
mod spare_lines;
mod tagged;
pub mod two_sided;
pub mod window;

pub use arguments::Call;
pub use barrier::{Arrived, Barrier, GroupBarrier, Release};
pub use broadcast::{Broadcast, OcBcast};
pub use coherence::{CoherentlyArrived, Scope};
pub use comm::Comm;
pub use copy_engine::{CopyEngines, SharedBuffer};
pub use element::{Element, Integer, Operator};
pub use error::{Error, Returned};
pub use exchange::{Exchange, Pieces};
pub use group::Group;
pub use lock::{Mutex, MutexGuard, QueueGuard, QueueLock, RegisterLock};
pub use mpb_layout::MpbLayout;
pub use nonblocking::Request;
pub use notification::{Delivery, Message, NotificationTree, Notifications, Subscription};
pub use rcce_profile::RcceProfile;
pub use reduction::{Combine, Operation, Reduction, Scan};
pub use shared_alloc::{Placement, SharedAllocator};
pub use window::{
    AccessEpoch, Assertions, Blocks, Class, ExposureEpoch, FenceEpoch, Lent, Lock, LockAllEpoch, LockEpoch, Operations,
    Window,
};
