//! Scatter-allgather over one-sided puts and gets, which the OC-Bcast paper names as another design (section 5.4).
//!
//! The message goes in blocks of P slices of at most half the shared staging. The root puts slice i of a block
//! straight into the MPB of position i, and beside it, in that rank's cell, how many blocks are there. Then everybody
//! gets every slice from the MPB that it is in straight to its memory, its own one first and then those of the
//! following positions, so that at any time each MPB has about one reader. No rank but the root puts anything, and
//! nothing is staged twice: per line, the root writes one line, and every other rank reads one and writes it to
//! memory.
//!
//! There are two halves, so that the root puts a block while the one before is got. Before it puts the next but one
//! all ranks are through with that half, which a barrier shows. Nobody waits at the end.

use core::ops::Range;

use hal::{Deadline, LINE_BYTES, Messenger, Place, Reason};

use super::{Ring, halving::Slices};
use crate::{
    Comm,
    mpb::{
        sequence::{Turn, Writers},
        tagged::{Source, put_tagged, tagged_data},
    },
};

pub(super) fn broadcast<C: Messenger>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) {
    if comm.size() == 1 || message.is_empty() {
        return;
    }
    let plan = Plan::new(message.len(), comm.size(), comm.shared_staging_lines() / 2);
    let halves = plan.blocks.min(2);
    let turn = comm.turn(halves * plan.lines, Writers::Anyone);
    let mut ranks = Ranks { ring: Ring::new(comm, root), comm, turn, plan };
    if comm.rank() == root {
        ranks.put_blocks(message);
    } else {
        ranks.get_blocks(message);
    }
}

/// How a message is divided.
struct Plan {
    len: usize,
    size: usize,
    /// Lines of the longest slice.
    lines: usize,
    blocks: usize,
}

impl Plan {
    fn new(len: usize, size: usize, limit_lines: usize) -> Self {
        let lines = len.div_ceil(LINE_BYTES).div_ceil(size).min(limit_lines);
        Self { len, size, lines, blocks: len.div_ceil(lines * size * LINE_BYTES) }
    }

    fn block(&self, block: usize) -> Slices {
        let bytes = self.lines * self.size * LINE_BYTES;
        Slices::new(self.block_start(block, bytes)..self.block_start(block + 1, bytes), self.size)
    }

    fn block_start(&self, block: usize, bytes: usize) -> usize {
        (block * bytes).min(self.len)
    }
}

struct Ranks<'r, 'c, C> {
    comm: &'r Comm<'c, C>,
    ring: Ring,
    turn: Turn,
    plan: Plan,
}

impl<C: Messenger> Ranks<'_, '_, C> {
    /// First line of the half that `block` is staged in.
    fn half(&self, block: usize) -> usize {
        self.turn.staging.start + block % 2 * self.plan.lines
    }

    fn cell(&self, rank: usize) -> hal::MpbLine {
        self.comm.mpb_line(rank, self.turn.cells[0])
    }

    fn put_blocks(&mut self, message: &[u8]) {
        for block in 0..self.plan.blocks {
            if block >= 2 {
                // All are through with that half.
                self.comm.barrier_within();
            }
            let slices = self.plan.block(block);
            for position in 0..self.comm.size() {
                let bytes = slices.slice(position);
                if bytes.is_empty() {
                    break;
                }
                let rank = self.ring.rank_at(position);
                self.comm.hal().put(&message[bytes], self.comm.mpb_line(rank, self.half(block)));
                let count = block as u32 + 1;
                put_tagged(self.comm.hal(), &count.to_le_bytes(), Source::Cache, self.turn.tag, self.cell(rank));
            }
        }
    }

    fn get_blocks(&mut self, message: &mut [u8]) {
        for block in 0..self.plan.blocks {
            let slices = self.plan.block(block);
            for position in self.ring.position..self.ring.position + self.comm.size() {
                let bytes = slices.slice(position);
                if !bytes.is_empty() {
                    self.get_slice(block, self.ring.rank_at(position), message, bytes);
                }
            }
            if block + 2 < self.plan.blocks {
                // All are through with that half.
                self.comm.barrier_within();
            }
        }
    }

    fn get_slice(&self, block: usize, from: usize, message: &mut [u8], bytes: Range<usize>) {
        let reason = Reason::new("a slice of scatter-allgather, block").number(block as u32);
        let tag = self.turn.tag;
        let found = self.comm.wait_until(&[Place::Line(self.cell(from))], Deadline::Never, reason, |poll| {
            let line = poll.line(0);
            let count = tagged_data(&line, tag)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
            (count > block as u32).then_some(())
        });
        if found.is_ok() {
            self.comm.hal().get(self.comm.mpb_line(from, self.half(block)), &mut message[bytes]);
        }
    }
}
