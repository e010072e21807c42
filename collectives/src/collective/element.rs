//! Elements that can be combined, and the operators that combine them.
//!
//! Integers wrap around on overflow. Minimum and maximum of floats compare by `<`: an operand that is no number is
//! taken over from what was there before, and of two zeros the one that was there before stays.

use core::fmt;

use bytemuck::Pod;

/// Number types that the accumulating operations know; MPI's predefined operations are defined on them.
pub trait Element: Pod + PartialOrd + fmt::Debug + sealed::Sealed {
    /// Number of the type in packets.
    #[doc(hidden)]
    const TYPE: u32;
    /// `a + b`, wrapping.
    #[doc(hidden)]
    fn sum(a: Self, b: Self) -> Self;
    /// `a * b`, wrapping.
    #[doc(hidden)]
    fn product(a: Self, b: Self) -> Self;
}

/// The integers among the [`Element`]s, which have bits to combine.
pub trait Integer: Element + Eq {
    /// Bitwise and.
    #[doc(hidden)]
    fn and(a: Self, b: Self) -> Self;
    /// Bitwise or.
    #[doc(hidden)]
    fn or(a: Self, b: Self) -> Self;
    /// Bitwise exclusive or.
    #[doc(hidden)]
    fn xor(a: Self, b: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integer {
    ($type:ty, $number:expr) => {
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const TYPE: u32 = $number;
            fn sum(a: Self, b: Self) -> Self {
                a.wrapping_add(b)
            }
            fn product(a: Self, b: Self) -> Self {
                a.wrapping_mul(b)
            }
        }

        impl Integer for $type {
            fn and(a: Self, b: Self) -> Self {
                a & b
            }
            fn or(a: Self, b: Self) -> Self {
                a | b
            }
            fn xor(a: Self, b: Self) -> Self {
                a ^ b
            }
        }
    };
}

macro_rules! float {
    ($type:ty, $number:expr) => {
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const TYPE: u32 = $number;
            fn sum(a: Self, b: Self) -> Self {
                a + b
            }
            fn product(a: Self, b: Self) -> Self {
                a * b
            }
        }
    };
}

integer!(i32, 0);
integer!(u32, 1);
integer!(i64, 2);
integer!(u64, 3);
float!(f32, 4);
float!(f64, 5);

/// An operator: how an operand (the second argument) changes what is there (the first).
#[derive(Clone, Copy)]
pub struct Operator<T> {
    combine: fn(T, T) -> T,
    /// Combines many elements, in a loop without calls; what is there may be the operands instead.
    combine_all: fn(&mut [T], &[T], Side),
    code: u32,
}

/// An operator as a type, of which the compiler makes both functions.
trait Rule<T> {
    fn combine(there: T, operand: T) -> T;
}

macro_rules! rule {
    ($name:ident, $element:ident, $combine:expr) => {
        struct $name;

        impl<T: $element> Rule<T> for $name {
            #[inline(always)]
            fn combine(there: T, operand: T) -> T {
                let combine: fn(T, T) -> T = $combine;
                combine(there, operand)
            }
        }
    };
}

rule!(Sum, Element, T::sum);
rule!(Product, Element, T::product);
rule!(Min, Element, |there, operand| if operand < there { operand } else { there });
rule!(Max, Element, |there, operand| if there < operand { operand } else { there });
rule!(Replace, Element, |_, operand| operand);
rule!(Keep, Element, |there, _| there);
rule!(And, Integer, T::and);
rule!(Or, Integer, T::or);
rule!(Xor, Integer, T::xor);

/// On which side of those there elements are combined with them.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

fn combine_all<T: Copy, R: Rule<T>>(there: &mut [T], others: &[T], side: Side) {
    let pairs = there.iter_mut().zip(others);
    match side {
        Side::Left => pairs.for_each(|(there, left)| *there = R::combine(*left, *there)),
        Side::Right => pairs.for_each(|(there, right)| *there = R::combine(*there, *right)),
    }
}

