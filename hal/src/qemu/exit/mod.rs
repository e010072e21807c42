//! The end of the machine.
//!
//! The first core that ends the machine decides its result. Nothing is printed after that: the other cores stop as
//! soon as they reach the console, and this core keeps the console for ever.

pub(crate) mod ending;
pub(crate) mod failure;
pub(crate) mod finish;
pub(crate) mod machine;
pub(crate) mod traces;

pub use self::{
    ending::is_ending,
    machine::{FAILURE_STATUS, SUCCESS_STATUS, exit},
};
