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
//! (caches, foretold branches) is then the same, too, after a poll as before it.
//!
//! A poll that was left out in part is executed up to where it has come, with what was read for it. The flags are those of the last poll
//! that was executed: nobody looks at flags across a pause of a wait. Nothing is left out where somebody observes (traces, debuggers,
//! counters of events), where memory is coherent, or where lines are evicted by chance.

use descriptions::boards::POLLS_PER_LOOK;
use prices::{Effect, Place};
use unicorn_engine::Unicorn;

use super::{
    fibre::{Request, Resume, TURN_CYCLES},
    hooks::{GENERAL, Hooks, read},
    state::State,
};
use crate::{
    Chip, Counts, PageKind,
    chip::{LINE_BYTES, Need},
};

/// Blocks of a poll, at most.
const MOST_BLOCKS: u32 = 64;
/// Ends of polls that have to be known: those of three polls that were the same, and that of the one before them.
const SAME: usize = 4;
/// The fewest polls that are worth leaving out.
const FEWEST: u64 = 4;

/// What a poll does that takes time.
#[derive(Clone, PartialEq, Eq)]
enum Step {
    /// It executes a block, in so many cycles.
    Block { linear: u32, len: u32, cycles: u32 },
    /// It reads from outside of the core, and finds these bytes.
    Look { physical: u32, kind: PageKind, len: usize, found: [u8; LINE_BYTES] },
}

/// Where a poll stores to, all of it in L1.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stored {
    physical: u32,
    len: usize,
}

/// A poll, and what was there at its end.
struct Poll {
    steps: Vec<Step>,
    stores: Vec<Stored>,
    values: Vec<u32>,
    registers: [u32; GENERAL.len()],
    counts: Counts,
    foretold: u64,
}

/// What grows with each poll.
struct Growth {
    registers: [u32; GENERAL.len()],
    values: Vec<u32>,
    counts: Counts,
}

/// Polls that are left out.
struct Train {
    like: Poll,
    growth: Growth,
    /// How many there may be, and have been.
    most: u64,
    done: u64,
    /// The step that is next, or waits for its time.
    at: usize,
    /// How what the poll under way has asked for was answered, and what it has read.
    answers: Vec<Resume>,
    found: Vec<[u8; LINE_BYTES]>,
    /// Clock and rest of the turn when the poll under way began.
    clock: u64,
    left: i64,
    /// The block before it, and its length.
    block: (u32, u32),
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
    steps: Vec<Step>,
    stores: Vec<(Stored, u32)>,
    train: Option<Train>,
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
    fn pause(&mut self, now: impl FnOnce() -> ([u32; GENERAL.len()], Counts, u64)) -> Option<Train> {
        let (blocks, len) = (std::mem::take(&mut self.blocks), std::mem::take(&mut self.len));
        let (steps, stores) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.stores));
        if std::mem::replace(&mut self.before, blocks) != blocks || len > MOST_BLOCKS {
            self.spoil();
            return None;
        }
        let (registers, counts, foretold) = now();
        let (stores, values) = stores.into_iter().unzip();
        let poll = Poll { steps, stores, values, registers, counts, foretold };
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
        (&self.steps, &self.stores, self.foretold) == (&other.steps, &other.stores, other.foretold)
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

impl State {
    fn train(&mut self) -> Option<&mut Train> {
        self.clock.as_mut()?.polls.train.as_mut()
    }

    /// Whether polls of the core are left out.
    pub(crate) fn skips(&self) -> bool {
        self.clock.as_ref().is_some_and(|clock| clock.polls.train.is_some())
    }

    /// How what the poll under way has asked for was answered.
    pub(crate) fn answers(&mut self) -> Vec<Resume> {
        self.train().map(|train| std::mem::take(&mut train.answers)).unwrap_or_default()
    }

    /// It is so late that what a poll has asked for takes effect. Returns what it asks for next, or nothing if it has to be
    /// executed.
    pub(crate) fn skip_on(&mut self, chip: &mut Chip, effect: u64, complete: u64) -> Option<Request> {
        let number = self.number;
        let train = self.clock.as_mut()?.polls.train.as_mut()?;
        let (go, again) = (Resume::Go { effect, complete }, Resume::Again { effect, complete });
        match &train.like.steps[train.at] {
            Step::Look { physical, kind, len, found } => {
                if chip.polled(number, *physical, *kind, *len) != Some(*found) {
                    train.answers.push(go);
                    return None;
                }
                train.found.push(*found);
                train.answers.push(again);
                chip.set_clock(number, complete, effect);
            }
            Step::Block { linear, len, .. } => {
                let block = (*linear, *len);
                chip.set_clock(number, chip.cycles(number), effect);
                let mut apic = self.apic.clone();
                let looked = apic.update(chip.interrupt_pins(number), chip.shown_cycles(number));
                if looked.is_err() || apic.next(true).is_some() {
                    train.answers.push(go);
                    return None;
                }
                train.answers.push(again);
                self.apic = apic;
                (self.block, self.block_len) = block;
            }
        }
        self.train()?.at += 1;
        self.skip(chip)
    }

