//! A machine, and running a program on it.

use std::{
    cell::{Cell, RefCell},
    ptr,
    rc::Rc,
    sync::{
        Once,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use corosensei::Coroutine;
use prices::{Mesh, Traffic};

use crate::{
    CoreId, Layout, Topology,
    emulated::{Emulated, FetchUnit, MAX_FRAMES},
    kit::panics,
};

use super::{
    Description, Failure, SimCore, SimPlatform, Stop, Strategy,
    check::{Checker, LeftOut},
    choice::{Answer, Chooser, Schedule},
    cost::Cost,
    domains::Domains,
    drive::{Program, Stopped, deadlock, drive, unwind},
    engine::Engine,
    faults::Simulates,
    heat::HeatMap,
    lines::Lines,
    memory::Memory,
    network::Network,
    outcome::{Checked, Order, Outcome, Run},
    platform::{Running, Shared},
    software::Prices,
    stacks::{give_back, stack},
    unwinding,
};

/// The number of the next run, which is never 0, as that of machines that give themselves none. A core may itself run a
/// machine, and what it got of the one may be at hand in the other.
static RUNS: AtomicU64 = AtomicU64::new(1);

/// How a machine is to behave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where the answers to everything that is left open come from.
    pub strategy: Strategy,
    /// How much of cached memory is fetched at a time: lines as on hardware, or pages as under QEMU.
    pub fetch_unit: FetchUnit,
    /// Whether memory is coherent, to see what the emulation of the opposite costs and catches. Then views of two
    /// cores are the same memory, and it is up to the program that no two of them hold overlapping slices at a time.
    pub coherent: bool,
    /// Pages of cached memory that a core can hold at a time, at most 16384: all shared memory of the SCC. Slices of more
    /// panic.
    pub cache_frames: usize,
    /// Whether the choices are recorded for a replay.
    pub record: bool,
    /// Size of each core's stack. The host provides it page by page as it is touched. Below it is a page that nobody
    /// may touch, so that overrunning it ends the process with a segmentation fault; [`end_on_faults`] makes a report of
    /// that.
    ///
    /// [`end_on_faults`]: super::end_on_faults
    pub stack_bytes: usize,
    /// The most that the program of core 0 may have allocated at a time, where [`SimHeap`](super::SimHeap) is the
    /// host's allocator.
    pub first_heap_bytes: usize,
    /// The most that the program of each other core may have allocated at a time.
    pub heap_bytes: usize,
    /// Whether polls in vain are counted instead of simulated where that changes nothing; not to do so is for tests
    /// that it does not.
    pub skip_polls: bool,
    /// Whether the traffic is counted, place by place.
    pub heat_map: bool,
    /// Where the run stops, if it is not to go on to its end.
    pub stop: Option<Stop>,
    /// Whether a [check](Machine::check) keeps account of what drains, invalidations and flushes are good for, which takes its time.
    pub lint: bool,
    /// What a [check](Machine::check) leaves out, to show what it is for.
    pub left_out: Option<LeftOut>,
    /// Whether everything has its price, on a mesh: single accesses take what they take on hardware, private memory is reached
    /// through L1 and L2, and our software takes what was measured. Otherwise operations take what papers' formulas say: Table 1
    /// has the software of their authors in it, and each line of private memory that an operation reads or writes is an
    /// access to DRAM.
    pub everything_priced: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strategy: Strategy::Timed,
            fetch_unit: FetchUnit::Line,
            coherent: false,
            cache_frames: 1024,
            record: false,
            stack_bytes: 256 << 10,
            first_heap_bytes: usize::MAX,
            heap_bytes: usize::MAX,
            skip_polls: true,
            heat_map: false,
            stop: None,
            lint: false,
            left_out: None,
            everything_priced: false,
        }
    }
}

/// A simulated machine. It has no state; each run begins with all memory zero and all clocks at 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    description: Description,
    options: Options,
}

