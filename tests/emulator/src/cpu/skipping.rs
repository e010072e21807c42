//! A core whose polls are left out, from the pause before the first to the one that is executed again: see [`polls`](super::polls).

use prices::{Effect, Place};
use unicorn_engine::Unicorn;

use super::{
    giving_way::{Request, Resume, TURN_CYCLES},
    hooks::{GENERAL, Hooks, read},
    polls::{REGISTERS, Step, Stored, Train},
    state::State,
};
use crate::{Chip, PageKind, chip::Need};

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
            let (number, changes) = (state.number, clock.predictor.changes);
            let now = || (GENERAL.map(|register| read(cpu, register)), *chip.counts(number), changes);
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
            self.go_on(cpu, resumed, |complete| (complete, None));
            return;
        }
        for (register, value) in GENERAL.into_iter().zip(self.take_over()) {
            let _ = cpu.reg_write(register, value.into());
        }
    }

    /// The polls that were left out have been. Returns the registers that they leave.
    fn take_over(&self) -> [u32; REGISTERS] {
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
