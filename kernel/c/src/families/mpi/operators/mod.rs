//! Operators: those of the standard on all types that it allows, and functions of the program's.

mod apply;
pub(crate) mod calls;
mod extended;
mod numbers;

use alloc::{rc::Rc, vec::Vec};
use core::{cell::RefCell, ffi::c_void, slice};

use super::{
    class::Class,
    datatypes::{Datatype, Datatypes},
    handles::{Handle, Kind, Slab},
};

pub(crate) use self::apply::Operation;

/// A function of the program's: `MPI_User_function`.
pub(crate) type Function = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut i32, *mut Handle);

/// The same with a count of 64 bits: `MPI_User_function_c`.
pub(crate) type LargeFunction = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut i64, *mut Handle);

/// Who computes.
#[derive(Clone, Copy)]
pub(crate) enum By {
    /// One of the standard's.
    Standard(Operation),
    /// A function of the program's.
    Program(Function),
    /// A function of the program's with large counts.
    LargeProgram(LargeFunction),
}

/// An operator.
pub(crate) struct Operator {
    by: By,
    is_commutative: bool,
    /// Functions are told a handle of the datatype.
    datatypes: Rc<Datatypes>,
}

/// The operators of a rank.
pub(crate) struct Operators {
    standard: Vec<(Handle, Rc<Operator>)>,
    own: RefCell<Slab<Rc<Operator>>>,
    datatypes: Rc<Datatypes>,
}

impl Operators {
    /// On values of these datatypes.
    pub(crate) fn new(datatypes: &Rc<Datatypes>) -> Self {
        let standard = |(handle, operation)| {
            // REPLACE is what it is by the order of its operands.
            let is_commutative = operation != Operation::Replace;
            (handle, Rc::new(Operator { by: By::Standard(operation), is_commutative, datatypes: datatypes.clone() }))
        };
        Self {
            standard: Operation::ALL.map(standard).into(),
            own: RefCell::new(Slab::new(Kind::Operator)),
            datatypes: datatypes.clone(),
        }
    }

    /// The operator of a handle.
    ///
    /// # Errors
    /// [`Class::OP`].
    pub(crate) fn get(&self, handle: Handle) -> Result<Rc<Operator>, Class> {
        let standard = self.standard.iter().find(|(standard, _)| *standard == handle);
        let own = || self.own.borrow().get(handle).cloned();
        standard.map(|(_, operator)| operator.clone()).or_else(own).ok_or(Class::OP)
    }

    /// Takes an operator of the program's.
    pub(crate) fn add(&self, by: By, is_commutative: bool) -> Handle {
        self.own.borrow_mut().insert(Rc::new(Operator { by, is_commutative, datatypes: self.datatypes.clone() }))
    }

    /// Forgets an operator, which operations under way keep.
    ///
    /// # Errors
    /// [`Class::OP`] if there is none, or it is one of the standard's.
    pub(crate) fn free(&self, handle: Handle) -> Result<(), Class> {
        self.own.borrow_mut().remove(handle).map(|_| ()).ok_or(Class::OP)
    }
}

impl Operator {
    /// Whether the order of operands does not matter.
    pub(crate) fn is_commutative(&self) -> bool {
        self.is_commutative
    }

    /// The standard's operator that it is, if it is one.
    pub(crate) fn operation(&self) -> Option<Operation> {
        match self.by {
            By::Standard(operation) => Some(operation),
            _ => None,
        }
    }

    /// Checks that a reduction can be had with values of this type.
    ///
    /// # Errors
    /// [`Class::OP`].
    pub(crate) fn check(&self, datatype: &Datatype) -> Result<(), Class> {
        let Some(operation) = self.operation() else { return Ok(()) };
        let is_for_windows = matches!(operation, Operation::Replace | Operation::Nothing);
        let is_defined = datatype.is_basic() && datatype.basic().is_some_and(|basic| operation.takes(basic.group));
        if is_defined && !is_for_windows { Ok(()) } else { Err(Class::OP) }
    }

