//! A type as runs of bytes.
//!
//! A type is flattened once: into runs that repeat at a stride, of which most types have one. So a message can be packed
//! and unpacked from any byte on, in pieces of any length.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Datatype, Made};

/// `count` runs of `len` bytes, a stride apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Where the first one begins.
    pub(crate) offset: i64,
    /// Bytes of each.
    pub(crate) len: i64,
    /// Number of them.
    pub(crate) count: i64,
    /// From one's start to the next one's.
    pub(crate) stride: i64,
    /// Bytes of the type before the first.
    start: i64,
}

/// The runs of a type, all of which repeat.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    runs: Vec<Run>,
    /// Bytes of all runs.
    len: i64,
    /// How often all of them come, and how far apart.
    count: i64,
    stride: i64,
    /// Bytes of the type, and from one value to the next.
    size: i64,
    extent: i64,
}

impl Flat {
    pub(super) fn of(of: &Datatype) -> Self {
        let mut flat =
            Self { runs: Vec::new(), len: 0, count: 1, stride: 0, size: of.size_count(), extent: of.extent_count() };
        match of.made() {
            Made::Basic(basic) => {
                for (offset, format, _) in basic.values() {
                    flat.push(offset as i64, format.size() as i64, 1, 0);
                }
            }
            Made::Blocks(blocks) => {
                let alone = blocks.len() == 1;
                for blocks in blocks {
                    let inner = blocks.of.flat();
                    let strides = [(blocks.count, blocks.stride), (blocks.len, inner.extent)];
                    flat.append(inner, blocks.displacement, strides, alone);
                }
            }
        }
        flat
    }

    /// Adds the runs of an inner type, as often as two strides say, the outer one first.
    fn append(&mut self, inner: &Self, displacement: i64, [outer, within]: [(i64, i64); 2], alone: bool) {
        if inner.size == 0 {
            return;
        }
        let mut repeats: Vec<(i64, i64)> = [outer, within, (inner.count, inner.stride)].to_vec();
        repeats.retain(|(count, _)| *count != 1);
        // A run that repeats without a gap is a longer one.
        let mut single = match inner.runs[..] {
            [run] => Some(run),
            _ => None,
        };
        if let Some(run) = &mut single {
            repeats.push((run.count, run.stride));
            (run.count, run.stride) = (1, 0);
            repeats.retain(|(count, _)| *count != 1);
            while let Some((count, stride)) = repeats.pop() {
                if stride == run.len {
                    run.len *= count;
                } else {
                    (run.count, run.stride) = (count, stride);
                    break;
                }
            }
        }
        // What all runs of this type have in common is not written out.
        if alone && !repeats.is_empty() && self.runs.is_empty() {
            (self.count, self.stride) = repeats.remove(0);
        }
        let total: i64 = repeats.iter().map(|(count, _)| count).product();
        for number in 0..total {
            let (mut rest, mut offset) = (number, displacement);
            for (count, stride) in repeats.iter().rev() {
                offset += rest % count * stride;
                rest /= count;
            }
            match &single {
                Some(run) => self.push(offset + run.offset, run.len, run.count, run.stride),
                None => {
                    inner.runs.iter().for_each(|run| self.push(offset + run.offset, run.len, run.count, run.stride))
                }
            }
        }
    }

    /// Adds runs behind the last.
    fn push(&mut self, offset: i64, len: i64, count: i64, stride: i64) {
        if len == 0 || count == 0 {
            return;
        }
        let start = self.len;
        self.len += len * count;
        if let Some(last) = self.runs.last_mut() {
            let behind = last.offset + last.stride * (last.count - 1) + last.len;
            if count == 1 && last.count == 1 && behind == offset {
                last.len += len;
                return;
            }
            let regular = if last.count == 1 { offset - last.offset } else { last.stride };
            if count == 1 && len == last.len && offset == last.offset + regular * last.count {
                last.stride = regular;
                last.count += 1;
                return;
            }
        }
        self.runs.push(Run { offset, len, count, stride, start });
    }

    /// Bytes of a value.
    pub(crate) fn size(&self) -> usize {
        self.size as usize
    }

