//! The search for a run that goes wrong.
//!
//! A plain run of few accesses is first explored in all orders, for a part of the time. Otherwise cores get levels by chance (see
//! [`course`](crate::sim::course)), and hardware acts at none, few or many of its occasions. Accesses do not meet in these runs, and stores
//! between nodes are not posted: both only change who comes first, and whatever order that makes, slow cores make it, too. If a run
//! ends the whole process, its report says what it had done differently until then.

use std::time::Duration;

use crate::CoreId;

use super::{
    super::{
        Checked, CoreOutcome, Deviation, Failure, Finding, Machine, SimCore, Step, Strategy,
        check::{About, Checker},
        choice::{Bounds, Chooser},
        deviation::with_small_levels,
        orders::orders,
        outcome::Run,
        processor::processor_time,
    },
    exhaustive::{Spontaneous, walk},
    shrink,
};

/// Accesses of the plain run up to which it is tried to walk through all runs.
const SMALL: u64 = 200;

/// A run may take the first number times the turns of the plain one, and the second number more.
const MOST_TURNS: (u64, u64) = (20, 100_000);

/// How a search is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// Processor time of this process that it may take; to take away from a failing run what is not needed may take as long again.
    pub processor: Duration,
    /// Runs that it may take, besides.
    pub runs: u64,
    /// The depth of mistakes for which chance is to find them, see [`Explored::depth`]; at least 1.
    pub depth: u32,
}

/// How a search went.
#[derive(Debug)]
pub struct Explored<R> {
    /// Accesses of the plain run, a wait with all its polls as one: k of [`depth`](Self::depth).
    pub accesses: u64,
    /// Runs that walked through the orders of accesses, if it was tried.
    pub in_order: u64,
    /// Whether they were all that there are.
    pub is_complete: bool,
    /// Runs by chance.
    pub by_chance: u64,
    /// Runs of either kind that were broken off, as they did not come to an end, or could only repeat others.
    pub broken_off: u64,
    /// Each run by chance goes wrong with a probability of 1/(n k^(d-1)) at least on n cores, if the program does so whenever d of its k accesses
    /// come in a certain order (Burckhardt and others, ASPLOS 2010): d.
    pub depth: u32,
    /// The first run that went wrong.
    pub failing: Option<Failing<R>>,
}

/// A run that goes wrong.
#[derive(Debug)]
pub struct Failing<R> {
    /// How it ended, and what was found.
    pub checked: Checked<R>,
    /// What it does differently from the plain run: none of that can be left out, if it [is least](Self::is_least).
    pub deviations: Vec<Deviation>,
    /// How many there were when it was met.
    pub met_with: usize,
    /// Whether there was time to try to leave out each.
    pub is_least: bool,
    /// Runs that this took.
    pub shrinking: u64,
    /// Who did what in which order, around the bytes that matter.
    pub story: Vec<Step>,
}

/// What is wrong with a run.
#[derive(Clone, PartialEq, Debug)]
enum Symptom {
    Deadlock,
    /// Where.
    Panic(String),
    /// Where.
    Fault(usize),
    Wrong,
    Found(Finding),
}

impl Symptom {
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Found(one), Self::Found(two)) => one.is_like(two),
            _ => self == other,
        }
    }
}

/// A run that was made and judged.
struct Judged<R> {
    run: Run<R>,
    findings: Vec<Finding>,
    symptoms: Vec<Symptom>,
}

/// Who explores.
struct Explorer<'p, R> {
    machine: &'p Machine,
    program: &'p dyn Fn(&SimCore) -> R,
    is_wrong: &'p dyn Fn(&R) -> bool,
    /// Whether findings are nothing new.
    knows_findings: bool,
}

/// Makes other runs of `program` than the plain one until one of them goes wrong: it panics, faults, stands still, returns on some core what
/// `is_wrong` says is wrong, or has mistakes that are found; these do not count if the plain run has some itself. In all these runs
/// accesses do not meet, and the machine's strategy is not used.
///
/// # Panics
/// As for [`Machine::check`].
pub fn explore<R>(
    machine: &Machine,
    search: Search,
    program: impl Fn(&SimCore) -> R,
    is_wrong: impl Fn(&R) -> bool,
) -> Explored<R> {
    assert!(!machine.options().coherent, "a machine with coherent memory has nothing to be checked for");
    let mut explorer = Explorer { machine, program: &program, is_wrong: &is_wrong, knows_findings: false };
    let until = processor_time().saturating_add(search.processor);
    let told = |deviations: &[Deviation]| Chooser::new(&Strategy::Deviating(deviations.to_vec()), false);
    let Some(plain) = explorer.judge(&|| told(&[])) else { unreachable!("nothing breaks it off") };
    let mut explored = Explored {
        accesses: plain.run.order.accesses,
        in_order: 0,
        is_complete: false,
        by_chance: 0,
        broken_off: 0,
        depth: search.depth.max(1),
        failing: None,
    };
    if plain.symptoms.iter().any(|symptom| !matches!(symptom, Symptom::Found(_))) {
        explored.failing = Some(explorer.reduce(plain, Vec::new(), until));
        return explored;
    }
    explorer.knows_findings = !plain.findings.is_empty();
    let turns = explored.accesses.saturating_mul(MOST_TURNS.0).saturating_add(MOST_TURNS.1);
    let bounds = Bounds { turns, processor: until };
    let met = explorer.in_order(search, bounds, &mut explored);
    let met = met.or_else(|| explorer.by_chance(search, bounds, &mut explored));
    if let Some((judged, deviations)) = met {
        explored.failing = Some(explorer.reduce(judged, deviations, processor_time().saturating_add(search.processor)));
    }
    explored
}

