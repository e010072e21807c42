//! One non-blocking operation on one rank: what it has done, what it waits for, and what it can do.
//!
//! Every operation is a sequence of chunks. A chunk is *combined* on the way up the tree: a rank takes the
//! contributions of its children from their *up* lines and puts what they and its own make into its own. What comes
//! out at the root is *passed* down: a rank takes the result from one of its parent's two *down* lines and puts it
//! into its own. In a barrier chunks are empty; in a broadcast only the ranks between its root and the tree's root
//! have something to contribute. Elements that are longer than a chunk go up [in stages](super::stages).
//!
//! Lines are written by their owners only and never cleared; where a communicator has none in the MPBs, they are eight words each of
//! uncached memory, of which that with the chunk's number is written last and read first. Chunks are counted over all operations that have the
//! same lines, alike on all ranks, and a line says which chunk is in it. When may it be written again?
//!
//! * The up line, when the parent has taken the contribution: which it has, if it has passed down the result.
//! * A down line, when all children have taken the chunk before the last one. They say so in their up lines, with
//!   their next contribution, or, if they do not contribute, each time.

use alloc::{boxed::Box, vec, vec::Vec};
use core::ops::Range;

use hal::{Clock, Core, Line};

use super::{
    lines::{CHUNK_BYTES, Chunk, Lines, UP, parts},
    stages::Stages,
    tree::Node,
};

/// Combines what is there (the first argument) with a contribution.
pub(super) type Combine = Box<dyn Fn(&mut [u8], &[u8])>;

/// What an operation does with its chunks.
pub(super) enum Kind {
    /// One empty chunk.
    Barrier,
    Broadcast {
        root: usize,
    },
    Allreduce {
        combine: Combine,
        /// Bytes of an element of the operands, at least 1.
        element_bytes: usize,
        /// P54C cycles that one element takes.
        cycles: u64,
    },
}

/// What an operation waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// The contribution of a child, by its place among the children.
    Contribution(usize),
    /// That a child has taken a chunk, by its place among the children.
    Taken(usize),
    /// The result of a chunk, from the parent.
    Result,
}

pub(super) struct Operation {
    kind: Kind,
    me: usize,
    node: Node,
    at: Lines,
    /// Number of its first chunk, and how many it has.
    first: u32,
    chunks: u32,
    pub(super) data: Vec<u8>,
    /// How elements that are longer than a chunk go.
    stages: Option<Stages>,
    /// The contributions to the next chunk that have come.
    contributions: Vec<Option<Chunk>>,
    /// What goes into the up line next.
    partial: Chunk,
    /// The last chunk that each child has taken, as far as this rank knows.
    children_taken: Vec<u32>,
    /// Chunks that were combined, were put into the up line, were taken from the parent, and were passed on.
    combined: u32,
    given: u32,
    taken: u32,
    passed: u32,
    /// Chunks that the up line says were taken.
    told: u32,
}

/// Bytes of a chunk of whole elements.
fn chunk_bytes(kind: &Kind) -> usize {
    match kind {
        Kind::Barrier | Kind::Broadcast { .. } => CHUNK_BYTES,
        Kind::Allreduce { element_bytes, .. } => CHUNK_BYTES / element_bytes * element_bytes,
    }
}

impl Operation {
    /// Begins an operation with these lines, whose first chunk has number `first`.
    pub(super) fn new(kind: Kind, (me, size): (usize, usize), at: Lines, first: u32, data: Vec<u8>) -> Self {
        let node = Node::of(me, size);
        let fewest = usize::from(matches!(kind, Kind::Barrier));
        let stages = match kind {
            Kind::Allreduce { element_bytes, .. } if element_bytes > CHUNK_BYTES => {
                Some(Stages::new(element_bytes, data.len() / element_bytes, (&node, me), size))
            }
            _ => None,
        };
        let chunks = stages.as_ref().map_or_else(|| data.len().div_ceil(chunk_bytes(&kind)), Stages::chunks);
        let chunks = chunks.max(fewest) as u32;
        let children = node.children.len();
        Self {
            kind,
            me,
            node,
            at,
            first,
            chunks,
            data,
            stages,
            contributions: vec![None; children],
            partial: [0; CHUNK_BYTES],
            // Nothing is known of them but what the lines' last users could not have done without.
            children_taken: vec![first.wrapping_sub(3); children],
            combined: 0,
            given: 0,
            taken: 0,
            passed: 0,
            told: 0,
        }
    }

