//! The order of a board that keeps time.
//!
//! Each core has a clock in cycles. What concerns only the core (instructions, its L1 and L2) moves its clock and nothing
//! else. An access that goes out is on its way as [`prices`] says, and meets others there; it is made when it takes effect,
//! after all that take effect before. So the order of accesses is that of their times, exactly, and two runs are alike to
//! the cycle. Of events at one time, writes come before reads and lower cores before higher ones.
//!
//! A core has one access on its way at most. After a store it goes on at once, and what goes out next waits for the
//! answer, as on the chip, which has no more than one store outstanding. Of polls that cannot succeed only the accesses are made
//! (`cpu::polls`).
//!
//! Where nothing has changed for a millisecond while every core did nothing but wait, time jumps, so that deadlines come.

use std::{cell::RefCell, cmp::Reverse, collections::BinaryHeap, ops::Range, rc::Rc};

use prices::{Effect, Hardware, Journey, Settled, Traffic, Way};

use crate::{
    Violation,
    cpu::{
        Core, Cpu, Shared, State,
        debug::Points,
        fibre::Fibre,
        giving_way::{Request, Resume},
        look::Look,
        met::Met,
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
    /// Its CPU, for a debugger.
    cpu: Cpu,
    state: Rc<RefCell<State>>,
    /// From the effect of its access until its core goes on.
    answer_ps: u64,
    /// Whether it waits for an interrupt, and perhaps for its timer.
    halted: bool,
    /// `pause` executed when somebody last looked.
    pauses: u64,
    /// The first core of the tile in a register of which its access will store.
    stores_to: Option<u16>,
}

impl Place {
    /// It goes on, as far as its polls are executed, until it wants something.
    fn go_on(&mut self, shared: &Rc<RefCell<Shared>>, effect: u64, complete: u64) -> Option<Request> {
        let skips = self.state.borrow().skips();
        let mut request = if skips {
            let skipped = self.state.borrow_mut().skip_on(&mut shared.borrow_mut().chip, effect, complete);
            skipped.or_else(|| self.catch_up())
        } else {
            self.fibre.resume(Resume::Go { effect, complete })
        };
        while request == Some(Request::Polls) {
            let skipped = self.state.borrow_mut().skip(&mut shared.borrow_mut().chip);
            request = skipped.or_else(|| self.catch_up());
        }
        request
    }

    /// Polls are left out no more: the one under way is executed as far as it has come. Returns what it wants there.
    fn catch_up(&mut self) -> Option<Request> {
        let answers = self.state.borrow_mut().answers();
        let begun = self.fibre.resume(Resume::Again { effect: 0, complete: 0 });
        answers.into_iter().fold(begun, |_, answer| self.fibre.resume(answer))
    }
}

/// Why a run pauses.
pub(crate) enum Pause {
    /// A core has completed a line of its console.
    Line,
    /// A core has met what a debugger wants it to stop at.
    Met(usize, Met),
    /// A debugger may want something.
    Question,
    /// The run has ended.
    Ended(Ended),
}

/// What a debugger wants of a run.
#[derive(Default)]
struct Debugged {
    points: Rc<Points>,
    /// The core that the debugger looked at last.
    selected: usize,
    /// The core that it has chosen to go on, and whether the others shall not.
    chosen: Option<usize>,
    is_locked: bool,
    /// The core that goes on, if only one does.
    only: Option<u16>,
    /// Those that would go on, too.
    postponed: Vec<(Effect, u16)>,
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
    /// If the run is debugged.
    debugged: Option<Debugged>,
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
            debugged: None,
        }
    }

    /// From now on a debugger has the run: cores stop where it wants them to, and it is asked now and then. The cores that
    /// were released are there.
    ///
    /// # Errors
    /// How the run ends if a core cannot start.
    pub(crate) fn debug(&mut self) -> Result<(), Ended> {
        self.debugged = Some(Debugged::default());
        self.follow_resets(false)
    }

    /// Where the debugger wants cores to stop.
    pub(crate) fn points(&self) -> Rc<Points> {
        self.debugged.as_ref().map(|debugged| Rc::clone(&debugged.points)).unwrap_or_default()
    }

    /// The debugger looks at a core.
    pub(crate) fn select(&mut self, core: usize) {
        self.debugged.iter_mut().for_each(|debugged| debugged.selected = core);
    }

    /// The core that the debugger looked at last.
    pub(crate) fn selected(&self) -> usize {
        self.debugged.as_ref().map_or(0, |debugged| debugged.selected)
    }

    /// Says which core is to go on, and not that others shall not.
    pub(crate) fn choose(&mut self, core: Option<usize>) {
        self.debugged.iter_mut().for_each(|debugged| (debugged.chosen, debugged.is_locked) = (core, false));
    }

    /// Others than the chosen core shall not go on.
    pub(crate) fn lock(&mut self) {
        self.debugged.iter_mut().for_each(|debugged| debugged.is_locked = true);
    }

    /// Lets cores go on, as was said. Those that were held up go on now.
    pub(crate) fn go_on(&mut self) {
        let now_ps = self.prices.cycles_ps(self.shared.borrow().chip.time());
        if let Some(debugged) = &mut self.debugged {
            debugged.only = debugged.chosen.filter(|_| debugged.is_locked).map(|core| core as u16);
            self.ready.extend(debugged.postponed.drain(..).map(|(effect, core)| Reverse((now_ps, effect, core))));
        }
    }

    /// The cores that are not held in reset.
    pub(crate) fn running(&self) -> impl Iterator<Item = usize> {
        self.cores.iter().enumerate().filter(|(_, place)| place.is_some()).map(|(core, _)| core)
    }

    /// A core as a debugger sees it.
    pub(crate) fn look_at(&self, core: usize) -> Option<Look<'_>> {
        let Place { cpu, state, .. } = self.cores.get(core)?.as_ref()?;
        Some(Look { cpu, state })
    }

    /// Lets cores be as if they had executed all polls.
    pub(crate) fn settle(&mut self) {
        self.settle_some(0..self.cores.len());
    }

    fn settle_some(&mut self, cores: Range<usize>) {
        for place in self.cores[cores].iter_mut().flatten() {
            let skips = place.state.borrow().skips();
            if skips {
                // What it wants is on its way.
                let _ = place.catch_up();
            }
        }
    }

    /// What all cores share.
    pub(crate) fn shared(&self) -> &Rc<RefCell<Shared>> {
        &self.shared
    }

    /// Events so far.
    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    /// What the cores are besides their CPUs.
    pub(crate) fn states(&self) -> impl Iterator<Item = &Rc<RefCell<State>>> {
        self.cores.iter().flatten().map(|place| &place.state)
    }

    /// Goes on until there is a reason to pause.
    pub(crate) fn run(&mut self, profiled: bool, mut give_up: impl FnMut() -> bool) -> Pause {
        loop {
            if self.shared.borrow().chip.resets != self.resets
                && let Err(ended) = self.follow_resets(profiled)
            {
                return Pause::Ended(ended);
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
            let Some(Reverse((time_ps, effect, core))) = self.ready.pop() else {
                return match self.debugged.as_ref().and_then(|debugged| debugged.only) {
                    // It is halted.
                    Some(only) => Pause::Met(only.into(), Met::Step),
                    None => Pause::Ended(Ended::Stuck(self.places())),
                };
            };
            if self.postpones(effect, core) {
                continue;
            }
            self.events += 1;
            if let Some(pause) = self.resume(core, time_ps) {
                return pause;
            }
            let cycle = self.prices.cycle_from(time_ps);
            if cycle >= self.look_at
                && let Some(ended) = self.look(cycle)
            {
                return Pause::Ended(ended);
            }
            if self.shared.borrow().chip.has_console_lines() {
                return Pause::Line;
            }
            if self.events.is_multiple_of(EVENTS_PER_QUESTION) {
                if give_up() {
                    return Pause::Ended(Ended::GivenUp(self.places()));
                }
                if self.debugged.is_some() {
                    return Pause::Question;
                }
            }
        }
    }

    /// Whether a core that is ready has to wait for a debugger's leave.
    fn postpones(&mut self, effect: Effect, core: u16) -> bool {
        let Some(debugged) = &mut self.debugged else { return false };
        let postpones = debugged.only.is_some_and(|only| only != core);
        if postpones {
            debugged.postponed.push((effect, core));
        }
        postpones
    }

    /// A core goes on at a time.
    fn resume(&mut self, core: u16, time_ps: u64) -> Option<Pause> {
        if let Some(first) = self.cores[usize::from(core)].as_mut()?.stores_to.take() {
            // The store may reset the cores of that tile, or lead their next access elsewhere.
            let of_tile = usize::from(first)..usize::from(first) + self.prices.mesh().cores_per_tile;
            self.settle_some(of_tile);
        }
        let place = self.cores[usize::from(core)].as_mut()?;
        let [effect, complete] = [0, place.answer_ps].map(|later| self.prices.cycle_from(time_ps + later));
        place.halted = false;
        let mut pause = None;
        let request = place.go_on(&self.shared, effect, complete);
        match request {
            Some(Request::Polls) => unreachable!("polls that are left out are gone through before"),
            Some(Request::Access { start, place: to, effect }) => {
                if let (prices::Place::Register(first), Effect::Write) = (to, effect) {
                    place.stores_to = Some(first);
                }
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
            Some(Request::Stopped { now, met }) => {
                place.answer_ps = 0;
                self.ready.push(Reverse((self.prices.cycles_ps(now), Effect::Read, core)));
                pause = Some(Pause::Met(core.into(), met));
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
                return Some(Pause::Ended(Ended::Refused(violation, code)));
            }
        }
        self.wake_halted(time_ps);
        pause
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
                if let Some(debugged) = &mut self.debugged {
                    debugged.postponed.retain(|(_, other)| usize::from(*other) != core);
                }
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
                    if let Some(debugged) = &mut self.debugged {
                        debugged.postponed.retain(|(_, other)| usize::from(*other) != core);
                    }
                    place.into_iter().for_each(|place| place.fibre.end());
                }
                (None, true) => {
                    let refused = |reason: String| Ended::Refused(Violation::new(core, 0, reason), 0);
                    let points = self.debugged.as_ref().map(|debugged| &debugged.points);
                    let started = Core::new(core, profiled, points, Rc::clone(&self.shared));
                    let started =
                        started.map_err(|error| refused(format!("the CPU library does not start: {error:?}")))?;
                    let (cpu, state) = started.handles();
                    let fibre = Fibre::new(started);
                    let fibre = fibre.map_err(|error| refused(format!("there is no memory for its stack: {error}")))?;
                    self.cores[core] =
                        Some(Place { fibre, cpu, state, answer_ps: 0, halted: false, pauses: 0, stores_to: None });
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
