//! Lines that say themselves whether their data is there: 28 bytes of data and a tag in one line.
//!
//! A line is read and written as a whole, so whoever finds the tag has the data too: no flag beside the data, no
//! second line to poll, no second write to wait for. (Open MPI's XHC puts short messages into the line of the
//! sequence number for the same reason.) Larger units are not atomic; each line has its own tag.
//!
//! Prices are those of puts and gets. A tagged line that is put from memory costs a put of one line; made of what
//! registers or L1 hold it costs a put without the read of memory. Data that a poll has found is taken at the price
//! of a get without the line's read.

use hal::{Clock, LINE_BYTES, Line, MpbCopy, MpbLine};

/// Bytes of data in a tagged line.
pub(crate) const TAGGED_BYTES: usize = LINE_BYTES - 4;

/// Where the data comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// Memory that L1 does not hold.
    Memory,
    /// Registers or L1: this core has just read or computed it.
    Cache,
}

/// Bytes of the L1 data cache.
const L1_BYTES: usize = 16 << 10;

impl Source {
    /// Where data is of which this core has read or written nothing but the last `touched_bytes` bytes of its memory
    /// since it read or wrote that data, the data included. This is the rule for everybody: what fits L1 costs
    /// nothing to read again (as the OC-Bcast paper has it in section 5.2.2), and nothing of what does not fit is
    /// supposed to have stayed.
    pub(crate) fn after(touched_bytes: usize) -> Self {
        if touched_bytes <= L1_BYTES { Self::Cache } else { Self::Memory }
    }
}

/// Tagged lines that `len` bytes take.
pub(crate) fn tagged_lines(len: usize) -> usize {
    len.div_ceil(TAGGED_BYTES)
}

/// Puts `data` into consecutive lines, each with `tag`; the lines are whole, so that they leave the write-combine
/// buffer at once. At least one line is written.
#[inline]
pub(crate) fn put_tagged(hal: &(impl MpbCopy + Clock), data: &[u8], source: Source, tag: u32, to: MpbLine) {
    let (lines, mut rest) = (tagged_lines(data.len()).max(1), data);
    hal.put_made(lines * LINE_BYTES, to, |_, line| {
        if source == Source::Memory && !data.is_empty() {
            hal.account_memory(1, 0);
        }
        let (bytes, mark) = line.split_at_mut(TAGGED_BYTES);
        rest = match rest.split_first_chunk::<TAGGED_BYTES>() {
            Some((piece, behind)) => {
                bytes.copy_from_slice(piece);
                behind
            }
            None => {
                bytes[..rest.len()].copy_from_slice(rest);
                &[]
            }
        };
        mark.copy_from_slice(&tag.to_le_bytes());
    });
}

/// Data of polled lines on its way to memory: one get, whose lines come one after the other.
pub(crate) struct Kept<'t> {
    target: &'t mut [u8],
    len: usize,
}

impl<'t> Kept<'t> {
    pub(crate) fn new(target: &'t mut [u8]) -> Self {
        Self { target, len: 0 }
    }

    /// Bytes that have not come yet.
    #[inline]
    pub(crate) fn lacks(&self) -> usize {
        self.target.len() - self.len
    }

    /// Keeps what a line has brought, as far as it lacks. The first bytes pay for the call, and whoever begins a line of
    /// memory pays for the line.
    #[inline]
    pub(crate) fn add(&mut self, hal: &(impl MpbCopy + Clock), data: &[u8; TAGGED_BYTES]) {
        let target = &mut self.target[self.len..];
        // Of all pieces but the last one it is known how long they are.
        self.len += match target.first_chunk_mut::<TAGGED_BYTES>() {
            Some(target) => Self::keep(hal, self.len, data, target),
            None => Self::keep(hal, self.len, &data[..target.len()], target),
        };
    }

    /// Keeps bytes that follow `before` others. Returns their number.
    #[inline(always)]
    fn keep(hal: &(impl MpbCopy + Clock), before: usize, data: &[u8], target: &mut [u8]) -> usize {
        if before == 0 {
            hal.keep(data, target);
        } else {
            hal.account_memory(0, (before + data.len()).div_ceil(LINE_BYTES) - before.div_ceil(LINE_BYTES));
            hal.bring_in(target);
            target.copy_from_slice(data);
        }
        data.len()
    }
}

/// The data of a line that has this tag.
#[inline]
pub(crate) fn tagged_data(line: &Line, tag: u32) -> Option<&[u8; TAGGED_BYTES]> {
    if line.word(TAGGED_BYTES / size_of::<u32>()) == tag { line.0.first_chunk() } else { None }
}

/// Puts `data` at the price that its source has.
pub(crate) fn put_from(hal: &impl MpbCopy, data: &[u8], source: Source, to: MpbLine) {
    match source {
        Source::Memory => hal.put(data, to),
        Source::Cache => put_cached(hal, data, to),
    }
}

/// Puts what this core has just read or written, so that L1 holds it: like a put from memory, without the reads of
/// memory.
pub(crate) fn put_cached(hal: &impl MpbCopy, data: &[u8], to: MpbLine) {
    hal.put_made(data.len(), to, |index, line| line.copy_from_slice(&data[index * LINE_BYTES..][..line.len()]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal::{CoreId, Counted, Mpb, MpbCoherence, sim::Machine};

    #[test]
    fn tagged_lines_have_their_data_and_leave_at_once() {
        let outcome = Machine::scc(1).run(|core| {
            for len in [0, 1, 27, 28, 29, 56, 57, 100] {
                let data: std::vec::Vec<_> = (0..len as u8).collect();
                let to = MpbLine::new(CoreId::new(0), 50);
                let before = core.counters();
                put_tagged(core, &data, Source::Memory, 77, to);
                let cost = core.counters() - before;
                assert_eq!((cost.mpb_lines_written, cost.drains), (tagged_lines(len).max(1) as u64, 0));
                assert_eq!(core.undrained(), None, "{len} bytes");
                core.invalidate_mpb();
                for (index, piece) in data.chunks(TAGGED_BYTES).enumerate() {
                    let line = core.load_line(to.plus(index));
                    assert_eq!(tagged_data(&line, 77).map(|data| &data[..piece.len()]), Some(piece));
                    assert_eq!(tagged_data(&line, 78), None);
                }
            }
        });
        outcome.unwrap();
    }

    #[test]
    fn a_line_of_memory_is_read_before_each_line_that_is_made_of_it() {
        let times = |source, len: usize| {
            let run = |core: &hal::sim::SimCore| {
                put_tagged(core, &std::vec![1; len], source, 5, MpbLine::new(CoreId::new(0), 50))
            };
            Machine::scc(1).run(run).unwrap().time_ps
        };
        // o_put^mem + C_w^mpb, and C_r^mem with the controller one router away.
        assert_eq!(times(Source::Cache, 28), 190_000 + 136_000);
        assert_eq!(times(Source::Memory, 28), 190_000 + 136_000 + 218_000);
        assert_eq!(times(Source::Memory, 84), 190_000 + 3 * (136_000 + 218_000));
        assert_eq!(times(Source::Memory, 0), 190_000 + 136_000);
    }
}
