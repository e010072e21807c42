//! Places of the program's, where a function gives something back.

use core::{ffi::c_void, slice};

use super::{
    class::{Class, Fault},
    handles::Handle,
};

/// A place of the program's for one value, as an argument of a function of the table: a pointer in C, which is not null, since
/// [the table](super::listing) refuses those that are. Whoever has one may write there, and read what the program has there, while the
/// function runs and as long as what it begins goes on.
#[repr(transparent)]
pub(crate) struct Place<T>(*mut T);

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T> Place<T> {
    /// The place that a pointer leads to, for arguments that only some forms of a function have.
    ///
    /// # Safety
    /// The pointer is null, or is to such a value of the program's, to which no reference of this side's leads.
    pub(crate) unsafe fn of(pointer: *mut T) -> Result<Self, Fault> {
        let place = Self(pointer);
        if place.is_missing() { Err(missing()) } else { Ok(place) }
    }

    /// The pointer itself, for more than one value.
    pub(crate) fn pointer(self) -> *mut T {
        self.0
    }
}

impl<T: Copy> Place<T> {
    /// Gives the program a value.
    pub(crate) fn write(self, value: T) {
        // SAFETY: only C makes places, for calls of the table, or who promises the same. The standard of MPI has it that the program's
        // pointers are to values of its own, to which no reference of this side's leads; the table has refused null pointers.
        unsafe { self.0.write(value) }
    }

    /// What the program has there.
    pub(crate) fn read(self) -> T {
        // SAFETY: as above.
        unsafe { self.0.read() }
    }
}

/// Refuses the pointer to a list that is not empty, if it is null, or not aligned as C has it.
fn check_list<T>(first: *const T) -> Result<(), Fault> {
    if first.is_null() {
        return Err(Fault::new(Class::ARG, "a list that is not empty is a null pointer"));
    }
    if first.is_aligned() { Ok(()) } else { Err(Fault::new(Class::ARG, "a list is not aligned for its elements")) }
}

/// Values of the program's.
///
/// # Safety
/// If the pointer is not null, `count` values are there, to which nobody writes as long as the slice lives.
pub(crate) unsafe fn values<'v, T>(count: usize, first: *const T) -> Result<&'v [T], Fault> {
    if count == 0 {
        return Ok(&[]);
    }
    check_list(first)?;
    // SAFETY: the caller says so.
    Ok(unsafe { slice::from_raw_parts(first, count) })
}

/// Values of the program's, to be changed.
///
/// # Safety
/// If the pointer is not null, `count` values are there, which nobody else reads or writes as long as the slice lives.
pub(crate) unsafe fn values_mut<'v, T>(count: usize, first: *mut T) -> Result<&'v mut [T], Fault> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_list(first)?;
    // SAFETY: the caller says so.
    Ok(unsafe { slice::from_raw_parts_mut(first, count) })
}

/// Gives the program a list.
///
/// # Safety
/// If the pointer is not null, there is room for as many values as the iterator has.
pub(crate) unsafe fn give_list<T>(first: *mut T, values: impl ExactSizeIterator<Item = T>) -> Result<(), Fault> {
    if values.len() > 0 {
        check_list(first)?;
    }
    // SAFETY: the caller says so.
    values.enumerate().for_each(|(at, value)| unsafe { first.add(at).write(value) });
    Ok(())
}

/// The error of a place that is not there.
pub(crate) fn missing() -> Fault {
    Fault::new(Class::ARG, "a result has no place, or a handle or a status is not there: its pointer is null")
}

/// An argument of a function of the table.
pub(crate) trait Argument: Copy {
    /// Whether it is a place that is not there.
    fn is_missing(self) -> bool {
        false
    }

    /// What may be a handle, so that it says whose error handler hears of a missing place.
    fn handle(self) -> Option<Handle> {
        None
    }
}

impl<T> Argument for Place<T> {
    fn is_missing(self) -> bool {
        self.0.is_null()
    }
}

impl Argument for Handle {
    fn handle(self) -> Option<Handle> {
        Some(self)
    }
}

impl Argument for i32 {}
impl Argument for i64 {}
impl Argument for isize {}
impl<T> Argument for *const T {}
impl<T> Argument for *mut T {}
impl Argument for Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut i32, *mut Handle)> {}
impl Argument for Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut i64, *mut Handle)> {}
