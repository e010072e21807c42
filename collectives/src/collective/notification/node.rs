//! What a core does with a notification that reaches it: the interrupt handler.

use alloc::boxed::Box;
use core::cell::RefCell;

use hal::{Core, CoreId, LINE_BYTES, Line, MpbLine};

use super::{
    mailbox::{Filled, Mailbox},
    tree::Tree,
};

/// Bytes of a message that fit into a doorbell.
pub(super) const INLINE: usize = 18;

/// The lines that notifications use in the MPB of each member.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    pub(super) first: usize,
    /// Lines of acknowledgements: a byte for each member.
    pub(super) acknowledgements: usize,
    pub(super) payload: usize,
}

impl Lines {
    const DOORBELL: usize = 0;
    const NEXT: usize = 1;
    const SERVED: usize = 2;
    const ACKNOWLEDGEMENTS: usize = 3;

    /// Of each MPB; more than there are if the payload is.
    pub(super) fn count(&self) -> usize {
        (Self::ACKNOWLEDGEMENTS + self.acknowledgements).saturating_add(self.payload)
    }

    /// Written by whoever is parent in the tree of the message that is under way.
    pub(super) fn doorbell(&self, core: CoreId) -> MpbLine {
        MpbLine::new(core, self.first + Self::DOORBELL)
    }

    /// The next ticket, on the first member.
    pub(super) fn next(&self, core: CoreId) -> MpbLine {
        MpbLine::new(core, self.first + Self::NEXT)
    }

    /// The ticket whose turn it is, on the first member.
    pub(super) fn served(&self, core: CoreId) -> MpbLine {
        MpbLine::new(core, self.first + Self::SERVED)
    }

    /// Line `index` of the acknowledgements.
    pub(super) fn acknowledgements(&self, core: CoreId, index: usize) -> MpbLine {
        MpbLine::new(core, self.first + Self::ACKNOWLEDGEMENTS + index)
    }

    /// First line of a chunk's payload, as a line of any core.
    pub(super) fn payload(&self) -> usize {
        self.first + Self::ACKNOWLEDGEMENTS + self.acknowledgements
    }

    /// Bytes of a chunk.
    pub(super) fn chunk_bytes(&self) -> usize {
        (self.payload * LINE_BYTES).max(INLINE)
    }
}

/// What a doorbell says of a chunk. It is one line, so it is there as a whole or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Doorbell {
    /// The number of the chunk, among the chunks of all roots.
    pub(super) number: u32,
    /// Bytes of the whole message.
    pub(super) message_bytes: u32,
    /// Bytes of this chunk.
    pub(super) chunk_bytes: u16,
    /// Position of the root among the members.
    pub(super) root: u16,
    /// What is to be acknowledged to the root: the number of its chunk, modulo 256.
    pub(super) acknowledge: u8,
    /// This chunk, if it is in the doorbell.
    pub(super) inline: Option<[u8; INLINE]>,
}

impl Doorbell {
    pub(super) fn to_bytes(self) -> [u8; LINE_BYTES] {
        let mut bytes = [0; LINE_BYTES];
        bytes[..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.message_bytes.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.root.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.chunk_bytes.to_le_bytes());
        bytes[12] = self.acknowledge;
        if let Some(inline) = self.inline {
            bytes[13] = 1;
            bytes[LINE_BYTES - INLINE..].copy_from_slice(&inline);
        }
        bytes
    }

    /// The doorbell in a line, if it is that of chunk `number`.
    pub(super) fn from_line(line: &Line, number: u32) -> Option<Self> {
        let bytes = &line.0;
        let mut inline = [0; INLINE];
        inline.copy_from_slice(&bytes[LINE_BYTES - INLINE..]);
        (line.word(0) == number).then_some(Self {
            number,
            message_bytes: line.word(1),
            root: u16::from_le_bytes([bytes[8], bytes[9]]),
            chunk_bytes: u16::from_le_bytes([bytes[10], bytes[11]]),
            acknowledge: bytes[12],
            inline: (bytes[13] == 1).then_some(inline),
        })
    }
}

/// What changes with each chunk.
struct State {
    /// The last chunk that was received, or sent.
    seen: u32,
    /// Chunks that this member has sent, modulo 256.
    sent: u8,
    /// The last chunk that was passed on.
    passed_on: u32,
    /// The mailbox is full and a chunk is waiting.
    blocked: bool,
    mailbox: Mailbox,
}

/// A member: what the program and the interrupt handler of a core both use.
pub(super) struct Node {
    /// The rank of each member, and the core that it runs on.
    members: Box<[(u16, CoreId)]>,
    position: usize,
    tree: Tree,
    lines: Lines,
    interrupts: bool,
    state: RefCell<State>,
}

impl Node {
    pub(super) fn new(
        members: Box<[(u16, CoreId)]>,
        position: usize,
        tree: Tree,
        lines: Lines,
        interrupts: bool,
        mailbox: Mailbox,
    ) -> Self {
        let state = RefCell::new(State { seen: 0, sent: 0, passed_on: 0, blocked: false, mailbox });
        Self { members, position, tree, lines, interrupts, state }
    }

