//! What a program does with requests: it waits for them, tests or looks at them, starts, cancels and frees them.

use alloc::{rc::Rc, vec::Vec};
use core::ffi::c_void;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        constants::UNDEFINED,
        engine::{DONE, Pending},
        handles::Handle,
        place::{Place, give_list, values_mut},
        state::Here,
        state::Mpi,
        status::Status,
    },
    General, Request, Start, What,
};

/// No request.
const NULL: Handle = 0x180;

/// How a call ends requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// When they are over.
    Waits,
    /// If they are over.
    Tests,
    /// It does not: it says how they are, and leaves them.
    Looks,
}

impl Ending {
    /// Lets what is under way go on: until enough is over, or once.
    fn go_on<C: Core>(self, here: &Here<'_, '_, '_, C>, mut is_enough: impl FnMut() -> bool) -> Result<(), Fault> {
        here.session.before_waiting();
        match self {
            Self::Waits => here.engine.wait(is_enough)?,
            Self::Tests | Self::Looks if !is_enough() => here.engine.step(false)?,
            Self::Tests | Self::Looks => {}
        }
        Ok(())
    }
}

/// A request as it is; none if there is none.
type Known = Option<Request>;

impl<C: Core> Mpi<'_, C> {
    /// A handle of a request.
    pub(crate) fn new_request(&self, request: Request) -> Handle {
        self.requests.borrow_mut().insert(request)
    }

    pub(crate) fn known(&self, handle: Handle) -> Result<Known, Fault> {
        match handle {
            NULL => Ok(None),
            _ => Ok(Some(self.requests.borrow().get(handle).cloned().ok_or(Class::REQUEST)?)),
        }
    }

    fn all_known(&self, handles: &[Handle]) -> Result<Vec<Known>, Fault> {
        handles.iter().map(|handle| self.known(*handle)).collect()
    }

    /// Ends a request that is over: a persistent one is not active any more, and others are no more.
    fn end(&self, handle: &mut Handle, known: &Known, ending: Ending) -> (Status, Result<(), Fault>) {
        let Some(request) = known else { return (Status::empty(), Ok(())) };
        let (status, mut result) = request.ended();
        if ending == Ending::Looks {
            return (status, result);
        }
        // What is known may be of before another place of the same call has ended it.
        let declared = self.requests.borrow_mut().get_mut(*handle).and_then(|request| request.declared.take());
        self.declare_end(declared);
        if request.start.is_some() {
            if let Some(request) = self.requests.borrow_mut().get_mut(*handle) {
                request.pending = None;
            }
        } else {
            self.requests.borrow_mut().remove(*handle);
            *handle = NULL;
            if let What::General(general) = &request.what {
                result = result.and(general.free());
            }
        }
        (status, result)
    }

    /// Ends several requests that are over. Where one has failed, the statuses say which.
    ///
    /// # Safety
    /// There is room for as many statuses, or none is wanted.
    unsafe fn end_several(
        &self,
        (handles, all): (&mut [Handle], &[Known]),
        which: impl IntoIterator<Item = usize>,
        statuses: *mut Status,
        ending: Ending,
    ) -> Result<(), Fault> {
        let mut first = None;
        let mut ended = Vec::new();
        for at in which {
            let (status, result) = self.end(&mut handles[at], &all[at], ending);
            ended.push((status, is_idle(&all[at])));
            first = first.or(result.err());
        }
        if !statuses.is_null() {
            for (at, (status, is_empty)) in ended.into_iter().enumerate() {
                // SAFETY: the caller says so. The empty status says that there is no error.
                unsafe { status.write(statuses.add(at), first.is_some() || is_empty) };
            }
        }
        match first {
            Some(fault) if ending != Ending::Looks => Err(Fault { class: Class::IN_STATUS, ..fault }),
            _ => Ok(()),
        }
    }
}

fn is_over(known: &Known) -> bool {
    known.as_ref().is_none_or(Request::is_over)
}

