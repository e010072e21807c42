//! What no paper has: benches of our own operations, and of the simulator.

mod collectives;
mod simulator;

use crate::bench::Bench;

pub(crate) const BENCHES: &[Bench] = &[collectives::COLLECTIVES, simulator::SIMULATOR];
