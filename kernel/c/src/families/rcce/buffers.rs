//! The MPBs as programs see them: blocks that all ranks allocate alike, put and get.

use kernel::{
    collectives::ProgramLines,
    hal::{Core, LINE_BYTES},
};

use super::{blocks::Blocks, code};

/// What a program has of the MPBs. Places are bytes from the first of its lines on.
pub(super) struct Buffers<'r, C: Core> {
    pub(super) lines: ProgramLines<'r, 'r, C>,
    blocks: Blocks,
}

/// The other end of a put or get: a place in the own MPB, or private memory.
pub(super) enum Private<T> {
    Own(usize),
    Memory(T),
}

impl<'r, C: Core> Buffers<'r, C> {
    pub(super) fn new(lines: ProgramLines<'r, 'r, C>) -> Self {
        Self { lines, blocks: Blocks::default() }
    }

    /// Allocates as many lines as bytes need. Where there are not enough, more are reserved, together with all ranks.
    pub(super) fn allocate(&mut self, bytes: usize) -> Result<usize, i32> {
        let len = bytes.checked_next_multiple_of(LINE_BYTES).filter(|len| *len > 0).ok_or(code::MALLOC)?;
        let start = self.blocks.take(len);
        let (end, limit) = (start.saturating_add(len), self.lines.limit_bytes());
        let there =
            end <= self.lines.len_bytes() || (end <= limit && self.lines.extend(end.div_ceil(LINE_BYTES)).is_ok());
        if !there {
            self.blocks.give_back(start);
            return Err(code::MALLOC);
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
