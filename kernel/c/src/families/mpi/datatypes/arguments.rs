//! Numbers and lists that a program hands over: as `int`, `MPI_Aint` or `MPI_Count`, as the form of the function has them.

use alloc::rc::Rc;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        constants::UNDEFINED,
        handles::Handle,
        place::{Place, values},
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
/// As for [`values`].
pub(crate) unsafe fn list<'v, T>(first: *const T, len: impl Number) -> Result<&'v [T], Fault> {
    // SAFETY: the caller says so.
    unsafe { values(count(len)?, first) }
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