    /// So many bytes one behind the other, as one value.
    pub(crate) fn of_bytes(len: i64) -> Self {
        let mut flat = Self { runs: Vec::new(), len: 0, count: 1, stride: 0, size: len, extent: len };
        flat.push(0, len, 1, 0);
        flat
    }

    /// All that there is to know, as numbers that go to others.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = i64> {
        let runs = self.runs.iter().flat_map(|run| [run.offset, run.len, run.count, run.stride]);
        [self.count, self.stride, self.size, self.extent].into_iter().chain(runs)
    }

    /// What these numbers say.
    pub(crate) fn from_numbers(numbers: &[i64]) -> Option<Self> {
        let ([count, stride, size, extent], runs) = numbers.split_first_chunk()?;
        let mut flat = Self { runs: Vec::new(), len: 0, count: *count, stride: *stride, size: *size, extent: *extent };
        for run in runs.chunks_exact(4) {
            let (offset, len, count, stride) = (run[0], run[1], run[2], run[3]);
            flat.runs.push(Run { offset, len, count, stride, start: flat.len });
            flat.len += len * count;
        }
        Some(flat)
    }

    /// The first byte of `count` values and the one behind the last, as offsets; none if there are no bytes.
    pub(crate) fn bounds(&self, count: usize) -> Option<Range<i64>> {
        if count == 0 || self.size == 0 {
            return None;
        }
        let reach = |count: i64, stride: i64| (count - 1).saturating_mul(stride);
        let (mut first, mut end) = (i64::MAX, i64::MIN);
        for run in &self.runs {
            let own = reach(run.count, run.stride);
            first = first.min(run.offset.saturating_add(own.min(0)));
            end = end.max(run.offset.saturating_add(own.max(0)).saturating_add(run.len));
        }
        for (count, stride) in [(self.count, self.stride), (count as i64, self.extent)] {
            first = first.saturating_add(reach(count, stride).min(0));
            end = end.saturating_add(reach(count, stride).max(0));
        }
        Some(first..end)
    }

    /// Runs that are written down, and how often all of them come.
    #[cfg(test)]
    pub(crate) fn shape(&self) -> (usize, (i64, i64)) {
        (self.runs.len(), (self.count, self.stride))
    }

    /// Where `count` values are, if their bytes follow each other without a gap: offset of the first, and length.
    pub(crate) fn contiguous(&self, count: i64) -> Option<(i64, i64)> {
        let len = self.size.checked_mul(count)?;
        if len == 0 {
            return Some((0, 0));
        }
        match self.runs[..] {
            [run] if run.count == 1 && self.count == 1 && (count == 1 || self.extent == run.len) => {
                Some((run.offset, len))
            }
            _ => None,
        }
    }

    /// Calls `take` with each piece (offset, length) of bytes `range` of a message of values of this type.
    pub(crate) fn pieces(&self, range: Range<i64>, mut take: impl FnMut(i64, i64)) {
        let (mut at, end) = (range.start, range.end);
        if at >= end {
            return;
        }
        if let Some((first, _)) = self.contiguous((end - 1) / self.size + 1) {
            return take(first + at, end - at);
        }
        let (mut value, rest) = (at / self.size, at % self.size);
        let (mut repeat, mut rest) = (rest / self.len, rest % self.len);
        loop {
            let base = value * self.extent + repeat * self.stride;
            let first = if rest == 0 { 0 } else { self.runs.partition_point(|run| run.start <= rest) - 1 };
            for run in &self.runs[first..] {
                let within = rest.saturating_sub(run.start).max(0);
                let (mut block, mut byte) = if within == 0 { (0, 0) } else { (within / run.len, within % run.len) };
                while block < run.count {
                    let len = (run.len - byte).min(end - at);
                    take(base + run.offset + block * run.stride + byte, len);
                    at += len;
                    if at == end {
                        return;
                    }
                    (block, byte) = (block + 1, 0);
                }
            }
            (repeat, rest) = (repeat + 1, 0);
            if repeat == self.count {
                (value, repeat) = (value + 1, 0);
            }
        }
    }
}
