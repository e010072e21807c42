//! The order of a board that keeps time.
//!
//! Each core has a clock in cycles. What concerns only the core (instructions, its L1 and L2) moves its clock and nothing
//! else. An access that goes out is on its way as [`prices`] says, and meets others there; it is made when it takes effect,
//! after all that take effect before. So the order of accesses is that of their times, exactly, and two runs are alike to
//! the cycle. Of events at one time, writes come before reads and lower cores before higher ones.
//!
//! A core has one access on its way at most. After a store it goes on at once, and what goes out next waits for the
//! answer, as on the chip, which has no more than one store outstanding. All polls are executed.
//!
//! Where nothing has changed for a millisecond while every core did nothing but wait, time jumps, so that deadlines come.

use std::{cell::RefCell, cmp::Reverse, collections::BinaryHeap, rc::Rc};

use prices::{Effect, Hardware, Journey, Settled, Traffic, Way};

use crate::{
    Violation,
    cpu::{
        Core, Shared, State,
        fibre::{Fibre, Request, Resume},
    },
    ended::Ended,
};

/// Cycles between two looks at whether anything happens.
const LOOK_CYCLES: u64 = 50_000;
/// Looks that find nothing before time jumps.
const QUIET_LOOKS: u32 = 10;
/// Cycles of a jump, at most.
const MOST_SKIPPED: u64 = 500_000_000;
/// Cycles without anything but waiting after which nothing will happen any more.
const STUCK_CYCLES: u64 = 200_000_000_000;
/// Cycles after which a halted core looks at its timer.
const TIMER_CYCLES: u64 = 1_000;
/// Events between two questions whether to go on.
const EVENTS_PER_QUESTION: u64 = 1 << 16;

/// What a core does.
struct Place {
    fibre: Fibre,
    state: Rc<RefCell<State>>,
    /// From the effect of its access until its core goes on.
    answer_ps: u64,
    /// Whether it waits for an interrupt, and perhaps for its timer.
    halted: bool,
    /// `pause` executed when somebody last looked.
    pauses: u64,
}

/// The cores of a board that keeps time.
pub(crate) struct Timed {
    shared: Rc<RefCell<Shared>>,
    prices: Hardware,
    traffic: Traffic,
    ready: BinaryHeap<Reverse<(u64, Effect, u16)>>,
    cores: Vec<Option<Place>>,
    /// Whether each has an access in `traffic`, or had one when it was reset.
    under_way: Vec<bool>,
    /// The changes of resets and pins that were seen.
    resets: u64,
    raised: u64,
    events: u64,
    /// When to look next whether anything happens, what had changed then, how often nothing has since, and the cycles that
    /// were left out meanwhile.
    look_at: u64,
    changes: u64,
    quiet: u32,
    waited: u64,
}

impl Timed {
    pub(crate) fn new(shared: Rc<RefCell<Shared>>) -> Self {
        let (prices, cores) = {
            let chip = &mut shared.borrow_mut().chip;
            chip.keeps_time = true;
            (chip.board().prices(), chip.board().cores())
        };
        Self {
            traffic: Traffic::new(prices.mesh().clone(), prices.numbers().hop_ps, prices.contention()),
            prices,
            shared,
            ready: BinaryHeap::new(),
            cores: (0..cores).map(|_| None).collect(),
            under_way: vec![false; cores],
            resets: 0,
            raised: 0,
            events: 0,
            look_at: LOOK_CYCLES,
            changes: 0,
            quiet: 0,
            waited: 0,
        }
    }

    /// Events so far.
    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    /// What the cores are besides their CPUs.
    pub(crate) fn states(&self) -> impl Iterator<Item = &Rc<RefCell<State>>> {
        self.cores.iter().flatten().map(|place| &place.state)
    }

    /// Goes on until a core has completed a line of its console (nothing is returned then), or the run ends.
    pub(crate) fn run(&mut self, profiled: bool, mut give_up: impl FnMut() -> bool) -> Option<Ended> {
        loop {
            if self.shared.borrow().chip.resets != self.resets
                && let Err(ended) = self.follow_resets(profiled)
            {
                return Some(ended);
            }
            let first = self.ready.peek().map(|Reverse((time_ps, ..))| *time_ps);
            if let Some(next_ps) = self.traffic.next_ps()
                && first.is_none_or(|first| next_ps <= first)
            {
                if let Some(Settled { core, time_ps, effect }) = self.traffic.step() {
                    self.under_way[usize::from(core)] = false;
                    // The access of a core that was reset is lost. If that runs again, it begins now.
                    if self.cores[usize::from(core)].is_some() {
                        self.ready.push(Reverse((time_ps, effect, core)));
                    }
                }
                continue;
            }
            let Some(Reverse((time_ps, _, core))) = self.ready.pop() else {
                return Some(Ended::Stuck(self.places()));
            };
            self.events += 1;
            if let Some(ended) = self.resume(core, time_ps) {
                return Some(ended);
            }
            let cycle = self.prices.cycle_from(time_ps);
            if cycle >= self.look_at
                && let Some(ended) = self.look(cycle)
            {
                return Some(ended);
            }
            if self.shared.borrow().chip.has_console_lines() {
                return None;
            }
            if self.events.is_multiple_of(EVENTS_PER_QUESTION) && give_up() {
                return Some(Ended::TimedOut(self.places()));
            }
        }
    }

