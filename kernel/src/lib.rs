#![doc = include_str!("../README.md")]
#![cfg_attr(target_os = "none", no_std)]

extern crate alloc;
// Lets the example in the README, and `image!` within this package, name the crate as users do.
extern crate self as kernel;

pub mod args;
pub mod failure;
#[cfg(not(target_os = "none"))]
pub mod guide;
pub mod launch;
pub mod measurement;
pub mod output;
pub mod prelude;
pub mod program;
pub mod programs;

pub use collectives;
pub use hal;

pub use self::{
    args::Arguments,
    failure::Failure,
    measurement::{Series, Unit},
    program::{Console, Input, Program, Rank},
};

/// Prints a line from a rank: `println!(rank, "{} of {}", 1, 2)`.
#[macro_export]
macro_rules! println {
    ($rank:expr, $($message:tt)+) => {
        $rank.print(::core::format_args!($($message)+))
    };
}
