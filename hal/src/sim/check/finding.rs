//! What was found, for people and tools.

use std::{collections::BTreeSet, fmt};

use rustc_hash::FxHashMap;

use crate::{CoreId, LINE_BYTES, LineAddress};

use super::{
    stacks::{Captured, Frame, Symbols},
    terms::Id,
};

/// The kinds of mistakes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mistake {
    /// A load returned, or could have returned, an older value than one that happens before it.
    Stale,
    /// A write-back puts old bytes over newer ones of another core, or could.
    Lost,
    /// Two accesses, of which one stores, and nothing orders them.
    Race,
    /// Somebody was told of data that is on its way, or not even made.
    FlagBeforeData,
    /// A load of shared memory that nobody has stored to.
    NeverWritten,
    /// One mapping still holds what another one reads.
    MixedKinds,
    /// A test-and-set register was freed before what it protects had left the write-combine buffer.
    ReleasedEarly,
    /// An access that meets a one-sided operation, or an operation that has no business where it is.
    OneSided,
    /// The buffer of a message is touched before its request is over.
    BufferInUse,
}

impl Mistake {
    /// Those about memory that all cores share. The others are about what a program [says](crate::Act) of its own.
    pub const OF_SHARED_MEMORY: [Self; 7] = [
        Self::Stale,
        Self::Lost,
        Self::Race,
        Self::FlagBeforeData,
        Self::NeverWritten,
        Self::MixedKinds,
        Self::ReleasedEarly,
    ];
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Stale => "stale",
            Self::Lost => "lost",
            Self::Race => "race",
            Self::FlagBeforeData => "flag before data",
            Self::NeverWritten => "never written",
            Self::MixedKinds => "mixed kinds",
            Self::ReleasedEarly => "register released before the drain",
            Self::OneSided => "one-sided misuse",
            Self::BufferInUse => "buffer in use",
        })
    }
}

/// What is missing, and where it belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Remedy {
    /// The writer has to drain.
    DrainAtWriter,
    /// The writer has to write back what it has cached.
    WriteBackAtWriter,
    /// The reader has to invalidate L1.
    InvalidateAtReader,
    /// The reader has to forget what it has cached.
    ForgetAtReader,
    /// One has to wait for the other.
    Order,
    /// The flag has to come after the data.
    FlagLast,
    /// Somebody has to write first.
    WriteFirst,
    /// Memory that is cached needs lines of its own.
    LinesApart,
    /// Memory of an operation has to be left alone until it is over at its origin.
    KeepUntilOver,
    /// An operation has to be over at its target first, or to begin later.
    OverFirst,
    /// Two operations of one origin need something that completes the first.
    FlushBetween,
    /// Two operations would be atomic if they were alike.
    AlikeToBeAtomic,
    /// What whoever has found it says.
    Said(&'static str),
}

impl Remedy {
    /// Whether the mistake is in the earlier of the two places.
    fn is_at_other(self) -> bool {
        matches!(self, Self::DrainAtWriter | Self::WriteBackAtWriter | Self::FlagLast)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::DrainAtWriter => {
                "a drain is missing after this store and before others are told of it: it may stay in the write-combine buffer"
            }
            Self::WriteBackAtWriter => {
                "a write-back (`write_back_invalidate`, in C `RCCE_shflush`) is missing after this store and before others are told of it: it \
                 may stay in the cache"
            }
            Self::InvalidateAtReader => {
                "an `invalidate_mpb` is missing before this load: L1 may have the line from before the store"
            }
            Self::ForgetAtReader => {
                "an invalidation (`write_back_invalidate`, in C `RCCE_shflush`) is missing before this load: the cache may have the line from \
                 before the store"
            }
            Self::Order => {
                "a flag, a register or a barrier between the two is missing: nothing orders them, and each may come first"
            }
            Self::FlagLast => "the other rank was told before this store: what tells it belongs after the data",
            Self::WriteFirst => "a store to these bytes is missing, or a wait for it: they are whatever was in memory",
            Self::LinesApart => {
                "the two need lines of their own: a line that is cached is written back as a whole, with the old bytes of \
                 the other"
            }
            Self::KeepUntilOver => {
                "the operation may still use this memory: what completes it at its origin (a fence, a flush, a local flush, an \
                 unlock, a complete, or the wait for its request) is missing between the two"
            }
            Self::OverFirst => {
                "nothing orders the two: one has to be complete at the target (a fence, a flush, an unlock, or a complete and \
                 its wait), and the other rank has to know that, before the other one begins"
            }
            Self::FlushBetween => {
                "operations of one epoch are done in any order: a flush between the two is missing, or an epoch for each"
            }
            Self::AlikeToBeAtomic => {
                "the two are atomic with each other only with one operator on values of one basic type at the same places"
            }
            Self::Said(why) => why,
        })
    }
}

