//! C's `long double`, which Rust has no type for: the x87's number of 80 bits.

use core::arch::asm;

/// A number of 80 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extended([u8; 10]);

macro_rules! by_x87 {
    ($name:ident, $instruction:literal, $doc:literal) => {
        #[doc = $doc]
        pub(super) fn $name(self, other: Self) -> Self {
            let mut result = Self([0; 10]);
            // SAFETY: 1. the instructions read and write 10 bytes each, which is what the numbers have; 2. whatever was on the
            // x87's stack is said to be lost, and it is as empty afterwards as before.
            unsafe {
                asm!(
                    "fld tbyte ptr [{left}]",
                    "fld tbyte ptr [{right}]",
                    $instruction,
                    "fstp tbyte ptr [{result}]",
                    left = in(reg) self.0.as_ptr(),
                    right = in(reg) other.0.as_ptr(),
                    result = in(reg) result.0.as_mut_ptr(),
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack),
                );
            }
            result
        }
    };
}

impl Extended {
    by_x87!(sum, "faddp", "The sum, as exact as the control word says.");
    by_x87!(product, "fmulp", "The product, as exact as the control word says.");

    pub(super) fn load(bytes: &[u8]) -> Self {
        let mut number = [0; 10];
        number.copy_from_slice(&bytes[..10]);
        Self(number)
    }

    /// Stores it; what C has room for behind it stays.
    pub(super) fn store(self, bytes: &mut [u8]) {
        bytes[..10].copy_from_slice(&self.0);
    }

    pub(super) fn negated(mut self) -> Self {
        self.0[9] ^= 0x80;
        self
    }

    /// Whether it is less; what is no number is neither less nor more than anything.
    pub(super) fn is_below(self, other: Self) -> bool {
        self.key().zip(other.key()).is_some_and(|(own, other)| own < other)
    }

    /// A number in the same order; none for what is no number.
    fn key(self) -> Option<i128> {
        let mut all = [0; 16];
        all[..10].copy_from_slice(&self.0);
        let number = i128::from_le_bytes(all);
        let (sign, size) = (number >> 79, number & ((1 << 79) - 1));
        let is_number = size >> 64 != 0x7FFF || size << 65 == 0;
        is_number.then_some(if sign == 0 { size } else { -size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a number that is exact in both.
    fn extended(number: f64) -> Extended {
        let bits = number.to_bits();
        let (sign, exponent, fraction) = (bits >> 63, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1));
        let mut bytes = [0; 10];
        if number != 0.0 {
            bytes[..8].copy_from_slice(&(1 << 63 | fraction << 11).to_le_bytes());
        }
        let exponent = if number == 0.0 { 0 } else { exponent + 16383 - 1023 };
        bytes[8..].copy_from_slice(&((sign << 15 | exponent) as u16).to_le_bytes());
        Extended(bytes)
    }

    const NUMBERS: [f64; 7] = [0.0, 1.0, -1.0, 2.5, -3.25, 1e300, -1e-300];

    #[test]
    fn arithmetic_is_that_of_the_machine() {
        for left in [0.0, 1.0, -1.0, 2.5, -3.25] {
            for right in [1.0, -2.0, 0.5] {
                assert_eq!(extended(left).sum(extended(right)), extended(left + right), "{left} + {right}");
                assert_eq!(extended(left).product(extended(right)), extended(left * right), "{left} * {right}");
            }
        }
        // Beyond what 64 bits can have.
        let large = extended(1e300);
        assert!(large.is_below(large.product(large)));
    }

    #[test]
    fn the_order_is_that_of_numbers() {
        for left in NUMBERS {
            for right in NUMBERS {
                assert_eq!(extended(left).is_below(extended(right)), left < right, "{left} {right}");
            }
        }
        let mut nothing = extended(1.0);
        nothing.0[8..].copy_from_slice(&[0xFF, 0x7F]);
        nothing.0[7] |= 0x40;
        assert!(!nothing.is_below(extended(1.0)) && !extended(1.0).is_below(nothing));
        assert!(!extended(-0.0).is_below(extended(0.0)));
    }
}
