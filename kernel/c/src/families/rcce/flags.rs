//! Flags: bits of a line, words of a line, or whole lines with a payload behind the flag.

use alloc::collections::BTreeMap;

use kernel::{
    collectives::Error,
    hal::{Core, Deadline, LINE_BYTES, Reason},
};

use super::{buffers::Buffers, code};

/// Bytes of a word.
const WORD: usize = 4;

/// What a line has flags of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Kind {
    /// Bits, which several ranks may write: the line is read and written under the register of its core.
    Bit = 0,
    /// Words, each for itself.
    Word = 1,
    /// One word, and a payload.
    Line = 2,
}

impl Kind {
    pub(super) fn of(number: u32) -> Option<Self> {
        [Self::Bit, Self::Word, Self::Line].into_iter().find(|kind| *kind as u32 == number)
    }

    /// Flags in a line.
    fn capacity(self) -> usize {
        match self {
            Self::Bit => LINE_BYTES * 8,
            Self::Word => LINE_BYTES / WORD,
            Self::Line => 1,
        }
    }
}

/// A flag as programs have it: where its line starts, and which flag of that it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flag {
    pub(super) line: usize,
    pub(super) location: usize,
}

struct Line {
    kind: Kind,
    /// A bit for each flag.
    taken: [u64; LINE_BYTES * 8 / 64],
    /// Flags from this one on have never been taken.
    fresh: usize,
}

impl Line {
    fn is_taken(&self, location: usize) -> bool {
        location < self.kind.capacity() && self.taken[location / 64] >> (location % 64) & 1 == 1
    }

    fn first_free(&self) -> Option<usize> {
        let (word, taken) = self.taken.iter().enumerate().find(|(_, taken)| **taken != u64::MAX)?;
        Some(word * 64 + taken.trailing_ones() as usize).filter(|location| *location < self.kind.capacity())
    }

    fn set(&mut self, location: usize, taken: bool) {
        let (word, bit) = (&mut self.taken[location / 64], 1 << (location % 64));
        *word = if taken { *word | bit } else { *word & !bit };
    }
}

/// The lines with flags, by where they start.
#[derive(Default)]
pub(super) struct Flags {
    lines: BTreeMap<usize, Line>,
}

impl Flags {
    /// Allocates a flag, which is 0. Where there was another one before, all ranks wait for each other. The hardware is named
    /// as for [`write`](Self::write).
    pub(super) fn allocate<C: Core>(
        &mut self,
        buffers: &mut Buffers<'_, C>,
        kind: Kind,
        registers: Option<&C>,
    ) -> Result<Flag, i32> {
        let free = |line: &Line| if line.kind == kind { line.first_free() } else { None };
        let mut lines = self.lines.iter_mut();
        if let Some((start, line, location)) =
            lines.find_map(|(start, line)| free(line).map(|free| (start, line, free)))
        {
            let flag = Flag { line: *start, location };
            line.set(location, true);
            let was_taken = location < line.fresh;
            line.fresh = line.fresh.max(location + 1);
            if was_taken {
                let comm = buffers.lines.comm();
                // Nobody uses any more what was there, and nobody uses it again before it is cleared.
                comm.barrier();
                self.write(buffers, flag, 0, comm.rank(), &[], registers)?;
                comm.barrier();
            }
            return Ok(flag);
        }
        let refused = |error| if error == code::MALLOC { code::FLAG_NOT_ALLOCATED } else { error };
        let start = buffers.allocate_zeros(LINE_BYTES).map_err(refused)?;
        let mut line = Line { kind, taken: [0; 4], fresh: 1 };
        line.set(0, true);
        self.lines.insert(start, line);
        Ok(Flag { line: start, location: 0 })
    }