impl<R> Explorer<'_, R> {
    fn run(&self, chooser: Chooser, checker: Checker) -> Run<R> {
        self.machine.run_with(chooser, Some(checker.silent()), self.program, &|_, _| {})
    }

    /// Makes a run and judges it, unless it is broken off.
    fn judge(&self, chooser: &dyn Fn() -> Chooser) -> Option<Judged<R>> {
        let run = self.run(chooser(), Checker::new(self.machine.layout()));
        self.judged(run, chooser)
    }

    fn judged(&self, run: Run<R>, chooser: &dyn Fn() -> Chooser) -> Option<Judged<R>> {
        let mut symptoms = Vec::new();
        match run.result.as_ref()? {
            Err(Failure::Deadlock(_)) => symptoms.push(Symptom::Deadlock),
            Err(Failure::Panic { message, .. }) => {
                let place = message.rsplit_once(" (at ").map_or(message.as_str(), |(_, place)| place);
                symptoms.push(Symptom::Panic(place.to_owned()));
            }
            Err(Failure::Fault { place, .. }) => symptoms.push(Symptom::Fault(*place)),
            Ok(outcome) if outcome.cores.iter().any(|core| (self.is_wrong)(&core.result)) => {
                symptoms.push(Symptom::Wrong);
            }
            Ok(_) | Err(Failure::Stopped { .. }) => {}
        }
        let mut findings = Vec::new();
        if let Some(checker) = run.checker.as_ref().filter(|checker| checker.has_findings()) {
            if !self.knows_findings || !symptoms.is_empty() {
                let again = self.run(chooser(), checker.again());
                findings = again.checker.map_or_else(Vec::new, |again| checker.findings(&again));
            }
            if !self.knows_findings {
                symptoms.extend(findings.iter().cloned().map(Symptom::Found));
            }
        }
        Some(Judged { run, findings, symptoms })
    }

    /// Walks through the orders of accesses, and what hardware may do by itself then. Returns a run that goes wrong, and how it
    /// differs from the plain one.
    fn in_order(
        &self,
        search: Search,
        bounds: Bounds,
        explored: &mut Explored<R>,
    ) -> Option<(Judged<R>, Vec<Deviation>)> {
        if explored.accesses > SMALL {
            return None;
        }
        // Chance gets what is left.
        let half = Bounds { processor: bounds.processor.saturating_sub(search.processor / 2), ..bounds };
        let is_over = |made: u64| made >= search.runs / 2 || processor_time() > half.processor;
        let (mut met, mut is_cut) = (None, false);
        let nothing = Spontaneous::default();
        let all = Spontaneous { drains: true, evictions: true, stores_through: true };
        for spontaneous in [nothing, all] {
            explored.is_complete = walk(spontaneous, |chooser| {
                let run = self.run(chooser.noting().within(half), Checker::new(self.machine.layout()));
                let answers = run.answers.clone().unwrap_or_default();
                explored.in_order += 1;
                explored.broken_off += u64::from(run.result.is_none());
                is_cut |= run.order.is_cut;
                let has_findings = run.checker.as_ref().is_some_and(Checker::has_findings);
                if has_findings && !self.knows_findings || self.has_failed(&run) {
                    let orders = orders(&run.order.operations, self.machine.layout().cores());
                    let deviations = run.order.made.iter().copied().chain(orders).collect();
                    met = self.repeated(deviations, bounds);
                    // What cannot be told is not known to be all right.
                    is_cut |= met.is_none();
                }
                (answers, met.is_none() && !is_over(explored.in_order))
            });
            explored.is_complete &= !is_cut && met.is_none();
            if !explored.is_complete {
                break;
            }
        }
        met
    }

    fn has_failed(&self, run: &Run<R>) -> bool {
        match &run.result {
            None => false,
            Some(Err(_)) => true,
            Some(Ok(outcome)) => outcome.cores.iter().any(|core: &CoreOutcome<R>| (self.is_wrong)(&core.result)),
        }
    }

    /// The run that deviates so from the plain one, if it goes wrong, too. It may take all the time that it needs to be looked into.
    fn repeated(&self, deviations: Vec<Deviation>, bounds: Bounds) -> Option<(Judged<R>, Vec<Deviation>)> {
        let bounds = Bounds { processor: Duration::MAX, ..bounds };
        let judged = self.judge(&|| Chooser::new(&Strategy::Deviating(deviations.clone()), false).within(bounds))?;
        (!judged.symptoms.is_empty()).then_some((judged, deviations))
    }

    /// Lets chance say who is slow and what hardware does.
    fn by_chance(
        &self,
        search: Search,
        bounds: Bounds,
        explored: &mut Explored<R>,
    ) -> Option<(Judged<R>, Vec<Deviation>)> {
        if explored.is_complete {
            return None;
        }
        let (depth, accesses) = (explored.depth, explored.accesses);
        while explored.in_order + explored.by_chance < search.runs && processor_time() < bounds.processor {
            explored.by_chance += 1;
            let seed = explored.by_chance;
            match self.judge(&|| Chooser::by_chance(seed, depth, accesses).within(bounds)) {
                None => explored.broken_off += 1,
                Some(judged) if !judged.symptoms.is_empty() => {
                    if let Some(met) = self.repeated(judged.run.order.made, bounds) {
                        return Some(met);
                    }
                }
                Some(_) => {}
            }
        }
        None
    }

    /// Takes away all that the run goes wrong without, and tells what is left.
    fn reduce(&self, met: Judged<R>, deviations: Vec<Deviation>, until: Duration) -> Failing<R> {
        let (met_with, mut shrinking) = (deviations.len(), 0);
        let bounds = |turns| Bounds { turns, processor: Duration::MAX };
        let turns = met.run.order.accesses.saturating_mul(MOST_TURNS.0).saturating_add(MOST_TURNS.1);
        let told = |deviations: &[Deviation]| Chooser::new(&Strategy::Deviating(deviations.to_vec()), false);
        let mut fails = |deviations: &[Deviation]| {
            if processor_time() > until {
                return None;
            }
            shrinking += 1;
            let judged = self.judge(&|| told(deviations).within(bounds(turns)));
            let is_like = |symptom: &Symptom| met.symptoms.first().is_some_and(|first| symptom.is_like(first));
            Some(judged.is_some_and(|judged| judged.symptoms.iter().any(is_like)))
        };
        let (mut deviations, mut is_least) = shrink::shrink(deviations, &mut fails);
        shrink::delay(&mut deviations, &met.run.order.numbers, &mut fails);
        if is_least {
            // One that comes later may do without another one.
            (deviations, is_least) = shrink::shrink(deviations, &mut fails);
        }
        with_small_levels(&mut deviations);
        deviations.sort_unstable();
        let listening = self.run(told(&deviations), Checker::new(self.machine.layout()).listening());
        let judged = self.judged(listening, &|| told(&deviations)).unwrap_or(met);
        let story = self.story(&judged, &|| told(&deviations));
        let result = judged.run.result.expect("a run that was judged has come to an end");
        let checked = Checked { result, findings: judged.findings, asked_for: Vec::new(), times_left_out: 0 };
        Failing { checked, deviations, met_with, is_least, shrinking, story }
    }

    fn story(&self, judged: &Judged<R>, chooser: &dyn Fn() -> Chooser) -> Vec<Step> {
        let Some(checker) = &judged.run.checker else { return Vec::new() };
        let about = match (&judged.run.result, judged.symptoms.first()) {
            (_, Some(Symptom::Found(finding))) => {
                let again = self.run(chooser(), checker.again());
                About::Finding(again.checker.and_then(|again| checker.number_of(&again, finding)).unwrap_or(0))
            }
            (Some(Err(Failure::Deadlock(deadlock))), _) => {
                About::AwaitedBy(deadlock.waiting.iter().map(|waiting| (waiting.core, waiting.register)).collect())
            }
            (Some(Err(Failure::Panic { core, .. } | Failure::Fault { core, .. })), _) => About::LoadedBy(vec![*core]),
            (Some(Ok(outcome)), _) => {
                let cores = outcome.cores.iter().enumerate().filter(|(_, core)| (self.is_wrong)(&core.result));
                About::LoadedBy(cores.map(|(core, _)| CoreId::new(core)).collect())
            }
            _ => return Vec::new(),
        };
        let told = self.run(chooser(), checker.telling(&about));
        told.checker.map_or_else(Vec::new, |checker| checker.story())
    }
}
