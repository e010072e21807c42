//! Buffered sends: the buffers that a program attaches for them, to a communicator or for all that have none.
//!
//! Messages that were begun are copied anyway; so nothing is ever in the program's buffer, and it only says how many there can be.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::cell::RefCell;

use kernel::hal::Core;

use super::{
    class::{Class, Fault},
    constants::COMM_SELF,
    engine::{DONE, End, Pending},
    handles::Handle,
    requests::{Request, What},
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

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

/// The buffer of a communicator, or that of the rank.
type Of = Option<Handle>;

fn buffered<C: Core>(here: &Here<'_, '_, '_, C>, of: Of) -> Result<Rc<RefCell<Buffered>>, Fault> {
    Ok(match of {
        Some(comm) => here.communicator(comm)?.buffered.clone(),
        None => here.buffered.clone(),
    })
}

fn on(of: Of) -> impl Fn(Fault) -> Fault {
    move |fault| of.into_iter().fold(fault, Fault::on_comm)
}

pub(super) unsafe fn attach<C: Core>(
    here: &Here<'_, '_, '_, C>,
    of: Of,
    buffer: usize,
    bytes: i64,
) -> Result<(), Fault> {
    let buffered = buffered(here, of)?;
    let mut buffered = buffered.borrow_mut();
    if buffered.attached.is_some() {
        return Err(on(of)(Fault::new(Class::BUFFER, "a buffer is attached already")));
    }
    if bytes < 0 {
        return Err(on(of)(Class::ARG.into()));
    }
    buffered.attached = Some((buffer, bytes));
    Ok(())
}

/// Waits until all that was sent by way of the buffer is on its way.
pub(super) unsafe fn detach<C: Core>(
    here: &Here<'_, '_, '_, C>,
    of: Of,
    buffer: *mut usize,
    bytes: *mut i64,
) -> Result<(), Fault> {
    here.session.before_waiting();
    let buffered = buffered(here, of)?;
    let Some((address, len)) = buffered.borrow().attached else {
        return Err(on(of)(Fault::new(Class::BUFFER, "no buffer is attached")));
    };
    here.engine.wait(|| buffered.borrow().is_over())?;
    buffered.borrow_mut().attached = None;
    // SAFETY: see above.
    unsafe {
        buffer.write(address);
        bytes.write(len);
    }
    Ok(())
}

pub(super) unsafe fn flush<C: Core>(here: &Here<'_, '_, '_, C>, of: Of) -> Result<(), Fault> {
    here.session.before_waiting();
    let buffered = buffered(here, of)?;
    Ok(here.engine.wait(|| buffered.borrow().is_over())?)
}

/// The same while the program goes on.
pub(super) unsafe fn iflush<C: Core>(here: &Here<'_, '_, '_, C>, of: Of, request: *mut Handle) -> Result<(), Fault> {
    let under_way: Vec<_> = buffered(here, of)?.borrow().under_way.iter().map(|(pending, _)| pending.clone()).collect();
    let pending = here.engine.spawn(Box::pin(async move {
        for pending in under_way {
            End(pending).await?;
        }
        Ok(DONE)
    }));
    let made = Request::new(here.communicator(of.unwrap_or(COMM_SELF))?, What::Send, Some(pending));
    // SAFETY: see above.
    unsafe { request.write(here.new_request(made)) };
    Ok(())
}