    /// A core goes on at a time.
    fn resume(&mut self, core: u16, time_ps: u64) -> Option<Ended> {
        let place = self.cores[usize::from(core)].as_mut()?;
        let [effect, complete] = [0, place.answer_ps].map(|later| self.prices.cycle_from(time_ps + later));
        place.halted = false;
        let request = place.fibre.resume(Resume::Go { effect, complete });
        match request {
            Some(Request::Access { start, place: to, effect }) => {
                let start_ps = self.prices.cycles_ps(start);
                match self.prices.way(core, to, effect) {
                    Way::Shared(trip) => {
                        place.answer_ps = trip.answer_ps;
                        self.under_way[usize::from(core)] = true;
                        self.traffic.depart(core.into(), start_ps, Journey { trip, effect, more: 0 });
                    }
                    Way::Alone { effect_ps, answer_ps } => {
                        place.answer_ps = answer_ps;
                        self.ready.push(Reverse((start_ps + effect_ps, effect, core)));
                    }
                }
            }
            Some(Request::Turn(cycle)) => {
                place.answer_ps = 0;
                self.ready.push(Reverse((self.prices.cycles_ps(cycle), Effect::Read, core)));
            }
            Some(Request::Halted { since, timer }) => {
                (place.halted, place.answer_ps) = (true, 0);
                if timer {
                    self.ready.push(Reverse((self.prices.cycles_ps(since + TIMER_CYCLES), Effect::Read, core)));
                }
            }
            None => {
                let wrong = self.shared.borrow_mut().wrong.take();
                let (violation, code) = wrong.unwrap_or_else(|| (Violation::new(core.into(), 0, "it stopped"), 0));
                return Some(Ended::Refused(violation, code));
            }
        }
        self.wake_halted(time_ps);
        None
    }

    /// Those look at their pins that wait for an interrupt, if somebody has changed any.
    fn wake_halted(&mut self, time_ps: u64) {
        let raised = self.shared.borrow().chip.raised;
        if std::mem::replace(&mut self.raised, raised) == raised {
            return;
        }
        for (core, place) in self.cores.iter_mut().enumerate() {
            if let Some(place) = place
                && std::mem::take(&mut place.halted)
            {
                // Its timer, if that runs, is looked at now.
                self.ready.retain(|Reverse((.., other))| usize::from(*other) != core);
                self.ready.push(Reverse((time_ps, Effect::Read, core as u16)));
            }
        }
    }

    /// Starts the cores that were released, and ends those that were reset. A core whose access is still on its way starts
    /// when that has come to its end.
    fn follow_resets(&mut self, profiled: bool) -> Result<(), Ended> {
        self.resets = self.shared.borrow().chip.resets;
        for core in 0..self.cores.len() {
            let (runs, clock) = {
                let chip = &self.shared.borrow().chip;
                (chip.running(core), chip.cycles(core))
            };
            match (&self.cores[core], runs) {
                (Some(_), false) => {
                    let place = self.cores[core].take();
                    self.ready.retain(|Reverse((.., other))| usize::from(*other) != core);
                    place.into_iter().for_each(|place| place.fibre.end());
                }
                (None, true) => {
                    let refused = |reason: String| Ended::Refused(Violation::new(core, 0, reason), 0);
                    let started = Core::new(core, profiled, Rc::clone(&self.shared));
                    let started =
                        started.map_err(|error| refused(format!("the CPU library does not start: {error:?}")))?;
                    let state = started.state();
                    let fibre = Fibre::new(started);
                    let fibre = fibre.map_err(|error| refused(format!("there is no memory for its stack: {error}")))?;
                    self.cores[core] = Some(Place { fibre, state, answer_ps: 0, halted: false, pauses: 0 });
                    if !self.under_way[core] {
                        self.ready.push(Reverse((self.prices.cycles_ps(clock), Effect::Read, core as u16)));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Looks whether anything happens; if not, time jumps, or the run ends.
    fn look(&mut self, cycle: u64) -> Option<Ended> {
        self.look_at = cycle + LOOK_CYCLES;
        let chip = &mut self.shared.borrow_mut().chip;
        let mut waits = true;
        for place in self.cores.iter_mut().flatten() {
            let (_, pauses) = place.state.borrow().progress();
            waits &= place.halted || std::mem::replace(&mut place.pauses, pauses) != pauses;
        }
        let is_quiet = std::mem::replace(&mut self.changes, chip.changes()) == chip.changes() && waits;
        if !is_quiet {
            (self.quiet, self.waited) = (0, 0);
            return None;
        }
        self.quiet += 1;
        let jump = self.quiet.checked_sub(QUIET_LOOKS)?;
        let skipped = (LOOK_CYCLES << jump.min(32)).min(MOST_SKIPPED);
        chip.skipped += skipped;
        self.waited += skipped;
        (self.waited > STUCK_CYCLES).then(|| Ended::Stuck(self.places()))
    }

    /// Where all cores are.
    fn places(&self) -> String {
        let words = self.cores.iter().enumerate().filter_map(|(core, place)| {
            let place = place.as_ref()?;
            let doing = if place.halted { "halted" } else { "running" };
            Some(format!("core {core} {doing} at {:#x}", place.state.borrow().progress().0))
        });
        let words: Vec<_> = words.collect();
        if words.is_empty() { "no core was started".into() } else { words.join("; ") }
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.cores.drain(..).flatten().for_each(|place| place.fibre.end());
    }
}
