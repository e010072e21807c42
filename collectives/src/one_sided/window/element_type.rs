//! The type of a window's elements, as ranks tell each other of it.

use core::{any::TypeId, fmt};

use bytemuck::Pod;

use crate::digest::{Digest, ELEMENTS};

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
        Self { tag: Self::tag_of(&TypeId::of::<T>()), len_bytes: size_of::<T>() as u32 }
    }

    fn tag_of(id: &TypeId) -> u32 {
        Digest::of(id) >> (32 - Self::TAG_BITS)
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
        match ELEMENTS.iter().find(|(_, id)| Self::tag_of(id) == self.tag) {
            Some((name, _)) => write!(out, "`{name}`"),
            None => write!(out, "a type of {} bytes (number {:#x})", self.len_bytes, self.tag),
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
