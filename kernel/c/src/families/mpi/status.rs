//! Statuses: what is known of a message that was received.

use kernel::hal::Core;

use super::{
    class::{Class, Fault},
    constants::{ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED},
    handles::Handle,
    table::Here,
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

    /// Of what received nothing.
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

    /// Writes it where C wants it, if it does. Its error is left as it was, unless an array is completed.
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

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

/// Elements of the datatype in the message, if they are whole.
fn count<C: Core>(here: &Here<'_, '_, '_, C>, len: u64, datatype: Handle) -> Result<Option<u64>, Fault> {
    let size = here.datatypes.get(datatype)?.size() as u64;
    Ok(match size {
        0 => (len == 0).then_some(0),
        _ => len.is_multiple_of(size).then(|| len / size),
    })
}

pub(super) unsafe fn get_count<C: Core>(
    here: &Here<'_, '_, '_, C>,
    status: *const Status,
    datatype: Handle,
    number: *mut i32,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let found = count(here, (*status).len_bytes(), datatype)?;
        number.write(found.and_then(|count| i32::try_from(count).ok()).unwrap_or(UNDEFINED));
    }
    Ok(())
}

pub(super) unsafe fn get_count_c<C: Core>(
    here: &Here<'_, '_, '_, C>,
    status: *const Status,
    datatype: Handle,
    number: *mut i64,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let found = count(here, (*status).len_bytes(), datatype)?;
        number.write(found.map_or(UNDEFINED.into(), |count| count as i64));
    }
    Ok(())
}

/// As if a message had come with so many basic values of the datatype.
pub(super) unsafe fn status_set_elements_c<C: Core>(
    here: &Here<'_, '_, '_, C>,
    status: *mut Status,
    datatype: Handle,
    number: i64,
) -> Result<(), Fault> {
    let datatype = here.datatypes.get(datatype)?;
    let len = u64::try_from(number).ok().and_then(|number| datatype.bytes_of_elements(number));
    let len = len.ok_or_else(|| Fault::new(Class::COUNT, "there are no messages with so many values"))?;
    // SAFETY: see above.
    unsafe { (*status).set_len_bytes(len) };
    Ok(())
}

pub(super) unsafe fn test_cancelled<C: Core>(
    _: &Here<'_, '_, '_, C>,
    status: *const Status,
    flag: *mut i32,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { flag.write((*status).internal[2]) };
    Ok(())
}

pub(super) unsafe fn status_set_cancelled<C: Core>(
    _: &Here<'_, '_, '_, C>,
    status: *mut Status,
    flag: i32,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { (*status).internal[2] = i32::from(flag != 0) };
    Ok(())
}
