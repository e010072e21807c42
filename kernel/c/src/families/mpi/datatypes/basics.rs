//! The basic types: the ABI's handles, what they are called, and what the machine has for them.

use core::ffi::c_long;

/// What the bytes of one value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A signed number of so many bytes.
    Signed(u8),
    /// An unsigned number of so many bytes.
    Unsigned(u8),
    /// A binary floating-point number of so many bytes.
    Float(u8),
    /// The x87's number of 80 bits, in as much room as C gives it.
    Extended,
    /// Bytes without a meaning.
    Bytes(u8),
}

impl Format {
    /// Bytes of a value.
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::Signed(size) | Self::Unsigned(size) | Self::Float(size) | Self::Bytes(size) => size as usize,
            Self::Extended => LONG_DOUBLE.0,
        }
    }

    /// What C aligns it to.
    const fn alignment(self) -> usize {
        match self {
            Self::Extended => LONG_DOUBLE.1,
            _ if self.size() <= align_of::<c_long>() => self.size(),
            // On 32 bits, C aligns what is longer than a word to a word.
            _ => match self.size() {
                8 => align_of::<u64>(),
                size => size,
            },
        }
    }
}

/// Size and alignment of `long double`, by the ABIs of i386 and of x86-64.
const LONG_DOUBLE: (usize, usize) = if size_of::<usize>() == 8 { (16, 16) } else { (12, 4) };

/// Which operators a type takes: the groups of the standard's section on predefined operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Integers of C.
    CInteger,
    /// Integers of Fortran.
    FortranInteger,
    /// Floating-point numbers.
    Floating,
    /// Truth values.
    Logical,
    /// Complex numbers.
    Complex,
    /// `MPI_BYTE`.
    Byte,
    /// Addresses, offsets and counts.
    MultiLanguage,
    /// A value and where it is.
    Pair,
    /// Characters, packed data, and what C cannot compute with.
    Plain,
}

/// A basic type.
#[derive(Debug)]
pub(crate) struct Basic {
    /// The ABI's value of its handle.
    pub(crate) handle: usize,
    /// Its name.
    pub(crate) name: &'static str,
    /// Its first value: all of it, the real part, or the value of a pair.
    pub(crate) format: Format,
    /// Its second value: the imaginary part, or the index of a pair.
    pub(crate) second: Option<Format>,
    /// Which operators it takes.
    pub(crate) group: Group,
    /// Bytes of the first value in `external32`.
    pub(crate) external: u8,
}

impl PartialEq for Basic {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle
    }
}

impl Basic {
    /// Whether it stands for bytes of whatever type.
    pub(crate) fn is_raw(&self) -> bool {
        self.group == Group::Byte || self.handle == PACKED
    }

    /// Where the second value begins in memory.
    pub(crate) fn second_offset(&self) -> usize {
        self.second.map_or(0, |second| self.format.size().next_multiple_of(second.alignment()))
    }

    /// Bytes of its values, without gaps.
    pub(crate) fn size(&self) -> usize {
        self.format.size() + self.second.map_or(0, Format::size)
    }

    /// Bytes from its start to its end, without what aligns the next.
    pub(crate) fn true_extent(&self) -> usize {
        self.second.map_or(self.format.size(), |second| self.second_offset() + second.size())
    }

    /// What C aligns it to.
    pub(crate) fn alignment(&self) -> usize {
        self.format.alignment().max(self.second.map_or(1, Format::alignment))
    }

    /// Bytes from one in an array to the next.
    pub(crate) fn extent(&self) -> usize {
        self.true_extent().next_multiple_of(self.alignment())
    }

    /// Its values: where they are, what they are, and how long they are in `external32`.
    pub(crate) fn values(&self) -> impl Iterator<Item = (usize, Format, usize)> {
        let external = usize::from(self.external);
        // The index of a pair is an int, or as the value is, as the imaginary part is.
        let second = move |second| (self.second_offset(), second, if second == self.format { external } else { 4 });
        core::iter::once((0, self.format, external)).chain(self.second.map(second))
    }
}

