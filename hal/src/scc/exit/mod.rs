//! The end of the machine. Nothing can switch it off: its cores stop, and the host's operator reads why.

pub(crate) mod failure;
pub(crate) mod finish;
pub(crate) mod machine;

pub use self::machine::{exit, is_ending, stop_if_ending};
