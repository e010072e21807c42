//! Requests: what was begun and is waited for later, once or, if it is persistent, each time that it is started.

use alloc::{rc::Rc, vec::Vec};
use core::slice;

use kernel::hal::Core;

use super::{
    Mpi,
    class::{Class, Fault},
    collective::Plan,
    communicators::Communicator,
    constants::UNDEFINED,
    engine::Pending,
    handles::Handle,
    messages::{Message, status_of},
    status::Status,
    table::Here,
};

/// No request.
const NULL: Handle = 0x180;

/// What a request is about, as far as its status says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Send,
    Receive,
    /// A receive from nobody.
    Nobody,
    Collective,
}

/// What a persistent request starts.
pub(crate) enum Start {
    Message(Message),
    Collective(Rc<Plan>),
}

/// A request.
pub(crate) struct Request {
    comm: Rc<Communicator>,
    what: What,
    /// Nothing while it is not active.
    pending: Option<Rc<Pending>>,
    start: Option<Rc<Start>>,
    /// Its number for a machine that checks the program.
    declared: Option<u64>,
}

impl Request {
    pub(crate) fn new(comm: Rc<Communicator>, what: What, pending: Option<Rc<Pending>>) -> Self {
        Self { comm, what, pending, start: None, declared: None }
    }

    pub(crate) fn declared_as(self, declared: Option<u64>) -> Self {
        Self { declared, ..self }
    }

    pub(crate) fn that_starts(self, start: Start) -> Self {
        Self { start: Some(Rc::new(start)), ..self }
    }

    /// What became of it, which is over.
    pub(crate) fn ended(&self) -> (Status, Result<(), Fault>) {
        let Some(pending) = &self.pending else { return (Status::empty(), Ok(())) };
        match pending.outcome() {
            None => (Status::empty().with_error(Class::PENDING), Err(Class::PENDING.into())),
            Some(Err(fault)) => (Status::empty().with_error(fault.class), Err(fault.on_comm(self.comm.handle.get()))),
            Some(Ok(_)) if pending.is_cancelled() => (Status::empty().cancelled(true), Ok(())),
            Some(Ok(envelope)) => (
                match self.what {
                    What::Receive => status_of(&self.comm, &envelope),
                    What::Nobody => Status::of_nobody(),
                    What::Send | What::Collective => Status::empty(),
                },
                Ok(()),
            ),
        }
    }
}

impl<C: Core> Mpi<'_, C> {
    /// A handle of a request.
    pub(crate) fn new_request(&self, request: Request) -> Handle {
        self.requests.borrow_mut().insert(request)
    }

    /// What a request waits for: nothing, if there is no request, or it is not active.
    fn pending(&self, handle: Handle) -> Result<Option<Rc<Pending>>, Fault> {
        if handle == NULL {
            return Ok(None);
        }
        self.requests.borrow().get(handle).map(|request| request.pending.clone()).ok_or_else(|| Class::REQUEST.into())
    }

    fn all_pending(&self, handles: &[Handle]) -> Result<Vec<Option<Rc<Pending>>>, Fault> {
        handles.iter().map(|handle| self.pending(*handle)).collect()
    }

    /// Completes a request that is over, or waits for nothing: a persistent one is not active any more, and others are no
    /// more.
    fn complete(&self, handle: &mut Handle) -> (Status, Result<(), Fault>) {
        if *handle == NULL {
            return (Status::empty(), Ok(()));
        }
        let mut requests = self.requests.borrow_mut();
        let Some(request) = requests.get_mut(*handle) else { return (Status::empty(), Err(Class::REQUEST.into())) };
        let ended = request.ended();
        request.pending = None;
        self.declare_end(request.declared.take());
        if request.start.is_none() {
            requests.remove(*handle);
            *handle = NULL;
        }
        ended
    }

    /// Completes several requests that are over. Where one has failed, the statuses say which.
    ///
    /// # Safety
    /// There is room for as many statuses, or none is wanted.
    unsafe fn complete_all(
        &self,
        handles: &mut [Handle],
        which: impl IntoIterator<Item = usize>,
        statuses: *mut Status,
    ) -> Result<(), Fault> {
        let mut first = None;
        let mut all = Vec::new();
        for at in which {
            let (status, result) = self.complete(&mut handles[at]);
            all.push(status);
            first = first.or(result.err());
        }
        if !statuses.is_null() {
            for (at, status) in all.into_iter().enumerate() {
                // SAFETY: the caller says so.
                unsafe { status.write(statuses.add(at), first.is_some()) };
            }
        }
        first.map_or(Ok(()), |fault| Err(Fault { class: Class::IN_STATUS, ..fault }))
    }
}

fn is_over(pending: &Option<Rc<Pending>>) -> bool {
    pending.as_ref().is_none_or(|pending| pending.is_over())
}

