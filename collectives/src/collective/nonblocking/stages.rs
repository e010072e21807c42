//! Elements that are longer than a chunk.
//!
//! They are combined as a whole, and chunks go up and down the tree one by one. So each element goes up level by level: a rank has
//! its turn with it when those below have had theirs, and takes the chunks of all of its children before. That makes as many
//! stages for an element as the tree has levels, each of as many chunks as the element has; at every stage each level is at
//! another element, and the result of that with which the root was done comes down.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use super::{
    lines::{CHUNK_BYTES, Chunk},
    tree::{Node, height},
};

/// Where a rank is with its elements.
pub(super) struct Stages {
    element_bytes: usize,
    elements: usize,
    /// Levels below the root, below this rank, and below each of its children.
    tree: usize,
    own: usize,
    children: Vec<usize>,
    /// What has come from each child and was not combined yet.
    raised: Vec<Vec<u8>>,
}

impl Stages {
    pub(super) fn new(element_bytes: usize, elements: usize, (node, me): (&Node, usize), size: usize) -> Self {
        let children: Vec<_> = node.children.iter().map(|(first, end)| height(end - first)).collect();
        let raised = vec![Vec::new(); children.len()];
        Self { element_bytes, elements, tree: height(size), own: height(node.end - me), children, raised }
    }

    fn of_element(&self) -> usize {
        self.element_bytes.div_ceil(CHUNK_BYTES)
    }

    /// Chunks of the operation.
    pub(super) fn chunks(&self) -> usize {
        if self.elements == 0 { 0 } else { (self.elements + self.tree) * self.of_element() }
    }

    /// The bytes that a rank with `below` levels below it has its turn with; none if it has no element then.
    fn turn(&self, chunk: usize, below: usize) -> Range<usize> {
        let (stage, part) = (chunk / self.of_element(), chunk % self.of_element());
        match stage.checked_sub(below).filter(|element| *element < self.elements) {
            Some(element) => {
                let (first, end) = (element * self.element_bytes, (element + 1) * self.element_bytes);
                first + part * CHUNK_BYTES..end.min(first + (part + 1) * CHUNK_BYTES)
            }
            None => 0..0,
        }
    }

    /// The bytes whose result comes down.
    pub(super) fn results(&self, chunk: usize) -> Range<usize> {
        self.turn(chunk, self.tree)
    }

    /// Takes what the children contribute to a chunk, and returns what this rank does.
    pub(super) fn raise(&mut self, chunk: usize, data: &[u8], contributions: &mut [Option<Chunk>]) -> Chunk {
        for (child, contribution) in contributions.iter_mut().enumerate() {
            let len = self.turn(chunk, self.children[child]).len();
            contribution.take().into_iter().for_each(|bytes| self.raised[child].extend_from_slice(&bytes[..len]));
        }
        let (mut own, bytes) = ([0; CHUNK_BYTES], self.turn(chunk, self.own));
        own[..bytes.len()].copy_from_slice(&data[bytes]);
        own
    }

    /// The bytes of the element of which all children's have come with this chunk, if there is one.
    pub(super) fn complete(&self, chunk: usize) -> Option<Range<usize>> {
        let is_last = (chunk + 1).is_multiple_of(self.of_element());
        let element = (chunk / self.of_element() + 1).checked_sub(self.own)?;
        (is_last && self.own > 0 && element < self.elements)
            .then(|| element * self.element_bytes..(element + 1) * self.element_bytes)
    }

    /// The children's elements that are combined next, in the order of ranks.
    pub(super) fn operands(&mut self) -> Vec<Vec<u8>> {
        self.raised.iter_mut().map(|raised| raised.drain(..self.element_bytes).collect()).collect()
    }
}