/// A finding as the run noted it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    pub(super) mistake: Mistake,
    pub(super) remedy: Remedy,
    pub(super) here: Id,
    pub(super) other: Option<Id>,
    pub(super) place: Where,
}

/// Which bytes are at odds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    /// Bytes of a line of shared memory.
    Line {
        key: u64,
        mask: u32,
    },
    /// Bytes of a core's own memory, and how many.
    Memory {
        len: usize,
        of: CoreId,
    },
    Nowhere,
}

/// One of the accesses that are at odds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Access {
    /// Who accesses.
    pub core: CoreId,
    /// What it does, as the predicate of a sentence about the core.
    pub what: &'static str,
    /// Operations of protocols that it is part of, from the outermost on.
    pub spans: String,
    /// Where it is, from the innermost function on.
    pub frames: Vec<Frame>,
}

/// A mistake of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// The kind of mistake.
    pub mistake: Mistake,
    /// What to do.
    pub remedy: String,
    /// Which bytes.
    pub bytes: String,
    /// The access that has to change.
    pub place: Access,
    /// The one that it is at odds with.
    pub other: Option<Access>,
}

impl Finding {
    /// Whether another one is the same mistake at the same place, whatever it is at odds with.
    pub(in crate::sim) fn is_like(&self, other: &Self) -> bool {
        self.mistake == other.mistake && self.place.frames == other.place.frames
    }

    /// The two accesses without the cores that happened to make them: what many ranks do at one place is one mistake.
    fn places(&self) -> (Mistake, Vec<Frame>, Option<Vec<Frame>>) {
        (self.mistake, self.place.frames.clone(), self.other.as_ref().map(|other| other.frames.clone()))
    }
}

/// One line with fields between tabs, for tools: kind, what is missing, bytes; then for each access `A`, core, what it does
/// and spans; behind each access for each function `F`, its name, file and line.
impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}\t{}\t{}", self.mistake, self.remedy, self.bytes)?;
        for access in [Some(&self.place), self.other.as_ref()].into_iter().flatten() {
            write!(out, "\tA\t{}\t{}\t{}", access.core.index(), access.what, access.spans)?;
            access.frames.iter().try_for_each(|frame| write!(out, "\t{frame}"))?;
        }
        Ok(())
    }
}

/// Findings with their places, each once.
pub(super) fn name(raw: &[Raw], captured: &FxHashMap<Id, Captured>) -> Vec<Finding> {
    let (mut seen, mut symbols) = (BTreeSet::new(), Symbols::default());
    let findings = raw.iter().map(|raw| {
        let mut access = |id: Id| {
            let captured = captured.get(&id);
            Access {
                core: CoreId::new(id.core.into()),
                what: captured.map_or("accesses memory", |captured| captured.what),
                spans: captured.map_or_else(String::new, |captured| captured.spans.clone()),
                frames: captured.map_or_else(Vec::new, |captured| captured.frames(&mut symbols)),
            }
        };
        let (mut place, mut other) = (access(raw.here), raw.other.map(access));
        // Of two that nothing orders, the later one did not wait.
        let time = |id: Id| captured.get(&id).map(|captured| captured.now_ps);
        let is_later = raw.remedy == Remedy::Order && raw.other.is_some_and(|other| time(other) > time(raw.here));
        if let Some(other) = &mut other
            && (raw.remedy.is_at_other() || is_later)
        {
            std::mem::swap(&mut place, other);
        }
        let bytes = match raw.place {
            Where::Line { key, mask } => bytes(key, mask),
            Where::Memory { len, of } => {
                format!("{len} {} of rank {}'s memory", if len == 1 { "byte" } else { "bytes" }, of.index())
            }
            Where::Nowhere => "no bytes".into(),
        };
        Finding { mistake: raw.mistake, remedy: raw.remedy.to_string(), bytes, place, other }
    });
    findings.filter(|finding| seen.insert(finding.places())).collect()
}

/// Bytes of a line in words.
pub(super) fn bytes(key: u64, mask: u32) -> String {
    let (first, end) = (mask.trailing_zeros(), u32::BITS - mask.leading_zeros());
    let whole = mask == u32::MAX;
    match LineAddress::of_key(key) {
        at @ LineAddress::Mpb(_) if whole => at.to_string(),
        at @ LineAddress::Mpb(_) => format!("bytes {first}..{end} of {at}"),
        LineAddress::Shared(at) => {
            let len = if whole { LINE_BYTES as u32 } else { end - first };
            format!("{len} bytes of {}", at.plus(if whole { 0 } else { first as usize }))
        }
    }
}
