//! Buffered sends: the buffer that a program attaches for them.
//!
//! Messages that were begun are copied anyway; so nothing is ever in the program's buffer, and it only says how many there can be.

use alloc::{rc::Rc, vec::Vec};

use kernel::hal::Core;

use super::{
    class::{Class, Fault},
    engine::Pending,
    table::Here,
};

/// Bytes of a buffer that a message takes besides its own: `MPI_BSEND_OVERHEAD`.
const OVERHEAD: usize = 512;

/// `MPI_BUFFER_AUTOMATIC`: there is always room.
const AUTOMATIC: usize = 2;

/// The buffer, and what is said to be there.
#[derive(Default)]
pub(crate) struct Buffered {
    attached: Option<(usize, i64)>,
    under_way: Vec<(Rc<Pending>, usize)>,
}

impl Buffered {
    /// Refuses a message for which there is no room.
    pub(crate) fn check_room(&mut self, len_bytes: usize) -> Result<(), Fault> {
        self.under_way.retain(|(pending, _)| !pending.is_over());
        let taken: usize = self.under_way.iter().map(|(_, bytes)| bytes + OVERHEAD).sum();
        match self.attached {
            None => Err(Fault::new(Class::BUFFER, "attach a buffer first")),
            Some((AUTOMATIC, _)) => Ok(()),
            Some((_, room)) if (taken + len_bytes) as u64 > room as u64 => {
                Err(Fault::new(Class::BUFFER, "the attached buffer is full"))
            }
            Some(_) => Ok(()),
        }
    }

    pub(crate) fn add(&mut self, pending: Rc<Pending>, len_bytes: usize) {
        self.under_way.push((pending, len_bytes));
    }

    pub(crate) fn is_over(&self) -> bool {
        self.under_way.iter().all(|(pending, _)| pending.is_over())
    }
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) unsafe fn buffer_attach<C: Core>(
    here: &Here<'_, '_, '_, C>,
    buffer: usize,
    bytes: i64,
) -> Result<(), Fault> {
    let mut buffered = here.buffered.borrow_mut();
    if buffered.attached.is_some() {
        return Err(Fault::new(Class::BUFFER, "a buffer is attached already"));
    }
    if bytes < 0 {
        return Err(Class::ARG.into());
    }
    buffered.attached = Some((buffer, bytes));
    Ok(())
}

/// Waits until all that was sent by way of the buffer is on its way.
pub(super) unsafe fn buffer_detach_c<C: Core>(
    here: &Here<'_, '_, '_, C>,
    buffer: *mut usize,
    bytes: *mut i64,
) -> Result<(), Fault> {
    here.session.before_waiting();
    let Some((address, len)) = here.buffered.borrow().attached else {
        return Err(Fault::new(Class::BUFFER, "no buffer is attached"));
    };
    here.engine.wait(|| here.buffered.borrow().is_over())?;
    here.buffered.borrow_mut().attached = None;
    // SAFETY: see above.
    unsafe {
        buffer.write(address);
        bytes.write(len);
    }
    Ok(())
}

pub(super) unsafe fn buffer_flush<C: Core>(here: &Here<'_, '_, '_, C>) -> Result<(), Fault> {
    here.session.before_waiting();
    Ok(here.engine.wait(|| here.buffered.borrow().is_over())?)
}
