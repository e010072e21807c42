//! Notifications: broadcasts that reach ranks which are not waiting for them.
//!
//! The OC-Bcast paper ends with them (section 7): its broadcast is for programs of one kind, in which all ranks call
//! it; where ranks do different things, inter-core interrupts are to carry it. Any member of a [`Subscription`]
//! [notifies all](Notifications::notify_all) others whenever it wants, while they compute. Each gets an interrupt,
//! whose handler copies the message from its parent's MPB, interrupts its own children in the tree, and leaves the
//! message in a mailbox, from which its program takes it some time.
//!
//! **Doorbells.** An interrupt says nothing. What is new is in the receiver's doorbell, one line of its MPB: the
//! number of the chunk, the root, the length, and the data if they are few (up to 18 bytes). More are in the parent's
//! payload lines, as in OC-Bcast, and each node that has children copies them to its own before it rings at them, so
//! that all children of a node copy at once.
//!
//! **One at a time.** Roots take turns, by tickets in the MPB of the first member, and a root keeps its turn until
//! each member has acknowledged each chunk, in a byte of its own in the root's MPB. Therefore doorbells and payload
//! lines have one writer at a time, a handler never waits for another one, concurrent roots do not mix, and **all
//! members see all messages in the same order**. The price is that a root waits for those before it.
//!
//! **Nothing is lost.** A handler whose mailbox is full passes the chunk on and leaves it unacknowledged, so the root
//! waits. The rest follows when the program takes messages, which it does by itself while it waits to notify others.
//! A program that neither takes nor notifies holds the roots up; on a machine that is stuck for that reason, the
//! report names it.
//!
//! | who, for a message of one chunk of m lines | accesses |
//! |---|---|
//! | root | a turn: a register, a line read and written, another polled and written; m lines written; for each child a doorbell (a line write) and an interrupt; its acknowledgements polled |
//! | others | their doorbell read; with children: m lines read and written, a doorbell and an interrupt for each; m lines read; a byte written |

mod mailbox;
mod node;
mod tree;
mod turn;

use alloc::{collections::VecDeque, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    mem,
};

use hal::{Core, Deadline, LINE_BYTES, Reason, Shielded, Span};

use crate::{Comm, Error, Group};

use self::{
    mailbox::{Filled, Mailbox},
    node::{INLINE, Lines, Node},
    tree::Tree,
};

pub use self::tree::NotificationTree;

/// Messages of any length that a mailbox has room for.
const MAILBOX_MESSAGES: usize = 64;

/// How members learn of doorbells.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Delivery {
    /// By interrupts, whatever they are doing.
    #[default]
    Interrupts,
    /// By looking, when their programs call [`Notifications::progress`] or wait in a call of [`Notifications`]: what
    /// there is without interrupts.
    Polling,
}

/// How ranks are to be notified; the same on all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// The tree that messages go down.
    pub tree: NotificationTree,
    /// Lines of each MPB for the payload of a chunk. Longer messages go in chunks, one after the other.
    pub payload_lines: usize,
    /// Bytes of a mailbox, which are the longest message as well.
    pub mailbox_bytes: usize,
    /// How members learn of messages.
    pub delivery: Delivery,
}

impl Default for Subscription {
    /// The fastest tree, chunks of 14 lines (so that 255 ranks have room for them), messages of up to 16 KiB, interrupts.
    fn default() -> Self {
        Self {
            tree: NotificationTree::default(),
            payload_lines: 14,
            mailbox_bytes: 16 << 10,
            delivery: Delivery::default(),
        }
    }
}

/// A message that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The rank that sent the message.
    pub from: usize,
    /// The bytes of the message.
    pub bytes: Vec<u8>,
    /// When this core had it, in ticks of its [clock](hal::Clock::now).
    pub arrived: u64,
}

/// What arrived and was taken out of the mailbox by the way.
struct Taken {
    messages: VecDeque<Message>,
    /// The box to exchange for the filled one.
    empty: Filled,
}

