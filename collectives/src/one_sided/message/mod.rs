//! Message-based one-sided communication: what SCOSCo is compared with (section V.C of its paper).
//!
//! RCKMPI is MPICH on the SCC: its CH3 device makes everything a *packet*, be it synchronisation or data, and a
//! *progress engine* at the receiver matches and carries out what arrives. The receiver has to take part: nothing
//! happens while it computes, unless it lets itself be interrupted. This is such a channel, built as well as we can, for windows of that class:
//!
//! * packets go through the MPB, in a section for each sender, and one look at a line shows news of 32 peers;
//! * an access epoch ends with a flag in its last data packet, and with a packet of its own only where there is no
//!   data;
//! * nothing blocks but explicit waits. What finds no room is queued in order; every wait of this rank drives the
//!   engine, in barriers, broadcasts and messages, too;
//! * posts and completions are matched by window *and sender*, where MPICH counts posts whoever they come from, so
//!   that early posts of a later epoch's targets do no harm here.
//!
//! Data that a target handles goes to its part by the combined mapping: the part is exposed, so the rank has no view
//! of it.
//!
//! The channel is there while windows use it. It takes most of the staging buffers' lines away meanwhile (see
//! [`MpbLayout`](crate::MpbLayout)).
//!
//! | packet with *n* bytes of payload | sender | receiver |
//! |---|---|---|
//! | in an MPB | a look at the acknowledgements; ⌈max(40, 16 + n) / 32⌉ lines and a doorbell | as many lines of its own, copied out; an acknowledgement |
//! | in uncached memory | a register, 2 words read, 6 + ⌈n / 4⌉ written | 5 + ⌈n / 4⌉ words read, one written |
//!
//! A look for packets reads ⌈ranks / 32⌉ lines of the own MPB, or one word. How many packets one look finds depends
//! on timing, and so do the counts of looks.

mod engine;
mod matching;
mod origin;
mod packet;
mod rings;
mod sections;
mod target;
mod transport;

use alloc::{collections::BTreeMap, rc::Rc};
use core::cell::{Cell, RefCell};

use hal::{Core, Deadline, Reason};

use crate::{Comm, Error, comm::engines::Engine};

pub use self::{matching::Ticket, packet::GRANULE_BYTES, target::Apply};

use self::{
    engine::Queues,
    matching::{Counts, Requests},
    packet::Transfer,
    target::Part,
    transport::Transport,
};

/// A rank's end of the channel between all ranks. Windows are told apart by their numbers.
pub struct Channel {
    transport: Transport,
    queues: RefCell<Queues>,
    /// The packets of open epochs that may turn out to be their last, by window and target.
    held: RefCell<BTreeMap<(u32, usize), Transfer>>,
    /// Posts that arrived, by window and target.
    posts: Counts<(u32, usize)>,
    /// Completions that arrived, by window and origin.
    completions: Counts<(u32, usize)>,
    /// Notifications that arrived, by window and what they notify of; they are never taken.
    notifications: Counts<(u32, u32)>,
    requests: Requests,
    parts: RefCell<BTreeMap<u32, Part>>,
    /// Whether there are writes to parts that may still be in the write-combine buffer.
    undrained: Cell<bool>,
}

impl Channel {
    fn new(transport: Transport) -> Self {
        Self {
            transport,
            queues: RefCell::default(),
            held: RefCell::default(),
            posts: Counts::default(),
            completions: Counts::default(),
            notifications: Counts::default(),
            requests: Requests::default(),
            parts: RefCell::default(),
            undrained: Cell::new(false),
        }
    }

    /// Bytes of payload that a packet can have.
    pub fn packet_bytes(&self) -> usize {
        self.transport.capacity()
    }
}

/// A communicator's channel while it is open.
#[derive(Default)]
struct OpenChannel(RefCell<Option<Opened>>);

struct Opened {
    channel: Rc<Channel>,
    users: usize,
}

impl OpenChannel {
    fn share(&self) -> Option<Rc<Channel>> {
        let mut opened = self.0.borrow_mut();
        let opened = opened.as_mut()?;
        opened.users += 1;
        Some(opened.channel.clone())
    }

    fn put(&self, channel: Rc<Channel>) {
        *self.0.borrow_mut() = Some(Opened { channel, users: 1 });
    }

    /// One user less; the channel, if that was the last.
    fn leave(&self) -> Option<Rc<Channel>> {
        let mut opened = self.0.borrow_mut();
        let opened = opened.as_mut()?;
        opened.users -= 1;
        (opened.users == 0).then(|| opened.channel.clone())
    }
}

impl<C: Core> Comm<'_, C> {
    /// Opens the channel, or takes part in it if it is open. Collective; every call needs a
    /// [`close_channel`](Self::close_channel).
    ///
    /// # Errors
    /// [`Error::OutOfSharedMemory`] on all ranks, if there are so many ranks that packets go through shared memory and there
    /// is none left.
    pub fn open_channel(&self) -> Result<Rc<Channel>, Error> {
        let open = self.state::<OpenChannel>();
        if let Some(channel) = open.share() {
            return Ok(channel);
        }
        self.check_no_profile()?;
        let channel = Rc::new(Channel::new(Transport::open(self)?));
        open.put(channel.clone());
        self.engines().add(channel.clone());
        // Nobody sends before all are ready.
        self.barrier();
        Ok(channel)
    }

    /// Gives the channel up; with its last user it closes. Collective; there are no epochs on this user's windows any
    /// more.
    ///
    /// # Errors
    /// [`Error::NotAllocated`] if its shared memory was freed by somebody else.
    pub fn close_channel(&self) -> Result<(), Error> {
        let open = self.state::<OpenChannel>();
        let Some(channel) = open.leave() else { return Ok(()) };
        let queued = || channel.queues.borrow().keys().next().copied();
        // It does not time out, unless the machine is dying.
        let _ = channel.wait_for(self, Deadline::Never, Reason::new("packets to be taken"), queued);
        self.barrier();
        // All packets are there now; when all ranks have taken theirs, nobody rings or acknowledges any more.
        channel.progress(self);
        self.barrier();
        let engine: Rc<dyn Engine<C>> = channel.clone();
        self.engines().remove(&engine);
        *open.0.borrow_mut() = None;
        channel.transport.close(self)
    }
}
