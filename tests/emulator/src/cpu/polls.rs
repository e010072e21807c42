//! Polls that find nothing new are not executed.
//!
//! A core that waits executes the same instructions again and again, and only its accesses concern anybody else. Once it has
//! done so three times in the same way, to the cycle, and said each time that it decides by no count (`repne nop`), it stops before
//! the next poll. From then on its accesses are made for it when its instructions would make them, so that others meet them, and
//! nothing else is done. It goes on, in the state that the polls left out would have left, with the first of these:
//!
//! * what it reads is not what it has read before;
//! * a word that the polls count in comes to a multiple of [`POLLS_PER_LOOK`], or has just been there: by these a wait decides
//!   whether to do something else;
//! * an interrupt is to be delivered;
//! * somebody is about to store to a register of its tile, which may reset the core, or lead its accesses elsewhere.
//!
//! Polls are *the same* if they execute the same blocks in the same time, read the same from the same places, store
//! to L1 only, and leave the same registers and words behind, but for some that grow by the same number each time. What else there is to a core
//! (caches, prediction_changes branches) is then the same, too, after a poll as before it.
//!
//! A poll that was left out in part is executed up to where it has come, with what was read for it. The flags are those of the last poll
//! that was executed: nobody looks at flags across a pause of a wait. Nothing is left out where somebody observes (traces, debuggers,
//! counters of events), where memory is coherent, or where lines are evicted by chance.

use descriptions::boards::POLLS_PER_LOOK;

use super::giving_way::Resume;
use crate::{Counts, PageKind, chip::LINE_BYTES};

/// General registers of a core.
pub(super) const REGISTERS: usize = 8;
/// Blocks of a poll, at most.
const MOST_BLOCKS: u32 = 64;
/// Ends of polls that have to be known: those of three polls that were the same, and that of the one before them.
const SAME: usize = 4;
/// The fewest polls that are worth leaving out.
const FEWEST: u64 = 4;

/// What a poll does that takes time.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// It executes a block, in so many cycles.
    Block { linear: u32, len: u32, cycles: u32 },
    /// It reads from outside of the core, and finds these bytes.
    Look { physical: u32, kind: PageKind, len: usize, found: [u8; LINE_BYTES] },
}

/// Where a poll stores to, all of it in L1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) physical: u32,
    pub(super) len: usize,
}

/// A poll, and what was there at its end.
pub(super) struct Poll {
    pub(super) steps: Vec<Step>,
    pub(super) stores: Vec<Stored>,
    pub(super) values: Vec<u32>,
    pub(super) registers: [u32; REGISTERS],
    counts: Counts,
    /// Changes of the buffer that foretells branches, so far.
    prediction_changes: u64,
}

/// What grows with each poll.
pub(super) struct Growth {
    pub(super) registers: [u32; REGISTERS],
    pub(super) values: Vec<u32>,
    pub(super) counts: Counts,
}

/// Polls that are left out.
pub(super) struct Train {
    pub(super) like: Poll,
    pub(super) growth: Growth,
    /// How many there may be, and have been.
    pub(super) most: u64,
    pub(super) done: u64,
    /// The step that is next, or waits for its time.
    pub(super) at: usize,
    /// How what the poll under way has asked for was answered, and what it has read.
    pub(super) answers: Vec<Resume>,
    pub(super) found: Vec<[u8; LINE_BYTES]>,
    /// Clock and rest of the turn when the poll under way began.
    pub(super) clock: u64,
    pub(super) left: i64,
    /// The block before it, and its length.
    pub(super) block: (u32, u32),
}

/// What a core that keeps time knows of its polls.
#[derive(Default)]
pub(super) struct Polls {
    /// A number that stands for the blocks since the last pause between polls, how many, and the number of those before it.
    blocks: u64,
    len: u32,
    before: u64,
    /// Polls that were the same so far, and what is known of the one under way.
    same: Vec<Poll>,
    pub(super) steps: Vec<Step>,
    pub(super) stores: Vec<(Stored, u32)>,
    pub(super) train: Option<Train>,
}

