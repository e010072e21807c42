//! Generalised requests: what the program does itself, and says when it is done.

use core::{cell::Cell, ffi::c_void, mem};

use super::super::{
    class::{Class, Fault},
    status::Status,
};

type Query = unsafe extern "C-unwind" fn(*mut c_void, *mut Status) -> i32;
type Free = unsafe extern "C-unwind" fn(*mut c_void) -> i32;
type Cancel = unsafe extern "C-unwind" fn(*mut c_void, i32) -> i32;

/// Functions of the program's, by their addresses, and what they are given.
pub(crate) struct General {
    query: usize,
    free: usize,
    cancel: usize,
    extra: *mut c_void,
    /// The program has freed it, and has still to say that it is done.
    pub(super) is_freed: Cell<bool>,
}

fn succeeded(code: i32) -> Result<(), Fault> {
    if code == 0 { Ok(()) } else { Err(Class(code).into()) }
}

impl General {
    /// # Safety
    /// These are the functions of a generalised request.
    pub(super) unsafe fn new(query: usize, free: usize, cancel: usize, extra: *mut c_void) -> Self {
        Self { query, free, cancel, extra, is_freed: Cell::new(false) }
    }

    /// What the program says of it when it is done.
    pub(super) fn query(&self) -> (Status, Result<(), Fault>) {
        let mut status = Status::empty();
        // SAFETY: whoever made this has said so.
        let code = unsafe { mem::transmute::<usize, Query>(self.query)(self.extra, &raw mut status) };
        (status.with_error(Class(code)), succeeded(code))
    }

    /// Nobody asks for it any more.
    pub(super) fn free(&self) -> Result<(), Fault> {
        // SAFETY: whoever made this has said so.
        succeeded(unsafe { mem::transmute::<usize, Free>(self.free)(self.extra) })
    }

    /// It is to be taken back, if it is not done.
    pub(super) fn cancel(&self, is_done: bool) -> Result<(), Fault> {
        // SAFETY: whoever made this has said so.
        succeeded(unsafe { mem::transmute::<usize, Cancel>(self.cancel)(self.extra, is_done.into()) })
    }
}
