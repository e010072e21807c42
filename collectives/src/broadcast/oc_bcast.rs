//! OC-Bcast: the pipelined k-ary tree broadcast of Petrović, Shahmirzadi, Ropars and Schiper (SPAA 2012), section 4.
//!
//! The message goes in chunks of 96 lines down a k-ary tree. A node copies each chunk from its parent's MPB into its own,
//! from where its children copy it, all k at once; then into its memory. Two staging buffers let chunk i + 1 come in
//! while chunk i goes
//! on. A parent tells its children of a chunk through a binary notification tree, in which the children pass the word on among
//! themselves; a child tells its parent when it has the chunk, so that the buffer may be overwritten two chunks later.
//!
//! Where we differ from the paper's text, and why:
//!
//! * Its formula for the children holds for positions relative to the root, not for core ids.
//! * Its flags are one line each and are owned by the broadcast. Ours are the byte [signals](crate::signals), which know their
//!   writer: with one `notifyFlag` per core, two broadcasts with different roots could overtake each other, the second
//!   root's notification arriving before the first tree's.
//!
//! Per chunk: the root writes it once; every other node reads m lines from its parent, writes m to its own MPB, reads them
//! back, and sets one done flag; a node sets at most two flags in each of the two notification trees that it is in.

use hal::{LINE_BYTES, Mpb, MpbCopy, Reason, Wait};

use crate::{Comm, Error};

/// The parameters of OC-Bcast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OcBcast {
    /// Degree of the message propagation tree.
    pub k: usize,
}

impl Default for OcBcast {
    /// k = 7, the best trade-off on 48 cores (section 5.2).
    fn default() -> Self {
        Self { k: 7 }
    }
}

impl OcBcast {
    /// Broadcasts `message` from rank `root` to all. Collective: all ranks name the same root, length and parameters.
    ///
    /// When it returns on a rank, that rank has the message and nobody reads its MPB any more.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, [`Error::NoDegree`] for k = 0; on every rank alike, with nothing sent.
    pub fn broadcast<C: Mpb + MpbCopy + Wait>(
        &self,
        comm: &Comm<'_, C>,
        message: &mut [u8],
        root: usize,
    ) -> Result<(), Error> {
        comm.check_rank(root)?;
        if self.k == 0 {
            return Err(Error::NoDegree);
        }
        let node = Node::new(comm, root, self.k);
        let chunk_bytes = comm.mpb_layout().buffer_lines() * LINE_BYTES;
        let chunks = message.len().div_ceil(chunk_bytes);
        if comm.size() == 1 {
            return Ok(());
        }
        comm.own_staging_turn();
        for (index, chunk) in message.chunks_mut(chunk_bytes).enumerate() {
            if node.position == 0 {
                node.send_down(index, chunk);
            } else {
                node.pass_on(index, chunk);
            }
        }
        node.take_done(chunks.min(2) as u8, chunks.saturating_sub(1));
        Ok(())
    }
}

/// One rank's place in the trees of one broadcast. Positions count from the root.
struct Node<'n, 'c, C> {
    comm: &'n Comm<'c, C>,
    root: usize,
    k: usize,
    position: usize,
}

impl<'n, 'c, C: Mpb + MpbCopy + Wait> Node<'n, 'c, C> {
    fn new(comm: &'n Comm<'c, C>, root: usize, k: usize) -> Self {
        let position = (comm.rank() + comm.size() - root) % comm.size();
        Self { comm, root, k, position }
    }

    fn rank_at(&self, position: usize) -> usize {
        (self.root + position) % self.comm.size()
    }

    /// Position of the parent of a node that is not the root.
    fn parent(&self) -> usize {
        (self.position - 1) / self.k
    }

    /// Positions of the children of the node at `position`.
    fn children_of(&self, position: usize) -> core::ops::Range<usize> {
        let first = position.saturating_mul(self.k).saturating_add(1).min(self.comm.size());
        first..first.saturating_add(self.k).min(self.comm.size())
    }

    /// Whom the member of `parent`'s notification tree with number `member` notifies: the tree is a binary heap of the
    /// parent (member 0) and its children (members 1, 2, …).
    fn notify_below(&self, parent: usize, member: usize) {
        let children = self.children_of(parent);
        for below in [2 * member + 1, 2 * member + 2] {
            if below <= children.len() {
                self.comm.signal(self.rank_at(children.start + below - 1));
            }
        }
    }

    /// What the root does with a chunk.
    fn send_down(&self, index: usize, chunk: &[u8]) {
        self.free_buffer(index);
        self.comm.hal().put(chunk, self.comm.mpb_line(self.rank_at(0), self.comm.mpb_layout().buffer(index % 2)));
        self.notify_below(0, 0);
    }

    /// What every other node does with a chunk: steps (i) to (v) of section 4.1.
    fn pass_on(&self, index: usize, chunk: &mut [u8]) {
        let hal = self.comm.hal();
        let parent = self.parent();
        let member = self.position - self.children_of(parent).start + 1;
        let above = match (member - 1) / 2 {
            0 => parent,
            sibling => self.children_of(parent).start + sibling - 1,
        };
        self.comm.take_signal(self.rank_at(above), Reason::new("OC-Bcast, notification of chunk").number(index as u32));
        self.notify_below(parent, member);

        self.free_buffer(index);
        let buffer = self.comm.mpb_layout().buffer(index % 2);
        hal.get_to_own_mpb(self.comm.mpb_line(self.rank_at(parent), buffer), buffer, chunk.len().div_ceil(LINE_BYTES));
        self.comm.signal(self.rank_at(parent));
        self.notify_below(self.position, 0);
        hal.get(self.comm.mpb_line(self.comm.rank(), buffer), chunk);
    }

    /// Waits until the children have taken what the buffer of chunk `index` held before.
    fn free_buffer(&self, index: usize) {
        if index >= 2 {
            self.take_done(1, index - 2);
        }
    }

    /// Takes `count` done flags from each child, the last of them for chunk `chunk`.
    fn take_done(&self, count: u8, chunk: usize) {
        let children = self.children_of(self.position);
        let reason = Reason::new("OC-Bcast, done with chunk").number(chunk as u32);
        if count > 0 {
            // Ranks wrap around at most once; each part ascends.
            let wrap = (self.comm.size() - self.root).clamp(children.start, children.end);
            let ranks = |positions: core::ops::Range<usize>| positions.map(|position| self.rank_at(position));
            self.comm.take_signals(ranks(wrap..children.end), count, reason);
            self.comm.take_signals(ranks(children.start..wrap), count, reason);
        }
    }
}