/// The places of those that are over, of those that wait for something.
fn ended(all: &[Option<Rc<Pending>>]) -> Vec<usize> {
    let is_it = |at: &usize| all[*at].as_ref().is_some_and(|pending| pending.is_over());
    (0..all.len()).filter(is_it).collect()
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

/// # Safety
/// There are so many handles that nobody else writes to meanwhile.
unsafe fn handles<'h>(count: i32, requests: *mut Handle) -> Result<&'h mut [Handle], Fault> {
    let count = usize::try_from(count).map_err(|_| Class::COUNT)?;
    // SAFETY: the caller says so.
    Ok(if count == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(requests, count) } })
}

/// Waits for a request; where `flag` is given, looks once, and says there whether it is over.
unsafe fn end_one<C: Core>(
    here: &Here<'_, '_, '_, C>,
    request: *mut Handle,
    flag: Option<*mut i32>,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let pending = here.pending(request.read())?;
        here.session.before_waiting();
        match flag {
            None => here.engine.wait(|| is_over(&pending))?,
            Some(flag) => {
                if !is_over(&pending) {
                    here.engine.step(false)?;
                }
                flag.write(is_over(&pending).into());
                if !is_over(&pending) {
                    return Ok(());
                }
            }
        }
        let (found, result) = here.complete(&mut *request);
        found.write(status, false);
        result
    }
}

pub(super) unsafe fn wait<C: Core>(
    here: &Here<'_, '_, '_, C>,
    request: *mut Handle,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { end_one(here, request, None, status) }
}

pub(super) unsafe fn test<C: Core>(
    here: &Here<'_, '_, '_, C>,
    request: *mut Handle,
    flag: *mut i32,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { end_one(here, request, Some(flag), status) }
}

pub(super) unsafe fn waitall<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    statuses: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let all = handles(count, requests)?;
        let pending = here.all_pending(all)?;
        here.session.before_waiting();
        here.engine.wait(|| pending.iter().all(is_over))?;
        here.complete_all(all, 0..all.len(), statuses)
    }
}

pub(super) unsafe fn testall<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    flag: *mut i32,
    statuses: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let all = handles(count, requests)?;
        let pending = here.all_pending(all)?;
        here.session.before_waiting();
        here.engine.step(false)?;
        let are_over = pending.iter().all(is_over);
        flag.write(are_over.into());
        if are_over { here.complete_all(all, 0..all.len(), statuses) } else { Ok(()) }
    }
}

/// Waits for any request, or looks for one that is over where `flag` is given.
unsafe fn end_any<C: Core>(
    here: &Here<'_, '_, '_, C>,
    all: &mut [Handle],
    index: *mut i32,
    flag: Option<*mut i32>,
    status: *mut Status,
) -> Result<(), Fault> {
    let pending = here.all_pending(all)?;
    here.session.before_waiting();
    let are_none = pending.iter().all(Option::is_none);
    match flag {
        _ if are_none => {}
        None => here.engine.wait(|| !ended(&pending).is_empty())?,
        Some(_) => here.engine.step(false)?,
    }
    let found = ended(&pending).first().copied();
    // SAFETY: see above.
    unsafe {
        index.write(found.map_or(UNDEFINED, |at| at as i32));
        flag.into_iter().for_each(|flag| flag.write((are_none || found.is_some()).into()));
        let Some(at) = found else {
            if are_none {
                Status::empty().write(status, false);
            }
            return Ok(());
        };
        let (found, result) = here.complete(&mut all[at]);
        found.write(status, false);
        result
    }
}

pub(super) unsafe fn waitany<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    index: *mut i32,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { end_any(here, handles(count, requests)?, index, None, status) }
}

pub(super) unsafe fn testany<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    index: *mut i32,
    flag: *mut i32,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { end_any(here, handles(count, requests)?, index, Some(flag), status) }
}

/// Waits for some requests, at least one, or looks for those that are over.
unsafe fn end_some<C: Core>(
    here: &Here<'_, '_, '_, C>,
    all: &mut [Handle],
    (count, indices): (*mut i32, *mut i32),
    statuses: *mut Status,
    waits: bool,
) -> Result<(), Fault> {
    let pending = here.all_pending(all)?;
    here.session.before_waiting();
    let are_none = pending.iter().all(Option::is_none);
    match waits {
        _ if are_none => {}
        true => here.engine.wait(|| !ended(&pending).is_empty())?,
        false => here.engine.step(false)?,
    }
    let found = ended(&pending);
    // SAFETY: see above.
    unsafe {
        count.write(if are_none { UNDEFINED } else { found.len() as i32 });
        for (at, index) in found.iter().enumerate() {
            indices.add(at).write(*index as i32);
        }
        here.complete_all(all, found, statuses)
    }
}

pub(super) unsafe fn waitsome<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    found: *mut i32,
    indices: *mut i32,
    statuses: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { end_some(here, handles(count, requests)?, (found, indices), statuses, true) }
}

pub(super) unsafe fn testsome<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    found: *mut i32,
    indices: *mut i32,
    statuses: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { end_some(here, handles(count, requests)?, (found, indices), statuses, false) }
}