/// Names of the operators, by their numbers.
pub(crate) const OPERATORS: [&str; 9] =
    ["sum", "product", "minimum", "maximum", "replacement", "keeping", "and", "or", "exclusive or"];

/// Numbers of the operators in packets.
mod code {
    pub(super) const SUM: u32 = 0;
    pub(super) const PRODUCT: u32 = 1;
    pub(super) const MIN: u32 = 2;
    pub(super) const MAX: u32 = 3;
    pub(super) const REPLACE: u32 = 4;
    pub(super) const KEEP: u32 = 5;
    pub(super) const AND: u32 = 6;
    pub(super) const OR: u32 = 7;
    pub(super) const XOR: u32 = 8;
    /// The operator's bits of a code; the type is above them.
    pub(super) const BITS: u32 = 4;
}

impl<T: Element> Operator<T> {
    /// Sum.
    pub const SUM: Self = Self::new::<Sum>(code::SUM);
    /// Product.
    pub const PRODUCT: Self = Self::new::<Product>(code::PRODUCT);
    /// Minimum.
    pub const MIN: Self = Self::new::<Min>(code::MIN);
    /// Maximum.
    pub const MAX: Self = Self::new::<Max>(code::MAX);
    /// The operand, whatever was there.
    pub const REPLACE: Self = Self::new::<Replace>(code::REPLACE);
    /// What was there, whatever the operand: fetches atomically (MPI's `NO_OP`).
    pub const KEEP: Self = Self::new::<Keep>(code::KEEP);

    const fn new<R: Rule<T>>(operator: u32) -> Self {
        Self { combine: R::combine, combine_all: combine_all::<T, R>, code: T::TYPE << code::BITS | operator }
    }
}

impl<T: Integer> Operator<T> {
    /// Bitwise and.
    pub const AND: Self = Self::new::<And>(code::AND);
    /// Bitwise or.
    pub const OR: Self = Self::new::<Or>(code::OR);
    /// Bitwise exclusive or.
    pub const XOR: Self = Self::new::<Xor>(code::XOR);
}

impl<T: Pod> Operator<T> {
    /// Combines one operand with what is there.
    pub fn combine(&self, there: T, operand: T) -> T {
        (self.combine)(there, operand)
    }

    /// Combines operands with what is there, one by one.
    pub fn apply(&self, there: &mut [T], operands: &[T]) {
        (self.combine_all)(there, operands, Side::Right);
    }

    /// Combines what is there, as operands, with elements, one by one.
    pub(crate) fn apply_to(&self, elements: &[T], there: &mut [T]) {
        (self.combine_all)(there, elements, Side::Left);
    }

    /// P54C cycles that one combination takes with both operands and the result in L1: two loads, of which one is
    /// part of the arithmetic, and a store.
    pub(crate) fn cycles(&self) -> u64 {
        use hal::p54c::{FADD, FLOAD, FMUL, FSTORE, IMUL, INTEGER};
        let (of_type, operator) = (self.code >> code::BITS, self.code & ((1 << code::BITS) - 1));
        let floats = of_type == f32::TYPE || of_type == f64::TYPE;
        // Longer integers are two words, and three products of words.
        let (words, products) = if of_type == i64::TYPE || of_type == u64::TYPE { (2, 3) } else { (1, 1) };
        let moved = if floats { FLOAD + FSTORE } else { 2 * words * INTEGER };
        moved
            + match operator {
                code::KEEP | code::REPLACE => 0,
                code::PRODUCT if floats => FMUL,
                code::PRODUCT => products * IMUL + (words - 1) * 2 * INTEGER,
                // A comparison takes as long as a subtraction; a branch follows.
                code::MIN | code::MAX if floats => FADD + 3 * INTEGER,
                code::MIN | code::MAX => (words + 1) * INTEGER,
                _ if floats => FADD,
                _ => words * INTEGER,
            }
    }

