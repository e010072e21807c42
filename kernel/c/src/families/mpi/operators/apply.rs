//! What the predefined operators do, on bytes.

use crate::families::mpi::datatypes::{Basic, Format, Group};

use super::{
    extended::Extended,
    numbers::{Number, Whole},
};

/// A predefined operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Sum,
    Minimum,
    Maximum,
    Product,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Xor,
    MinimumPlace,
    MaximumPlace,
    Replace,
    Nothing,
}

impl Operation {
    /// All of them, with the ABI's handles.
    pub(super) const ALL: [(usize, Self); 14] = [
        (0x21, Self::Sum),
        (0x22, Self::Minimum),
        (0x23, Self::Maximum),
        (0x24, Self::Product),
        (0x28, Self::BitAnd),
        (0x29, Self::BitOr),
        (0x2A, Self::BitXor),
        (0x30, Self::And),
        (0x31, Self::Or),
        (0x32, Self::Xor),
        (0x38, Self::MinimumPlace),
        (0x39, Self::MaximumPlace),
        (0x3C, Self::Replace),
        (0x3D, Self::Nothing),
    ];

    /// The one of a handle.
    pub(crate) fn of(handle: usize) -> Option<Self> {
        Self::ALL.iter().find(|(of, _)| *of == handle).map(|(_, operation)| *operation)
    }

    /// Whether it is defined for types of this group.
    pub(crate) fn takes(self, group: Group) -> bool {
        use Group::{Byte, CInteger, Complex, Floating, FortranInteger, Logical, MultiLanguage, Pair};
        match self {
            Self::Minimum | Self::Maximum => {
                matches!(group, CInteger | FortranInteger | Floating | MultiLanguage)
            }
            Self::Sum | Self::Product => {
                matches!(group, CInteger | FortranInteger | Floating | MultiLanguage | Complex)
            }
            Self::BitAnd | Self::BitOr | Self::BitXor => {
                matches!(group, CInteger | FortranInteger | Byte | MultiLanguage)
            }
            Self::And | Self::Or | Self::Xor => matches!(group, CInteger | Logical),
            Self::MinimumPlace | Self::MaximumPlace => group == Pair,
            Self::Replace | Self::Nothing => true,
        }
    }

    /// P54C cycles for one value of a type that the operator [takes](Self::takes), with both operands and the result in L1: two loads, of
    /// which one is part of the arithmetic, and a store, as `collectives` has it for its operators.
    pub(crate) fn cycles(self, basic: &Basic) -> u64 {
        use kernel::hal::p54c::{FADD, FLOAD, FMUL, FSTORE, IMUL, INTEGER};
        let numbers = if basic.second.is_some() { 2 } else { 1 };
        let (moved, added, multiplied) = match basic.format {
            Format::Float(_) | Format::Extended => (FLOAD + FSTORE, FADD, FMUL),
            format => {
                let words = format.size().div_ceil(size_of::<u32>()) as u64;
                (2 * words * INTEGER, words * INTEGER, words * words * IMUL)
            }
        };
        // A comparison takes as long as a subtraction; a branch follows, or what makes a truth of it.
        numbers
            * (moved
                + match self {
                    Self::Replace | Self::Nothing => 0,
                    Self::Sum | Self::BitAnd | Self::BitOr | Self::BitXor => added,
                    Self::Product => multiplied + (numbers - 1) * (multiplied + added),
                    _ => added + 3 * INTEGER,
                })
    }