/// The basic type of a handle, if it is one.
pub(crate) fn basic(handle: usize) -> Option<&'static Basic> {
    BASICS.iter().find(|basic| basic.handle == handle)
}

/// The marks of bounds, which MPI 3.0 has removed: handles that the ABI leaves free.
pub(super) const LOWER_BOUND: usize = 0x204;
pub(super) const UPPER_BOUND: usize = 0x205;

/// The handle of packed values.
const PACKED: usize = 0x207;

/// The handle of no type.
pub(crate) const DATATYPE_NULL: usize = 0x200;

const POINTER: u8 = size_of::<usize>() as u8;
const LONG: u8 = size_of::<c_long>() as u8;

const fn one(handle: usize, name: &'static str, format: Format, group: Group) -> Basic {
    let external = if let Format::Extended = format { 16 } else { format.size() as u8 };
    Basic { handle, name, format, second: None, group, external }
}

const fn two(handle: usize, name: &'static str, format: Format, second: Format, group: Group) -> Basic {
    let Basic { external, .. } = one(handle, name, format, group);
    Basic { handle, name, format, second: Some(second), group, external }
}

/// One that is as long in `external32` as the standard says, whatever the machine has.
const fn external(basic: Basic, external: u8) -> Basic {
    Basic { external, ..basic }
}

use Format::{Bytes, Extended, Float, Signed, Unsigned};
use Group::{Byte, CInteger, Complex, Floating, FortranInteger, Logical, MultiLanguage, Pair, Plain};

