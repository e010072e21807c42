//! Buffers for buffered sends: the functions that a program calls.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::cell::RefCell;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        engine::{DONE, End},
        handles::Handle,
        place::Place,
        requests::{Request, What},
        state::Here,
    },
    Buffered,
};

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

pub(crate) fn attach<C: Core>(here: &Here<'_, '_, '_, C>, of: Of, buffer: usize, bytes: i64) -> Result<(), Fault> {
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
pub(crate) fn detach<C: Core>(
    here: &Here<'_, '_, '_, C>,
    of: Of,
    buffer: Place<usize>,
    bytes: Place<i64>,
) -> Result<(), Fault> {
    here.session.before_waiting();
    let buffered = buffered(here, of)?;
    let Some((address, len)) = buffered.borrow().attached else {
        return Err(on(of)(Fault::new(Class::BUFFER, "no buffer is attached")));
    };
    here.engine.wait(|| buffered.borrow().is_over())?;
    buffered.borrow_mut().attached = None;
    buffer.write(address);
    bytes.write(len);
    Ok(())
}

pub(crate) fn flush<C: Core>(here: &Here<'_, '_, '_, C>, of: Of) -> Result<(), Fault> {
    here.session.before_waiting();
    let buffered = buffered(here, of)?;
    Ok(here.engine.wait(|| buffered.borrow().is_over())?)
}

/// The same while the program goes on.
pub(crate) fn iflush<C: Core>(here: &Here<'_, '_, '_, C>, of: Of, request: Place<Handle>) -> Result<(), Fault> {
    let under_way: Vec<_> = buffered(here, of)?.borrow().under_way.iter().map(|(pending, _)| pending.clone()).collect();
    let pending = here.engine.spawn(Box::pin(async move {
        for pending in under_way {
            End(pending).await?;
        }
        Ok(DONE)
    }));
    let comm = of.map(|comm| here.communicator(comm)).transpose()?;
    let made = Request::new(comm, What::Send, Some(pending));
    request.write(here.new_request(made));
    Ok(())
}