    /// Leaves out what a poll does until it asks for something.
    pub(crate) fn skip(&mut self, chip: &mut Chip) -> Option<Request> {
        let number = self.number;
        let clock = self.clock.as_mut()?;
        let train = clock.polls.train.as_mut()?;
        loop {
            let Some(step) = train.like.steps.get(train.at) else {
                train.done += 1;
                clock.pauses += 1;
                train.at = 0;
                train.answers.clear();
                train.found.clear();
                (train.clock, train.left) = (chip.cycles(number) + self.cycles, self.left);
                if train.done == train.most {
                    return None;
                }
                continue;
            };
            match step {
                Step::Block { linear, len, cycles } => {
                    self.cycles += u64::from(*cycles);
                    self.left -= i64::from(*cycles);
                    if self.left <= 0 {
                        self.left = TURN_CYCLES as i64;
                        chip.tick(number, std::mem::take(&mut self.cycles));
                        return Some(Request::Turn(chip.cycles(number)));
                    }
                    (self.block, self.block_len) = (*linear, *len);
                    train.at += 1;
                }
                Step::Look { physical, kind, .. } => {
                    let Need::Access(place, effect) = chip.load_needs(number, *physical, *kind) else { return None };
                    if !is_polled(place) {
                        return None;
                    }
                    chip.tick(number, std::mem::take(&mut self.cycles));
                    return Some(Request::Access { start: chip.cycles(number), place, effect });
                }
            }
        }
    }
}

/// Whether reading from there changes nothing.
const fn is_polled(place: Place) -> bool {
    matches!(place, Place::Mpb(_) | Place::Word(_) | Place::Line(_))
}

impl Hooks {
    /// The core has read from outside of it.
    #[cold]
    pub(super) fn note_look(&self, need: Need, physical: u32, kind: PageKind, len: usize) {
        let (state, shared) = (&mut *self.state.borrow_mut(), self.shared.borrow());
        let Some(clock) = &mut state.clock else { return };
        let is_polled = matches!(need, Need::Access(place, Effect::Read) if is_polled(place));
        match shared.chip.polled(state.number, physical, kind, len).filter(|_| is_polled) {
            Some(found) if kind != PageKind::WriteBack => {
                clock.polls.steps.push(Step::Look { physical, kind, len, found });
            }
            _ => clock.polls.spoil(),
        }
    }

    /// The core stores.
    #[cold]
    pub(super) fn note_store(&self, need: Need, physical: u32, kind: PageKind, len: usize, value: u64) {
        let mut state = self.state.borrow_mut();
        let Some(clock) = &mut state.clock else { return };
        if need == Need::Nothing && kind == PageKind::WriteBack && len <= 4 {
            clock.polls.stores.push((Stored { physical, len }, value as u32));
        } else {
            clock.polls.spoil();
        }
    }

    /// The core has paused between polls: if the polls that are next are the same as the last, and find the same, they are left out.
    pub(super) fn pause(&self, cpu: &mut Unicorn<'_, ()>) {
        let gives_way = {
            let state = &mut *self.state.borrow_mut();
            let chip = &self.shared.borrow().chip;
            let Some(clock) = &mut state.clock else { return };
            if state.seen.is_some() || state.events.selects() || !chip.skips_polls() {
                return clock.polls.spoil();
            }
            let (number, foretold) = (state.number, clock.predictor.changes);
            let now = || (GENERAL.map(|register| read(cpu, register)), *chip.counts(number), foretold);
            let Some(mut train) = clock.polls.pause(now) else { return };
            let clock_shown = chip.cycles(number) + state.cycles;
            if state.interrupted || clock.busy_until > clock_shown || clock.over {
                return;
            }
            (train.clock, train.left, train.block) = (clock_shown, state.left, (state.block, state.block_len));
            clock.polls.train = Some(train);
            clock.gives_way()
        };
        let resumed = gives_way(Request::Polls);
        if resumed == Resume::Over {
            // The run has ended.
            self.go_on(cpu, resumed, |complete| (complete, None));
            return;
        }
        for (register, value) in GENERAL.into_iter().zip(self.take_over()) {
            let _ = cpu.reg_write(register, value.into());
        }
    }

    /// The polls that were left out have been. Returns the registers that they leave.
    fn take_over(&self) -> [u32; GENERAL.len()] {
        let state = &mut *self.state.borrow_mut();
        let chip = &mut self.shared.borrow_mut().chip;
        let train = state.clock.as_mut().and_then(|clock| clock.polls.train.take());
        let train = train.expect("only polls that are left out are taken over");
        let Train { like, growth, done, .. } = train;
        let grown = |value: u32, by: u32| value.wrapping_add(by.wrapping_mul(done as u32));
        chip.set_clock(state.number, train.clock, 0);
        (state.cycles, state.left) = (0, train.left);
        (state.block, state.block_len) = train.block;
        chip.count_polls(state.number, growth.counts, done);
        for ((Stored { physical, len }, value), by) in like.stores.iter().zip(&like.values).zip(&growth.values) {
            let value = grown(*value, *by);
            chip.poke(state.number, *physical, PageKind::WriteBack, &value.to_le_bytes()[..*len]);
            // Bytes of instructions are not among them: the stores before were not refused.
            let _ = state.code.note_store(*physical, *len, value.into());
        }
        chip.replay(train.found);
        std::array::from_fn(|place| grown(like.registers[place], growth.registers[place]))
    }
}
