//! Statuses: what is known of a message that was received.

pub(crate) mod calls;

use super::{
    class::Class,
    constants::{ANY_SOURCE, ANY_TAG, PROC_NULL},
};

/// `MPI_Status`, as the ABI has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) source: i32,
    pub(crate) tag: i32,
    pub(crate) error: i32,
    /// Bytes, the lower half first; whether it was cancelled; nothing.
    internal: [i32; 5],
}

impl Status {
    pub(crate) fn new(source: i32, tag: i32, len_bytes: usize) -> Self {
        let mut status = Self { source, tag, error: 0, internal: [0; 5] };
        status.set_len_bytes(len_bytes as u64);
        status
    }

    /// Of what received nothing, or was not there.
    pub(crate) fn empty() -> Self {
        Self::new(ANY_SOURCE, ANY_TAG, 0)
    }

    /// Of a receive from nobody.
    pub(crate) fn of_nobody() -> Self {
        Self::new(PROC_NULL, ANY_TAG, 0)
    }

    pub(crate) fn with_error(self, Class(error): Class) -> Self {
        Self { error, ..self }
    }

    pub(crate) fn cancelled(mut self, is_cancelled: bool) -> Self {
        self.internal[2] = is_cancelled.into();
        self
    }

    fn set_len_bytes(&mut self, len: u64) {
        [self.internal[0], self.internal[1]] = [len as i32, (len >> 32) as i32];
    }

    pub(crate) fn len_bytes(&self) -> u64 {
        u64::from(self.internal[0] as u32) | u64::from(self.internal[1] as u32) << 32
    }

    /// Writes it where C wants it, if it does. Its error is left as it was, unless an array is completed, or it is
    /// the empty one.
    ///
    /// # Safety
    /// There is a status, or a null pointer.
    pub(crate) unsafe fn write(self, status: *mut Self, with_error: bool) {
        if status.is_null() {
            return;
        }
        // SAFETY: the caller says so.
        unsafe {
            let error = if with_error { self.error } else { (&raw const (*status).error).read() };
            status.write(Self { error, ..self });
        }
    }
}
