//! What no paper has: benches of our own operations, of C's MPI, of the simulator, of our instructions, and of
//! the host's threads beside MPI.

mod calls;
mod collectives;
mod communicators;
mod held_together;
mod host;
mod instructions;
mod mpi;
mod simulator;
mod software;
mod two_sided;
mod with_instructions;

use crate::bench::Bench;

pub(crate) const BENCHES: &[Bench] = &[
    collectives::COLLECTIVES,
    communicators::COMMUNICATORS,
    two_sided::TWO_SIDED,
    simulator::SIMULATOR,
    instructions::INSTRUCTIONS,
    held_together::ALL,
    held_together::SHORT,
    mpi::MPI,
    calls::CALLS_IN_C,
    host::HOST,
];
