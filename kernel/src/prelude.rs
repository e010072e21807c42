//! What programs import: `use kernel::prelude::*;`.
//!
//! It has what nearly every program names, and what measures. Everything else is in [`collectives`] and [`hal`].
//! [`kernel::println!`](crate::println) is written with its crate: on the host the standard library has another macro of
//! this name, and the compiler would find both.

pub use collectives::{Barrier, Broadcast, Class, Comm, Group, Operator, Placement, Scope, Window};
pub use hal::{Caches, Core, Deadline, LocalView, Region, kind, p54c};

pub use crate::{Failure, Program, Rank, Series, Unit, args::KnownOption};