/// Whether it waits for nothing: there is none, or it is not active.
fn is_idle(known: &Known) -> bool {
    known.as_ref().is_none_or(|request| request.pending.is_none())
}

/// The places of those that are over, of those that wait for something.
fn ended(all: &[Known]) -> Vec<usize> {
    (0..all.len()).filter(|at| !is_idle(&all[*at]) && is_over(&all[*at])).collect()
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

/// # Safety
/// There are so many handles that nobody else writes to meanwhile.
unsafe fn handles<'h>(count: i32, requests: *mut Handle) -> Result<&'h mut [Handle], Fault> {
    let count = usize::try_from(count).map_err(|_| Class::COUNT)?;
    // SAFETY: the caller says so.
    unsafe { values_mut(count, requests) }
}

fn tell(flag: Option<Place<i32>>, is_so: bool) {
    flag.into_iter().for_each(|flag| flag.write(is_so.into()));
}

/// Of one request, whose handle has a place unless it stays as it is.
pub(crate) unsafe fn end_one<C: Core>(
    here: &Here<'_, '_, '_, C>,
    mut request: Handle,
    place: Option<Place<Handle>>,
    ending: Ending,
    flag: Option<Place<i32>>,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let known = here.known(request)?;
        ending.go_on(here, || is_over(&known))?;
        tell(flag, is_over(&known));
        if !is_over(&known) {
            return Ok(());
        }
        let (found, result) = here.end(&mut request, &known, ending);
        place.into_iter().for_each(|place| place.write(request));
        // The empty status says that there is no error.
        found.write(status, is_idle(&known));
        result
    }
}

/// Of all requests, if all are over.
pub(crate) unsafe fn end_all<C: Core>(
    here: &Here<'_, '_, '_, C>,
    (count, requests): (i32, *mut Handle),
    ending: Ending,
    flag: Option<Place<i32>>,
    statuses: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let handles = handles(count, requests)?;
        let all = here.all_known(handles)?;
        let are_over = || all.iter().all(is_over);
        ending.go_on(here, are_over)?;
        tell(flag, are_over());
        let which = if are_over() { 0..all.len() } else { 0..0 };
        here.end_several((handles, &all), which, statuses, ending)
    }
}

/// Of one of several requests.
pub(crate) unsafe fn end_any<C: Core>(
    here: &Here<'_, '_, '_, C>,
    (count, requests): (i32, *mut Handle),
    index: Place<i32>,
    ending: Ending,
    flag: Option<Place<i32>>,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let handles = handles(count, requests)?;
        let all = here.all_known(handles)?;
        let are_idle = all.iter().all(is_idle);
        ending.go_on(here, || are_idle || !ended(&all).is_empty())?;
        let found = ended(&all).first().copied();
        index.write(found.map_or(UNDEFINED, |at| at as i32));
        tell(flag, are_idle || found.is_some());
        let (status_of, result) = match found {
            Some(at) => here.end(&mut handles[at], &all[at], ending),
            None if are_idle => (Status::empty(), Ok(())),
            None => return Ok(()),
        };
        status_of.write(status, found.is_none());
        result
    }
}

/// Of those of several requests that are over, at least one if it waits.
pub(crate) unsafe fn end_some<C: Core>(
    here: &Here<'_, '_, '_, C>,
    (count, requests): (i32, *mut Handle),
    (number, indices): (Place<i32>, *mut i32),
    ending: Ending,
    statuses: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let handles = handles(count, requests)?;
        let all = here.all_known(handles)?;
        let are_idle = all.iter().all(is_idle);
        ending.go_on(here, || are_idle || !ended(&all).is_empty())?;
        let found = ended(&all);
        number.write(if are_idle { UNDEFINED } else { found.len() as i32 });
        give_list(indices, found.iter().map(|at| *at as i32))?;
        here.end_several((handles, &all), found, statuses, ending)
    }
}

