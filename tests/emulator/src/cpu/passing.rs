//! How time passes for a core that keeps it.

use p54c::timing::Ending;
use prices::Effect;
use unicorn_engine::Unicorn;

use super::{
    giving_way::{Request, Resume, TURN_CYCLES},
    hooks::Hooks,
    state::Stop,
};
use crate::{Chip, chip::Need};

impl Hooks {
    /// A core that keeps time gets what its next access needs. Returns whether it goes on.
    pub(super) fn reach(&self, cpu: &mut Unicorn<'_, ()>, need: impl FnOnce(&mut Chip) -> Need) -> bool {
        let need = need(&mut self.shared.borrow_mut().chip);
        self.get(cpu, need, true)
    }

    /// What the core's caches have written back goes out.
    pub(super) fn write_back(&self, cpu: &mut Unicorn<'_, ()>) {
        let number = self.state.borrow().number;
        self.reach(cpu, |chip| chip.take_written_back(number));
    }

    /// Gets what the core needs, for its data or its instructions. Waiting for data is an event that its counters know, and of waiting
    /// for code what waits for a store.
    fn get(&self, cpu: &mut Unicorn<'_, ()>, need: Need, for_data: bool) -> bool {
        let (request, asked, gives_way) = {
            let state = &mut *self.state.borrow_mut();
            let chip = &mut self.shared.borrow_mut().chip;
            let Some(clock) = &state.clock else { return true };
            if clock.over {
                return false;
            }
            let (busy_until, gives_way) = (clock.busy_until, clock.gives_way());
            match need {
                Need::Nothing => return true,
                Need::L2 => {
                    let late = busy_until.saturating_sub(chip.cycles(state.number) + state.cycles);
                    let waited = late + chip.board().hardware.l2_cycles;
                    state.cycles += waited;
                    // Code that is late because of a store waits for that, and the rest is no event.
                    state.events.waited(!for_data, if for_data { waited } else { late });
                    return true;
                }
                Need::Access(place, effect) => {
                    state.tick(chip);
                    let asked = chip.cycles(state.number);
                    let start = asked.max(busy_until);
                    chip.begins(state.number, start);
                    (Request::Access { start, place, effect }, asked, gives_way)
                }
            }
        };
        let resumed = gives_way(request);
        let Request::Access { start, effect, .. } = request else { return true };
        let for_store = effect == Effect::Write;
        let (mut waited, late) = (0, start - asked);
        let goes_on = self.go_on(cpu, resumed, |complete| {
            let (now, busy) = if for_store { (start, Some(complete)) } else { (complete, None) };
            waited = now - asked;
            (now, busy)
        });
        self.state.borrow_mut().events.waited(for_store || !for_data, if for_data { waited } else { late });
        goes_on
    }

    /// The core goes on at a cycle, which `when` says by that of the answer, together with that until which it is busy.
    pub(super) fn go_on(
        &self,
        cpu: &mut Unicorn<'_, ()>,
        resumed: Resume,
        when: impl FnOnce(u64) -> (u64, Option<u64>),
    ) -> bool {
        let mut state = self.state.borrow_mut();
        let number = state.number;
        let Some(clock) = &mut state.clock else { return true };
        match resumed {
            Resume::Go { effect, complete } | Resume::Again { effect, complete } => {
                let (now, busy) = when(complete);
                clock.busy_until = busy.unwrap_or(clock.busy_until);
                self.shared.borrow_mut().chip.set_clock(number, now, effect);
                true
            }
            Resume::Over => {
                clock.over = true;
                drop(state);
                self.stop(cpu, Stop::Refused);
                false
            }
        }
    }

    /// A core that keeps time is about to run a block. Returns whether it does.
    pub(super) fn pass(&self, cpu: &mut Unicorn<'_, ()>, linear: u32) -> bool {
        let (missing, number) = {
            let mut state = self.state.borrow_mut();
            let state = &mut *state;
            let (Some(clock), Some(block)) = (&mut state.clock, state.code.block(linear)) else { return true };
            let mut spent = block.cost.cycles;
            if let Some((ending, at, next)) = clock.before {
                let taken = linear != next;
                spent += match ending {
                    Ending::Conditional => clock.predictor.branches(at, taken.then_some(linear), true),
                    Ending::Taken => clock.predictor.branches(at, Some(linear), false),
                    Ending::Falls | Ending::Repeats(_) => 0,
                };
                if let Ending::Repeats(turn) = ending
                    && at == linear
                    && block.cost.last == 0
                {
                    spent = turn.into();
                }
            }
            clock.before =
                Some((block.cost.ending, linear.wrapping_add(block.cost.last), linear.wrapping_add(block.len)));
            state.cycles += u64::from(spent);
            state.left -= i64::from(spent);
            clock.polls.block(linear, block.len, spent);
            if !block.is_plain {
                clock.polls.spoil();
            }
            self.shared.borrow_mut().chip.executes(state.number, block.instructions);
            let mut missing = Vec::new();
            for line in block.lines.iter().filter(|line| **line != clock.line) {
                match self.shared.borrow_mut().chip.fetch_needs(state.number, *line) {
                    Need::Nothing => {}
                    need => {
                        clock.polls.spoil();
                        state.events.missed_code();
                        missing.push((*line, need));
                    }
                }
            }
            clock.line = block.lines.last().copied().unwrap_or(u32::MAX);
            (missing, state.number)
        };
        for (line, need) in missing {
            if !self.get(cpu, need, false) {
                return false;
            }
            let fetched = self.shared.borrow_mut().chip.fetched(number, line);
            if let Err(violation) = fetched {
                self.refuse(cpu, violation);
                return false;
            }
            self.write_back(cpu);
        }
        self.state.borrow().left > 0 || self.give_way(cpu)
    }

    /// The core has gone on for a while without an access: others may have reached it.
    #[cold]
    fn give_way(&self, cpu: &mut Unicorn<'_, ()>) -> bool {
        let (now, gives_way) = {
            let mut state = self.state.borrow_mut();
            let chip = &mut self.shared.borrow_mut().chip;
            state.left = TURN_CYCLES as i64;
            state.tick(chip);
            let Some(clock) = &state.clock else { return true };
            (chip.cycles(state.number), clock.gives_way())
        };
        let resumed = gives_way(Request::Turn(now));
        if !self.go_on(cpu, resumed, |_| (now, None)) {
            return false;
        }
        if let Resume::Again { .. } = resumed {
            // It did so when it came here first.
            return true;
        }
        let looked = self.state.borrow_mut().look_at_pins(&self.shared.borrow().chip);
        if let Err(violation) = looked {
            self.refuse(cpu, violation);
            return false;
        }
        true
    }
}