    fn core_at(&self, position: usize) -> CoreId {
        self.members[position % self.members.len()].1
    }

    /// This member's position in the tree of a root.
    fn place_below(&self, root: usize) -> usize {
        (self.position + self.members.len() - root) % self.members.len()
    }

    /// The interrupt handler: receives the chunk that a doorbell announces, if there is one that has not been received.
    pub(super) fn handle<C: Core>(core: &C, node: &Self) {
        node.receive(core);
    }

    /// Receives a chunk, if there is one and the mailbox has room for its message: passes it on, takes it,
    /// acknowledges it.
    pub(super) fn receive<C: Core>(&self, core: &C) {
        let mut state = self.state.borrow_mut();
        core.invalidate_mpb();
        let own = self.lines.doorbell(core.core());
        let line = core.load_line(own);
        let Some(doorbell) = Doorbell::from_line(&line, state.seen.wrapping_add(1)) else { return };
        let root = usize::from(doorbell.root);
        let place = self.place_below(root);
        let len = usize::from(doorbell.chunk_bytes);
        let parent = MpbLine::new(self.core_at(root + self.tree.parent(place)), self.lines.payload());
        let is_leaf = self.tree.children(place).next().is_none();
        if state.passed_on != doorbell.number {
            if !is_leaf && doorbell.inline.is_none() {
                core.get_to_own_mpb(parent, self.lines.payload(), len.div_ceil(LINE_BYTES));
            }
            self.ring(core, &doorbell);
            state.passed_on = doorbell.number;
        }
        state.blocked = !state.mailbox.begin(doorbell.message_bytes as usize);
        if state.blocked {
            return;
        }
        let chunk = state.mailbox.next(len);
        if doorbell.inline.is_some() {
            // What else is in the line comes along.
            let mut copy = [0; LINE_BYTES];
            core.get(own, &mut copy);
            chunk.copy_from_slice(&copy[LINE_BYTES - INLINE..][..len]);
        } else if is_leaf {
            core.get(parent, chunk);
        } else {
            core.get(MpbLine::new(core.core(), self.lines.payload()), chunk);
        }
        state.mailbox.complete(usize::from(self.members[root].0), core.now());
        state.seen = doorbell.number;
        let (line, byte) = (self.position / LINE_BYTES, self.position % LINE_BYTES);
        core.store(self.lines.acknowledgements(self.core_at(root), line), byte, &[doorbell.acknowledge]);
        core.drain();
    }

    /// Tells this member's children of a chunk.
    pub(super) fn ring<C: Core>(&self, core: &C, doorbell: &Doorbell) {
        let bytes = doorbell.to_bytes();
        let root = usize::from(doorbell.root);
        for child in self.tree.children(self.place_below(root)) {
            let child = self.core_at(root + child);
            core.store(self.lines.doorbell(child), 0, &bytes);
            core.drain();
            if self.interrupts {
                core.raise_interrupt(child);
            }
        }
    }

    /// Begins a chunk of this member's own. Its turn has come, so it has seen all others.
    pub(super) fn next_doorbell(
        &self,
        message_bytes: usize,
        chunk_bytes: usize,
        inline: Option<[u8; INLINE]>,
    ) -> Doorbell {
        let mut state = self.state.borrow_mut();
        state.seen = state.seen.wrapping_add(1);
        state.sent = state.sent.wrapping_add(1);
        Doorbell {
            number: state.seen,
            message_bytes: message_bytes as u32,
            chunk_bytes: chunk_bytes as u16,
            root: self.position as u16,
            acknowledge: state.sent,
            inline,
        }
    }

    /// Whether there is something for the program to do.
    pub(super) fn has_news(&self) -> bool {
        let state = self.state.borrow();
        state.blocked || state.mailbox.has_messages()
    }

    /// Whether a full mailbox keeps others waiting.
    pub(super) fn is_blocked(&self) -> bool {
        self.state.borrow().blocked
    }

    /// Whether `line`, the own doorbell, announces what was not received.
    pub(super) fn is_rung(&self, line: &Line) -> bool {
        line.word(0) == self.state.borrow().seen.wrapping_add(1)
    }

    /// Takes what has arrived for an empty box; see [`Mailbox::exchange`].
    pub(super) fn exchange(&self, empty: &mut Filled) -> bool {
        self.state.borrow_mut().mailbox.exchange(empty)
    }

    /// From now on takes whatever comes.
    pub(super) fn unlimit(&self) {
        self.state.borrow_mut().mailbox.unlimit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doorbells_go_through_a_line() {
        for inline in [None, Some([7; INLINE])] {
            let doorbell = Doorbell {
                number: 0x0102_0304,
                message_bytes: 77,
                chunk_bytes: 400,
                root: 300,
                acknowledge: 9,
                inline,
            };
            let line = Line(doorbell.to_bytes());
            assert_eq!(Doorbell::from_line(&line, 0x0102_0304), Some(doorbell));
            assert_eq!(Doorbell::from_line(&line, 0x0102_0305), None);
        }
    }
}
