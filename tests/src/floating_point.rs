//! Floating point is the same everywhere: 53 bits of precision on every core.

use core::hint::black_box;

use hal::Core;

use crate::{Context, check::Outcome, check_eq};

/// With the x87's 64 bits these sums and products would round differently; the expected bits are those of IEEE 754
/// double precision, computed on another machine.
pub fn is_53_bits<C: Core>(_context: &mut Context<'_, '_, C>) -> Outcome {
    let mut harmonic = 0.0f64;
    let mut logistic = 0.4f64;
    for index in 1..=1000u32 {
        harmonic += 1.0 / f64::from(black_box(index));
        logistic = black_box(3.9) * logistic * (1.0 - logistic);
    }
    check_eq!(harmonic.to_bits(), HARMONIC, "the sum of 1/n to n = 1000");
    check_eq!(logistic.to_bits(), LOGISTIC, "the logistic map after 1000 steps");
    Ok(())
}

const HARMONIC: u64 = 0x401d_f11f_45f4_e618;
const LOGISTIC: u64 = 0x3fe1_77ee_0643_e8c6;