/// Membership in a group of ranks that notify each other. To be [closed](Self::close): a member that is dropped
/// otherwise is not interrupted any more, and holds up whoever notifies it.
pub struct Notifications<'c, C: Core> {
    comm: &'c Comm<'c, C>,
    members: Group,
    lines: Lines,
    subscription: Subscription,
    /// Nothing on ranks that are no members.
    node: Option<Shielded<'c, C, Node>>,
    taken: RefCell<Taken>,
}

/// Subscriptions of communicators that this rank belongs to: kept in the communicator of all ranks, as a rank is interrupted
/// whichever communicator it uses.
#[derive(Default)]
struct Subscriptions(Cell<u32>);

impl<C> Comm<'_, C> {
    /// Whether ranks of a communicator of this rank have subscribed to notifications.
    pub(crate) fn has_subscribers(&self) -> bool {
        self.subscriptions().get() > 0
    }

    fn subscriptions(&self) -> &Cell<u32> {
        &self.world_of().state::<Subscriptions>().0
    }
}

impl<C: Core> Comm<'_, C> {
    /// Lets the ranks of `members` notify each other. Collective over all ranks; those that are no members are never
    /// interrupted.
    ///
    /// # Errors
    /// On all ranks alike: [`Error::NoSuchRank`] for the members, [`Error::NoDegree`] for the tree;
    /// [`Error::NoSpareLines`] if the MPBs have no room; [`Error::Subscribed`] if a member handles interrupts already, or
    /// belongs to a communicator that has a subscription; [`Error::RegisterOutOfReach`] where nothing is atomic between the ranks;
    /// [`Error::RegistersWanted`] while there is a barrier of registers.
    pub fn subscribe<'c>(&'c self, members: &Group, subscription: Subscription) -> Result<Notifications<'c, C>, Error> {
        members.check(self.size())?;
        let tree = Tree::new(subscription.tree, members.len())?;
        self.check_registers()?;
        if self.has_register_barriers() {
            return Err(Error::RegistersWanted);
        }
        if let Some(rank) = self.first_where(members.contains(self.rank()) && self.has_subscribers())? {
            return Err(Error::Subscribed { rank });
        }
        let acknowledgements = members.len().div_ceil(LINE_BYTES);
        let mut lines = Lines { first: 0, acknowledgements, payload: subscription.payload_lines };
        let wanted = lines.count();
        lines.first = self.take_spare_lines(wanted, "notifications").ok_or(Error::NoSpareLines { wanted })?;
        let hal = self.hal();
        for line in lines.first..lines.payload() {
            hal.store(self.mpb_line(self.rank(), line), 0, &[0; LINE_BYTES]);
        }
        hal.drain();
        let node = members.position_of(self.rank()).map(|position| {
            let ranks = members.iter().map(|rank| (rank as u16, self.core_of(rank))).collect();
            let mailbox = Mailbox::new(subscription.mailbox_bytes, MAILBOX_MESSAGES);
            let interrupts = subscription.delivery == Delivery::Interrupts;
            hal.handle_interrupts(Node::new(ranks, position, tree, lines, interrupts, mailbox), Node::handle)
        });
        let refused = matches!(node, Some(None));
        let made = Notifications {
            comm: self,
            members: members.clone(),
            lines,
            subscription,
            node: node.flatten(),
            taken: RefCell::new(Taken {
                messages: VecDeque::new(),
                empty: Filled::with_capacity(subscription.mailbox_bytes, MAILBOX_MESSAGES),
            }),
        };
        if let Err(error) = made.agree(refused) {
            drop(made.node);
            self.give_back_lines(lines.first, wanted);
            return Err(error);
        }
        self.subscriptions().set(self.subscriptions().get() + 1);
        Ok(made)
    }
}

