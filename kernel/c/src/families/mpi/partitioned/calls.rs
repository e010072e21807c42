//! Partitioned messages: the functions that a program calls.

use alloc::rc::Rc;
use core::ffi::c_char;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        handles::Handle,
        messages::{CMessage, Mode, Peer, named},
        requests::{Request, Start, What},
        state::Here,
    },
    Partitioned,
};

/// Makes one end of a message in so many parts, each of which has the elements that `message` says.
pub(crate) unsafe fn make<C: Core>(
    here: &Here<'_, '_, '_, C>,
    (name, receives): (*const c_char, i32),
    parts: i32,
    message: *const CMessage,
    handle: Handle,
    request: *mut Handle,
) -> Result<(), Fault> {
    let work = || {
        let comm = here.communicator(handle)?;
        let mode = if receives != 0 { Mode::Receive } else { Mode::Standard };
        // SAFETY: pointers are the program's, as the standard of MPI has them.
        let mut message = unsafe { (*message).message(here, comm.clone(), mode)? };
        let parts = usize::try_from(parts).map_err(|_| Fault::new(Class::ARG, "there are less than no partitions"))?;
        if message.peer == Peer::Anybody {
            return Err(Fault::new(Class::RANK, "a partitioned message is from one rank"));
        }
        if message.tag.is_none() {
            return Err(Fault::new(Class::TAG, "a partitioned message has one tag"));
        }
        message.block.count *= parts;
        let what = match (mode, message.peer) {
            (Mode::Receive, Peer::Nobody) => What::Nobody,
            (Mode::Receive, _) => What::Receive,
            _ => What::Send,
        };
        let made = Partitioned::new(message, parts);
        if made.receives() {
            here.partitioned.offer(&here.engine, &made)?;
        } else {
            here.partitioned.add_send(&made);
        }
        let made = here.new_request(Request::new(comm, what, None).that_starts(Start::Partitioned(made)));
        // SAFETY: see above.
        unsafe { request.write(made) };
        Ok(())
    };
    // SAFETY: see above.
    work().map_err(|fault: Fault| unsafe { named(fault.on_comm(handle), name) })
}

/// One end of a message in parts, and whether it is active.
fn partitioned<C: Core>(
    here: &Here<'_, '_, '_, C>,
    request: Handle,
    receives: bool,
) -> Result<(Rc<Partitioned>, bool), Fault> {
    let known = here.known(request)?.ok_or(Class::REQUEST)?;
    match known.start.as_deref() {
        Some(Start::Partitioned(of)) if of.receives() == receives => Ok((of.clone(), known.pending.is_some())),
        _ => Err(Fault::new(Class::REQUEST, "it is not of a partitioned message of this kind")),
    }
}

/// Parts from one to another can be sent.
pub(crate) unsafe fn pready_range<C: Core>(
    here: &Here<'_, '_, '_, C>,
    [low, high]: [i32; 2],
    request: Handle,
) -> Result<(), Fault> {
    let (of, is_active) = partitioned(here, request, false)?;
    if !is_active {
        return Err(Fault::new(Class::REQUEST, "start it first"));
    }
    for part in low..=high {
        of.make_ready(usize::try_from(part).unwrap_or(usize::MAX))?;
    }
    here.engine.step(false)?;
    Ok(())
}

/// Whether a part has come.
pub(crate) unsafe fn parrived<C: Core>(
    here: &Here<'_, '_, '_, C>,
    request: Handle,
    part: i32,
    flag: *mut i32,
) -> Result<(), Fault> {
    let (of, is_active) = partitioned(here, request, true)?;
    here.session.before_waiting();
    here.engine.step(false)?;
    let has_come = of.has_come(usize::try_from(part).unwrap_or(usize::MAX))?;
    // SAFETY: pointers are the program's, as the standard of MPI has them.
    unsafe { flag.write((has_come || !is_active || of.key().is_none()).into()) };
    Ok(())
}
