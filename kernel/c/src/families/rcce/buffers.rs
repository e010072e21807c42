//! The MPBs as programs see them: blocks that all ranks allocate alike, put and get.

use alloc::vec;

use kernel::{
    collectives::ProgramLines,
    hal::{Core, LINE_BYTES},
};

use super::{blocks::Blocks, code};

/// What a program has of the MPBs. Places are bytes from the first of its lines on.
pub(super) struct Buffers<'r, C: Core> {
    pub(super) lines: ProgramLines<'r, 'r, C>,
    blocks: Blocks,
    /// Bytes up to the end of the last block that there ever was. What is behind it contains zeros.
    used: usize,
    /// Whether more lines may be reserved: not under messages, whose lines may move.
    pub(super) may_extend: bool,
}

/// The other end of a put or get: a place in the own MPB, or private memory.
pub(super) enum Private<T> {
    Own(usize),
    Memory(T),
}

impl<'r, C: Core> Buffers<'r, C> {
    pub(super) fn new(lines: ProgramLines<'r, 'r, C>) -> Self {
        Self { lines, blocks: Blocks::default(), used: 0, may_extend: true }
    }

    /// Allocates as many lines as bytes need. Where there are not enough, more are reserved, together with all ranks.
    pub(super) fn allocate(&mut self, bytes: usize) -> Result<usize, i32> {
        let len = bytes.checked_next_multiple_of(LINE_BYTES).filter(|len| *len > 0).ok_or(code::MALLOC)?;
        let start = self.blocks.take(len);
        let end = start.saturating_add(len);
        let there = self.extend(end);
        match there {
            Ok(()) => self.used = self.used.max(end),
            Err(_) => _ = self.blocks.give_back(start),
        }
        there.map(|()| start)
    }

    /// Sees that the lines have `end` bytes.
    fn extend(&mut self, end: usize) -> Result<(), i32> {
        if end <= self.lines.len_bytes() {
            return Ok(());
        }
        if end > self.lines.limit_bytes() {
            return Err(code::MALLOC);
        }
        if !self.may_extend {
            return Err(code::REQUESTS);
        }
        self.lines.extend(end.div_ceil(LINE_BYTES)).map_err(|_| code::MALLOC)
    }

    /// Allocates a block with zeros in all of it. Where other blocks were there before, all ranks wait for each other.
    pub(super) fn allocate_zeros(&mut self, bytes: usize) -> Result<usize, i32> {
        let used = self.used;
        let start = self.allocate(bytes)?;
        if start < used {
            let (comm, zeros) = (self.lines.comm(), vec![0; bytes.next_multiple_of(LINE_BYTES)]);
            // Nobody uses any more what was there, and nobody uses it again before it is cleared.
            comm.barrier();
            self.lines.put(&zeros, comm.rank(), start).map_err(code::of)?;
            comm.barrier();
        }
        Ok(start)
    }

    /// Frees what was allocated there.
    pub(super) fn free(&mut self, start: usize) -> Result<(), i32> {
        if self.blocks.give_back(start) { Ok(()) } else { Err(code::MALLOC) }
    }

    fn check(&self, start: usize, len: usize, refusal: i32) -> Result<(), i32> {
        if start.checked_add(len).is_some() && self.blocks.hold(start, len) { Ok(()) } else { Err(refusal) }
    }

    /// Puts bytes to `ue`'s MPB. Both ends have to be allocated.
    pub(super) fn put(&self, to: usize, source: Private<&[u8]>, len: usize, ue: usize) -> Result<(), i32> {
        self.lines.comm().check_rank(ue).map_err(code::of)?;
        self.check(to, len, code::TARGET)?;
        match source {
            Private::Memory(bytes) => self.lines.put(bytes, ue, to),
            Private::Own(from) => {
                self.check(from, len, code::SOURCE)?;
                self.check_overlap(from, to, len, ue)?;
                self.lines.put_own(from, ue, to, len)
            }
        }
        .map_err(code::of)
    }

    /// Gets bytes of `ue`'s MPB.
    pub(super) fn get(&self, target: Private<&mut [u8]>, from: usize, len: usize, ue: usize) -> Result<(), i32> {
        self.lines.comm().check_rank(ue).map_err(code::of)?;
        self.check(from, len, code::SOURCE)?;
        match target {
            Private::Memory(bytes) => self.lines.get(ue, from, bytes),
            Private::Own(to) => {
                self.check(to, len, code::TARGET)?;
                self.check_overlap(from, to, len, ue)?;
                self.lines.get_to_own(ue, from, to, len)
            }
        }
        .map_err(code::of)
    }

    /// Within one MPB, the two ends must have no byte in common.
    fn check_overlap(&self, from: usize, to: usize, len: usize, ue: usize) -> Result<(), i32> {
        let apart = from.abs_diff(to) >= len || ue != self.lines.comm().rank();
        if apart { Ok(()) } else { Err(code::DATA_OVERLAP) }
    }
}
