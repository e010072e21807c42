#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod collective;
pub mod comm;
mod digest;
pub mod error;
#[cfg(test)]
mod in_all_orders;
pub mod intercommunicator;
pub mod lock;
pub mod matched;
pub mod memory;
pub mod mpb;
mod names;
pub mod one_sided;
#[cfg(test)]
mod testing;
pub mod two_sided;

pub use collective::{
    barrier::{Arrived, Barrier, GroupBarrier, Release},
    broadcast::{Broadcast, OcBcast},
    call::Call,
    coherence::{CoherentlyArrived, Scope},
    element::{Element, Integer, Operator},
    exchange::{Exchange, Pieces},
    notification::{Delivery, Message, NotificationTree, Notifications, Subscription},
    placing::{Divided, InPlace, OrInPlace},
    preference::Algorithm,
    reduction::{Combine, Operation, Reduction, Scan},
};
pub use comm::{Comm, attributes::Attribute, division::Near, group::Group, interrupting::Interrupting};
pub use error::{Error, ErrorKind, Returned};
pub use intercommunicator::{Intercommunicator, Root};
pub use lock::{Mutex, MutexGuard, QueueGuard, QueueLock, RegisterLock};
pub use matched::{
    Answers, Arrival, Envelope, Messages, PreparedReceive, PreparedSend, RemoteCall, Source, Tag, request::Request,
};
pub use memory::allocator::{Placement, SharedAllocator};
pub use mpb::{layout::MpbLayout, program_lines::ProgramLines, rcce_profile::RcceProfile};
pub use names::UnknownName;
pub use one_sided::{
    copy_engine::{CopyEngines, SharedBuffer},
    window::{
        AccessEpoch, Assertions, Blocks, Class, Exposed, ExposureEpoch, FenceEpoch, Lent, Lock, LockAllEpoch,
        LockEpoch, Operations, Window,
    },
};
pub use two_sided::stepwise::{Receiving, Sending};
