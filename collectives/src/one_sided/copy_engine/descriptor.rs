//! What a client asks of its engine, and how it fits into a line.

use hal::{Combined, LINE_BYTES, Line, Region, Regions, SharedAddress, kind};

use crate::Comm;

/// A copy from shared memory to shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transfer {
    /// First byte of the source.
    pub(crate) from: SharedAddress,
    /// First byte of the destination.
    pub(crate) to: SharedAddress,
    pub(crate) len_bytes: usize,
}

impl Transfer {
    /// Carries the copy out. The last line of it may stay in the write-combine buffer.
    pub(crate) fn perform(&self, comm: &Comm<'_, impl Combined>) {
        let [(from, from_offset), (to, to_offset)] =
            [self.from, self.to].map(|first| self.lines_at(first, comm.regions()));
        comm.hal().copy(from, from_offset, to, to_offset, self.len_bytes);
    }

    /// The lines that as many bytes from `first` on lie in, and where in them they begin.
    pub(crate) fn lines_at(&self, first: SharedAddress, regions: &Regions) -> (Region<kind::Combined>, usize) {
        let within = first.offset() % LINE_BYTES;
        (regions.region(first.line_start(), (within + self.len_bytes).next_multiple_of(LINE_BYTES)), within)
    }
}

/// A line of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Descriptor {
    /// Copy this.
    Copy(Transfer),
    /// The client has nothing more to copy.
    Leave,
}

const COPY: u32 = 1;
const LEAVE: u32 = 2;

impl Descriptor {
    /// The line of descriptor `number`, which comes last: so whoever finds it has the rest, also where a line is read
    /// word by word from its end.
    pub(super) fn to_bytes(self, number: u32) -> [u8; LINE_BYTES] {
        let words = match self {
            Self::Copy(Transfer { from, to, len_bytes }) => {
                let ([from_home, from], [to_home, to]) = (from.to_words(), to.to_words());
                [COPY, from_home, from, to_home, to, len_bytes as u32, 0, number]
            }
            Self::Leave => [LEAVE, 0, 0, 0, 0, 0, 0, number],
        };
        bytemuck::cast(words.map(u32::to_le_bytes))
    }

    /// The descriptor in a line, if it is that of this number.
    pub(super) fn from_line(line: &Line, number: u32) -> Option<Self> {
        let address = |index| SharedAddress::from_words([line.word(index), line.word(index + 1)]);
        (line.word(7) == number).then(|| match line.word(0) {
            COPY => Self::Copy(Transfer { from: address(1), to: address(3), len_bytes: line.word(5) as usize }),
            _ => Self::Leave,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal::CoreId;

    #[test]
    fn copies_are_of_the_lines_around() {
        let copy = Transfer { from: SharedAddress::new(2, 101), to: SharedAddress::new(3, 64), len_bytes: 60 };
        let regions = regions::of_a_test();
        let lines = |offset: usize, len| regions.region(SharedAddress::new(offset / 1000, offset % 1000), len);
        assert_eq!(copy.lines_at(copy.from, &regions), (lines(2096, 96), 5));
        assert_eq!(copy.lines_at(copy.to, &regions), (lines(3064, 64), 0));
    }

    #[test]
    fn a_descriptor_survives_its_line() {
        let to = SharedAddress::exposed(CoreId::new(7), 3231);
        let copy = Transfer { from: SharedAddress::new(2, 101), to, len_bytes: 60 };
        for descriptor in [Descriptor::Copy(copy), Descriptor::Leave] {
            let line = Line(descriptor.to_bytes(7));
            assert_eq!(Descriptor::from_line(&line, 7), Some(descriptor));
            assert_eq!(Descriptor::from_line(&line, 8), None);
        }
    }
}
