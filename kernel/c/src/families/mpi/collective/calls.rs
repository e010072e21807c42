//! How operations of all are begun, in all forms.

use alloc::{boxed::Box, rc::Rc};

use kernel::hal::Core;

use super::{
    super::{
        class::Fault,
        engine::{DONE, Pending},
        handles::Handle,
        messages::{Form, named},
        requests::{Request, Start, What},
        state::Here,
        state::Mpi,
    },
    compared::compared,
    native,
    party::Party,
    plan::{Plan, described::CCollective},
    work,
};

impl<C: Core> Mpi<'_, C> {
    /// Begins an operation, the next one of its communicator or, if it has a tag already, a persistent one.
    ///
    /// # Safety
    /// Its buffers are there until it is over, and nobody else writes to them, nor reads those of results.
    pub(crate) unsafe fn begin_collective(&self, plan: &Rc<Plan>, tag: Option<u32>) -> Result<Rc<Pending>, Fault> {
        let party = tag.map_or_else(|| self.party(&plan.comm), |tag| self.party_with(&plan.comm, tag));
        let plan = plan.clone();
        // SAFETY: the caller says so.
        Ok(self.engine.spawn(Box::pin(async move { unsafe { work::run(&plan, &party).await.map(|()| DONE) } })))
    }
}

/// All operations of all, in all forms.
///
/// # Safety
/// The description is the C side's, of what the program has given; the program leaves buffers alone until the operation is over.
pub(crate) unsafe fn collective<C: Core>(
    here: &Here<'_, '_, '_, C>,
    call: *const CCollective,
    request: *mut Handle,
) -> Result<(), Fault> {
    // SAFETY: the caller says so.
    let call = unsafe { &*call };
    // SAFETY: the caller says so.
    let request = unsafe {
        here.place_of_request(Form::of(call.form), call.comm, request).map_err(|fault| named(fault, call.name))?
    };
    // SAFETY: the caller says so.
    let work = || unsafe {
        let plan = compared(here, call, call.plan(here))?;
        match (Form::of(call.form), request) {
            (Form::Nonblocking, Some(request)) => {
                let declared = here.declare_collective_begin(&plan);
                let pending = here.begin_collective(&plan, None).inspect_err(|_| here.declare_end(declared))?;
                let made = Request::new(plan.comm.clone(), What::Collective, Some(pending));
                request.write(here.new_request(made.declared_as(declared)));
            }
            (Form::Persistent, Some(request)) => {
                let made = Request::new(plan.comm.clone(), What::Collective, None);
                let tag = plan.comm.next_persistent();
                request.write(here.new_request(made.that_starts(Start::Collective(plan, tag))));
            }
            _ => {
                here.session.before_waiting();
                here.engine.go_on();
                here.declare_collective_use(&plan);
                match here.declare_order(&plan, || native::run(&plan, here.world)) {
                    Some(result) => result?,
                    None => Party::wait(&here.engine, work::run(&plan, &here.party(&plan.comm)))?,
                }
            }
        }
        Ok(())
    };
    // SAFETY: the caller says so.
    work().map_err(|fault: Fault| unsafe { named(fault.on_comm(call.comm), call.name) })
}
