//! Numbers and lists that a program hands over: as `int`, `MPI_Aint` or `MPI_Count`, as the form of the function has them.

use alloc::{rc::Rc, vec::Vec};

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        constants::UNDEFINED,
        handles::Handle,
        state::Here,
    },
    Datatype,
};

/// A number of a program's.
pub(crate) trait Number: Copy {
    /// Whether it is that of a form with large counts.
    const IS_LARGE: bool;
    fn wide(self) -> i64;
    /// None if it does not fit.
    fn of(wide: i64) -> Option<Self>;
    /// What stands for a number that does not fit.
    fn undefined() -> Self;
}

macro_rules! numbers {
    ($($type:ty, $is_large:literal;)*) => {$(
        impl Number for $type {
            const IS_LARGE: bool = $is_large;

            fn wide(self) -> i64 {
                self as i64
            }

            fn of(wide: i64) -> Option<Self> {
                wide.try_into().ok()
            }

            fn undefined() -> Self {
                UNDEFINED as Self
            }
        }
    )*};
}

numbers! { i32, false; isize, false; i64, true; }

/// A count, or a size, that is not below zero.
pub(crate) fn count<T: Number>(number: T) -> Result<usize, Fault> {
    usize::try_from(number.wide()).map_err(|_| Fault::new(Class::COUNT, "the count is below zero"))
}

/// A list of the program's.
///
/// # Safety
/// It has so many numbers, if it is not null.
pub(crate) unsafe fn list<T: Copy>(first: *const T, len: i64) -> Result<Vec<T>, Fault> {
    let len = usize::try_from(len).map_err(|_| Fault::new(Class::COUNT, "the count is below zero"))?;
    if len > 0 && first.is_null() {
        return Err(Fault::new(Class::ARG, "a list is a null pointer"));
    }
    // SAFETY: the caller says so.
    Ok((0..len).map(|at| unsafe { first.add(at).read_unaligned() }).collect())
}

/// Gives the program a value.
///
/// # Safety
/// It can be written, if the pointer is not null.
pub(crate) unsafe fn give<T>(to: *mut T, value: T) -> Result<(), Fault> {
    if to.is_null() {
        return Err(Fault::new(Class::ARG, "the result has no place: its pointer is null"));
    }
    // SAFETY: the caller says so.
    unsafe { to.write(value) };
    Ok(())
}

/// Gives the program a number, or `MPI_UNDEFINED` if it does not fit.
///
/// # Safety
/// As for [`give`].
pub(crate) unsafe fn give_number<T: Number>(to: *mut T, value: i64) -> Result<(), Fault> {
    // SAFETY: the caller says so.
    unsafe { give(to, T::of(value).unwrap_or_else(T::undefined)) }
}

/// A datatype that can be used in communication.
pub(crate) fn committed<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<Rc<Datatype>, Fault> {
    let datatype = here.datatypes.get(handle)?;
    if !datatype.is_committed() {
        return Err(Fault::new(Class::TYPE, "the datatype is not committed: call MPI_Type_commit"));
    }
    Ok(datatype)
}
