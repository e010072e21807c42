//! What happens when a function fails: error handlers, and the numbers and texts of errors.

pub(crate) mod calls;

use alloc::{ffi::CString, string::String, vec::Vec};
use core::ffi::{CStr, c_char};

use super::{
    attributes::Of,
    class::{Class, Fault},
    handles::Handle,
    place::Place,
};

pub(crate) const ARE_FATAL: Handle = 0x141;
pub(crate) const RETURN: Handle = 0x143;

/// A handler of the program's.
#[derive(Clone, Copy)]
pub(crate) struct Handler {
    function: usize,
    of: Of,
}

/// An error that a program has added.
struct AddedError {
    /// Its own number, if it is a class.
    class: i32,
    text: Option<String>,
}

/// Errors that a program has added, in the order of their numbers; nothing where one was removed.
#[derive(Default)]
pub(crate) struct Added(Vec<Option<AddedError>>);

impl Added {
    /// The next number, of a class, or of a code of one.
    fn add(&mut self, class: Option<i32>) -> i32 {
        let number = Class::LAST + 1 + self.0.len() as i32;
        self.0.push(Some(AddedError { class: class.unwrap_or(number), text: None }));
        number
    }

    fn place(&mut self, number: i32) -> Option<&mut Option<AddedError>> {
        self.0.get_mut(usize::try_from(i64::from(number) - i64::from(Class::LAST) - 1).ok()?)
    }

    fn get_mut(&mut self, number: i32) -> Option<&mut AddedError> {
        self.place(number)?.as_mut()
    }

    /// Takes a class away of which there are no codes left, or a code.
    fn remove(&mut self, number: i32, is_class: bool) -> Result<(), Class> {
        if (self.get_mut(number).ok_or(Class::ARG)?.class == number) != is_class {
            return Err(Class::ARG);
        }
        if is_class && self.0.iter().flatten().filter(|error| error.class == number).count() > 1 {
            return Err(Class::OTHER);
        }
        if let Some(place) = self.place(number) {
            *place = None;
        }
        Ok(())
    }
}

/// What C calls a function.
pub(crate) fn function_name(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    alloc::format!("MPI_{}{rest}", first.to_uppercase())
}

/// A text of the program's; an error if there is none.
///
/// # Safety
/// It ends with a zero, and stays as it is.
pub(crate) unsafe fn read_text<'t>(text: *const c_char) -> Result<&'t CStr, Fault> {
    if text.is_null() {
        return Err(Fault::new(Class::ARG, "the text is a null pointer"));
    }
    // SAFETY: the caller says so.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// A name that the program gives an object, also where its bytes are no UTF-8.
///
/// # Safety
/// As for [`read_text`].
pub(crate) unsafe fn read_name(name: *const c_char) -> Result<CString, Fault> {
    // SAFETY: the caller says so.
    unsafe { read_text(name) }.map(CString::from)
}

/// Writes the name of an object for C, as far as there is room: `MPI_MAX_OBJECT_NAME`.
///
/// # Safety
/// There is as much room.
pub(crate) unsafe fn write_name(name: &CStr, target: Place<c_char>, len: Place<i32>) {
    /// With the end.
    const NAME_BYTES: usize = 128;
    // SAFETY: the caller says so.
    unsafe { write_text(name.to_bytes(), target.pointer(), Some(len), NAME_BYTES) };
}

/// Writes a text and its length for C.
///
/// # Safety
/// There is room for so many bytes.
pub(crate) unsafe fn write_text(text: &[u8], target: *mut c_char, len: Option<Place<i32>>, room: usize) {
    let text: Vec<u8> = text.iter().copied().filter(|byte| *byte != 0).take(room - 1).collect();
    let count = text.len();
    let text = CString::new(text).unwrap_or_default();
    // SAFETY: the caller says so.
    unsafe { target.copy_from_nonoverlapping(text.as_ptr(), count + 1) };
    if let Some(len) = len {
        len.write(count as i32);
    }
}
