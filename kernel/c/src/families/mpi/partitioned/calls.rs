//! Partitioned messages: the functions that a program calls.

use alloc::rc::Rc;
use core::ffi::c_char;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        engine::Pending,
        handles::Handle,
        messages::{CMessage, Mode, Peer, named},
        place::Place,
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
    request: Place<Handle>,
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
        let block = &mut message.block;
        block.count = block.count.checked_mul(parts).ok_or(Class::COUNT)?;
        block.datatype.size_of(block.count)?;
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
        request.write(made);
        Ok(())
    };
    // SAFETY: see above.
    work().map_err(|fault: Fault| unsafe { named(fault.on_comm(handle), name) })
}

/// One end of a message in parts, and what was begun of it, if it is active.
fn partitioned(known: &Request, receives: bool) -> Result<(Rc<Partitioned>, Option<Rc<Pending>>), Fault> {
    match known.start.as_deref() {
        Some(Start::Partitioned(of)) if of.receives() == receives => Ok((of.clone(), known.pending.clone())),
        _ => Err(Fault::new(Class::REQUEST, "it is not of a partitioned message of this kind")),
    }
}

/// Says that parts can be sent.
fn make_ready<C: Core>(
    here: &Here<'_, '_, '_, C>,
    request: Handle,
    parts: impl IntoIterator<Item = i32>,
) -> Result<(), Fault> {
    let known = here.known(request)?.ok_or(Class::REQUEST)?;
    let work = || {
        let (of, pending) = partitioned(&known, false)?;
        if pending.is_none() {
            return Err(Fault::new(Class::REQUEST, "start it first"));
        }
        parts.into_iter().try_for_each(|part| of.make_ready(part))?;
        Ok(here.engine.step(false)?)
    };
    work().map_err(|fault| known.blame(fault))
}

/// A part can be sent.
pub(crate) fn pready<C: Core>(here: &Here<'_, '_, '_, C>, part: i32, request: Handle) -> Result<(), Fault> {
    make_ready(here, request, [part])
}

/// Parts from one to another can be sent.
pub(crate) fn pready_range<C: Core>(
    here: &Here<'_, '_, '_, C>,
    low: i32,
    high: i32,
    request: Handle,
) -> Result<(), Fault> {
    make_ready(here, request, low..=high)
}

/// Parts of a list can be sent.
pub(crate) unsafe fn pready_list<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    parts: *const i32,
    request: Handle,
) -> Result<(), Fault> {
    let known = here.known(request)?.ok_or(Class::REQUEST)?;
    let count = usize::try_from(count);
    let count = count.map_err(|_| known.blame(Fault::new(Class::ARG, "a list of less than no partitions")))?;
    // SAFETY: pointers are the program's, as the standard of MPI has them.
    make_ready(here, request, (0..count).map(|at| unsafe { parts.add(at).read() }))
}

/// Whether a part has come: of what is not active, all have.
pub(crate) unsafe fn parrived<C: Core>(
    here: &Here<'_, '_, '_, C>,
    request: Handle,
    part: i32,
    flag: Place<i32>,
) -> Result<(), Fault> {
    here.session.before_waiting();
    here.engine.step(false)?;
    let has_come = match here.known(request)? {
        None => true,
        Some(known) => {
            let work = || {
                let (of, pending) = partitioned(&known, true)?;
                let has_come = of.has_come(part)?;
                Ok(has_come || pending.is_none_or(|pending| pending.is_over()))
            };
            work().map_err(|fault| known.blame(fault))?
        }
    };
    flag.write(has_come.into());
    Ok(())
}
