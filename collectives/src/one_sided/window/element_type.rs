//! The type of a window's elements, as ranks tell each other of it.

use core::{
    any::TypeId,
    fmt,
    hash::{Hash, Hasher},
};

use bytemuck::Pod;

/// A type of elements: what its tag and its size tell of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementType {
    tag: u32,
    len_bytes: u32,
}

impl ElementType {
    /// Bits of a tag.
    pub(super) const TAG_BITS: u32 = 28;

    /// The type `T`.
    pub fn of<T: Pod>() -> Self {
        // All ranks run one image, in which a type has one identity.
        let mut hasher = Fnv(0xCBF2_9CE4_8422_2325);
        TypeId::of::<T>().hash(&mut hasher);
        let hash = hasher.finish();
        Self { tag: (hash ^ hash >> 32) as u32 >> (32 - Self::TAG_BITS), len_bytes: size_of::<T>() as u32 }
    }

    /// The type with this tag and size.
    pub(super) fn from_parts(tag: u32, len_bytes: u32) -> Self {
        Self { tag, len_bytes }
    }

    /// A number of [`TAG_BITS`](Self::TAG_BITS) that another type hardly has.
    pub(super) fn tag(self) -> u32 {
        self.tag
    }

    /// Bytes of an element.
    pub fn len_bytes(self) -> u32 {
        self.len_bytes
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        macro_rules! known {
            ($($type:ty)*) => { [$((Self::of::<$type>(), stringify!($type))),*] };
        }
        let known = known!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64);
        match known.into_iter().find(|(known, _)| known == self) {
            Some((_, name)) => write!(out, "`{name}`"),
            None => write!(out, "a type of {} bytes (number {:#x})", self.len_bytes, self.tag),
        }
    }
}

/// FNV-1a.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn types_of_one_size_are_told_apart() {
        let names = [ElementType::of::<u32>(), ElementType::of::<f32>(), ElementType::of::<[u16; 2]>()];
        assert_eq!(names[..2].iter().map(ToString::to_string).collect::<std::vec::Vec<_>>(), ["`u32`", "`f32`"]);
        assert!(names[2].to_string().starts_with("a type of 4 bytes"), "{}", names[2]);
        assert!(names[0] != names[2] && names.iter().all(|name| name.tag() >> ElementType::TAG_BITS == 0));
    }
}
