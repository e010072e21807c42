//! Faults of simulated cores: what traps report on bare metal, the host reports by signals.
//!
//! A signal comes on a stack of its own, says which core ran, what it did and where, and ends the process: what the core
//! has done to memory that the simulator needs, too, nobody knows. Places are addresses within the executable, and the
//! return addresses on the core's stack tell how it came there; `cargo xtask` makes functions and lines of them.
//!
//! Before the end the report says what the other cores wait for. A core may be far ahead of the others in virtual time
//! when it fails, so they run on first: the handler gives way and is never resumed, and the process ends when nobody
//! can run any more, when another core fails, or after [`REST`]. A core that fails in the middle of an operation, or
//! of a panic, leaves a machine that cannot go on; there the report says who waits at that moment.
//!
//! No virtual time passes in a loop that does nothing with the machine, so it is the host's processor time that limits
//! it: every second of that the handler looks whether the clock of the core that runs still stands where it stood.
//!
//! In a run that is checked a core that has failed is [taken down](super::unwinding) instead, if it can be.
//!
//! Whoever has lost patience with a simulation asks for its end by the signal of termination, and gets the same report,
//! of the next core that runs.

use std::{
    cell::Cell,
    fmt::{self, Write},
    ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicPtr, AtomicU32, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::Duration,
};

use crate::trace;

use super::{
    deviation::Told,
    fault_report::{At, LAST_LINE, STATUS, say, say_last_line, told},
    heap::off_account,
    orders::so_far,
    platform::{Running, Shared, SimCore, SimPlatform},
};

/// Waiting cores that a report lists.
const LISTED: usize = 64;

/// Whether this process reports faults.
static REPORTS: AtomicBool = AtomicBool::new(false);

/// Threads that simulate. Those that begin do so under the lock, so that none does while reports are switched on.
static SIMULATING: Mutex<usize> = Mutex::new(0);

thread_local! {
    /// Machines that this thread simulates: a simulated core may run one of its own.
    static MACHINES: Cell<usize> = const { Cell::new(0) };
}

/// Seconds of processor time that a core may run for while its clock stands still.
static PATIENCE_S: AtomicU32 = AtomicU32::new(u32::MAX);

/// How long the other cores may run after a fault: long, since a host may be busy, and seldom used, since they mostly come to
/// their ends at once.
const REST: Duration = Duration::from_secs(30);

/// The machine with a core that has failed.
static FAILED: AtomicPtr<Shared> = AtomicPtr::new(ptr::null_mut());

/// Whether a report is at its end.
static ENDS: AtomicBool = AtomicBool::new(false);

/// The core that ran a second ago and its clock, and for how many seconds that has been so.
static LAST_CORE: AtomicU64 = AtomicU64::new(u64::MAX);
static LAST_CLOCK: AtomicU64 = AtomicU64::new(u64::MAX);
static SECONDS: AtomicU32 = AtomicU32::new(0);

/// From now on a simulated core that faults, aborts, overruns its stack, or computes for `patience` of processor time
/// while its clock stands still, ends this process with `status`, and with a report on standard output whose last line
/// is `@done failed …`. Signals that come while no core runs do what they did before.
///
/// Where it is, the library's own traces of stacks are switched off: they would be allocated when a heap is full. Does nothing on
/// hosts that are not Linux.
///
/// # Panics
/// If a machine is being simulated. From now on a machine panics, too, that begins while another thread simulates one: the report
/// reads the state of the one that runs, from the handler of a signal and without a lock.
pub fn end_on_faults(status: u8, patience: Duration) {
    let simulating = simulating();
    assert_eq!(*simulating, 0, "faults are reported from before the first machine on");
    REPORTS.store(true, Relaxed);
    drop(simulating);
    STATUS.store(status.into(), Relaxed);
    PATIENCE_S.store(u32::try_from(patience.as_secs()).unwrap_or(u32::MAX), Relaxed);
    #[cfg(target_os = "linux")]
    linux::handle_signals();
}

fn simulating() -> MutexGuard<'static, usize> {
    SIMULATING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This thread simulates a machine, as long as it is there.
pub(super) struct Simulates(());

impl Simulates {
    /// # Panics
    /// If another thread simulates, too, and this process reports faults.
    pub(super) fn begin() -> Self {
        if MACHINES.get() == 0 {
            let mut simulating = simulating();
            let is_alone = *simulating == 0 || !REPORTS.load(Relaxed);
            assert!(is_alone, "two threads simulate at a time in a process that reports faults of simulated cores");
            *simulating += 1;
        }
        MACHINES.set(MACHINES.get() + 1);
        Self(())
    }
}

impl Drop for Simulates {
    fn drop(&mut self) {
        MACHINES.set(MACHINES.get() - 1);
        if MACHINES.get() == 0 {
            *simulating() -= 1;
        }
    }
}

