//! The machine: its threads, from their start to the last one's end.

use std::{
    cell::Cell,
    error::Error,
    fmt,
    panic::{self, AssertUnwindSafe},
    rc::Rc,
    sync::{Arc, Once, atomic::AtomicBool},
    thread,
    time::Instant,
};

use hal::{
    CoreId, Layout, LineAddress,
    emulated::{Copies, Emulated, HostLines, HostWindow, MAX_FRAMES},
    kit::panics,
};

use crate::{
    memory::Memory,
    platform::{Leaves, POLLS_IN_A_CROWD, POLLS_WITH_ROOM, Shared, ThreadCore, ThreadPlatform},
    stuck::Cores,
};

thread_local! {
    /// Whether this thread is a core.
    static IS_CORE: Cell<bool> = const { Cell::new(false) };
}

/// A machine that can be run, and how.
#[derive(Clone, Debug)]
pub struct Machine {
    layout: Layout,
    coherent: bool,
    host_lines: Option<HostLines>,
    stack_bytes: usize,
    explore: u64,
    preempt: u64,
}

/// Why a run did not come to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure(String);

impl Failure {
    /// What happened, in one line.
    pub fn summary(&self) -> &str {
        self.0.lines().next_back().unwrap_or_default()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Error for Failure {}

impl Machine {
    /// A machine of `cores` cores, laid out as the SCC's, with caches that are emulated.
    ///
    /// # Panics
    /// If there is no such machine.
    pub fn new(cores: usize) -> Self {
        let layout = Layout::scc().with_cores(cores);
        Self { layout, coherent: false, host_lines: None, stack_bytes: 1 << 20, explore: 0, preempt: 0 }
    }

    /// The machine with memory that is coherent, as the host's is, or not.
    pub fn with_coherence(self, coherent: bool) -> Self {
        Self { coherent, ..self }
    }

    /// The machine with lines that are written back and invalidated where a core drains, flushes or looks anew, as memory
    /// needs it that hosts share without coherence. Registers and counters stay the host's. Caches are emulated above that. What is
    /// stored before a part of a line, such as a flag, is in memory before it; whole lines, one after the other, come in any order.
    pub fn with_write_backs(self, host_lines: HostLines) -> Self {
        Self { coherent: false, host_lines: Some(host_lines), ..self }
    }

    /// The machine with stacks of `stack_bytes` bytes.
    pub fn with_stack_bytes(self, stack_bytes: usize) -> Self {
        Self { stack_bytes, ..self }
    }

    /// The machine with drains and evictions at random, as hardware may do them at any moment, and with hand-overs at
    /// random; 0 for none of either. Threads run as the host lets them: a seed does not repeat a run.
    pub fn with_seeds(self, explore: u64, preempt: u64) -> Self {
        Self { explore, preempt, ..self }
    }

    /// Runs `program` on every core, and returns what it returned on each.
    ///
    /// # Errors
    /// The first panic, or who waits for whom if no core can go on any more.
    ///
    /// # Panics
    /// If the host has no more threads.
    pub fn run<R: Send>(&self, program: impl Fn(&ThreadCore) -> R + Sync) -> Result<Vec<R>, Failure> {
        self.run_to_end(|hardware| {
            let core = ThreadCore::new(hardware);
            let result = program(&core);
            (result, core.undrained())
        })
    }

    /// As [`run`](Self::run), for a program that makes its core by itself, perhaps of more than the hardware that it gets.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_on_hardware<R: Send>(
        &self,
        program: impl Fn(Emulated<ThreadPlatform>) -> R + Sync,
    ) -> Result<Vec<R>, Failure> {
        self.run_to_end(|hardware| (program(hardware), None))
    }

    fn run_to_end<R: Send>(
        &self,
        program: impl Fn(Emulated<ThreadPlatform>) -> (R, Option<LineAddress>) + Sync,
    ) -> Result<Vec<R>, Failure> {
        let cores = self.layout.cores();
        let is_crowded = thread::available_parallelism().map_or(1, usize::from) < cores;
        let shared = Arc::new(Shared {
            layout: self.layout,
            memory: Memory::new(&self.layout, self.coherent, self.host_lines),
            cores: Cores::new(cores),
            raised: (0..cores).map(|_| AtomicBool::new(false)).collect(),
            begin: Instant::now(),
            coherent: self.coherent,
            polls: if is_crowded { POLLS_IN_A_CROWD } else { POLLS_WITH_ROOM },
            explore: self.explore,
            preempt: self.preempt,
        });
        let results: Vec<_> = thread::scope(|scope| {
            let start = |core: usize| {
                let (shared, program) = (shared.clone(), &program);
                thread::Builder::new()
                    .name(format!("core {core}"))
                    .stack_size(self.stack_bytes)
                    .spawn_scoped(scope, move || run_core(CoreId::new(core), shared, program))
                    .expect("the host can start a thread for each core")
            };
            let threads: Vec<_> = (0..cores).map(start).collect();
            threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
        });
        let shared = Arc::into_inner(shared).expect("all threads have ended");
        match shared.cores.into_report() {
            Some(report) => Err(Failure(report)),
            None => {
                Ok(results.into_iter().map(|result| result.expect("a core without a report has a result")).collect())
            }
        }
    }
}

/// The program of one core. Nothing if the machine came to its end before it.
fn run_core<R>(
    id: CoreId,
    shared: Arc<Shared>,
    program: impl Fn(Emulated<ThreadPlatform>) -> (R, Option<LineAddress>),
) -> Option<R> {
    static PANICS: Once = Once::new();
    panics::keep(&PANICS, || IS_CORE.get());
    IS_CORE.set(true);
    let copies = Rc::new(Copies::new(HostWindow::new(MAX_FRAMES, shared.layout.controllers()), false));
    // SAFETY: the copies are this core's alone and of its layout, and each core is run once.
    let hardware = unsafe { Emulated::new(ThreadPlatform::new(id, shared.clone()), copies.clone(), copies) };
    match panic::catch_unwind(AssertUnwindSafe(|| program(hardware))) {
        Ok((result, undrained)) => {
            shared.cores.finished(id, undrained);
            Some(result)
        }
        Err(payload) => {
            if !payload.is::<Leaves>() {
                shared.cores.end(format!("{id} panicked: {}", panics::take()));
            }
            None
        }
    }
}
