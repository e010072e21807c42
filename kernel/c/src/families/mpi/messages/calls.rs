//! Messages: how they are sent and received, and the functions that a program calls.

use alloc::{boxed::Box, rc::Rc};
use core::{ffi::c_char, slice};

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        collective::blocks::Block,
        communicators::Communicator,
        contexts::{self},
        datatypes::buffers::check_buffer,
        engine::{DONE, End, Outcome, Pending},
        handles::Handle,
        requests::{Request, Start, What},
        state::Here,
        state::Mpi,
        status::Status,
    },
    CMessage, Form, Message, Mode, Peer, named, peer, source, status_of, status_of_fault, tag,
};

const MODES: [Mode; 5] = [Mode::Standard, Mode::Buffered, Mode::Synchronous, Mode::Ready, Mode::Receive];

impl<C: Core> Mpi<'_, C> {
    /// Elements that a program names.
    pub(crate) fn block(&self, address: *mut u8, count: i64, datatype: Handle) -> Result<Block, Fault> {
        let block = self.block_anywhere(address, count, datatype)?;
        check_buffer(address, block.count, &block.datatype)?;
        Ok(block)
    }

    /// The same of which only the length counts.
    pub(crate) fn block_anywhere(&self, address: *mut u8, count: i64, datatype: Handle) -> Result<Block, Fault> {
        let datatype = self.datatypes.get(datatype)?;
        if !datatype.is_committed() {
            return Err(Fault::new(Class::TYPE, "commit it first"));
        }
        let count = usize::try_from(count).map_err(|_| Class::COUNT)?;
        datatype.size_of(count)?;
        Ok(Block { address, count, datatype })
    }

    /// Sends or receives a message, and waits for it.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin), as long as this takes.
    unsafe fn transfer(&self, message: &Message) -> Result<Status, Fault> {
        let (comm, block) = (&message.comm, &message.block);
        // Whoever waits sends from where the message is, and receives to where it belongs.
        self.engine.go_on();
        match (message.mode, message.peer) {
            (Mode::Receive, Peer::Nobody) => Ok(Status::of_nobody()),
            (_, Peer::Nobody) => Ok(Status::empty()),
            (Mode::Receive, from) if block.datatype.is_contiguous() => {
                let buffer: &mut [u8] = match block.len_bytes() {
                    0 => &mut [],
                    // SAFETY: the caller says so.
                    len => unsafe { slice::from_raw_parts_mut(block.address, len) },
                };
                let tag = contexts::wanted(comm.context(), message.tag);
                let envelope = self.world.receive_tagged(buffer, source(comm, from), tag)?;
                Ok(status_of(comm, &block.whole(envelope)?))
            }
            (Mode::Standard | Mode::Ready | Mode::Synchronous, Peer::Rank(to)) => {
                // SAFETY: the caller says so.
                let bytes = unsafe { block.bytes() };
                let (to, tag) = (comm.peers().world_rank(to), message.sent_tag());
                if message.mode == Mode::Synchronous {
                    self.world.send_tagged_synchronously(&bytes, to, tag)?;
                } else {
                    self.world.send_tagged(&bytes, to, tag)?;
                }
                Ok(Status::empty())
            }
            _ => {
                // SAFETY: the caller says so.
                let pending = unsafe { self.begin(message)? };
                self.engine.wait(|| pending.is_over())?;
                let envelope = pending.outcome().unwrap_or(Ok(DONE))?;
                Ok(if message.mode == Mode::Receive { status_of(comm, &envelope) } else { Status::empty() })
            }
        }
    }

    /// Begins to send or receive a message.
    ///
    /// # Safety
    /// The elements are there until that is over, and nobody writes to them, nor reads what is received.
    pub(crate) unsafe fn begin(&self, message: &Message) -> Result<Rc<Pending>, Fault> {
        let (comm, block) = (&message.comm, &message.block);
        let to = match message.peer {
            Peer::Nobody => return Ok(Pending::over(Ok(DONE))),
            Peer::Rank(to) => comm.peers().world_rank(to),
            Peer::Anybody => 0,
        };
        // SAFETY: the caller says so.
        unsafe {
            Ok(match message.mode {
                Mode::Receive => {
                    let (from, tag) = (source(comm, message.peer), contexts::wanted(comm.context(), message.tag));
                    self.engine.receive(block.clone(), from, tag)?.on(&comm.number)
                }
                Mode::Buffered => {
                    let bytes = block.bytes();
                    // What has gone takes no room any more.
                    self.engine.step(false)?;
                    let own = comm.buffered.borrow().is_attached();
                    let mut buffered = if own { &comm.buffered } else { &self.buffered }.borrow_mut();
                    buffered.check_room(bytes.len())?;
                    let pending = self.engine.send(&bytes, to, message.sent_tag(), false)?.on(&comm.number);
                    buffered.add(pending.clone(), bytes.len());
                    Pending::buffered(pending)
                }
                mode => {
                    let is_synchronous = mode == Mode::Synchronous;
                    self.engine.send(&block.bytes(), to, message.sent_tag(), is_synchronous)?.on(&comm.number)
                }
            })
        }
    }
}

