//! Buffers of the right length, or of a wrong one that only their own rank sees.
//!
//! A rank that alone finds its buffer wrong must not keep the others waiting: it takes part with zeros instead, leaves
//! the buffer as it is, and returns the error when all is over.

use alloc::vec;

use bytemuck::Pod;

use crate::Error;

/// Refuses a buffer of `len` elements where `wanted` are needed.
pub(crate) fn check_len(len: usize, wanted: usize) -> Result<(), Error> {
    if len == wanted { Ok(()) } else { Err(Error::Length { len, wanted }) }
}

/// Calls `part` with the buffer if there is nothing wrong with it, else with `len` zeros instead, and returns what is
/// wrong.
pub(crate) fn with_buffer<T: Pod>(
    checked: Result<(), Error>,
    buffer: &mut [T],
    len: usize,
    part: impl FnOnce(&mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    match checked {
        Ok(()) => part(buffer),
        Err(_) => part(&mut vec![T::zeroed(); len]).and(checked),
    }
}
