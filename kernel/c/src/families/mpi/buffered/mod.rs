//! Buffered sends: the buffers that a program attaches for them, to a communicator or for all that have none.
//!
//! Messages that were begun are copied anyway; so nothing is ever in the program's buffer, and it only says how many there can be.

pub(crate) mod calls;

use alloc::{rc::Rc, vec::Vec};

use super::{
    class::{Class, Fault},
    engine::Pending,
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

    pub(crate) fn is_attached(&self) -> bool {
        self.attached.is_some()
    }

    pub(crate) fn add(&mut self, pending: Rc<Pending>, len_bytes: usize) {
        self.under_way.push((pending, len_bytes));
    }

    pub(crate) fn is_over(&self) -> bool {
        self.under_way.iter().all(|(pending, _)| pending.is_over())
    }
}
