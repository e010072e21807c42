//! The kind of memory that the matrices are in, and accesses to parts of their rows.

use collectives::names;
use hal::{Core, Region, kind};

use crate::Failure;

use super::complex::{COMPLEX_BYTES, Complex};

/// Words of a complex number.
const COMPLEX_WORDS: usize = COMPLEX_BYTES / 4;

/// How the matrices are mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// Through the private caches: barriers have to make it coherent.
    Cached,
    /// Through L1 and the write-combine buffer.
    Combined,
    /// Word by word, always current.
    Uncached,
}

impl Memory {
    /// Reads values of a row from `column` on.
    pub(super) fn read<C: Core>(
        self,
        hal: &C,
        row: Region<kind::Cached>,
        column: usize,
        target: &mut [Complex],
    ) -> Result<(), Failure> {
        match self {
            Self::Cached => {
                let values = row.len_bytes() / COMPLEX_BYTES;
                hal.claim::<Complex>(row, values)?.copy_to(column, target);
            }
            Self::Combined => hal.read(row.mapped(), column * COMPLEX_BYTES, bytemuck::cast_slice_mut(target)),
            Self::Uncached => {
                for (index, value) in target.iter_mut().enumerate() {
                    let first = (column + index) * COMPLEX_WORDS;
                    let word = |number| u64::from(hal.load_word(row.mapped(), first + number));
                    *value = [word(0) | word(1) << 32, word(2) | word(3) << 32].map(f64::from_bits);
                }
            }
        }
        Ok(())
    }

    /// Writes values of a row from `column` on.
    pub(super) fn write<C: Core>(
        self,
        hal: &C,
        row: Region<kind::Cached>,
        column: usize,
        source: &[Complex],
    ) -> Result<(), Failure> {
        match self {
            Self::Cached => {
                let values = row.len_bytes() / COMPLEX_BYTES;
                hal.claim::<Complex>(row, values)?.copy_from(column, source);
            }
            Self::Combined => hal.write(row.mapped(), column * COMPLEX_BYTES, bytemuck::cast_slice(source)),
            Self::Uncached => {
                for (index, [real, imaginary]) in source.iter().enumerate() {
                    let (real, imaginary) = (real.to_bits(), imaginary.to_bits());
                    let words = [real as u32, (real >> 32) as u32, imaginary as u32, (imaginary >> 32) as u32];
                    for (number, word) in words.into_iter().enumerate() {
                        hal.store_word(row.mapped(), (column + index) * COMPLEX_WORDS + number, word);
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets this core read what it wrote itself. Where stores are combined, loads find neither the line that is still
    /// in the buffer, nor what has left it where L1 holds the line from before.
    pub(super) fn settle<C: Core>(self, hal: &C) {
        if self == Self::Combined {
            hal.drain();
            hal.invalidate_mpb();
        }
    }
}

names! { "kind of memory": pub Memory { Cached => "cached", Combined => "combined", Uncached => "uncached" } }