    /// Frees a flag, and its line with the last one.
    pub(super) fn free<C: Core>(&mut self, buffers: &mut Buffers<'_, C>, flag: Flag) -> Result<(), i32> {
        self.kind(flag)?;
        let Some(line) = self.lines.get_mut(&flag.line) else { return Err(code::FLAG_UNDEFINED) };
        line.set(flag.location, false);
        if line.taken == [0; 4] {
            self.lines.remove(&flag.line);
            buffers.free(flag.line)?;
        }
        Ok(())
    }

    /// What kind of flag this is.
    fn kind(&self, flag: Flag) -> Result<Kind, i32> {
        let line = self.lines.get(&flag.line).filter(|line| line.is_taken(flag.location));
        line.map(|line| line.kind).ok_or(code::FLAG_UNDEFINED)
    }

    /// The word that a flag is in, and which bit of it a bit is.
    fn place(&self, flag: Flag) -> Result<(usize, Option<usize>), i32> {
        Ok(match self.kind(flag)? {
            Kind::Bit => (flag.line / WORD + flag.location / 32, Some(flag.location % 32)),
            Kind::Word | Kind::Line => (flag.line / WORD + flag.location, None),
        })
    }

    /// Writes a flag of `ue`, and before it the payload of a whole line. Bits are written under the register of `ue`'s
    /// core, unless this rank has that already.
    pub(super) fn write<C: Core>(
        &self,
        buffers: &Buffers<'_, C>,
        flag: Flag,
        value: u32,
        ue: usize,
        payload: &[u8],
        registers: Option<&C>,
    ) -> Result<(), i32> {
        let (word, bit) = self.place(flag)?;
        let lines = &buffers.lines;
        let Some(bit) = bit else {
            if !payload.is_empty() {
                self.check_payload(flag, payload.len())?;
                lines.put(payload, ue, flag.line + WORD).map_err(code::of)?;
            }
            return lines.store_word(ue, word, value).map_err(code::of);
        };
        let (byte, mask) = (word * WORD + bit / 8, 1 << (bit % 8));
        let comm = lines.comm();
        comm.register_lock(ue).map_err(code::of)?;
        let _guard = registers.map(|hal| hal.lock(comm.core_of(ue), "a line with single-bit flags"));
        let now = (lines.load_word(ue, word).map_err(code::of)? >> (bit & !7)) as u8;
        let new = if value == 0 { now & !mask } else { now | mask };
        lines.store_byte(ue, byte, new).map_err(code::of)
    }

    /// The value of a flag of `ue`, and the payload of a whole line.
    pub(super) fn read<C: Core>(
        &self,
        buffers: &Buffers<'_, C>,
        flag: Flag,
        ue: usize,
        payload: &mut [u8],
    ) -> Result<u32, i32> {
        let (word, bit) = self.place(flag)?;
        let value = buffers.lines.load_word(ue, word).map_err(code::of)?;
        if !payload.is_empty() {
            self.check_payload(flag, payload.len())?;
            buffers.lines.get(ue, flag.line + WORD, payload).map_err(code::of)?;
        }
        Ok(bit.map_or(value, |bit| value >> bit & 1))
    }

    /// Waits until the own flag has a value, or looks once; says whether it has.
    pub(super) fn wait<C: Core>(
        &self,
        buffers: &Buffers<'_, C>,
        flag: Flag,
        value: u32,
        deadline: Deadline,
    ) -> Result<bool, i32> {
        let (word, bit) = self.place(flag)?;
        let has = |found: u32| bit.map_or(found, |bit| found >> bit & 1) == value;
        let reason = Reason::new("a flag of the program");
        match buffers.lines.wait_for_word_of(buffers.lines.comm().rank(), word, reason, deadline, has) {
            Ok(_) => Ok(true),
            Err(Error::TimedOut { .. }) => Ok(false),
            Err(error) => Err(code::of(error)),
        }
    }

    fn check_payload(&self, flag: Flag, len: usize) -> Result<(), i32> {
        let fits = self.kind(flag)? == Kind::Line && len <= LINE_BYTES - WORD;
        if fits { Ok(()) } else { Err(code::MESSAGE_LENGTH) }
    }
}