/// What is under way goes on.
pub(crate) unsafe fn request_free<C: Core>(here: &Here<'_, '_, '_, C>, request: Place<Handle>) -> Result<(), Fault> {
    let handle = request.read();
    let known = here.known(handle)?.ok_or(Class::REQUEST)?;
    request.write(NULL);
    match &known.what {
        // The program still says when it is done.
        What::General(general) if !known.is_over() => {
            general.is_freed.set(true);
            Ok(())
        }
        what => {
            let removed = here.requests.borrow_mut().remove(handle);
            // The program has other ways to know when it is over.
            here.declare_end(removed.and_then(|request| request.declared));
            if let What::General(general) = what { general.free() } else { Ok(()) }
        }
    }
}

/// Takes back what nothing has come for, or no receive has got.
pub(crate) unsafe fn cancel<C: Core>(here: &Here<'_, '_, '_, C>, request: Place<Handle>) -> Result<(), Fault> {
    let handle = request.read();
    let known = here.known(handle)?.ok_or(Class::REQUEST)?;
    if matches!(known.start.as_deref(), Some(Start::Partitioned(_))) {
        return Err(known.blame(Fault::new(Class::REQUEST, "partitioned messages cannot be cancelled")));
    }
    match &known.what {
        What::Collective => Err(known.blame(Fault::new(Class::REQUEST, "operations of all cannot be cancelled"))),
        What::General(general) => general.cancel(known.is_over()),
        _ => {
            let Some(pending) = &known.pending else { return Ok(()) };
            here.session.before_waiting();
            here.engine.cancel(pending);
            Ok(())
        }
    }
}

pub(crate) unsafe fn start<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<(), Fault> {
    let known = here.known(handle)?.ok_or(Class::REQUEST)?;
    if known.pending.is_some() {
        return Err(known.blame(Fault::new(Class::REQUEST, "it was started before, and not completed")));
    }
    let none = || known.blame(Fault::new(Class::REQUEST, "it is not persistent"));
    let start = known.start.as_ref().ok_or_else(none)?;
    // SAFETY: see above.
    let (declared, pending) = unsafe {
        match &**start {
            Start::Message(message) => (here.declare_message_begin(message), here.begin(message)),
            Start::Collective(plan, tag) => {
                (here.declare_collective_begin(plan), here.begin_collective(plan, Some(*tag)))
            }
            Start::Partitioned(of) => (None, Ok(of.begin(&here.engine, &here.partitioned))),
        }
    };
    let pending = pending.inspect_err(|_| here.declare_end(declared));
    let pending = pending.map_err(|fault| known.blame(fault))?;
    if let Some(request) = here.requests.borrow_mut().get_mut(handle) {
        (request.pending, request.declared) = (Some(pending), declared);
    }
    Ok(())
}

pub(crate) unsafe fn startall<C: Core>(
    here: &Here<'_, '_, '_, C>,
    count: i32,
    requests: *mut Handle,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        for request in handles(count, requests)? {
            start(here, *request)?;
        }
    }
    Ok(())
}

pub(crate) unsafe fn grequest_start<C: Core>(
    here: &Here<'_, '_, '_, C>,
    [query, free, cancel]: [usize; 3],
    extra: *mut c_void,
    request: Place<Handle>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let general = What::General(Rc::new(General::new(query, free, cancel, extra)));
        let made = Request::new(None, general, Some(Rc::<Pending>::default()));
        request.write(here.new_request(made));
    }
    Ok(())
}

/// The program has done it.
pub(crate) unsafe fn grequest_complete<C: Core>(here: &Here<'_, '_, '_, C>, request: Handle) -> Result<(), Fault> {
    let known = here.known(request)?.ok_or(Class::REQUEST)?;
    let (What::General(general), Some(pending)) = (&known.what, &known.pending) else {
        return Err(known.blame(Fault::new(Class::REQUEST, "it is not a generalised request")));
    };
    pending.end(Ok(DONE));
    if general.is_freed.get() {
        here.requests.borrow_mut().remove(request);
        return general.free();
    }
    Ok(())
}