impl Message {
    /// What a request of it is about.
    fn what(&self) -> What {
        match (self.mode, self.peer) {
            (Mode::Receive, Peer::Nobody) => What::Nobody,
            (Mode::Receive, _) => What::Receive,
            _ => What::Send,
        }
    }
}

/// Writes what was received for C, also of a message that was too long.
///
/// # Safety
/// There is a status, or a null pointer.
unsafe fn write_found(comm: &Communicator, found: Result<Status, Fault>, status: *mut Status) -> Result<(), Fault> {
    let written = match &found {
        Err(fault) if fault.envelope.is_none() => None,
        Err(fault) => Some(status_of_fault(comm, fault)),
        Ok(found) => Some(*found),
    };
    // SAFETY: the caller says so.
    written.into_iter().for_each(|written| unsafe { written.write(status, false) });
    found.map(drop)
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them; it leaves a buffer alone as long as
// something is under way that has it.

impl CMessage {
    pub(crate) fn message<C: Core>(
        &self,
        mpi: &Mpi<'_, C>,
        comm: Rc<Communicator>,
        mode: Mode,
    ) -> Result<Message, Fault> {
        let receives = mode == Mode::Receive;
        let (peer, tag) = (peer(&comm, self.rank, receives)?, tag(self.tag, receives)?);
        Ok(Message { mode, block: mpi.block(self.address, self.count, self.datatype)?, peer, tag, comm })
    }
}

/// All functions that send or receive one message.
pub(crate) unsafe fn message<C: Core>(
    here: &Here<'_, '_, '_, C>,
    name: *const c_char,
    [mode, form]: [i32; 2],
    message: *const CMessage,
    handle: Handle,
    request: *mut Handle,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let request =
        unsafe { here.place_of_request(Form::of(form), handle, request).map_err(|fault| named(fault, name))? };
    // SAFETY: see above.
    let work = || unsafe {
        let comm = here.communicator(handle)?;
        let message = (*message).message(here, comm, MODES[mode as usize])?;
        match (Form::of(form), request) {
            (Form::Nonblocking, Some(request)) => {
                let declared = here.declare_message_begin(&message);
                let pending = here.begin(&message).inspect_err(|_| here.declare_end(declared))?;
                let made = Request::new(message.comm.clone(), message.what(), Some(pending));
                request.write(here.new_request(made.declared_as(declared)));
            }
            (Form::Persistent, Some(request)) => {
                let made = Request::new(message.comm.clone(), message.what(), None);
                request.write(here.new_request(made.that_starts(Start::Message(message))));
            }
            _ => {
                here.session.before_waiting();
                here.declare_message_use(&message);
                let found = here.transfer(&message);
                write_found(&message.comm, found, status)?;
            }
        }
        Ok(())
    };
    // SAFETY: see above.
    work().map_err(|fault: Fault| unsafe { named(fault.on_comm(handle), name) })
}

#[expect(clippy::too_many_arguments, reason = "they are what the functions of C have in common")]
/// All functions that send one message and receive another one, which may take its place.
pub(crate) unsafe fn exchange<C: Core>(
    here: &Here<'_, '_, '_, C>,
    name: *const c_char,
    form: i32,
    send: *const CMessage,
    receive: *const CMessage,
    handle: Handle,
    request: *mut Handle,
    status: *mut Status,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let request =
        unsafe { here.place_of_request(Form::of(form), handle, request).map_err(|fault| named(fault, name))? };
    // SAFETY: see above.
    let work = || unsafe {
        let comm = here.communicator(handle)?;
        let send = (*send).message(here, comm.clone(), Mode::Standard)?;
        let receive = (*receive).message(here, comm.clone(), Mode::Receive)?;
        let declared = here.declare_exchange(&send, &receive, Form::of(form));
        // The message is copied before anything can come to where it is.
        let bytes = send.block.bytes().into_owned();
        let begin = || -> Result<_, Fault> {
            let received = here.begin(&receive)?;
            let sent = match send.peer {
                Peer::Rank(to) => {
                    let to = comm.peers().world_rank(to);
                    here.engine.send(&bytes, to, send.sent_tag(), false)?.on(&comm.number)
                }
                _ => Pending::over(Ok(DONE)),
            };
            Ok((received, sent))
        };
        let (received, sent) = begin().inspect_err(|_| here.declare_end(declared))?;
        if let Some(request) = request {
            let both = here.engine.spawn(Box::pin(async {
                End(sent).await?;
                End(received).await
            }));
            let made = Request::new(comm, receive.what(), Some(both));
            request.write(here.new_request(made.declared_as(declared)));
            return Ok(());
        }
        here.session.before_waiting();
        here.engine.wait(|| sent.is_over() && received.is_over())?;
        let outcome: Outcome = received.outcome().unwrap_or(Ok(DONE));
        let is_nobody = receive.peer == Peer::Nobody;
        let found = outcome.map(|envelope| if is_nobody { Status::of_nobody() } else { status_of(&comm, &envelope) });
        write_found(&comm, found, status)
    };
    // SAFETY: see above.
    work().map_err(|fault: Fault| unsafe { named(fault.on_comm(handle), name) })
}
