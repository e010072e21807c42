//! Probes: the functions that a program calls.

use alloc::{rc::Rc, vec};
use core::ffi::c_char;

use kernel::{
    collectives::{Arrival, Envelope},
    hal::Core,
};

use super::{
    super::{
        class::{Class, Fault},
        collective::blocks::Block,
        communicators::Communicator,
        constants::COMM_NULL,
        contexts,
        engine::{DONE, Outcome, Pending},
        handles::Handle,
        messages::{Form, Peer, named, peer, source, status_of, tag},
        place::Place,
        requests::{Request, What},
        state::Here,
        status::Status,
    },
    Found,
};

/// No message, and that of nobody.
const NULL: Handle = 0x128;
const NO_PROC: Handle = 0x129;

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

/// Looks for a message, or waits for one where `flag` is not given; takes it where `message` is given.
pub(crate) unsafe fn probe_for<C: Core>(
    here: &Here<'_, '_, '_, C>,
    name: *const c_char,
    [rank, number]: [i32; 2],
    handle: Handle,
    flag: *mut i32,
    message: *mut Handle,
    status: *mut Status,
) -> Result<(), Fault> {
    let work = || {
        let comm = here.communicator(handle)?;
        let (peer, tag) = (peer(&comm, rank, true)?, tag(number, true)?);
        here.session.before_waiting();
        let found = if peer == Peer::Nobody {
            Some((Status::of_nobody(), NO_PROC))
        } else {
            let found = find(here, &comm, (peer, tag), [!flag.is_null(), !message.is_null()])?;
            found.map(|(envelope, message)| (status_of(&comm, &envelope), message))
        };
        // SAFETY: see above.
        unsafe {
            if !flag.is_null() {
                flag.write(found.is_some().into());
            }
            if let Some((found, handle)) = found {
                found.write(status, false);
                if !message.is_null() {
                    message.write(handle);
                }
            }
        }
        Ok(())
    };
    // SAFETY: see above.
    work().map_err(|fault: Fault| unsafe { named(fault.on_comm(handle), name) })
}

/// Finds a message, at once or in the end, and takes it or leaves it.
fn find<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: &Rc<Communicator>,
    (peer, tag): (Peer, Option<u32>),
    [is_now, takes]: [bool; 2],
) -> Result<Option<(Envelope, Handle)>, Fault> {
    let (from, tag) = (source(comm, peer), contexts::wanted(comm.context(), tag));
    here.engine.go_on();
    let world = here.world;
    if takes {
        let arrival = if is_now { world.try_find_tagged(from, tag)? } else { Some(world.find_tagged(from, tag)?) };
        return Ok(arrival.map(|arrival| {
            let envelope = arrival.envelope();
            (envelope, here.found.borrow_mut().insert(Found { comm: comm.clone(), arrival }))
        }));
    }
    let envelope = if is_now { world.try_probe(from, tag)? } else { Some(world.probe(from, tag)?) };
    Ok(envelope.map(|envelope| (envelope, NULL)))
}

/// Receives a message that was taken. It is here, or its sender brings it, so that a request of it is complete at once.
pub(crate) unsafe fn receive_found<C: Core>(
    here: &Here<'_, '_, '_, C>,
    name: *const c_char,
    form: i32,
    (address, count, datatype): (*mut u8, i64, Handle),
    message: Place<Handle>,
    request: *mut Handle,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let work = || unsafe {
        let request = here.place_of_request(Form::of(form), COMM_NULL, request)?;
        let handle = message.read();
        let block = here.block(address, count, datatype).map_err(|fault| {
            let found = here.found.borrow();
            found.get(handle).into_iter().fold(fault, |fault, found| found.comm.blame(fault))
        })?;
        here.session.before_waiting();
        let ended = if handle == NO_PROC {
            Request::new(None, What::Nobody, Some(Pending::over(Ok(DONE))))
        } else {
            let Found { comm, arrival } = here.found.borrow_mut().remove(handle).ok_or(Class::REQUEST)?;
            Request::new(comm, What::Receive, Some(Pending::over(receive(&block, arrival))))
        };
        message.write(NULL);
        if let Some(request) = request {
            request.write(here.new_request(ended));
            return Ok(());
        }
        let (found, result) = ended.ended();
        found.write(status, false);
        result
    };
    // SAFETY: see above.
    work().map_err(|fault: Fault| unsafe { named(fault, name) })
}

/// # Safety
/// There is room for the block, and nobody else reads or writes it.
unsafe fn receive<C: Core>(block: &Block, arrival: Arrival<'_, '_, C>) -> Outcome {
    let mut bytes = vec![0; block.len_bytes()];
    let envelope = arrival.receive(&mut bytes)?;
    // SAFETY: the caller says so.
    unsafe { block.set(&bytes[..envelope.len_bytes]) };
    block.whole(envelope)
}
