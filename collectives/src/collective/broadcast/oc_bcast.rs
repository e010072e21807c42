//! OC-Bcast: the pipelined k-ary tree broadcast of Petrović, Shahmirzadi, Ropars and Schiper (SPAA 2012), section 4.
//!
//! The message goes in chunks of 96 lines down a k-ary tree. A node copies each chunk from its parent's MPB into its
//! own, from where its children copy it, all k at once; then into its memory. Two staging buffers let chunk i + 1 come
//! in while chunk i goes on. A parent tells its children of a chunk through a binary [notification
//! tree](super::notification), in which the children pass the word on among themselves; a child tells its parent when
//! it has the chunk, so that the buffer may be overwritten two chunks later.
//!
//! Where we differ from the paper's text, and why:
//!
//! * Its formula for the children holds for positions relative to the root, not for core ids.
//! * Its flags are one line each and are owned by the broadcast. Ours are the byte [signals](crate::mpb::signals), which
//!   know their writer: with one `notifyFlag` per core, two broadcasts with different roots could overtake each
//!   other, the second root's notification arriving before the first tree's.
//!
//! Per chunk: the root writes it once; every other node reads m lines from its parent, writes m to its own MPB, reads
//! them back, and sets one done flag; a node sets at most two flags in each of the two notification trees that it is
//! in.
//!
//! What the paper names and leaves out (section 5.4) are options, each off by default:
//!
//! * `straight_leaves`: a node without children copies from its parent's MPB straight to its memory: it reads m lines
//!   and writes none to an MPB.
//! * `shared_tiles`: one core of each tile is in the tree, on the root's tile the root; the others on its tile copy
//!   from its MPB straight to their memory. Half as many nodes on the SCC, and half as many copies, but each of them
//!   is one level further down.
//!
//! Two more are there to measure what the paper says: `single_buffer` (section 4.2: chunks of both buffers together,
//! of which there is one at a time), and the degree of the notification tree (section 4.1).

use alloc::rc::Rc;
use core::cell::Cell;

use hal::{LINE_BYTES, Messenger, Reason};

use super::{
    parameters::OcBcast,
    tree::{Parent, Place},
};
use crate::{Comm, Error};

impl OcBcast {
    /// Broadcasts from rank `root` to all.
    ///
    /// When it returns on a rank, that rank has the message and nobody reads its MPB any more.
    pub(super) fn run<C: Messenger>(&self, comm: &Comm<'_, C>, message: &mut [u8], root: usize) -> Result<(), Error> {
        if self.k == 0 || self.notification_degree == 0 {
            return Err(Error::NoDegree);
        }
        if comm.size() == 1 {
            return Ok(());
        }
        comm.own_staging_turn(2 * comm.mpb_layout().buffer_lines());
        comm.state::<Roots>().next(comm, root);
        let node = Node::new(comm, root, self);
        let chunk_bytes = node.lines * LINE_BYTES;
        let chunks = message.len().div_ceil(chunk_bytes);
        for (index, chunk) in message.chunks_mut(chunk_bytes).enumerate() {
            match &node.place.parent {
                None => node.send_down(index, chunk),
                Some(parent) => node.pass_on(index, chunk, parent),
            }
        }
        node.take_done(chunks.min(node.buffers) as u8, chunks.saturating_sub(1));
        Ok(())
    }
}

/// Bounds how far a rank gets ahead of one that it notifies: two chunks under each root, for whose parent both fetch them. As long as
/// the root is the same, this parent waits for both; under another root it is another parent.
#[derive(Default)]
struct Roots {
    last: Cell<usize>,
    changes: Cell<u8>,
}

impl Roots {
    /// Changes of the root until all ranks meet: [signals](crate::mpb::signals) tell 56 apart.
    const MOST_CHANGES: u8 = 24;

    /// Returns when a broadcast from this root may begin.
    fn next<C: Messenger>(&self, comm: &Comm<'_, C>, root: usize) {
        if self.last.replace(root) == root {
            return;
        }
        self.changes.set(self.changes.get() + 1);
        if self.changes.get() > Self::MOST_CHANGES {
            self.changes.set(0);
            comm.meet();
        }
    }
}

/// One rank in one broadcast.
struct Node<'n, 'c, C> {
    comm: &'n Comm<'c, C>,
    place: Rc<Place>,
    buffers: usize,
    /// Lines of each buffer.
    lines: usize,
}

impl<'n, 'c, C: Messenger> Node<'n, 'c, C> {
    fn new(comm: &'n Comm<'c, C>, root: usize, parameters: &OcBcast) -> Self {
        let lines = comm.mpb_layout().buffer_lines();
        let (buffers, lines) = if parameters.single_buffer { (1, 2 * lines) } else { (2, lines) };
        Self { comm, place: comm.place(root, parameters), buffers, lines }
    }

    /// First line of the buffer that chunk `index` is staged in.
    fn buffer(&self, index: usize) -> usize {
        self.comm.mpb_layout().buffer(if self.buffers == 1 { 0 } else { index % 2 })
    }

    /// Notifies these of a parent's children.
    fn notify(&self, children: &[usize]) {
        children.iter().for_each(|child| self.comm.signal(*child));
    }

    /// What the root does with a chunk.
    fn send_down(&self, index: usize, chunk: &[u8]) {
        self.free_buffer(index);
        self.comm.hal().put(chunk, self.comm.mpb_line(self.comm.rank(), self.buffer(index)));
        self.notify(&self.place.notified);
    }

    /// What every other node does with a chunk: steps (i) to (v) of section 4.1.
    fn pass_on(&self, index: usize, chunk: &mut [u8], parent: &Parent) {
        let (hal, place) = (self.comm.hal(), &self.place);
        let reason = Reason::new("OC-Bcast, notification of chunk").number(index as u32);
        self.comm.take_signal(parent.notified_by, reason);
        self.notify(&parent.notified);

        let buffer = self.buffer(index);
        let source = self.comm.mpb_line(parent.rank, buffer);
        if place.stages {
            self.free_buffer(index);
            hal.get_to_own_mpb(source, buffer, chunk.len().div_ceil(LINE_BYTES));
            self.comm.signal(parent.rank);
            self.notify(&place.notified);
            hal.get(self.comm.mpb_line(self.comm.rank(), buffer), chunk);
        } else {
            hal.get(source, chunk);
            self.comm.signal(parent.rank);
        }
    }

    /// Waits until the children have taken what the buffer of chunk `index` held before.
    fn free_buffer(&self, index: usize) {
        if index >= self.buffers {
            self.take_done(1, index - self.buffers);
        }
    }

    /// Takes `count` done flags from each child, the last of them for chunk `chunk`.
    fn take_done(&self, count: u8, chunk: usize) {
        if count > 0 {
            let reason = Reason::new("OC-Bcast, done with chunk").number(chunk as u32);
            self.comm.take_signals_of(&self.place.children, count, reason);
        }
    }
}
