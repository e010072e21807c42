//! Where the pieces of a long message are, and when their places are free again.

use core::ops::Range;

use super::{
    hosts::{Hosts, Middle},
    pieces::Pieces,
    tree::Tree,
};

/// Lines of the largest piece. Readers take a poll and a call for each, here 2 % of its time.
const MOST_LINES: usize = 24;

/// What all ranks have to agree on: the staging lines of every MPB, in slots of one piece each.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    pub(super) pieces: Pieces,
    /// Pieces that there are.
    count: usize,
    /// Slots in each MPB, and lines of each.
    number: usize,
    lines: usize,
}

impl Slots {
    /// The pieces of `len` bytes, in up to `room` lines, at least two.
    pub(super) fn pieces(len: usize, room: usize) -> Pieces {
        Pieces::new(len, MOST_LINES.min(room / 2))
    }

    /// The slots for `len` bytes, in up to `room` lines, at least two.
    pub(super) fn new(middle: Middle<'_>, tree: &Tree, len: usize, room: usize) -> Self {
        let pieces = Self::pieces(len, room);
        let (count, lines) = pieces.clone().shape();
        // Groups of readers have different numbers of hosts, and one has few.
        let hosts = if tree.is_flat() { Hosts::new(middle, tree, tree.children()).len() } else { 1 };
        Self { pieces, count, number: (room / lines.max(1)).min(count.div_ceil(hosts)), lines }
    }

    /// Lines of all slots in an MPB.
    pub(super) fn total_lines(&self) -> usize {
        self.number * self.lines
    }
}

/// The slots of all hosts of a group of readers, over which the pieces go round: one slot of each host, then the next.
#[derive(Debug)]
pub(super) struct Rotation {
    hosts: Hosts,
    slots: Slots,
}

impl Rotation {
    /// The rotation for the ranks at positions `readers`, of whom there are some.
    pub(super) fn new(middle: Middle<'_>, tree: &Tree, readers: Range<usize>, slots: &Slots) -> Self {
        Self { hosts: Hosts::new(middle, tree, readers), slots: slots.clone() }
    }

    /// Rank in whose MPB piece `index` is, and its first line, from that of the first slot.
    pub(super) fn place(&self, index: usize) -> (usize, usize) {
        let round = index / self.hosts.len();
        (self.hosts.rank(index % self.hosts.len()), round % self.slots.number * self.slots.lines)
    }

    /// The pieces that have to be read by all before piece `index` is put, if that has not been made sure for an
    /// earlier one: half of those that the rotation holds.
    pub(super) fn before(&self, index: usize) -> Option<Range<usize>> {
        let half = self.half();
        (index.is_multiple_of(half) && index >= 2 * half).then(|| index - 2 * half..index - half)
    }

    /// Whether those who read have to say so when they have read piece `index`: it is the last of a half that is used
    /// again.
    pub(super) fn is_reported(&self, index: usize) -> bool {
        let next = index + 1 + self.half();
        next < self.slots.count && self.before(next).is_some_and(|half| half.end == index + 1)
    }

    fn half(&self) -> usize {
        (self.hosts.len() * self.slots.number / 2).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal::Layout;
    use std::{collections::HashMap, vec::Vec};

    fn check(cores: usize, root: usize, len: usize, room: usize) {
        let layout = Layout::scc().with_cores(cores);
        let middle = Middle::OfMesh(&layout);
        for rank in [root, (root + cores - 1) % cores] {
            let tree = Tree::of(cores, root, rank, 48);
            let slots = Slots::new(middle, &tree, len, room);
            assert!(slots.total_lines() <= room, "{slots:?}");
            let readers = if rank == root { tree.children() } else { tree.siblings() };
            let rotation = Rotation::new(middle, &tree, readers, &slots);
            let (mut held, mut read, mut reports) = (HashMap::new(), 0, Vec::new());
            for (index, piece) in slots.pieces.clone().enumerate() {
                if let Some(half) = rotation.before(index) {
                    assert_eq!(reports.remove(0), half.end, "the report that is awaited is the next one");
                    read = half.end;
                }
                let (host, first) = rotation.place(index);
                assert!(host < cores && first + piece.len().div_ceil(32) <= slots.total_lines());
                let before = held.insert((host, first), index);
                assert!(before.is_none_or(|before| before < read), "piece {index} overwrites one that is not read");
                if rotation.is_reported(index) {
                    reports.push(index + 1);
                }
            }
            assert!(reports.is_empty(), "reports that nobody takes: {reports:?}");
        }
    }

    #[test]
    fn no_piece_is_overwritten_before_it_was_read() {
        for cores in [2, 3, 5, 16, 47, 48, 50, 255] {
            for root in [0, cores / 2, cores - 1] {
                for room in [8, 11, 24, 48] {
                    for len in [1, 32, 33, 2000, 24 * 32 * 16, 24 * 32 * 16 + 1, 100_000] {
                        check(cores, root, len, room);
                    }
                }
            }
        }
    }
}