    /// The number of the first chunk of the operation that has these lines next.
    pub(super) fn next(&self) -> u32 {
        self.first.wrapping_add(self.chunks)
    }

    pub(super) fn is_done(&self) -> bool {
        self.first_undone() == self.chunks
    }

    /// The first chunk that this rank is not done with.
    pub(super) fn first_undone(&self) -> u32 {
        let up = if self.contributes() { self.given } else { self.chunks };
        let down = if self.node.parent.is_some() { self.taken } else { self.chunks };
        let on = if self.node.children.is_empty() { self.chunks } else { self.passed };
        up.min(down).min(on)
    }

    /// Whether there is something to be contributed in the subtree of this rank.
    fn contributes(&self) -> bool {
        match self.kind {
            Kind::Broadcast { root } => (self.me..self.node.end).contains(&root),
            Kind::Barrier | Kind::Allreduce { .. } => true,
        }
    }

    /// Whether there is something to be contributed in the subtree of a child.
    fn child_contributes(&self, child: usize) -> bool {
        let (first, end) = self.node.children[child];
        match self.kind {
            Kind::Broadcast { root } => (first..end).contains(&root),
            Kind::Barrier | Kind::Allreduce { .. } => true,
        }
    }

    /// The bytes of what comes out in a chunk.
    fn bytes(&self, chunk: u32) -> Range<usize> {
        if let Some(stages) = &self.stages {
            return stages.results(chunk as usize);
        }
        let (len, chunk) = (chunk_bytes(&self.kind), chunk as usize);
        (chunk * len).min(self.data.len())..((chunk + 1) * len).min(self.data.len())
    }

    fn number(&self, chunk: u32) -> u32 {
        self.first.wrapping_add(chunk)
    }

    /// How many chunks this rank has the result of.
    fn known(&self) -> u32 {
        match self.kind {
            // On the way up the message comes by.
            Kind::Broadcast { .. } if self.contributes() => self.combined,
            _ if self.node.parent.is_none() => self.combined,
            _ => self.taken,
        }
    }

    /// Whether a child has taken what the down line for a chunk held before.
    fn has_taken(&self, child: usize, chunk: u32) -> bool {
        self.children_taken[child].wrapping_sub(self.number(chunk).wrapping_sub(2)) as i32 >= 0
    }

    /// The line of a chunk's result.
    fn down_line(&self, chunk: u32) -> usize {
        1 + (self.number(chunk) % 2) as usize
    }

    /// Where its lines are.
    pub(super) fn lines(&self) -> &Lines {
        &self.at
    }

