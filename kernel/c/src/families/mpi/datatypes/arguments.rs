//! Numbers and lists that a program hands over: as `int`, `MPI_Aint` or `MPI_Count`, as the form of the function has them.

use alloc::{rc::Rc, vec::Vec};

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        constants::UNDEFINED,
        handles::Handle,
        place::Place,
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

/// Gives the program a list.
///
/// # Safety
/// There is room for so many values, if the pointer is not null.
pub(crate) unsafe fn give_list<T>(first: *mut T, values: impl ExactSizeIterator<Item = T>) -> Result<(), Fault> {
    if values.len() > 0 && first.is_null() {
        return Err(Fault::new(Class::ARG, "the list of results has no place: its pointer is null"));
    }
    // SAFETY: the caller says so.
    values.enumerate().for_each(|(at, value)| unsafe { first.add(at).write(value) });
    Ok(())
}

/// Gives the program a number, or `MPI_UNDEFINED` if it does not fit.
pub(crate) fn give_number<T: Number>(to: Place<T>, value: i64) {
    to.write(T::of(value).unwrap_or_else(T::undefined));
}

/// A datatype that can be used in communication.
pub(crate) fn committed<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<Rc<Datatype>, Fault> {
    let datatype = here.datatypes.get(handle)?;
    if !datatype.is_committed() {
        return Err(Fault::new(Class::TYPE, "the datatype is not committed: call MPI_Type_commit"));
    }
    Ok(datatype)
}
