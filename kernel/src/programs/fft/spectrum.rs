//! What rank 0 makes of the spectrum: checks, a summary, and a file.

use alloc::{vec, vec::Vec};

use hal::Core;

use crate::{Failure, Rank, println};

use super::{
    complex::{ADD_CYCLES, COMPLEX_BYTES, Complex, LOAD_CYCLES, MUL_CYCLES, difference, power, product, sum},
    options::{Options, Output},
    roots::{AT_CYCLES, Roots},
    signal::Signal,
    transform::Transform,
};

/// By how much the energies of signal and spectrum may differ, and a bin from its sum, as a part of the whole.
///
/// Rounding makes some 1e-16 of each; what is wrong in a single line makes far more.
const TOLERANCE: f64 = 1e-12;

/// The spectrum as it is read, row by row.
struct Spectrum {
    energy: f64,
    /// Bin and power of the strongest, the constant part aside, and the mirrored half of a real signal.
    peak: (usize, f64),
    checksum: crc32fast::Hasher,
    file: Vec<u8>,
}

/// Reads the spectrum, checks it, tells about it and sends it to the host. For rank 0.
pub(super) fn conclude<C: Core>(
    rank: &Rank<'_, C>,
    options: &Options,
    transform: &Transform<'_, C>,
    signal: &Signal<'_>,
) -> Result<(), Failure> {
    let shape = options.plan.shape;
    let len = shape.values();
    // The spectrum of a real signal is symmetric.
    let shown = if signal.is_complex(options.samples) { len } else { len / 2 + 1 };
    let spectrum = read(options, transform, shown)?;

    check_energy(options, signal, spectrum.energy)?;
    if options.is_checked {
        rank.phase("check");
        check_bins(rank, options, transform, signal, &spectrum)?;
    }
    match options.output {
        Output::Power => rank.write_file("spectrum.power", &spectrum.file)?,
        Output::Full => rank.write_file("spectrum.complex", &spectrum.file)?,
        Output::None => {}
    }
    let (bin, power) = spectrum.peak;
    let checksum = spectrum.checksum.finalize();
    println!(rank, "strongest bin {bin} of {len} ({:.6} periods per sample), power {power:e}", bin as f64 / len as f64);
    rank.tell_host(format_args!("result checksum {checksum:08x}"));
    rank.tell_host(format_args!("result peak {bin}"));
    println!(rank, "the energy is that of the signal; the checksum of the spectrum is {checksum:08x}");
    Ok(())
}

fn read<C: Core>(options: &Options, transform: &Transform<'_, C>, shown: usize) -> Result<Spectrum, Failure> {
    let len = options.plan.shape.values();
    let mut spectrum = Spectrum { energy: 0.0, peak: (0, 0.0), checksum: crc32fast::Hasher::new(), file: Vec::new() };
    let room = match options.output {
        Output::Power => shown * size_of::<f32>(),
        Output::Full => len * COMPLEX_BYTES,
        Output::None => 0,
    };
    spectrum.file.reserve_exact(room);
    let mut row = vec![[0.0; 2]; options.plan.shape.transposed().columns()];
    for first in (0..len).step_by(row.len()) {
        transform.read_spectrum(first, &mut row)?;
        // Summed up by rows, so that errors do not.
        spectrum.energy += row.iter().map(|value| power(*value)).sum::<f64>();
        for (bin, value) in (first..).zip(&row) {
            let bytes = value.map(|part| part.to_bits().to_le_bytes());
            bytes.iter().for_each(|bytes| spectrum.checksum.update(bytes));
            let power = power(*value);
            if (1..shown).contains(&bin) && power > spectrum.peak.1 {
                spectrum.peak = (bin, power);
            }
            match options.output {
                Output::Power if bin < shown => {
                    spectrum.file.extend_from_slice(&(power as f32).to_bits().to_le_bytes())
                }
                Output::Full => bytes.iter().for_each(|bytes| spectrum.file.extend_from_slice(bytes)),
                Output::Power | Output::None => {}
            }
        }
    }
    Ok(spectrum)
}

/// Parseval's theorem: the spectrum has the signal's energy, times the length.
fn check_energy(options: &Options, signal: &Signal<'_>, found: f64) -> Result<(), Failure> {
    let shape = options.plan.shape;
    let row_energy =
        |first: usize| -> f64 { (first..first + shape.columns()).map(|index| power(signal.sample(index))).sum() };
    let energy: f64 = (0..shape.values()).step_by(shape.columns()).map(row_energy).sum();
    let expected = energy * shape.values() as f64;
    let difference = found - expected;
    let most = TOLERANCE * expected;
    if (-most..=most).contains(&difference) {
        return Ok(());
    }
    Err(Failure::new(format_args!("the spectrum has the energy {found:e} instead of {expected:e}")))
}

/// Compares some bins with the sums that define them.
fn check_bins<C: Core>(
    rank: &Rank<'_, C>,
    options: &Options,
    transform: &Transform<'_, C>,
    signal: &Signal<'_>,
    spectrum: &Spectrum,
) -> Result<(), Failure> {
    let len = options.plan.shape.values();
    let roots = Roots::new(rank.hal(), options.plan.shape);
    // The square of a bin's error against the square of the norm of all.
    let most = TOLERANCE * TOLERANCE * spectrum.energy;
    for bin in [0, 1, len / 3, len / 2, len - 1, spectrum.peak.0] {
        let expected = bin_of(rank, options, signal, &roots, bin);
        let mut found = [[0.0; 2]];
        transform.read_spectrum(bin, &mut found)?;
        let error = power(difference(found[0], expected));
        if !(0.0..=most).contains(&error) {
            let [found] = found;
            return Err(Failure::new(format_args!("bin {bin} is {found:?}, the sum of its terms is {expected:?}")));
        }
    }
    Ok(())
}

/// A bin by its definition.
fn bin_of<C: Core>(rank: &Rank<'_, C>, options: &Options, signal: &Signal<'_>, roots: &Roots, bin: usize) -> Complex {
    let (shape, len) = (options.plan.shape, options.plan.shape.values());
    rank.hal().compute(len as u64 * (3 * LOAD_CYCLES + AT_CYCLES + MUL_CYCLES + ADD_CYCLES));
    let term = |index: usize| {
        let exponent = (index as u64 * bin as u64 % len as u64) as usize;
        product(signal.sample(index), roots.at(exponent))
    };
    let of_row = |first: usize| (first..first + shape.columns()).map(term).fold([0.0; 2], sum);
    (0..len).step_by(shape.columns()).map(of_row).fold([0.0; 2], sum)
}