/// Looks how a request is, and leaves it as it is.
pub(super) unsafe fn request_get_status<C: Core>(
    here: &Here<'_, '_, '_, C>,
    request: Handle,
    flag: *mut i32,
    status: *mut Status,
) -> Result<(), Fault> {
    let pending = here.pending(request)?;
    here.session.before_waiting();
    here.engine.step(false)?;
    // SAFETY: see above.
    unsafe {
        flag.write(is_over(&pending).into());
        if is_over(&pending) {
            here.status_now(request).write(status, false);
        }
    }
    Ok(())
}

impl<C: Core> Mpi<'_, C> {
    fn status_now(&self, request: Handle) -> Status {
        self.requests.borrow().get(request).map_or_else(Status::empty, |request| request.ended().0)
    }
}

pub(super) unsafe fn request_get_status_any<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    index: *mut i32,
    flag: *mut i32,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let all = handles(count, requests)?;
        let pending = here.all_pending(all)?;
        here.session.before_waiting();
        here.engine.step(false)?;
        let (found, are_none) = (ended(&pending).first().copied(), pending.iter().all(Option::is_none));
        index.write(found.map_or(UNDEFINED, |at| at as i32));
        flag.write((are_none || found.is_some()).into());
        match found {
            Some(at) => here.status_now(all[at]).write(status, false),
            None if are_none => Status::empty().write(status, false),
            None => {}
        }
    }
    Ok(())
}

pub(super) unsafe fn request_get_status_all<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    flag: *mut i32,
    statuses: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let all = handles(count, requests)?;
        let pending = here.all_pending(all)?;
        here.session.before_waiting();
        here.engine.step(false)?;
        let are_over = pending.iter().all(is_over);
        flag.write(are_over.into());
        if are_over && !statuses.is_null() {
            for (at, request) in all.iter().enumerate() {
                here.status_now(*request).write(statuses.add(at), false);
            }
        }
    }
    Ok(())
}

pub(super) unsafe fn request_get_status_some<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
    number: *mut i32,
    indices: *mut i32,
    statuses: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let all = handles(count, requests)?;
        let pending = here.all_pending(all)?;
        here.session.before_waiting();
        here.engine.step(false)?;
        let found = ended(&pending);
        number.write(if pending.iter().all(Option::is_none) { UNDEFINED } else { found.len() as i32 });
        for (at, index) in found.iter().enumerate() {
            indices.add(at).write(*index as i32);
            if !statuses.is_null() {
                here.status_now(all[*index]).write(statuses.add(at), false);
            }
        }
    }
    Ok(())
}

/// What is under way goes on.
pub(super) unsafe fn request_free<C: Core>(here: &Here<'_, '_, '_, C>, request: *mut Handle) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let removed = here.requests.borrow_mut().remove(request.read()).ok_or(Class::REQUEST)?;
        // The program has other ways to know when it is over.
        here.declare_end(removed.declared);
        request.write(NULL);
    }
    Ok(())
}

/// Takes back what nothing has come for, or nothing was sent of.
pub(super) unsafe fn cancel<C: Core>(here: &Here<'_, '_, '_, C>, request: *mut Handle) -> Result<(), Fault> {
    // SAFETY: see above.
    let handle = unsafe { request.read() };
    let what = here.requests.borrow().get(handle).map(|request| request.what).ok_or(Class::REQUEST)?;
    if what == What::Collective {
        return Err(Fault::new(Class::REQUEST, "operations of all cannot be cancelled"));
    }
    here.pending(handle)?.iter().for_each(|pending| here.engine.cancel(pending));
    Ok(())
}

pub(super) unsafe fn start<C: Core>(here: &Here<'_, '_, '_, C>, request: *mut Handle) -> Result<(), Fault> {
    // SAFETY: see above.
    let handle = unsafe { request.read() };
    let (start, comm) = {
        let requests = here.requests.borrow();
        let request = requests.get(handle).ok_or(Class::REQUEST)?;
        if request.pending.is_some() {
            return Err(Fault::new(Class::REQUEST, "it was started before, and not completed"));
        }
        let start = request.start.clone();
        (start.ok_or_else(|| Fault::new(Class::REQUEST, "it is not persistent"))?, request.comm.handle.get())
    };
    // SAFETY: see above.
    let pending = unsafe {
        match &*start {
            Start::Message(message) => {
                here.declare_message_begin(message);
                here.begin(message)
            }
            Start::Collective(plan) => {
                here.declare_collective_begin(plan);
                here.begin_collective(plan)
            }
        }
    };
    let pending = pending.map_err(|fault| fault.on_comm(comm))?;
    if let Some(request) = here.requests.borrow_mut().get_mut(handle) {
        (request.pending, request.declared) = (Some(pending), here.take_declared());
    }
    Ok(())
}

pub(super) unsafe fn startall<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        for request in handles(count, requests)? {
            start(here, &raw mut *request)?;
        }
    }
    Ok(())
}
