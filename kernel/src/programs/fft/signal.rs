//! The signal: a file of complex numbers, or numbers that are made up.

use hal::Core;

use crate::{Failure, Rank};

use super::{
    complex::{COMPLEX_BYTES, Complex, power},
    matrix::next_random,
    shape::MAX_LEN,
};

/// Samples in a period of the square wave that is hidden in a made-up signal.
const PERIOD: usize = 16;

/// A signal, on the rank that has it.
#[derive(Clone, Copy)]
pub(super) enum Signal<'f> {
    /// Pairs of 64-bit floating-point numbers, real and imaginary part, lower bytes first.
    File(&'f [u8]),
    /// A square wave in noise.
    Made,
}

impl Signal<'_> {
    /// Sample `index`; what is behind the end is zero.
    pub(super) fn sample(&self, index: usize) -> Complex {
        match self {
            Self::File(bytes) => bytes.get(index * COMPLEX_BYTES..).map_or([0.0; 2], first_of),
            Self::Made => {
                let bits = next_random(&mut (index as u64));
                let noise = (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
                [if index % PERIOD < PERIOD / 2 { 1.0 } else { -1.0 } + noise, 0.0]
            }
        }
    }

    /// Whether some of the first samples have an imaginary part.
    pub(super) fn is_complex(&self, samples: usize) -> bool {
        (0..samples).any(|index| self.sample(index)[1] != 0.0)
    }
}

/// The complex number that some bytes begin with, or zero where they do not.
fn first_of(bytes: &[u8]) -> Complex {
    let Some((number, _)) = bytes.split_first_chunk::<COMPLEX_BYTES>() else { return [0.0; 2] };
    let bits = u128::from_le_bytes(*number);
    [f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64)]
}

/// What rank 0 tells all others: whether it goes on, whether there is a file, and how many samples are in it.
type Announcement = [u32; 3];

/// A signal that all ranks have heard of.
pub(super) struct Announced<'f> {
    /// For rank 0.
    pub(super) signal: Signal<'f>,
    /// Where there is a file.
    pub(super) in_file: Option<usize>,
}

/// Rank 0 looks at its input file, if there is one, and tells all ranks how long the signal is. Nothing comes back
/// where the file is no signal: rank 0 reports why.
pub(super) fn announce<'f, C: Core>(rank: &Rank<'f, C>) -> Result<Option<Announced<'f>>, Failure> {
    let read = if rank.comm.rank() == 0 { read(rank) } else { Ok((Signal::Made, [0; 3])) };
    let mut words = read.as_ref().map_or([0; 3], |(_, words)| *words);
    rank.comm.broadcast(&mut words, 0)?;
    let (signal, _) = read?;
    let [1, is_file, samples] = words else { return Ok(None) };
    Ok(Some(Announced { signal, in_file: (is_file == 1).then_some(samples as usize) }))
}

fn read<'f, C: Core>(rank: &Rank<'f, C>) -> Result<(Signal<'f>, Announcement), Failure> {
    let Ok(input) = rank.input(0) else { return Ok((Signal::Made, [1, 0, 0])) };
    let (bytes, name) = (input.bytes, input.name);
    let wrong = |why: &str| Failure::new(format_args!("{name} is not a signal that can be transformed: {why}"));
    if bytes.is_empty() || bytes.len() % COMPLEX_BYTES != 0 {
        return Err(wrong("it has to consist of complex numbers of 16 bytes"));
    }
    let samples = u32::try_from(bytes.len() / COMPLEX_BYTES).map_err(|_| wrong("it is too long"))?;
    let signal = Signal::File(bytes);
    let is_finite = |index| signal.sample(index).into_iter().all(f64::is_finite);
    if let Some(index) = (0..samples as usize).find(|index| !is_finite(*index)) {
        return Err(wrong(&alloc::format!("sample {index} is not a finite number")));
    }
    // Powers of bins are at most that much, and so is the energy of the spectrum.
    let energy: f64 = (0..samples as usize).map(|index| power(signal.sample(index))).sum();
    if !(energy * MAX_LEN as f64).is_finite() {
        return Err(wrong("its numbers are too large; their squares have no finite sum"));
    }
    Ok((signal, [1, 1, samples]))
}