impl<C: Core> Notifications<'_, C> {
    /// The ranks that are notified.
    pub fn members(&self) -> &Group {
        &self.members
    }

    /// Sends `message` to all other members. When it returns, each of them has it in its mailbox. Not collective.
    ///
    /// Where delivery is by polling, it waits until all others have looked.
    ///
    /// # Errors
    /// [`Error::NotSubscribed`], [`Error::MessageTooLong`], with nothing sent; [`Error::TimedOut`] on a dying machine.
    pub fn notify_all(&self, message: &[u8]) -> Result<(), Error> {
        let limit_bytes = self.subscription.mailbox_bytes;
        if message.len() > limit_bytes || u32::try_from(message.len()).is_err() {
            return Err(Error::MessageTooLong { len_bytes: message.len(), limit_bytes });
        }
        let node = self.node()?;
        if self.members.len() == 1 {
            return Ok(());
        }
        let _span = self.comm.hal().span(Span::new("notify all").of(message.len()));
        let ticket = self.take_turn()?;
        let chunk_bytes = self.lines.chunk_bytes();
        // An empty message is a chunk, too.
        for index in 0..message.len().div_ceil(chunk_bytes).max(1) {
            let chunk = &message[index * chunk_bytes..message.len().min((index + 1) * chunk_bytes)];
            let inline = (chunk.len() <= INLINE).then(|| {
                let mut bytes = [0; INLINE];
                bytes[..chunk.len()].copy_from_slice(chunk);
                bytes
            });
            let doorbell = node.with(|node| node.next_doorbell(message.len(), chunk.len(), inline));
            if inline.is_none() {
                self.comm.hal().put(chunk, self.comm.mpb_line(self.comm.rank(), self.lines.payload()));
            }
            node.with(|node| node.ring(self.comm.hal(), &doorbell));
            self.await_acknowledgements(&doorbell)?;
        }
        self.end_turn(ticket);
        Ok(())
    }

    /// The next message, if one has arrived.
    ///
    /// # Errors
    /// [`Error::NotSubscribed`].
    pub fn try_take(&self) -> Result<Option<Message>, Error> {
        self.progress()?;
        Ok(self.taken.borrow_mut().messages.pop_front())
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// [`Error::NotSubscribed`]; [`Error::TimedOut`] after the deadline.
    pub fn take(&self, deadline: Deadline) -> Result<Message, Error> {
        let _span = self.comm.hal().span(Span::new("take notification"));
        loop {
            if let Some(message) = self.try_take()? {
                return Ok(message);
            }
            self.wait(&[], deadline, Reason::new("a notification"), |_| None::<()>)?;
        }
    }

    /// Looks for what has arrived: where delivery is by polling, this is how it does.
    ///
    /// # Errors
    /// [`Error::NotSubscribed`].
    pub fn progress(&self) -> Result<(), Error> {
        let node = self.node()?;
        if self.subscription.delivery == Delivery::Polling {
            node.with(|node| node.receive(self.comm.hal()));
        }
        let taken = &mut *self.taken.borrow_mut();
        while node.with(|node| node.exchange(&mut taken.empty)) {
            let Filled { bytes, entries } = &mut taken.empty;
            let mut start = 0;
            for entry in entries.drain(..) {
                let bytes = bytes[mem::replace(&mut start, entry.end)..entry.end].into();
                taken.messages.push_back(Message { from: usize::from(entry.from), bytes, arrived: entry.arrived });
            }
            bytes.clear();
            // What did not fit may now.
            node.with(|node| {
                if node.is_blocked() {
                    node.receive(self.comm.hal())
                }
            });
        }
        Ok(())
    }

    /// Ends the subscription, and returns what was not taken. Collective over all ranks. Where delivery is by
    /// polling, nobody may be notifying any more.
    pub fn close(self) -> Vec<Message> {
        if let Some(node) = &self.node {
            // Others may still be notifying, and this rank takes no more.
            node.with(|node| {
                node.unlimit();
                if node.is_blocked() {
                    node.receive(self.comm.hal());
                }
            });
        }
        self.comm.barrier();
        // It fails on ranks that are no members, which have nothing.
        let _ = self.progress();
        self.comm.give_back_lines(self.lines.first, self.lines.count());
        self.comm.subscriptions().set(self.comm.subscriptions().get() - 1);
        self.taken.into_inner().messages.into()
    }

    fn node(&self) -> Result<&Shielded<'_, C, Node>, Error> {
        self.node.as_ref().ok_or(Error::NotSubscribed { rank: self.comm.rank() })
    }
}
