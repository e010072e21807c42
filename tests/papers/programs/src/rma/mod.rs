//! One-sided communication against messages, after section 5 of Lai and Panda's *Designing Truly One-Sided MPI-2 RMA*.
//!
//! Each program takes one [`Algorithm`] and sends samples of its name; `cargo xtask bench` starts it once for each
//! that is compared. Except for the synchronisation alone, what is timed is [`Traffic`]: bursts of operations in one
//! epoch.
//!
//! | program | section of the paper |
//! |---|---|
//! | `bench-rma-latency`, `bench-rma-bandwidth` | 5.1, figures 4 to 16 |
//! | `bench-rma-synchronisation`, `bench-rma-crowd` | 5.2, figure 17 |
//! | `bench-rma-lines` | 5.3, figure 18 |
//! | `bench-rma-private` | 4.3 and 4.4 |
//! | `bench-rma-skew` | 3 and 5.4, tables 1 to 3 |
//! | `bench-rma-overlap`, `bench-rma-engine` | 5.5, figure 19 |
//!
//! Ranks that have no part in a measurement wait in a barrier. As contention is not modelled, unless one asks for a
//! machine with it, and virtual time repeats itself exactly, few repetitions are enough; the first ones of a loop, in
//! which ranks fall into step, do not count.

mod algorithm;
mod bandwidth;
mod crowd;
mod engine;
mod latency;
mod lines;
mod overlap;
mod pairs;
mod private;
mod skew;
mod synchronisation;
#[cfg(test)]
mod tests;
mod traffic;

pub use self::{
    bandwidth::Bandwidth, crowd::Crowd, engine::Engine, latency::Latency, lines::Lines, overlap::Overlap,
    private::Private, skew::Skew, synchronisation::Synchronisation,
};

pub(crate) use self::pairs::{Pair, pairs};
use self::{
    algorithm::Algorithm,
    pairs::Side,
    traffic::{Burst, Operation, Roles, Traffic},
};