/// Where the cores and controllers of a layout are.
fn mesh(layout: &Layout) -> Mesh {
    let controllers = (0..layout.controllers()).map(|index| layout.controller_tile(index)).collect();
    let (columns, rows, cores_per_tile) = (layout.columns(), layout.rows(), layout.cores_per_tile());
    Mesh { columns, rows, cores_per_tile, controllers }
}

impl Machine {
    /// The machine of this description, with default [`Options`].
    pub fn new(description: Description) -> Self {
        Self { description, options: Options::default() }
    }

    /// The SCC without contention, with only its first `cores` cores running, or with rows of tiles added if that many do not fit.
    ///
    /// # Panics
    /// If `cores` is 0 or does not fit 16 bits.
    pub fn scc(cores: usize) -> Self {
        Self::new(Description::scc()).with_cores(cores)
    }

    /// The same machine with only its first `cores` cores running; rows of tiles are added if that many do not fit.
    ///
    /// # Panics
    /// If `cores` is 0 or does not fit 16 bits.
    #[must_use]
    pub fn with_cores(self, cores: usize) -> Self {
        Self { description: self.description.with_cores(cores), ..self }
    }

    /// The same machine with other options.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// The same machine with another strategy.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Strategy) -> Self {
        self.options.strategy = strategy;
        self
    }

    /// The same machine with the choices decided by chance.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        self.with_strategy(Strategy::Seeded { seed })
    }

    /// The same machine, recording its choices.
    #[must_use]
    pub fn recording(mut self) -> Self {
        self.options.record = true;
        self
    }

    /// The same machine, with each poll of waiting cores simulated.
    #[must_use]
    pub fn polling_for_real(mut self) -> Self {
        self.options.skip_polls = false;
        self
    }

    /// What the machine is.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// How its cores are laid out.
    pub fn layout(&self) -> &Layout {
        &self.description.layout
    }

    /// What is emulated, and who decides what is left open.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Runs `program` on every core until all have returned. Cores share this thread, and change places within operations: nothing may be
    /// lent to a thread-local across an operation (see [`soundness`](crate::soundness)).
    ///
    /// # Errors
    /// [`Failure`] if a core panics, or all that have not returned wait with nothing to wake them. All cores
    /// are unwound then; operations that their destructors try have no effect.
    ///
    /// # Panics
    /// If the host has no memory for the cores' stacks.
    pub fn run<R>(&self, program: impl Fn(&SimCore) -> R) -> Result<Outcome<R>, Failure> {
        self.run_and_look(program, &|_, _| {})
    }

    /// Runs `program` as [`run`](Self::run) does, and lets `look` look at every core in the end: when all have returned, or
    /// when one has failed, or none can go on, with all cores where they were then (one that has panicked has unwound).
    ///
    /// # Errors
    /// As for `run`.
    ///
    /// # Panics
    /// As for `run`.
    pub fn run_and_look<R>(&self, program: impl Fn(&SimCore) -> R, look: Look<'_>) -> Result<Outcome<R>, Failure> {
        let chooser = Chooser::new(&self.options.strategy, self.options.record);
        let run = self.run_with(chooser, None, program, look);
        run.result.expect("only the schedule of an exploration breaks runs off")
    }

    /// Runs `program` as [`run`](Self::run) does, and follows each of its accesses to shared memory. If some have no business
    /// there, the program is run once more, with `true`, to find out where in it they are: it has to do the same again.
    ///
    /// # Panics
    /// As for `run`, and if memory is to be coherent, where nothing is to be found.
    pub fn check<R>(&self, program: impl Fn(&SimCore, bool) -> R) -> Checked<R> {
        self.check_and_look(program, &|_, _| {})
    }

    /// Checks `program` as [`check`](Self::check) does, and lets `look` look at every core in the end of the first run, as
    /// [`run_and_look`](Self::run_and_look) does.
    ///
    /// # Panics
    /// As for `check`.
    pub fn check_and_look<R>(&self, program: impl Fn(&SimCore, bool) -> R, look: Look<'_>) -> Checked<R> {
        assert!(!self.options.coherent, "a machine with coherent memory has nothing to be checked for");
        let run = |checker, again| {
            let chooser = Chooser::new(&self.options.strategy, self.options.record);
            let look: Look<'_> = if again { &|_, _| {} } else { look };
            let run = self.run_with(chooser, Some(checker), |core| program(core, again), look);
            run.result.zip(run.checker).expect("only the schedule of an exploration breaks runs off")
        };
        let checker = Checker::new(self.layout()).without(self.options.left_out.clone());
        let (result, checker) = run(if self.options.lint { checker.with_upkeeps() } else { checker }, false);
        let findings = if checker.has_findings() {
            let (_, again) = run(checker.again(), true);
            checker.findings(&again)
        } else {
            Vec::new()
        };
        Checked { result, findings, asked_for: checker.asked_for(), times_left_out: checker.times_left_out() }
    }

    pub(super) fn run_with<R>(
        &self,
        chooser: Chooser,
        checker: Option<Checker>,
        program: impl Fn(&SimCore) -> R,
        look: Look<'_>,
    ) -> Run<R> {
        let results: Vec<Cell<Option<R>>> = (0..self.layout().cores()).map(|_| Cell::new(None)).collect();
        let run = self.run_any(chooser, checker, &|core| results[core.core().index()].set(Some(program(core))), look);
        let results = results.into_iter().filter_map(Cell::into_inner);
        let result = run.result.map(|result| result.map(|outcome| outcome.with(results)));
        Run { result, answers: run.answers, checker: run.checker, order: run.order }
    }

    /// All of it that is the same for every program, so that it is compiled once.
    fn run_any(
        &self,
        chooser: Chooser,
        checker: Option<Checker>,
        program: &dyn Fn(&SimCore),
        look: Look<'_>,
    ) -> Run<()> {
        static PANICS: Once = Once::new();
        let _simulates = Simulates::begin();
        panics::keep(&PANICS, || Running::with(|_| ()).is_some());
        let Description { layout, mut parameters, .. } = self.description.clone();
        if chooser.freedom().schedule != Schedule::ByTime {
            // Where time does not decide, nobody is kept waiting by who comes first.
            parameters.contention = None;
            parameters.cluster = None;
        }
        let mut engine = Engine::new(layout.cores(), chooser);
        engine.traffic = parameters.contention.map(|contention| {
            // What is not far takes no time to get there.
            let hop_ps = if parameters.flat { 0 } else { u64::from(parameters.costs.hop_ps) };
            Traffic::new(mesh(&layout), hop_ps, contention)
        });
        engine.skips = self.options.skip_polls;
        match self.options.stop {
            Some(Stop::Time(time_ps)) => engine.stop_ps = time_ps,
            Some(Stop::Access(number)) => engine.stop_access = number,
            None => {}
        }
        if let Some(cluster) = parameters.cluster {
            engine.network = Some(Network::new(&layout, cluster));
            engine.lines = Lines::new(layout.cores());
        }
        if layout.cores_per_domain() > 1 || self.options.coherent {
            // What an access to memory does to the copies of a domain, or to slices, does not show in its address.
            engine.nothing_commutes();
        }
        let prices_everything = self.options.everything_priced && parameters.hardware.is_some();
        engine.posts_stores = prices_everything;
        let software = prices_everything.then(|| Rc::new(Prices::measured(parameters.costs.core_mhz.into())));
        let shared = Rc::new(Shared {
            number: RUNS.fetch_add(1, Relaxed),
            layout,
            cost: Cost::new(&layout, &parameters, prices_everything),
            memory: Memory::new(layout.cores(), layout.controllers()),
            domains: Domains::new(&layout, self.options.cache_frames.clamp(1, MAX_FRAMES)),
            engine: RefCell::new(engine),
            coherent: self.options.coherent,
            fetch_unit: self.options.fetch_unit,
            dying: Cell::new(false),
            running: Cell::new(ptr::from_ref(&[])),
            heat: self.options.heat_map.then(|| RefCell::new(HeatMap::new(&layout, &parameters))),
            checker: checker.map(RefCell::new),
            parts: RefCell::default(),
        });
        let core = |core| {
            let core = CoreId::new(core);
            let Options { first_heap_bytes, heap_bytes, .. } = self.options;
            let heap_bytes = if core.index() == 0 { first_heap_bytes } else { heap_bytes };
            let platform = SimPlatform::new(core, shared.clone(), heap_bytes, software.as_ref());
            let domain = shared.domains.copies(shared.layout.domain(core));
            let own = if domain.is_shared() { shared.domains.of_a_core() } else { domain.clone() };
            // SAFETY: 1. `copies` gives the domain's to its cores, and `own` is theirs, or this core's alone; 2. each core of this run is
            // made once; 3. they are of this layout.
            Box::new(SimCore::new(unsafe { Emulated::new(platform, own, domain) }))
        };
        let cores: Vec<Box<SimCore>> = (0..layout.cores()).map(core).collect();
        let mut programs: Vec<Program> = cores
            .iter()
            .map(|core| {
                let core = &**core;
                let stack = stack(self.options.stack_bytes);
                core.platform().set_stack(&stack);
                // SAFETY: the coroutine borrows `cores`, which is declared before `programs` and therefore outlives it, and
                // `program`, which the caller lends until this function returns; `programs` does not leave this function.
                let coroutine = unsafe {
                    Coroutine::with_stack_unchecked(stack, move |yielder, ()| {
                        core.platform().started(yielder);
                        program(core)
                    })
                };
                Program { coroutine, outcome: None }
            })
            .collect();

        let stopped = drive(&shared, &cores, &mut programs).map(|stopped| match stopped {
            Stopped::Failed(failure) => Some(failure),
            Stopped::Deadlock => Some(deadlock(&shared, &cores, &programs)),
            Stopped::Redundant => None,
        });
        let failure = stopped.as_ref().and_then(Option::as_ref);
        cores.iter().for_each(|core| look(core, failure));
        if stopped.is_some() {
            unwind(&shared, &cores, &mut programs);
        }
        // A program that has caught what takes it down leaves its fault behind.
        let _ = unwinding::take();
        let checker = shared.checker.as_ref().map(|checker| checker.replace(Checker::new(&layout)));
        let engine = shared.engine.borrow();
        let answers = engine.chooser.answers().map(<[Answer]>::to_vec);
        let mut outcomes = Vec::with_capacity(cores.len());
        for program in programs {
            give_back(self.options.stack_bytes, program.coroutine.into_stack());
            outcomes.extend(program.outcome);
        }
        let result = match stopped {
            Some(failure) => failure.map(Err),
            None => Some(Ok(Outcome {
                time_ps: outcomes.iter().map(|outcome| outcome.time_ps).max().unwrap_or(0),
                cores: outcomes,
                recording: engine.chooser.recording(),
                work: engine.work,
                heat_map: shared.heat.as_ref().map(|heat| heat.borrow().clone()),
            })),
        };
        let mut order = Order { made: engine.made(), is_cut: engine.is_cut, ..Order::default() };
        if let Some(course) = &engine.course {
            order.accesses = course.accesses();
            order.numbers = (0..cores.len()).map(|core| course.number(core)).collect();
        }
        if let Some(free) = &engine.free {
            order.operations = free.made().to_vec();
        }
        Run { result, answers, checker, order }
    }
}

/// What is called for each core at the end of a run, with why it has failed.
pub type Look<'l> = &'l dyn Fn(&SimCore, Option<&Failure>);