/// How often a core to report was looked for since somebody has asked for the end.
static LOOKS: AtomicU32 = AtomicU32::new(0);

/// What is said of a core that runs when the end is asked for.
const GIVEN_UP: &str = "still ran when it was told to end";

/// What is said where no core does, and where none could be found.
const ALL_WAITED: &str = "all cores waited when it was told to end";
#[cfg(target_os = "linux")]
const OUTSIDE: &str = "still ran when it was told to end, outside of all programs";

/// How often a core to report is looked for, and how long after each other: the simulator may be at work itself.
const MOST_LOOKS: u32 = 1_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// What a signal says of the core that it came to.
struct Stop<'a> {
    core: &'a SimCore,
    at: At,
    /// The instruction has not failed: the core was interrupted anywhere.
    interrupted: bool,
}

impl Stop<'_> {
    /// Reports, and ends the process, if possible after the other cores have run on.
    fn report(&self, what: fmt::Arguments<'_>) -> ! {
        self.at.tell(what);
        let platform = self.core.platform();
        FAILED.store(ptr::from_ref(platform.shared()).cast_mut(), SeqCst);
        limit_rest();
        // The host's allocator is no code of the program's, and must not be left half-way.
        let is_whole = !self.interrupted || told(self.at.place).is_some();
        if is_whole && self.core.is_in_program() && !thread::panicking() && platform.may_stop() {
            platform.stop();
        }
        end(platform.shared())
    }
}

/// Says what cores wait for, and ends the process.
fn end(shared: &Shared) -> ! {
    // Whoever comes here again has failed on the way.
    if !ENDS.swap(true, SeqCst) {
        tell_who_waits(shared);
        off_account(|| tell_deviations(shared));
        tell_traces(shared);
    }
    say_last_line()
}

/// Says what repeats the run, if it is one of many, of which nobody else will say it.
fn tell_deviations(shared: &Shared) {
    let Ok(engine) = shared.engine.try_borrow() else { return };
    // Where there is no time, nobody has run on.
    let deviations = so_far(&engine, Running::with(|core| core.platform().id()));
    if let (Some(deviations), Ok(note)) = (deviations, LAST_LINE.try_lock()) {
        let (met_with, end) = (deviations.len(), note.text());
        say(format_args!("{}", Told { met_with, is_least: false, shrinking: 0, deviations: &deviations, end }));
    }
}

fn tell_who_waits(shared: &Shared) {
    let Ok(engine) = shared.engine.try_borrow() else { return };
    let waiting = || engine.waits.iter().enumerate().filter_map(|(core, wait)| Some((core, wait.awaited()?)));
    for (core, reason) in waiting().take(LISTED) {
        say(format_args!("  core {core} waits for {reason}\n"));
    }
    if let Some(more) = waiting().count().checked_sub(LISTED + 1) {
        say(format_args!("  … and {} more wait\n", more + 1));
    }
}

/// Ends the process between two cores' turns, because somebody has asked for that: says where one is that waits for nothing, and
/// what the others wait for.
pub(super) fn end_as_asked<'c>(shared: &Shared, mut unfinished: impl Iterator<Item = &'c SimCore>) -> ! {
    let engine = shared.engine.borrow();
    match unfinished.find(|core| engine.waits[core.platform().id().index()].awaited().is_none()) {
        Some(core) => at_rest(core).tell(format_args!("{GIVEN_UP}")),
        None => {
            if let Ok(mut note) = LAST_LINE.try_lock() {
                let _ = note.write_str(ALL_WAITED);
            }
        }
    }
    drop(engine);
    end(shared)
}

/// Says where cores wait that nothing can wake, if this process reports.
pub(super) fn tell_where<'c>(cores: impl Iterator<Item = &'c SimCore>) {
    if !REPORTS.load(Relaxed) {
        return;
    }
    for core in cores.take(LISTED) {
        say(format_args!("{}\n", place(core)));
    }
}

/// Where a core has given way.
pub(super) fn place(core: &SimCore) -> impl fmt::Display {
    at_rest(core)
}

fn at_rest(core: &SimCore) -> At {
    at(core, SimPlatform::give_way as *const () as usize, core.platform().stack_pointer())
}

/// Where a simulated core was.
fn at(core: &SimCore, place: usize, stack_pointer: usize) -> At {
    let platform = core.platform();
    At { core: platform.id().index(), stack: platform.stack(), place, stack_pointer }
}

/// The machine with a core that has failed, as long as it is there.
fn failed<'a>() -> Option<&'a Shared> {
    // SAFETY: the machine does not go away before its `EndsAfterFault` has ended the process, and nothing gets a
    // mutable reference to it.
    unsafe { FAILED.load(SeqCst).as_ref() }
}

