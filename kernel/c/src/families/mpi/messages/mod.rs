//! Messages from one rank to another.

pub(crate) mod calls;

use alloc::{format, rc::Rc};
use core::ffi::{CStr, c_char};

use kernel::collectives::{Envelope, Source};

use super::{
    class::{Class, Fault},
    collective::blocks::Block,
    communicators::Communicator,
    constants::{ANY_SOURCE, ANY_TAG, PROC_NULL},
    contexts::{self, TAG_LIMIT},
    handles::Handle,
    status::Status,
};

/// How a message goes, as `atoll/mpi.h` numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Standard,
    Buffered,
    Synchronous,
    /// As a standard one: that its receive is there makes nothing faster.
    Ready,
    Receive,
}

/// How a function has it done, as `atoll/mpi.h` numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Blocking,
    Nonblocking,
    Persistent,
}

impl Form {
    pub(crate) fn of(number: i32) -> Self {
        [Self::Blocking, Self::Nonblocking, Self::Persistent][number as usize]
    }
}

/// Who is at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    Nobody,
    Anybody,
    /// A place among the peers of the communicator.
    Rank(usize),
}

/// A message that is to be sent or received.
pub(crate) struct Message {
    pub(crate) mode: Mode,
    pub(crate) block: Block,
    pub(crate) peer: Peer,
    /// Any, if none.
    pub(crate) tag: Option<u32>,
    pub(crate) comm: Rc<Communicator>,
}

/// The other end that a program names.
pub(crate) fn peer(comm: &Communicator, rank: i32, receives: bool) -> Result<Peer, Fault> {
    match usize::try_from(rank) {
        Ok(place) if place < comm.peers().size() => Ok(Peer::Rank(place)),
        Err(_) if rank == PROC_NULL => Ok(Peer::Nobody),
        Err(_) if rank == ANY_SOURCE && receives => Ok(Peer::Anybody),
        _ => Err(Fault::new(Class::RANK, format!("rank {rank} of {}", comm.peers().size()))),
    }
}

/// The tag that a program names.
pub(crate) fn tag(tag: i32, receives: bool) -> Result<Option<u32>, Fault> {
    match u32::try_from(tag) {
        Ok(tag) if tag <= TAG_LIMIT => Ok(Some(tag)),
        Err(_) if tag == ANY_TAG && receives => Ok(None),
        _ => Err(Fault::new(Class::TAG, format!("tag {tag}; there are 0 to {TAG_LIMIT}"))),
    }
}

/// The ranks of the world whose messages fit.
pub(crate) fn source(comm: &Communicator, peer: Peer) -> Source {
    match peer {
        Peer::Rank(place) => Source::Rank(comm.peers().world_rank(place)),
        _ => Source::Any,
    }
}

/// The status of a message that has come.
pub(crate) fn status_of(comm: &Communicator, envelope: &Envelope) -> Status {
    let place = comm.peers().place(envelope.source).map_or(PROC_NULL, |place| place as i32);
    Status::new(place, contexts::tag_of(envelope.tag), envelope.len_bytes)
}

/// The status of what has failed: of a message that has come and was too long, or of none.
pub(crate) fn status_of_fault(comm: &Communicator, fault: &Fault) -> Status {
    fault.envelope.map_or_else(Status::empty, |envelope| status_of(comm, &envelope)).with_error(fault.class)
}

impl Message {
    fn sent_tag(&self) -> u32 {
        contexts::of_message(self.comm.context(), self.tag.unwrap_or(0))
    }
}

/// The name of a function, as C gives it.
///
/// # Safety
/// It ends with a zero.
pub(crate) unsafe fn named(fault: Fault, name: *const c_char) -> Fault {
    // SAFETY: the caller says so.
    fault.of_function(&unsafe { CStr::from_ptr(name) }.to_string_lossy())
}

/// Elements and the other end, as `struct atoll_mpi_message`.
#[repr(C)]
pub(crate) struct CMessage {
    address: *mut u8,
    count: i64,
    datatype: Handle,
    rank: i32,
    tag: i32,
}