    /// Computes `inout = input (op) inout` for so many values of a type that was [checked](Self::check).
    ///
    /// # Safety
    /// All of so many values, from the lower bound on, can be read at `input` and read and written at `inout`; no
    /// reference leads to them, and they do not overlap.
    pub(crate) unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: usize, datatype: &Rc<Datatype>) {
        if count == 0 {
            return;
        }
        match self.by {
            By::Standard(operation) => {
                let Some(basic) = datatype.basic() else { return };
                // What is behind the last value is not said to be there.
                let bytes = (count - 1) * basic.extent() + basic.true_extent();
                // SAFETY: the caller says so: these are the bytes of so many values.
                let (input, inout) =
                    unsafe { (slice::from_raw_parts(input, bytes), slice::from_raw_parts_mut(inout, bytes)) };
                operation.apply(basic, false, input, inout);
            }
            By::Program(function) => self.datatypes.with_handle(datatype, |mut handle| {
                // A count of more than C's int has is more than one call.
                let (mut done, step) = (0, i32::MAX as usize);
                while done < count {
                    let mut len = (count - done).min(step) as i32;
                    let offset = datatype.extent() * done as isize;
                    let (input, inout) = (input.wrapping_offset(offset), inout.wrapping_offset(offset));
                    done += len as usize;
                    // SAFETY: the program says that its function has this signature, and takes such values.
                    unsafe { function(input.cast_mut().cast(), inout.cast(), &raw mut len, &raw mut handle) };
                }
            }),
            By::LargeProgram(function) => self.datatypes.with_handle(datatype, |mut handle| {
                let mut len = count as i64;
                // SAFETY: as above.
                unsafe { function(input.cast_mut().cast(), inout.cast(), &raw mut len, &raw mut handle) };
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: Handle = 0x209;

    fn both() -> (Rc<Datatypes>, Operators) {
        let datatypes = Rc::new(Datatypes::new());
        let operators = Operators::new(&datatypes);
        (datatypes, operators)
    }

    /// What an operator makes of two lists of bytes.
    fn combined(handle: Handle, datatype: Handle, input: &[u8], inout: &[u8]) -> Result<Vec<u8>, Class> {
        let (datatypes, operators) = both();
        let (datatype, operator) = (datatypes.get(datatype)?, operators.get(handle)?);
        operator.check(&datatype)?;
        let count = input.len().div_ceil(datatype.extent() as usize);
        let mut inout = inout.to_vec();
        // SAFETY: both have so many values.
        unsafe { operator.combine(input.as_ptr(), inout.as_mut_ptr(), count, &datatype) };
        Ok(inout)
    }

    fn ints(handle: Handle, input: &[i32], inout: &[i32]) -> Vec<i32> {
        let bytes = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
        let bytes = combined(handle, INT, &bytes(input), &bytes(inout)).unwrap();
        bytes.chunks(4).map(|chunk| i32::from_le_bytes(chunk.try_into().unwrap())).collect()
    }

    #[test]
    fn operators_of_integers() {
        let (a, b) = ([3, -5, 0, i32::MAX], [7, 2, 0, 1]);
        let expected = [
            (0x21, [10, -3, 0, i32::MIN]),
            (0x22, [3, -5, 0, 1]),
            (0x23, [7, 2, 0, i32::MAX]),
            (0x24, [21, -10, 0, i32::MAX]),
            (0x28, [3, 2, 0, 1]),
            (0x29, [7, -5, 0, i32::MAX]),
            (0x2A, [4, -7, 0, i32::MAX - 1]),
            (0x30, [1, 1, 0, 1]),
            (0x31, [1, 1, 0, 1]),
            (0x32, [0, 0, 0, 0]),
        ];
        for (handle, result) in expected {
            assert_eq!(ints(handle, &a, &b), result, "operator {handle:#x}");
        }
        assert_eq!(ints(0x32, &[1, 0], &[0, 0]), [1, 0]);
    }

    /// A pair of a number of `N` bytes and an int, as in an array of C on this machine.
    fn pair<const N: usize>(value: [u8; N], index: i32, basic: &Basic) -> Vec<u8> {
        let mut bytes = vec![0xEE; basic.extent()];
        bytes[..N].copy_from_slice(&value);
        bytes[basic.second_offset()..][..4].copy_from_slice(&index.to_le_bytes());
        bytes
    }

    use super::super::datatypes::Basic;

    #[test]
    fn places_of_extremes() {
        let datatypes = Datatypes::new();
        for (handle, datatype) in [(0x38, 0x22C), (0x39, 0x22C)] {
            let basic = datatypes.get(datatype).unwrap().basic().unwrap();
            let make = |value: i16, index| pair(value.to_le_bytes(), index, basic);
            let (small, large) = (make(-2, 9), make(4, 3));
            let wins = if handle == 0x38 { &small } else { &large };
            for (a, b) in [(&small, &large), (&large, &small)] {
                assert_eq!(&combined(handle, datatype, a, b).unwrap(), wins);
            }
            assert_eq!(combined(handle, datatype, &make(4, 5), &make(4, 3)).unwrap(), make(4, 3));
            assert_eq!(combined(handle, datatype, &make(4, 3), &make(4, 5)).unwrap(), make(4, 3));
        }
        let basic = datatypes.get(0x229).unwrap().basic().unwrap();
        let make = |value: f64, index| pair(value.to_le_bytes(), index, basic);
        let two = |a: Vec<u8>, b: Vec<u8>| [a, b].concat();
        assert_eq!(
            combined(0x39, 0x229, &two(make(1.5, 1), make(2.0, 2)), &two(make(1.0, 3), make(3.0, 4))).unwrap(),
            two(make(1.5, 1), make(3.0, 4))
        );
    }

    #[test]
    fn complex_numbers() {
        let bytes = |numbers: [f32; 2]| numbers.map(f32::to_le_bytes).concat();
        let (a, b) = (bytes([1.0, 2.0]), bytes([-3.0, 0.5]));
        assert_eq!(combined(0x24, 0x212, &a, &b).unwrap(), bytes([-4.0, -5.5]));
        assert_eq!(combined(0x21, 0x212, &a, &b).unwrap(), bytes([-2.0, 2.5]));
        assert_eq!(combined(0x22, 0x212, &a, &b), Err(Class::OP));
    }

    #[test]
    fn operators_are_defined_for_some_types() {
        // Sum, minimum, bits, truth, places; by type.
        let expected = [
            (0x209, [true, true, true, true, false]),
            (0x219, [true, true, true, false, false]),
            (0x214, [true, true, false, false, false]),
            (0x220, [true, true, false, false, false]),
            (0x224, [true, false, false, false, false]),
            (0x238, [false, false, false, true, false]),
            (0x247, [false, false, true, false, false]),
            (0x201, [true, true, true, false, false]),
            (0x22D, [false, false, false, false, true]),
            (0x207, [false; 5]),
            (0x23C, [false; 5]),
        ];
        let (datatypes, operators) = both();
        for (datatype, defined) in expected {
            let datatype = datatypes.get(datatype).unwrap();
            let found =
                [0x21, 0x22, 0x28, 0x30, 0x38].map(|handle| operators.get(handle).unwrap().check(&datatype).is_ok());
            assert_eq!(found, defined, "{:?}", datatype.basic());
        }
        let int = datatypes.get(INT).unwrap();
        for handle in [0x3C, 0x3D] {
            assert_eq!(operators.get(handle).unwrap().check(&int), Err(Class::OP));
        }
        assert!(operators.get(0x20).is_err());
    }

    /// Every operator works on every type that it is defined for, of this machine's sizes.
    #[test]
    fn all_operators_on_all_types() {
        let (datatypes, operators) = both();
        let mut pairs = 0;
        for basic in &super::super::datatypes::BASICS {
            let datatype = datatypes.get(basic.handle).unwrap();
            for (handle, operation) in Operation::ALL {
                if operators.get(handle).unwrap().check(&datatype).is_err() {
                    continue;
                }
                pairs += 1;
                let zeros = vec![0; basic.extent()];
                assert_eq!(
                    combined(handle, basic.handle, &zeros, &zeros).unwrap(),
                    zeros,
                    "{operation:?} of {}",
                    basic.name
                );
            }
        }
        // Integers of C, of Fortran, of both; floating, complex, truth values, bytes, pairs: types and operators of each.
        let expected = [(19, 10), (6, 7), (3, 7), (7, 4), (10, 2), (8, 3), (1, 3), (9, 2)];
        assert_eq!(pairs, expected.map(|(types, operators)| types * operators).iter().sum());
    }

    #[test]
    fn functions_of_programs() {
        unsafe extern "C-unwind" fn last(input: *mut c_void, inout: *mut c_void, len: *mut i32, datatype: *mut Handle) {
            // SAFETY: the test calls it with two ints.
            unsafe {
                assert_eq!((*len, *datatype), (2, INT));
                let (input, inout) = (input.cast::<i32>(), inout.cast::<i32>());
                (0..2).for_each(|at| *inout.add(at) = *input.add(at) * 10 + *inout.add(at));
            }
        }
        let (datatypes, operators) = both();
        let handle = operators.add(By::Program(last), false);
        let operator = operators.get(handle).unwrap();
        assert!(!operator.is_commutative() && operators.get(0x21).unwrap().is_commutative());
        let (input, mut inout) = ([1, 2], [3, 4]);
        // SAFETY: two ints each.
        unsafe {
            operator.combine(input.as_ptr().cast(), inout.as_mut_ptr().cast(), 2, &datatypes.get(INT).unwrap());
        }
        assert_eq!(inout, [13, 24]);
        assert_eq!((operators.free(handle), operators.free(handle)), (Ok(()), Err(Class::OP)));
        assert_eq!(operators.free(0x21), Err(Class::OP));
    }
}