    pub(crate) fn name(&self) -> &'static str {
        OPERATORS[(self.code & ((1 << code::BITS) - 1)) as usize]
    }

    /// The operator and its type, for a packet.
    pub(crate) fn code(&self) -> u32 {
        self.code
    }
}

/// Applies the operator of a packet to bytes of elements. An operator that does not exist changes nothing.
pub(crate) fn apply_coded(code: u32, there: &mut [u8], operands: &[u8]) {
    match code >> code::BITS {
        i32::TYPE => apply_integer::<i32>(code, there, operands),
        u32::TYPE => apply_integer::<u32>(code, there, operands),
        i64::TYPE => apply_integer::<i64>(code, there, operands),
        u64::TYPE => apply_integer::<u64>(code, there, operands),
        f32::TYPE => apply_bytes(&arithmetic::<f32>(), code, there, operands),
        f64::TYPE => apply_bytes(&arithmetic::<f64>(), code, there, operands),
        _ => {}
    }
}

fn apply_integer<T: Integer>(code: u32, there: &mut [u8], operands: &[u8]) {
    apply_bytes(&arithmetic::<T>(), code, there, operands);
    apply_bytes(&[Operator::<T>::AND, Operator::OR, Operator::XOR], code, there, operands);
}

fn arithmetic<T: Element>() -> [Operator<T>; 6] {
    [Operator::SUM, Operator::PRODUCT, Operator::MIN, Operator::MAX, Operator::REPLACE, Operator::KEEP]
}

fn apply_bytes<T: Pod>(operators: &[Operator<T>], code: u32, there: &mut [u8], operands: &[u8]) {
    let Some(operator) = operators.iter().find(|operator| operator.code == code) else { return };
    let size = size_of::<T>();
    for (there, operand) in there.chunks_exact_mut(size).zip(operands.chunks_exact(size)) {
        let combined = operator.combine(bytemuck::pod_read_unaligned(there), bytemuck::pod_read_unaligned(operand));
        there.copy_from_slice(bytemuck::bytes_of(&combined));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_floats_keep_numbers() {
        assert_eq!(Operator::SUM.combine(u32::MAX, 2), 1);
        assert_eq!(Operator::PRODUCT.combine(i64::MAX, 2), -2);
        assert_eq!(Operator::MIN.combine(3.0, f64::NAN), 3.0);
        assert_eq!(Operator::MAX.combine(3.0f32, 4.0), 4.0);
        assert_eq!(Operator::XOR.combine(0b1100u64, 0b1010), 0b0110);
    }

    #[test]
    fn packets_mean_the_same() {
        fn check<T: Integer>(there: T, operand: T) {
            let all = [Operator::<T>::AND, Operator::OR, Operator::XOR];
            for operator in arithmetic::<T>().iter().chain(&all) {
                let mut bytes = bytemuck::bytes_of(&there).to_vec();
                apply_coded(operator.code(), &mut bytes, bytemuck::bytes_of(&operand));
                assert_eq!(bytes, bytemuck::bytes_of(&operator.combine(there, operand)), "{:#x}", operator.code());
                let mut many = [there, operand, there];
                operator.apply(&mut many, &[operand; 3]);
                let each = [there, operand, there].map(|there| operator.combine(there, operand));
                assert_eq!(many, each, "{:#x}", operator.code());
                let mut many = [there, operand, there];
                operator.apply_to(&[operand; 3], &mut many);
                let each = [there, operand, there].map(|there| operator.combine(operand, there));
                assert_eq!(many, each, "{:#x}", operator.code());
            }
        }
        check(-7i32, 12);
        check(7u32, 12);
        check(-7i64, 1 << 40);
        check(7u64, 1 << 40);
        let mut bytes = 1.5f64.to_le_bytes();
        apply_coded(Operator::<f64>::SUM.code(), &mut bytes, &2.25f64.to_le_bytes());
        assert_eq!(f64::from_le_bytes(bytes), 3.75);
    }
}
