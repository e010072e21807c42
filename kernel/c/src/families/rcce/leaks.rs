//! What a program has allocated of what ranks share, and where in its source, so that what it never frees is told at its end.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// What gives out blocks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub(super) enum Kind {
    Malloc = 0,
    Flag = 1,
    Shmalloc = 2,
}

impl Kind {
    pub(super) fn of(number: u32) -> Option<Self> {
        [Self::Malloc, Self::Flag, Self::Shmalloc].into_iter().find(|kind| *kind as u32 == number)
    }

    /// The text for `blocks` blocks of this kind that have `bytes` bytes in all.
    fn told(self, blocks: usize, bytes: usize) -> String {
        let plural = if blocks == 1 { "" } else { "s" };
        match self {
            Self::Malloc => format!("{bytes} bytes of the MPBs"),
            Self::Flag => format!("{blocks} flag{plural}"),
            Self::Shmalloc => format!("{bytes} bytes of shared memory"),
        }
    }
}

/// The blocks that the program has: by their kind and where they start, how many bytes and who has asked.
#[derive(Default)]
pub(super) struct Leaks {
    blocks: BTreeMap<(Kind, usize), (usize, usize)>,
}

impl Leaks {
    /// The function that was called from `caller` has given out a block.
    pub(super) fn note(&mut self, kind: Kind, start: usize, bytes: usize, caller: usize) {
        self.blocks.insert((kind, start), (bytes, caller));
    }

    /// It was freed.
    pub(super) fn forget(&mut self, kind: Kind, start: usize) {
        self.blocks.remove(&(kind, start));
    }

    /// A line for each place that has allocated what was not freed, as this core says. `place` says what tools call an address.
    pub(super) fn lines(&self, core: usize, place: &dyn Fn(usize) -> usize) -> Vec<String> {
        /// Places that are told.
        const MOST: usize = 8;
        let mut by_place: BTreeMap<(usize, Kind), (usize, usize)> = BTreeMap::new();
        for ((kind, _), (bytes, caller)) in &self.blocks {
            let (blocks, all) = by_place.entry((*caller, *kind)).or_default();
            *blocks += 1;
            *all += bytes;
        }
        let more = by_place.len().saturating_sub(MOST);
        let told = by_place.into_iter().take(MOST).map(|((caller, kind), (blocks, bytes))| {
            // A call returns behind itself.
            let at = place(caller.wrapping_sub(1));
            format!("core {core} has not freed {}, allocated at {at:#x}", kind.told(blocks, bytes))
        });
        let rest = (more > 0).then(|| format!("nor what {more} more places have allocated"));
        told.chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_freed_is_told_by_place() {
        let mut leaks = Leaks::default();
        leaks.note(Kind::Malloc, 0, 64, 0x101);
        leaks.note(Kind::Malloc, 64, 32, 0x101);
        leaks.note(Kind::Malloc, 96, 32, 0x201);
        leaks.note(Kind::Flag, 96, 4, 0x301);
        leaks.forget(Kind::Malloc, 96);
        leaks.forget(Kind::Shmalloc, 0);
        let lines = leaks.lines(0, &|address| address + 0x1000);
        assert_eq!(
            lines,
            [
                "core 0 has not freed 96 bytes of the MPBs, allocated at 0x1100",
                "core 0 has not freed 1 flag, allocated at 0x1300"
            ]
        );
        (0..20).for_each(|number| leaks.note(Kind::Shmalloc, number, 32, 0x1000 + number));
        assert_eq!(leaks.lines(0, &|address| address).last().unwrap(), "nor what 14 more places have allocated");
    }
}
