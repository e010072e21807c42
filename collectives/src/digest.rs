//! Digests of what ranks compare, and the types that their reports know by name. All ranks run one image, in which a type has one
//! identity.

use core::{
    any::TypeId,
    hash::{Hash, Hasher},
};

/// A digest that is the same on all ranks (FNV-1a).
pub(crate) struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    /// The digest of a value, in 32 bits.
    pub(crate) fn of(value: &impl Hash) -> u32 {
        let mut digest = Self::default();
        value.hash(&mut digest);
        digest.folded()
    }

    /// What it has come to, in 32 bits.
    pub(crate) fn folded(&self) -> u32 {
        (self.0 >> 32) as u32 ^ self.0 as u32
    }
}

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

macro_rules! named {
    ($($element:ident)+) => { [$((stringify!($element), TypeId::of::<$element>())),+] };
}

/// The types that reports know by name.
pub(crate) const ELEMENTS: [(&str, TypeId); 14] = named!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