/// Ends the process when the cores of a machine run no more, if one of them has failed by a fault.
pub(super) struct EndsAfterFault<'a>(&'a Shared);

impl<'a> EndsAfterFault<'a> {
    /// These cores run from now on.
    pub(super) fn begin(shared: &'a Shared, cores: &'a [Box<SimCore>]) -> Self {
        shared.running.set(cores);
        Self(shared)
    }
}

impl Drop for EndsAfterFault<'_> {
    fn drop(&mut self) {
        if failed().is_some_and(|failed| ptr::eq(failed, self.0)) {
            end(self.0);
        }
        self.0.running.set(ptr::from_ref(&[]));
    }
}

/// Tells what the cores of a machine have noted, if they are traced.
fn tell_traces(shared: &Shared) {
    // SAFETY: they are there as long as the `EndsAfterFault` that has named them, which takes them back.
    let cores = unsafe { &*shared.running.get() };
    for core in cores {
        trace::tell(&**core, false, &mut |line| say(line));
    }
}

#[cfg(target_os = "linux")]
use linux::limit_rest;

/// Nobody handles signals.
#[cfg(not(target_os = "linux"))]
fn limit_rest() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        ffi::{c_int, c_void},
        fmt::{self, Write},
        mem::MaybeUninit,
        ptr,
        sync::atomic::Ordering::Relaxed,
        thread,
        time::Duration,
    };

    use super::{
        super::{
            asked::ask,
            fault_report::{HANDLER_STACK_BYTES, LAST_LINE, PAGE_BYTES, registers, say_last_line, told},
            faults_of_threads as threads,
            unwinding::{self, ROOM_BYTES},
        },
        ALL_WAITED, BETWEEN_LOOKS, GIVEN_UP, LAST_CLOCK, LAST_CORE, LOOKS, MACHINES, MOST_LOOKS, OUTSIDE, PATIENCE_S,
        REST, Running, SECONDS, Stop, at, end, failed, tell_who_waits,
    };

    /// What a core's program can bring upon itself, the clock of processor time, and somebody's wish.
    const SIGNALS: [c_int; 7] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGPROF, libc::SIGTERM];

    pub(super) fn handle_signals() {
        let stack: &'static mut [u8] = Vec::leak(vec![0; HANDLER_STACK_BYTES]);
        let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
        let second = libc::timeval { tv_sec: 1, tv_usec: 0 };
        if is_alone() {
            // SAFETY: there is no other thread that could read the environment, nor does one begin meanwhile.
            unsafe { std::env::remove_var("RUST_BACKTRACE") };
        }
        // SAFETY: the stack is nobody else's and stays.
        unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
        SIGNALS.into_iter().for_each(take_over);
        // SAFETY: the time is one.
        unsafe {
            libc::setitimer(
                libc::ITIMER_PROF,
                &libc::itimerval { it_interval: second, it_value: second },
                ptr::null_mut(),
            );
        }
    }

    fn take_over(signal: c_int) {
        // SAFETY: 1. the structure of an action may be all zeros, and the handler has the signature that SA_SIGINFO asks
        // for; 2. it calls nothing that allocates or waits for a lock; 3. what runs when it gives way is the simulator,
        // outside of whose operations the core was, and nothing resumes the core again; 4. on a thread that is a core it reads
        // what that thread itself has noted, never gives way, and either returns or ends the process.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handle as *const () as usize;
            // The handler of a fault does not return, and further faults are to be handled all the same.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | libc::SA_NODEFER;
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }

    /// Limits by the host's clock what comes after a fault, the rest of the report, too: it may also hang, in a lock that the fault has left
    /// taken, as the host's allocator has.
    pub(super) fn limit_rest() {
        alarm(REST);
    }

    /// Sends this process a signal again and again.
    fn alarm(every: Duration) {
        take_over(libc::SIGALRM);
        let time = libc::timeval {
            tv_sec: every.as_secs() as libc::time_t,
            tv_usec: every.subsec_micros() as libc::suseconds_t,
        };
        // SAFETY: the time is one.
        unsafe {
            libc::setitimer(libc::ITIMER_REAL, &libc::itimerval { it_interval: time, it_value: time }, ptr::null_mut());
        }
    }

    /// Whether the process is known to have no other thread.
    fn is_alone() -> bool {
        std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
    }

    extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        match failed() {
            // The others run on for a limited time.
            Some(_) if [libc::SIGPROF, libc::SIGTERM].contains(&signal) => return,
            Some(shared) if MACHINES.get() > 0 => end(shared),
            // The machine runs on another thread, and only there can be looked at.
            Some(_) => say_last_line(),
            None => {}
        }
        let asks = [libc::SIGTERM, libc::SIGALRM].contains(&signal);
        // SAFETY: both are what the system hands to a handler with SA_SIGINFO.
        let (info, context) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
        let handled = Running::with(|core| {
            let (place, stack_pointer) = registers(context);
            let stop = Stop { core, at: at(core, place, stack_pointer), interrupted: asks || signal == libc::SIGPROF };
            match signal {
                libc::SIGPROF => stop.tick(),
                _ if asks => stop.end_if_whole(),
                _ if let Some((what, place)) = unwinding::take() => {
                    // Nobody could unwind it.
                    let at = at(core, place, stack_pointer);
                    Stop { at, ..stop }.report(format_args!("{}", what.text()));
                }
                _ => {
                    let exhausted = core.platform().exhausted();
                    let unwinds = stop.unwinds();
                    stop.at.fault(signal, info, context, exhausted, |what| {
                        if unwinds { stop.tell(what) } else { stop.report(what) }
                    });
                    if unwinds {
                        // SAFETY: `unwinds` has seen that the core was in its program, and that there is room; it has failed, and nothing
                        // resumes it there.
                        unsafe { unwinding::begin(context) };
                    }
                }
            }
        });
        if handled.is_none() && !asks && signal != libc::SIGPROF {
            threads::fault(signal, info, context);
        }
        if asks {
            let is_on_threads = handled.is_none() && threads::end_as_asked(signal, context, GIVEN_UP);
            look_again(if is_on_threads { ALL_WAITED } else { OUTSIDE });
        } else if handled.is_none() && signal != libc::SIGPROF {
            // None of a simulated core's. Whatever it was happens again, and then has its usual consequence.
            // SAFETY: the default action is one.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }

    /// Nothing could be reported at this moment. If that stays so, `otherwise` is the last line.
    fn look_again(otherwise: &str) {
        if !ask() {
            alarm(BETWEEN_LOOKS);
        } else if LOOKS.fetch_add(1, Relaxed) > MOST_LOOKS {
            if let Ok(mut note) = LAST_LINE.try_lock() {
                let _ = note.write_str(otherwise);
            }
            say_last_line();
        }
    }

    impl Stop<'_> {
        /// Whether the core, which has failed, can be taken down, and there is somebody to tell of the run.
        fn unwinds(&self) -> bool {
            let (shared, stack) = (self.core.platform().shared(), &self.at.stack);
            let is_checked = shared.checker.as_ref().is_some_and(|checker| checker.try_borrow_mut().is_ok());
            let has_room = (stack.start + PAGE_BYTES + ROOM_BYTES..stack.end).contains(&self.at.stack_pointer);
            let is_whole = self.core.is_in_program() && shared.engine.try_borrow_mut().is_ok();
            let is_on_its_way = shared.dying.get() || thread::panicking();
            cfg!(target_arch = "x86_64")
                && is_checked
                && has_room
                && is_whole
                && !is_on_its_way
                && told(self.at.place).is_some()
        }

        /// Says what the core has done, before it is taken down.
        fn tell(&self, what: fmt::Arguments<'_>) {
            let shared = self.core.platform().shared();
            if shared.checker.as_ref().is_some_and(|checker| checker.try_borrow().is_ok_and(|all| !all.is_silent())) {
                self.at.tell(what);
                tell_who_waits(shared);
            }
            unwinding::note(what, self.at.place);
        }

        /// Reports what somebody has asked for, unless the simulator is in the middle of something.
        fn end_if_whole(&self) {
            let shared = self.core.platform().shared();
            if told(self.at.place).is_some() && shared.engine.try_borrow().is_ok() {
                // SAFETY: the action is one. From now on nobody asks again.
                unsafe { libc::signal(libc::SIGALRM, libc::SIG_IGN) };
                self.at.tell(format_args!("{GIVEN_UP}"));
                end(shared);
            }
        }

        /// Another second of processor time is over.
        fn tick(&self) {
            let platform = self.core.platform();
            let core = platform.id().index();
            // The simulator is at work where its engine is borrowed.
            let clock = platform.shared().engine.try_borrow().map_or(u64::MAX, |engine| engine.clock_ps(core));
            let stood_still =
                [LAST_CORE.swap(core as u64, Relaxed), LAST_CLOCK.swap(clock, Relaxed)] == [core as u64, clock];
            let seconds = if stood_still && clock != u64::MAX { SECONDS.load(Relaxed) + 1 } else { 0 };
            SECONDS.store(seconds, Relaxed);
            if seconds >= PATIENCE_S.load(Relaxed) {
                self.report(format_args!(
                    "endless loop: it has run for {seconds} s of the host, and no virtual time has passed; \
                     stuck_s= allows more"
                ));
            }
        }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn the_environment_is_let_be_where_other_threads_may_read_it() {
            let is_alone = std::thread::spawn(super::is_alone).join().expect("it only looks");
            assert!(!is_alone);
        }
    }
}
