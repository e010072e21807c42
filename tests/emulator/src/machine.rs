//! A board that runs: its chip, and the cores that were started.
//!
//! Everything happens in one thread and in the same order each time. A board that keeps time has the order that its times
//! make, which is much work (`timed`). On others an instruction is a cycle, and cores take turns by their number; a turn ends
//! after so many cycles, or when the core says by `pause` that it waits for somebody. After a round the clocks of all
//! cores are the same again. While nobody does anything but wait, rounds take longer and longer, so that deadlines
//! come.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use crate::{
    Chip, Violation,
    cpu::{Core, Shared, Turn},
    debugger::Debugger,
    ended::Ended,
    timed::{Pause, Timed},
};

/// Cycles of a turn.
const TURN_CYCLES: u64 = 20_000;
/// Cycles of a round in which everybody waits, at most.
const IDLE_CYCLES: u64 = 5_000_000;
/// Cycles without anything but waiting after which nothing will happen any more.
const STUCK_CYCLES: u64 = 200_000_000_000;
/// Of this many rounds in which others compute, a core that waits has a turn in one.
const ROUNDS_PER_POLL: u64 = 8;
/// Cycles in which a core that is asked where it is answers, if it ever does.
const ANSWER_CYCLES: u64 = 20_000_000;
/// Rounds between questions whether to go on.
const ROUNDS_PER_LOOK: u64 = 64;

/// A board with a program.
pub struct Machine {
    shared: Rc<RefCell<Shared>>,
    cores: Vec<Option<Core>>,
    rounds: u64,
    /// Whether all cores waited in the last round.
    waits: bool,
    /// Whether cores note where they execute the instructions that they count.
    profiled: bool,
    /// The cores instead, if the board keeps time.
    timed: Option<Timed>,
    debugger: Option<Debugger>,
}

impl Machine {
    /// A board whose memory is loaded, and of which some cores have been released.
    pub fn new(chip: Chip) -> Self {
        let cores = (0..chip.board().cores()).map(|_| None).collect();
        Self {
            shared: Rc::new(RefCell::new(Shared { chip, wrong: None })),
            cores,
            rounds: 0,
            waits: false,
            profiled: false,
            timed: None,
            debugger: None,
        }
    }

    /// The machine of a board that keeps time.
    pub fn timed(chip: Chip) -> Self {
        let machine = Self::new(chip);
        Self { timed: Some(Timed::new(Rc::clone(&machine.shared))), ..machine }
    }

    /// From now on, cores that are released note where they execute the instructions that they count.
    pub fn profile_counted(&mut self) {
        self.profiled = true;
    }

    /// A debugger may look at the run, of a board that keeps time.
    pub fn debug(&mut self, debugger: Debugger) {
        self.debugger = Some(debugger);
    }

    /// What cores that were [profiled](Self::profile_counted) have executed while they counted instructions: linear addresses of
    /// the calls that led to an instruction, the outermost first, and its own, and how often.
    pub fn profile(&self) -> Vec<(Vec<u32>, u64)> {
        let states = self.cores.iter().flatten().map(Core::state);
        let states = states.chain(self.timed.iter().flat_map(Timed::states).map(Rc::clone));
        states.flat_map(|state| state.borrow().profile()).collect()
    }

    /// Looks at the chip, or changes it, between two runs.
    pub fn with_chip<R>(&mut self, look: impl FnOnce(&mut Chip) -> R) -> R {
        look(&mut self.shared.borrow_mut().chip)
    }

    /// Rounds that all cores have had together, or times that one gave way where time is kept.
    pub fn rounds(&self) -> u64 {
        self.timed.as_ref().map_or(self.rounds, Timed::events)
    }

    /// Runs until the program ends, or `give_up`, which is asked now and then, says so. Every line of a console is shown
    /// when it is complete, with the number of the core.
    pub fn run(&mut self, mut give_up: impl FnMut() -> bool, mut show: impl FnMut(usize, &str)) -> Ended {
        if let Some(mut timed) = self.timed.take() {
            let ended = self.run_timed(&mut timed, &mut give_up, &mut show);
            timed.settle();
            self.timed = Some(timed);
            return ended;
        }
        let (mut idle, mut waited) = (0_u32, 0);
        let mut before = self.shared.borrow().chip.changes();
        loop {
            let waits = match self.round() {
                Ok(waits) => waits,
                Err(ended) => {
                    self.show_console(&mut show);
                    return ended;
                }
            };
            if let Some(ended) = self.show_console(&mut show) {
                return ended;
            }
            let after = self.shared.borrow().chip.changes();
            let quiet = waits && std::mem::replace(&mut before, after) == after;
            if !quiet {
                (idle, waited) = (0, 0);
            } else {
                let cycles = (1 << idle.min(63)).min(IDLE_CYCLES);
                (idle, waited) = (idle + 1, waited + cycles);
                self.let_pass(cycles);
                if waited > STUCK_CYCLES || !self.may_wake() {
                    return Ended::Stuck(self.places());
                }
            }
            if self.rounds.is_multiple_of(ROUNDS_PER_LOOK) && give_up() {
                return Ended::GivenUp(self.places());
            }
        }
    }