/// All of them, by handle.
pub(crate) const BASICS: [Basic; 72] = [
    external(one(0x201, "MPI_AINT", Signed(POINTER), MultiLanguage), 8),
    one(0x202, "MPI_COUNT", Signed(8), MultiLanguage),
    one(0x203, "MPI_OFFSET", Signed(8), MultiLanguage),
    one(LOWER_BOUND, "MPI_LB", Bytes(0), Plain),
    one(UPPER_BOUND, "MPI_UB", Bytes(0), Plain),
    one(PACKED, "MPI_PACKED", Bytes(1), Plain),
    one(0x208, "MPI_SHORT", Signed(2), CInteger),
    one(0x209, "MPI_INT", Signed(4), CInteger),
    external(one(0x20A, "MPI_LONG", Signed(LONG), CInteger), 4),
    one(0x20B, "MPI_LONG_LONG_INT", Signed(8), CInteger),
    one(0x20C, "MPI_UNSIGNED_SHORT", Unsigned(2), CInteger),
    one(0x20D, "MPI_UNSIGNED", Unsigned(4), CInteger),
    external(one(0x20E, "MPI_UNSIGNED_LONG", Unsigned(LONG), CInteger), 4),
    one(0x20F, "MPI_UNSIGNED_LONG_LONG", Unsigned(8), CInteger),
    one(0x210, "MPI_FLOAT", Float(4), Floating),
    two(0x212, "MPI_C_COMPLEX", Float(4), Float(4), Complex),
    two(0x213, "MPI_CXX_FLOAT_COMPLEX", Float(4), Float(4), Complex),
    one(0x214, "MPI_DOUBLE", Float(8), Floating),
    two(0x216, "MPI_C_DOUBLE_COMPLEX", Float(8), Float(8), Complex),
    two(0x217, "MPI_CXX_DOUBLE_COMPLEX", Float(8), Float(8), Complex),
    one(0x218, "MPI_LOGICAL", Signed(4), Logical),
    one(0x219, "MPI_INTEGER", Signed(4), FortranInteger),
    one(0x21A, "MPI_REAL", Float(4), Floating),
    two(0x21B, "MPI_COMPLEX", Float(4), Float(4), Complex),
    one(0x21C, "MPI_DOUBLE_PRECISION", Float(8), Floating),
    two(0x21D, "MPI_DOUBLE_COMPLEX", Float(8), Float(8), Complex),
    one(0x21E, "MPI_CHARACTER", Bytes(1), Plain),
    one(0x220, "MPI_LONG_DOUBLE", Extended, Floating),
    two(0x224, "MPI_C_LONG_DOUBLE_COMPLEX", Extended, Extended, Complex),
    two(0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", Extended, Extended, Complex),
    two(0x228, "MPI_FLOAT_INT", Float(4), Signed(4), Pair),
    two(0x229, "MPI_DOUBLE_INT", Float(8), Signed(4), Pair),
    external(two(0x22A, "MPI_LONG_INT", Signed(LONG), Signed(4), Pair), 4),
    two(0x22B, "MPI_2INT", Signed(4), Signed(4), Pair),
    two(0x22C, "MPI_SHORT_INT", Signed(2), Signed(4), Pair),
    two(0x22D, "MPI_LONG_DOUBLE_INT", Extended, Signed(4), Pair),
    two(0x230, "MPI_2REAL", Float(4), Float(4), Pair),
    two(0x231, "MPI_2DOUBLE_PRECISION", Float(8), Float(8), Pair),
    two(0x232, "MPI_2INTEGER", Signed(4), Signed(4), Pair),
    one(0x238, "MPI_C_BOOL", Unsigned(1), Logical),
    one(0x239, "MPI_CXX_BOOL", Unsigned(1), Logical),
    // As long as newlib's `wchar_t`; in `external32` a character of 2 bytes.
    external(one(0x23C, "MPI_WCHAR", Bytes(4), Plain), 2),
    one(0x240, "MPI_INT8_T", Signed(1), CInteger),
    one(0x241, "MPI_UINT8_T", Unsigned(1), CInteger),
    // The standard has no operators for it. Everybody else has, and programs rely on it.
    one(0x243, "MPI_CHAR", Signed(1), CInteger),
    one(0x244, "MPI_SIGNED_CHAR", Signed(1), CInteger),
    one(0x245, "MPI_UNSIGNED_CHAR", Unsigned(1), CInteger),
    one(0x247, "MPI_BYTE", Unsigned(1), Byte),
    one(0x248, "MPI_INT16_T", Signed(2), CInteger),
    one(0x249, "MPI_UINT16_T", Unsigned(2), CInteger),
    one(0x250, "MPI_INT32_T", Signed(4), CInteger),
    one(0x251, "MPI_UINT32_T", Unsigned(4), CInteger),
    one(0x258, "MPI_INT64_T", Signed(8), CInteger),
    one(0x259, "MPI_UINT64_T", Unsigned(8), CInteger),
    one(0x2C0, "MPI_LOGICAL1", Signed(1), Logical),
    one(0x2C1, "MPI_INTEGER1", Signed(1), FortranInteger),
    one(0x2C8, "MPI_LOGICAL2", Signed(2), Logical),
    one(0x2C9, "MPI_INTEGER2", Signed(2), FortranInteger),
    // C has no arithmetic of 2 and 16 bytes for floating-point numbers.
    one(0x2CA, "MPI_REAL2", Float(2), Plain),
    one(0x2D0, "MPI_LOGICAL4", Signed(4), Logical),
    one(0x2D1, "MPI_INTEGER4", Signed(4), FortranInteger),
    one(0x2D2, "MPI_REAL4", Float(4), Floating),
    two(0x2D3, "MPI_COMPLEX4", Float(2), Float(2), Plain),
    one(0x2D8, "MPI_LOGICAL8", Signed(8), Logical),
    one(0x2D9, "MPI_INTEGER8", Signed(8), FortranInteger),
    one(0x2DA, "MPI_REAL8", Float(8), Floating),
    two(0x2DB, "MPI_COMPLEX8", Float(4), Float(4), Complex),
    one(0x2E0, "MPI_LOGICAL16", Signed(16), Logical),
    one(0x2E1, "MPI_INTEGER16", Signed(16), FortranInteger),
    one(0x2E2, "MPI_REAL16", Float(16), Plain),
    two(0x2E3, "MPI_COMPLEX16", Float(8), Float(8), Complex),
    two(0x2EB, "MPI_COMPLEX32", Float(16), Float(16), Plain),
];