    /// Computes `inout = input (op) inout` for values of a type that the operator [takes](Self::takes), which follow each
    /// other in both as in an array of C, or without gaps if they are `packed`.
    pub(crate) fn apply(self, basic: &Basic, packed: bool, input: &[u8], inout: &mut [u8]) {
        match self {
            Self::Nothing => return,
            Self::Replace => return inout.copy_from_slice(input),
            _ => {}
        }
        match (basic.format, basic.second) {
            (format, None) => match format {
                Format::Signed(1) => self.whole::<i8>(input, inout),
                Format::Signed(2) => self.whole::<i16>(input, inout),
                Format::Signed(4) => self.whole::<i32>(input, inout),
                Format::Signed(8) => self.whole::<i64>(input, inout),
                Format::Signed(16) => self.whole::<i128>(input, inout),
                Format::Unsigned(1) => self.whole::<u8>(input, inout),
                Format::Unsigned(2) => self.whole::<u16>(input, inout),
                Format::Unsigned(4) => self.whole::<u32>(input, inout),
                Format::Unsigned(8) => self.whole::<u64>(input, inout),
                Format::Float(4) => self.number::<f32>(input, inout),
                Format::Float(8) => self.number::<f64>(input, inout),
                Format::Extended => self.number::<Extended>(input, inout),
                _ => unreachable!("{self:?} does not take {}", basic.name),
            },
            (format, Some(second)) if basic.group == Group::Complex => match (format, second) {
                (Format::Float(4), _) => self.complex::<f32>(input, inout),
                (Format::Float(8), _) => self.complex::<f64>(input, inout),
                (Format::Extended, _) => self.complex::<Extended>(input, inout),
                _ => unreachable!("{self:?} does not take {}", basic.name),
            },
            (format, Some(second)) => {
                let places =
                    if packed { [basic.size(), format.size()] } else { [basic.extent(), basic.second_offset()] };
                match (format, second) {
                    (Format::Signed(2), _) => self.pair::<i16, i32>(places, input, inout),
                    (Format::Signed(4), _) => self.pair::<i32, i32>(places, input, inout),
                    (Format::Signed(8), _) => self.pair::<i64, i32>(places, input, inout),
                    (Format::Float(4), Format::Signed(4)) => self.pair::<f32, i32>(places, input, inout),
                    (Format::Float(4), _) => self.pair::<f32, f32>(places, input, inout),
                    (Format::Float(8), Format::Signed(4)) => self.pair::<f64, i32>(places, input, inout),
                    (Format::Float(8), _) => self.pair::<f64, f64>(places, input, inout),
                    (Format::Extended, _) => self.pair::<Extended, i32>(places, input, inout),
                    _ => unreachable!("{self:?} does not take {}", basic.name),
                }
            }
        }
    }

    fn whole<T: Whole>(self, input: &[u8], inout: &mut [u8]) {
        match self {
            Self::BitAnd => each(input, inout, T::and),
            Self::BitOr => each(input, inout, T::or),
            Self::BitXor => each(input, inout, T::xor),
            Self::And => each(input, inout, |own: T, other| T::of(own.is_true() && other.is_true())),
            Self::Or => each(input, inout, |own: T, other| T::of(own.is_true() || other.is_true())),
            Self::Xor => each(input, inout, |own: T, other| T::of(own.is_true() != other.is_true())),
            _ => self.number::<T>(input, inout),
        }
    }

    fn number<T: Number>(self, input: &[u8], inout: &mut [u8]) {
        match self {
            Self::Sum => each(input, inout, T::plus),
            Self::Product => each(input, inout, T::times),
            Self::Minimum => each(input, inout, |own: T, other| if own.is_less(other) { own } else { other }),
            Self::Maximum => each(input, inout, |own: T, other| if other.is_less(own) { own } else { other }),
            _ => unreachable!("{self:?} was refused for such numbers"),
        }
    }

    fn complex<T: Number>(self, input: &[u8], inout: &mut [u8]) {
        let values = input.chunks_exact(2 * T::BYTES).zip(inout.chunks_exact_mut(2 * T::BYTES));
        for (own, other) in values {
            let load = |bytes: &[u8]| (T::load(&bytes[..T::BYTES]), T::load(&bytes[T::BYTES..]));
            let ((re, im), (other_re, other_im)) = (load(own), load(other));
            let (re, im) = match self {
                Self::Sum => (re.plus(other_re), im.plus(other_im)),
                Self::Product => {
                    (re.times(other_re).minus(im.times(other_im)), re.times(other_im).plus(im.times(other_re)))
                }
                _ => unreachable!("{self:?} was refused for such numbers"),
            };
            re.store(&mut other[..T::BYTES]);
            im.store(&mut other[T::BYTES..]);
        }
    }

    fn pair<V: Number, I: Number>(self, [stride, second]: [usize; 2], input: &[u8], inout: &mut [u8]) {
        for (own, other) in input.chunks(stride).zip(inout.chunks_mut(stride)) {
            let load = |bytes: &[u8]| (V::load(&bytes[..V::BYTES]), I::load(&bytes[second..][..I::BYTES]));
            let ((value, index), (other_value, other_index)) = (load(own), load(other));
            let (wins, loses) = if self == Self::MinimumPlace {
                (value.is_less(other_value), other_value.is_less(value))
            } else {
                (other_value.is_less(value), value.is_less(other_value))
            };
            if wins || (!loses && index.is_less(other_index)) {
                value.store(&mut other[..V::BYTES]);
                index.store(&mut other[second..][..I::BYTES]);
            }
        }
    }
}

/// Combines numbers that follow each other.
fn each<T: Number>(input: &[u8], inout: &mut [u8], combine: impl Fn(T, T) -> T) {
    for (own, other) in input.chunks_exact(T::BYTES).zip(inout.chunks_exact_mut(T::BYTES)) {
        combine(T::load(own), T::load(other)).store(other);
    }
}