    /// Asks all cores where they are, after a run that was given up: each gets an NMI, to which the kernel's answer is a line, and
    /// they go on until all have answered, or would have.
    pub fn ask(&mut self, mut show: impl FnMut(usize, &str)) {
        let silent: BTreeSet<_> = self.with_chip(|chip| {
            chip.raise_nmi();
            (0..chip.board().cores()).filter(|core| chip.running(*core)).collect()
        });
        let (silent, shared) = (RefCell::new(silent), Rc::clone(&self.shared));
        let until = shared.borrow().chip.time() + ANSWER_CYCLES;
        let all_have_answered = || silent.borrow().is_empty() || shared.borrow().chip.time() >= until;
        // However that ends, the run was over before.
        let _ = self.run(all_have_answered, |core, line| {
            silent.borrow_mut().remove(&core);
            show(core, line);
        });
    }

    /// [`run`](Self::run), of a board that keeps time.
    fn run_timed(
        &mut self,
        timed: &mut Timed,
        give_up: &mut impl FnMut() -> bool,
        show: &mut impl FnMut(usize, &str),
    ) -> Ended {
        let Some(mut debugger) = self.debugger.take() else {
            loop {
                let pause = timed.run(self.profiled, &mut *give_up);
                let ended = if let Pause::Ended(ended) = pause { Some(ended) } else { None };
                if let Some(ended) = self.show_console(show).or(ended) {
                    return ended;
                }
            }
        };
        let mut gone_on = debugger.begin(timed);
        let ended = loop {
            if let Err(ended) = gone_on {
                break ended;
            }
            let pause = timed.run(self.profiled, &mut *give_up);
            if let Some(ended) = self.show_console(show) {
                break ended;
            }
            gone_on = match pause {
                Pause::Line => Ok(()),
                Pause::Met(core, met) => debugger.stopped(timed, core, met),
                Pause::Question => debugger.look(timed),
                Pause::Ended(ended) => Err(ended),
            };
        };
        debugger.end(timed, &ended);
        ended
    }

    /// A turn for each core that is not in reset. Returns whether all of them wait.
    fn round(&mut self) -> Result<bool, Ended> {
        let mut waits = true;
        for number in 0..self.cores.len() {
            if !self.shared.borrow().chip.running(number) {
                self.cores[number] = None;
                continue;
            }
            if self.cores[number].is_none() {
                let core = Core::new(number, self.profiled, None, Rc::clone(&self.shared));
                let core = core.map_err(|error| {
                    let reason = format!("the CPU library does not start: {error:?}");
                    Ended::Refused(Violation::new(number, 0, reason), 0)
                })?;
                self.cores[number] = Some(core);
            }
            let Some(core) = &mut self.cores[number] else { continue };
            let polls = self.waits || (self.rounds + number as u64).is_multiple_of(ROUNDS_PER_POLL);
            if core.waits() && !polls {
                continue;
            }
            match core.run(TURN_CYCLES) {
                Turn::Busy => waits = false,
                Turn::Waits | Turn::Halted | Turn::Dead => {}
                Turn::Refused => {
                    let wrong = self.shared.borrow_mut().wrong.take();
                    let (violation, code) = wrong.unwrap_or_else(|| (Violation::new(number, 0, "it stopped"), 0));
                    return Err(Ended::Refused(violation, code));
                }
            }
        }
        self.rounds += 1;
        self.waits = waits;
        self.let_pass(0);
        Ok(waits)
    }

    /// Lets the clocks of all cores that run be the same, `cycles` cycles later.
    fn let_pass(&mut self, cycles: u64) {
        let chip = &mut self.shared.borrow_mut().chip;
        let now = chip.time() + cycles;
        for (number, core) in self.cores.iter().enumerate() {
            if core.is_some() {
                chip.tick(number, now.saturating_sub(chip.cycles(number)));
            }
        }
    }

    /// Whether any core could do something again, if nobody does something first.
    fn may_wake(&self) -> bool {
        self.cores.iter().flatten().any(Core::may_wake)
    }

    /// Where all cores are, in few words.
    fn places(&self) -> String {
        let mut places: Vec<(String, Vec<usize>)> = Vec::new();
        for (number, core) in self.cores.iter().enumerate() {
            let Some(core) = core else { continue };
            let place = format!("{} at {:#x}", core.state_name(), core.instruction());
            match places.iter_mut().find(|known| known.0 == place) {
                Some(known) => known.1.push(number),
                None => places.push((place, vec![number])),
            }
        }
        if places.is_empty() {
            return "no core was started".into();
        }
        let words = places.iter().map(|(place, cores)| match cores.as_slice() {
            [core] => format!("core {core} {place}"),
            [first, .., last] if last - first + 1 == cores.len() => format!("cores {first} to {last} {place}"),
            cores => format!("cores {cores:?} {place}"),
        });
        words.collect::<Vec<_>>().join("; ")
    }

    /// Shows what cores have printed, and looks for the line that ends the program.
    fn show_console(&mut self, show: &mut impl FnMut(usize, &str)) -> Option<Ended> {
        let lines = self.shared.borrow_mut().chip.take_console_lines();
        let mut ended = None;
        for (core, line) in &lines {
            show(*core, line);
            if let Some(words) = line.strip_prefix("@done ") {
                let this = if words.starts_with("ok") { Ended::Succeeded } else { Ended::Failed };
                ended.get_or_insert(this);
            }
        }
        ended
    }
}