impl Polls {
    /// Whether what the core does is noted.
    #[inline]
    pub(super) fn notes(&self) -> bool {
        !self.same.is_empty()
    }

    /// The core executes a block.
    #[inline]
    pub(super) fn block(&mut self, linear: u32, len: u32, cycles: u32) {
        self.blocks = (self.blocks.rotate_left(5) ^ u64::from(linear)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.len += 1;
        if self.notes() {
            if self.len > MOST_BLOCKS {
                return self.spoil();
            }
            self.steps.push(Step::Block { linear, len, cycles });
        }
    }

    /// The core has done what no poll does that is left out.
    #[inline]
    pub(super) fn spoil(&mut self) {
        self.same.clear();
        self.steps.clear();
        self.stores.clear();
    }

    /// The core has paused between polls. Returns the polls to leave out, if the last ones were the same.
    pub(super) fn pause(&mut self, now: impl FnOnce() -> ([u32; REGISTERS], Counts, u64)) -> Option<Train> {
        let (blocks, len) = (std::mem::take(&mut self.blocks), std::mem::take(&mut self.len));
        let (steps, stores) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.stores));
        if std::mem::replace(&mut self.before, blocks) != blocks || len > MOST_BLOCKS {
            self.spoil();
            return None;
        }
        let (registers, counts, prediction_changes) = now();
        let (stores, values) = stores.into_iter().unzip();
        let poll = Poll { steps, stores, values, registers, counts, prediction_changes };
        // What was before the first has no steps of its own.
        if self.same.get(1..).and_then(<[_]>::last).is_some_and(|last| !poll.is_like(last)) {
            self.spoil();
            return None;
        }
        self.same.push(poll);
        if self.same.len() < SAME {
            return None;
        }
        let train = Train::of(std::mem::take(&mut self.same));
        train.filter(|train| train.most >= FEWEST)
    }
}

impl Poll {
    /// Whether it did the same as another one, but for values that grow.
    fn is_like(&self, other: &Self) -> bool {
        (&self.steps, &self.stores, self.prediction_changes) == (&other.steps, &other.stores, other.prediction_changes)
    }

    /// What has grown since the end of another one. Nothing if something has changed that polls do not count in.
    fn growth(&self, before: &Self) -> Option<Growth> {
        let grown = |(now, before): (&u32, &u32)| now.wrapping_sub(*before);
        Some(Growth {
            registers: std::array::from_fn(|place| grown((&self.registers[place], &before.registers[place]))),
            values: self.values.iter().zip(&before.values).map(grown).collect(),
            counts: self.counts.since(before.counts)?,
        })
    }
}

impl Train {
    /// Of polls that were the same but for what grows, if that does so by the same number each time.
    fn of(mut polls: Vec<Poll>) -> Option<Self> {
        let like = polls.pop()?;
        let [.., earlier, last] = &polls[..] else { return None };
        let (growth, before) = (like.growth(last)?, last.growth(earlier)?);
        let grows_alike =
            growth.registers == before.registers && growth.values == before.values && growth.counts == before.counts;
        let looks = like.steps.iter().any(|step| matches!(step, Step::Look { .. }));
        if !grows_alike || !looks {
            return None;
        }
        let registers = like.registers.iter().zip(&growth.registers);
        let most = registers.chain(like.values.iter().zip(&growth.values)).map(|(value, by)| most(*value, *by)).min();
        let most = most.unwrap_or(0);
        Some(Self {
            like,
            growth,
            most,
            done: 0,
            at: 0,
            answers: Vec::new(),
            found: Vec::new(),
            clock: 0,
            left: 0,
            block: (0, 0),
        })
    }
}

/// How often a word grows by a number before it decides over something.
fn most(value: u32, by: u32) -> u64 {
    let since_look = value % POLLS_PER_LOOK;
    match (by, since_look) {
        (0, _) => u64::MAX,
        (_, 0) => 0,
        _ => ((POLLS_PER_LOOK - 1 - since_look) / by).into(),
    }
}
