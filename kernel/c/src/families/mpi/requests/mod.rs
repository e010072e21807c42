//! Requests: what was begun and is waited for later, once or, if it is persistent, each time that it is started.

pub(crate) mod calls;
mod general;

use alloc::rc::Rc;

use self::general::General;
use super::{
    class::{Class, Fault},
    collective::plan::Plan,
    communicators::Communicator,
    engine::Pending,
    messages::{Message, status_of, status_of_fault},
    partitioned::Partitioned,
    status::Status,
};

/// What a request is about, as far as its status says it.
#[derive(Clone)]
pub(crate) enum What {
    Send,
    Receive,
    /// A receive from nobody.
    Nobody,
    Collective,
    /// What the program does itself.
    General(Rc<General>),
}

/// What a persistent request starts.
pub(crate) enum Start {
    Message(Message),
    /// With the tag of its messages.
    Collective(Rc<Plan>, u32),
    Partitioned(Rc<Partitioned>),
}

/// A request.
#[derive(Clone)]
pub(crate) struct Request {
    /// None of what belongs to no communicator.
    comm: Option<Rc<Communicator>>,
    what: What,
    /// Nothing while it is not active.
    pub(crate) pending: Option<Rc<Pending>>,
    pub(crate) start: Option<Rc<Start>>,
    /// Its number for a machine that checks the program, while it is under way.
    declared: Option<u64>,
}

impl Request {
    pub(crate) fn new(comm: impl Into<Option<Rc<Communicator>>>, what: What, pending: Option<Rc<Pending>>) -> Self {
        Self { comm: comm.into(), what, pending, start: None, declared: None }
    }

    pub(crate) fn declared_as(self, declared: Option<u64>) -> Self {
        Self { declared, ..self }
    }

    pub(crate) fn that_starts(self, start: Start) -> Self {
        Self { start: Some(Rc::new(start)), ..self }
    }

    /// The same as an error of its communicator, if it has one.
    pub(crate) fn blame(&self, fault: Fault) -> Fault {
        self.comm.iter().fold(fault, |fault, comm| comm.blame(fault))
    }

    /// Whether it keeps this communicator busy.
    pub(crate) fn is_under_way_on(&self, comm: &Rc<Communicator>) -> bool {
        self.comm.as_ref().is_some_and(|of| Rc::ptr_eq(of, comm)) && !self.is_over()
    }

    fn is_over(&self) -> bool {
        self.pending.as_ref().is_none_or(|pending| pending.is_over())
    }

    /// What became of it, which is over.
    pub(crate) fn ended(&self) -> (Status, Result<(), Fault>) {
        let Some(pending) = &self.pending else { return (Status::empty(), Ok(())) };
        let (status, result) = match (pending.outcome(), &self.what) {
            (None, _) => (Status::empty().with_error(Class::PENDING), Err(Class::PENDING.into())),
            (Some(Err(fault)), What::Receive) => {
                let status = self.comm.as_ref().map_or_else(Status::empty, |comm| status_of_fault(comm, &fault));
                (status.with_error(fault.class), Err(fault))
            }
            (Some(Err(fault)), _) => (Status::empty().with_error(fault.class), Err(fault)),
            (Some(Ok(_)), What::General(general)) => general.query(),
            (Some(Ok(_)), _) if pending.is_cancelled() => (Status::empty().cancelled(true), Ok(())),
            (Some(Ok(envelope)), What::Receive) => {
                (self.comm.as_ref().map_or_else(Status::empty, |comm| status_of(comm, &envelope)), Ok(()))
            }
            (Some(Ok(_)), What::Nobody) => (Status::of_nobody(), Ok(())),
            (Some(Ok(_)), What::Send | What::Collective) => (Status::empty(), Ok(())),
        };
        (status, result.map_err(|fault| self.blame(fault)))
    }
}
