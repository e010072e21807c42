//! What no paper has: benches of our own operations, of the simulator, and of our instructions.

mod collectives;
mod instructions;
mod simulator;
mod with_instructions;

use crate::bench::Bench;

pub(crate) const BENCHES: &[Bench] = &[collectives::COLLECTIVES, simulator::SIMULATOR, instructions::INSTRUCTIONS];