    /// What this operation waits for, and at whose which line; nothing if it is done.
    pub(super) fn wants(&self) -> impl Iterator<Item = (Want, usize, usize)> + '_ {
        let children = self.node.children.iter().enumerate().map(|(child, (rank, _))| (child, *rank));
        let combines = self.contributes() && self.combined < self.chunks && self.combined == self.given;
        let contributions = children.clone().filter(move |(child, _)| {
            combines && self.child_contributes(*child) && self.contributions[*child].is_none()
        });
        let passes = self.passed < self.chunks && self.passed < self.known();
        let taken = children.filter(move |(child, _)| passes && !self.has_taken(*child, self.passed));
        let result =
            self.node.parent.filter(|_| self.taken < self.chunks && (!self.contributes() || self.given > self.taken));
        let up = contributions.map(|(child, rank)| (Want::Contribution(child), rank, UP));
        let up = up.chain(taken.map(|(child, rank)| (Want::Taken(child), rank, UP)));
        up.chain(result.map(|rank| (Want::Result, rank, self.down_line(self.taken))))
    }

    /// Whether a line has what this operation waits for.
    pub(super) fn finds(&self, want: Want, line: &Line) -> bool {
        let (_, number, taken) = parts(line);
        match want {
            Want::Contribution(_) => number == self.number(self.combined),
            Want::Taken(_) => taken.wrapping_sub(self.number(self.passed).wrapping_sub(2)) as i32 >= 0,
            Want::Result => number == self.number(self.taken),
        }
    }

    /// Takes what it waited for from a line that has it.
    pub(super) fn take(&mut self, hal: &impl Core, want: Want, line: &Line) {
        let (data, _, taken) = parts(line);
        match want {
            Want::Contribution(child) => {
                self.contributions[child] = Some(data);
                self.children_taken[child] = taken;
                // Taken to registers, at the price of a get beside the line's read.
                hal.keep(&[], &mut []);
            }
            Want::Taken(child) => self.children_taken[child] = taken,
            Want::Result => {
                let bytes = self.bytes(self.taken);
                if self.known() <= self.taken && !bytes.is_empty() {
                    hal.keep(&data[..bytes.len()], &mut self.data[bytes]);
                }
                self.taken += 1;
            }
        }
    }

    /// Does what can be done without waiting, and tells the ranks for which it has put something.
    pub(super) fn go_on(&mut self, hal: &impl Core, tell: impl Fn(usize)) {
        loop {
            let before = (self.combined, self.given, self.passed);
            self.combine(hal);
            // Those below wait for it longer than those above.
            self.pass_on(hal, &tell);
            self.give(hal, &tell);
            if before == (self.combined, self.given, self.passed) {
                break;
            }
        }
    }

    /// Combines the next chunk, if all contributions are there.
    fn combine(&mut self, hal: &impl Clock) {
        let is_there = |child: usize| self.contributions[child].is_some() || !self.child_contributes(child);
        let ready = self.contributes() && self.combined < self.chunks && self.combined == self.given;
        if !ready || !(0..self.contributions.len()).all(is_there) {
            return;
        }
        match &mut self.stages {
            Some(stages) => {
                self.partial = stages.raise(self.combined as usize, &self.data, &mut self.contributions);
                hal.account_memory(1, 1);
                if let (Kind::Allreduce { combine, cycles, .. }, Some(element)) =
                    (&self.kind, stages.complete(self.combined as usize))
                {
                    let operands = stages.operands();
                    hal.compute(operands.len() as u64 * cycles);
                    operands.into_iter().for_each(|operand| combine(&mut self.data[element.clone()], &operand));
                }
            }
            None => self.combine_chunk(hal),
        }
        self.combined += 1;
        if self.node.parent.is_none() {
            self.given += 1;
        }
    }

    /// Combines a chunk of whole elements.
    fn combine_chunk(&mut self, hal: &impl Clock) {
        let bytes = self.bytes(self.combined);
        let own = &mut self.data[bytes];
        let len = own.len();
        self.partial[..len].copy_from_slice(own);
        let mut is_new = false;
        for contribution in self.contributions.iter_mut().filter_map(Option::take) {
            is_new = true;
            match &self.kind {
                Kind::Barrier => {}
                Kind::Broadcast { .. } => self.partial = contribution,
                Kind::Allreduce { combine, element_bytes, cycles } => {
                    combine(&mut self.partial[..len], &contribution[..len]);
                    hal.compute((len / element_bytes) as u64 * cycles);
                }
            }
        }
        if len > 0 {
            hal.account_memory(1, 0);
            let has_result = self.node.parent.is_none() || matches!(self.kind, Kind::Broadcast { .. });
            if has_result && is_new {
                own.copy_from_slice(&self.partial[..len]);
                hal.account_memory(0, 1);
            }
        }
    }

    /// Puts what was combined into the up line, or only how far this rank has come.
    fn give(&mut self, hal: &impl Core, tell: impl Fn(usize)) {
        let Some(parent) = self.node.parent else { return };
        let has_contribution = self.combined > self.given && self.taken >= self.given;
        let has_news = !self.contributes() && self.told < self.taken;
        if has_contribution || has_news {
            let taken = self.number(self.taken).wrapping_sub(1);
            let number = if has_contribution { self.number(self.given) } else { taken };
            self.at.put(hal, (self.me, UP), &self.partial, number, taken);
            tell(parent);
            self.told = self.taken;
            self.given += u32::from(has_contribution);
        }
    }

    /// Passes the next result down.
    fn pass_on(&mut self, hal: &impl Core, tell: impl Fn(usize)) {
        let children = self.node.children.len();
        if children == 0 || self.passed >= self.known() {
            return;
        }
        if (0..children).all(|child| self.has_taken(child, self.passed)) {
            let bytes = self.bytes(self.passed);
            let mut chunk = [0; CHUNK_BYTES];
            chunk[..bytes.len()].copy_from_slice(&self.data[bytes]);
            let number = self.number(self.passed);
            self.at.put(hal, (self.me, self.down_line(self.passed)), &chunk, number, 0);
            self.passed += 1;
            self.node.children.iter().for_each(|(child, _)| tell(*child));
        }
    }
}
