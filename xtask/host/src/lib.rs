//! What the tools on the host have in common: `xtask`, and the laboratory that measures papers again.

pub mod command_line;
pub mod cores;
pub mod interrupt;
pub mod machine;
pub mod mpi;
pub mod process;
pub mod programs;
pub mod progress;
pub mod workspace;

/// The environment variable by which `xtask` tells the laboratory where it is.
pub const XTASK: &str = "ATOLL_XTASK";
