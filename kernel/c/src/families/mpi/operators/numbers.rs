//! Numbers as operators see them.

use super::extended::Extended;

/// A number: what sums, products and comparisons need.
pub(super) trait Number: Copy {
    /// Bytes in memory.
    const BYTES: usize;
    fn load(bytes: &[u8]) -> Self;
    /// Stores it into as many bytes.
    fn store(self, bytes: &mut [u8]);
    /// As C does, but for integers that overflow: they wrap.
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Not so for what is no number.
    fn is_less(self, other: Self) -> bool;
}

/// A whole number: what logical and bitwise operators need.
pub(super) trait Whole: Number {
    fn is_true(self) -> bool;
    fn of(truth: bool) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const BYTES: usize = size_of::<Self>();

            fn load(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("bytes of one number"))
            }

            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn is_less(self, other: Self) -> bool {
                self < other
            }
        }

        impl Whole for $type {
            fn is_true(self) -> bool {
                self != 0
            }

            fn of(truth: bool) -> Self {
                truth.into()
            }

            fn and(self, other: Self) -> Self {
                self & other
            }

            fn or(self, other: Self) -> Self {
                self | other
            }

            fn xor(self, other: Self) -> Self {
                self ^ other
            }
        }
    )*};
}

whole!(i8, i16, i32, i64, i128, u8, u16, u32, u64);

macro_rules! floating {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const BYTES: usize = size_of::<Self>();

            fn load(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("bytes of one number"))
            }

            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn minus(self, other: Self) -> Self {
                self - other
            }

            fn times(self, other: Self) -> Self {
                self * other
            }

            fn is_less(self, other: Self) -> bool {
                self < other
            }
        }
    )*};
}

floating!(f32, f64);

impl Number for Extended {
    const BYTES: usize = crate::families::mpi::datatypes::Format::Extended.size();

    fn load(bytes: &[u8]) -> Self {
        Self::load(bytes)
    }

    fn store(self, bytes: &mut [u8]) {
        Self::store(self, bytes);
    }

    fn plus(self, other: Self) -> Self {
        self.sum(other)
    }

    fn minus(self, other: Self) -> Self {
        self.sum(other.negated())
    }

    fn times(self, other: Self) -> Self {
        self.product(other)
    }

    fn is_less(self, other: Self) -> bool {
        self.is_below(other)
    }
}
