//! `fft`: a Fourier transform on global memory, after section VII of Froening et al., *Highly Scalable Barriers for
//! Future High-Performance Computing Clusters*.
//!
//! The program is SPLASH-2's FFT: a one-dimensional complex transform in [six steps](Transform), whose matrices are in
//! shared memory. Nothing is sent; barriers are the only synchronisation, and the [points](Coherence) at which memory
//! that is cached without coherence becomes what it should be. The data may be cached, with flushes of the whole cache or of
//! ranges, combined or uncached, and near to its ranks or dealt out over all controllers. The arithmetic and its order
//! are always the same, and so are the bits of the result and the computation that is charged.
//!
//! Rank 0 writes the signal before, reads the spectrum afterwards, and compares energies (Parseval's theorem) and some
//! bins with the sums that define them.

mod coherence;
mod complex;
mod matrix;
mod memory;
mod options;
mod report;
mod roots;
mod row;
mod shape;
mod signal;
mod spectrum;
#[cfg(test)]
mod tests;
mod transform;
mod transpose;

use hal::Core;

use crate::{Failure, Program, Rank, args::KnownOption};

pub use self::{
    coherence::{Coherence, Flush, OfMemory},
    complex::{COMPLEX_BYTES, Complex},
    matrix::Distribution,
    memory::Memory,
    shape::{MAX_LEN, MIN_LEN, Shape},
    transform::{Plan, Times, Transform},
};

use self::options::Options;

/// Transforms a signal on all ranks, and checks the result.
pub struct Fft;

impl Program for Fft {
    const NAME: &'static str = "fft";
    const ABOUT: &'static str =
        "transforms a signal on global memory, with barriers as coherence points, and checks it";
    const OPTIONS: &'static [KnownOption] = options::KNOWN;

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let comm = rank.comm;
        let Some(announced) = signal::announce(rank)? else { return Ok(()) };
        let options = Options::of(rank, announced.in_file)?;
        let is_root = comm.rank() == 0;

        rank.phase("signal");
        let mut transform = Transform::new(comm, options.plan)?;
        if is_root {
            transform.write_signal(|index| announced.signal.sample(index))?;
        }
        rank.phase("transform");
        let times = transform.run(&mut rank.caches)?;
        report::send(rank, &options, &times);
        report::print(rank, &options, &times)?;

        rank.phase("spectrum");
        let concluded =
            if is_root { spectrum::conclude(rank, &options, &transform, &announced.signal) } else { Ok(()) };
        // Collective, so also after a failure.
        transform.free(&mut rank.caches)?;
        concluded
    }
}
