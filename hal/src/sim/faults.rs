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
//! Whoever has lost patience with a simulation asks for its end by the signal of termination, and gets the same report,
//! of the next core that runs.

use std::{
    fmt::{self, Write},
    ptr,
    sync::{
        Mutex,
        atomic::{
            AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::Duration,
};

use crate::trace;

use super::{
    loaded::told_of_loaded,
    platform::{Running, Shared, SimCore, SimPlatform},
};

/// Waiting cores that a report lists.
const LISTED: usize = 64;

/// Return addresses that a report lists.
const RETURNS: usize = 96;

/// Bytes of the stack of handlers.
const HANDLER_STACK_BYTES: usize = 64 << 10;

/// Whether this process reports faults.
static REPORTS: AtomicBool = AtomicBool::new(false);

/// The exit status of the process after a fault.
static STATUS: AtomicI32 = AtomicI32::new(1);

/// Seconds of processor time that a core may run for while its clock stands still.
static PATIENCE_S: AtomicU32 = AtomicU32::new(u32::MAX);

/// How long the other cores may run after a fault: long, since a host may be busy, and seldom used, since they mostly come to
/// their ends at once.
const REST: Duration = Duration::from_secs(30);

/// The machine with a core that has failed.
static FAILED: AtomicPtr<Shared> = AtomicPtr::new(ptr::null_mut());

/// What the last line will say.
static LAST_LINE: Mutex<Note> = Mutex::new(Note::new());

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
/// # Safety
/// From now on no two threads of this process simulate at a time. The report reads the state of the one machine that runs, from
/// the handler of a signal and without a lock: a second machine would change it meanwhile.
pub unsafe fn end_on_faults(status: u8, patience: Duration) {
    REPORTS.store(true, Relaxed);
    STATUS.store(status.into(), Relaxed);
    PATIENCE_S.store(u32::try_from(patience.as_secs()).unwrap_or(u32::MAX), Relaxed);
    #[cfg(target_os = "linux")]
    linux::handle_signals();
}

/// Whether somebody has asked for the end, and how often a core to report was looked for since.
static ASKED: AtomicBool = AtomicBool::new(false);
static LOOKS: AtomicU32 = AtomicU32::new(0);

/// How often a core to report is looked for, and how long after each other: the simulator may be at work itself.
const MOST_LOOKS: u32 = 1_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// What a signal says of the core that it came to.
struct Stop<'a> {
    core: &'a SimCore,
    /// The instruction that was under way.
    place: usize,
    stack_pointer: usize,
    /// The instruction has not failed: the core was interrupted anywhere.
    interrupted: bool,
}

impl Stop<'_> {
    /// Says what happened, and where.
    fn tell(&self, what: fmt::Arguments<'_>) {
        let core = self.core.platform().id().index();
        // There is nobody to tell when standard output has gone.
        let _ = writeln!(Output, "core {core}: {what}");
        let _ = writeln!(Output, "{self}");
        if let Ok(mut note) = LAST_LINE.try_lock() {
            let _ = write!(note, "core {core}: {what}");
        }
    }

    /// Reports, and ends the process, if possible after the other cores have run on.
    fn report(&self, what: fmt::Arguments<'_>) -> ! {
        self.tell(what);
        let platform = self.core.platform();
        FAILED.store(ptr::from_ref(platform.shared()).cast_mut(), SeqCst);
        // The host's allocator is no code of the program's, and must not be left half-way.
        let is_whole = !self.interrupted || told(self.place).is_some();
        if is_whole && self.core.is_in_program() && !thread::panicking() && platform.may_stop() {
            limit_rest();
            platform.stop();
        }
        end(platform.shared())
    }
}

/// Says what cores wait for, and ends the process.
fn end(shared: &Shared) -> ! {
    // Whoever comes here again has failed on the way.
    if !ENDS.swap(true, SeqCst) {
        let _ = tell_who_waits(shared);
        tell_traces(shared);
    }
    say_last_line()
}

fn say_last_line() -> ! {
    if let Ok(note) = LAST_LINE.try_lock() {
        let _ = writeln!(Output, "@done failed {}", note.text());
    }
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(STATUS.load(Relaxed)) }
}

fn tell_who_waits(shared: &Shared) -> fmt::Result {
    let Ok(engine) = shared.engine.try_borrow() else { return Ok(()) };
    let waiting = || engine.waits.iter().enumerate().filter_map(|(core, wait)| Some((core, wait.awaited()?)));
    for (core, reason) in waiting().take(LISTED) {
        writeln!(Output, "  core {core} waits for {reason}")?;
    }
    match waiting().count().checked_sub(LISTED + 1) {
        Some(more) => writeln!(Output, "  … and {} more wait", more + 1),
        None => Ok(()),
    }
}

/// Says where cores wait that nothing can wake, if this process reports.
pub(super) fn tell_where<'c>(cores: impl Iterator<Item = &'c SimCore>) {
    if !REPORTS.load(Relaxed) {
        return;
    }
    for core in cores.take(LISTED) {
        let _ = writeln!(Output, "{}", place(core));
    }
}

/// Where a core has given way.
pub(super) fn place(core: &SimCore) -> impl fmt::Display {
    let place = SimPlatform::give_way as *const () as usize;
    Stop { core, place, stack_pointer: core.platform().stack_pointer(), interrupted: true }
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
        trace::tell(&**core, false, &mut |line| {
            // In one piece, as there are many.
            let mut note = Note::new();
            let _ = match note.write_fmt(line) {
                Ok(()) => Output.write_str(note.text()),
                Err(_) => Output.write_fmt(line),
            };
        });
    }
}

/// A text of at most so many bytes.
struct Note {
    text: [u8; 256],
    len: usize,
}

impl Note {
    const fn new() -> Self {
        Self { text: [0; 256], len: 0 }
    }

    fn text(&self) -> &str {
        str::from_utf8(&self.text[..self.len]).unwrap_or_default()
    }
}

impl Write for Note {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.text.get_mut(self.len..self.len + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// Where the core was, and what on its stack looks like return addresses, from the last call on.
impl fmt::Display for Stop<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = self.core.platform().id().index();
        match told(self.place) {
            Some(place) => write!(out, "  core {core} was at {place:#x}")?,
            None => write!(out, "  core {core} was outside the program's code at {:#x}", self.place)?,
        }
        if !self.core.platform().stack().contains(&self.stack_pointer) {
            return Ok(());
        }
        out.write_str(", on its stack are")?;
        self.words().filter_map(told).take(RETURNS).try_for_each(|place| write!(out, " {place:#x}"))
    }
}

impl Stop<'_> {
    /// The words of the core's stack, from the last one on.
    fn words(&self) -> impl Iterator<Item = usize> {
        let stack = self.core.platform().stack();
        let first = self.stack_pointer.max(stack.start + PAGE_BYTES).next_multiple_of(size_of::<usize>());
        (first..stack.end).step_by(size_of::<usize>()).map(|slot| {
            // SAFETY: the slot lies in the core's stack above its guard page, which is mapped; the core does not run.
            unsafe { std::ptr::with_exposed_provenance::<usize>(slot).read_volatile() }
        })
    }
}

const PAGE_BYTES: usize = 4096;

/// Standard output, past all buffers and locks.
struct Output;

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            // SAFETY: pointer and length are one slice's.
            let written = unsafe { libc::write(libc::STDOUT_FILENO, rest.as_ptr().cast(), rest.len()) };
            rest = usize::try_from(written).ok().and_then(|written| rest.get(written..)).ok_or(fmt::Error)?;
        }
        Ok(())
    }
}

/// What reports say for an address in code: its distance from the start of the executable, or of what was loaded.
fn told(address: usize) -> Option<usize> {
    let code = code();
    if code.contains(&address) { Some(address - code.start) } else { told_of_loaded(address) }
}

#[cfg(target_os = "linux")]
use linux::{code, limit_rest};

/// Nobody handles signals.
#[cfg(not(target_os = "linux"))]
fn code() -> std::ops::Range<usize> {
    0..0
}

#[cfg(not(target_os = "linux"))]
fn limit_rest() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        ffi::{c_int, c_void},
        fmt::Write,
        mem::MaybeUninit,
        ops::Range,
        ptr,
        sync::atomic::Ordering::Relaxed,
        time::Duration,
    };

    use crate::StackOverflow;

    use super::{
        ASKED, BETWEEN_LOOKS, HANDLER_STACK_BYTES, LAST_CLOCK, LAST_CORE, LAST_LINE, LOOKS, MOST_LOOKS, PAGE_BYTES,
        PATIENCE_S, REST, Running, SECONDS, Stop, end, failed, say_last_line, told,
    };

    /// What is said of a core that runs when the end is asked for.
    const GIVEN_UP: &str = "still ran when it was told to end";

    /// What a core's program can bring upon itself, the clock of processor time, and somebody's wish.
    const SIGNALS: [c_int; 7] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGPROF, libc::SIGTERM];

    unsafe extern "C" {
        // Of every executable, by its linker.
        static __executable_start: u8;
        static etext: u8;
    }

    /// The addresses of the executable's code, from the executable's own start on.
    pub(super) fn code() -> Range<usize> {
        (&raw const __executable_start).addr()..(&raw const etext).addr()
    }

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
        // outside of whose operations the core was, and nothing resumes the core again.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handle as *const () as usize;
            // The handler of a fault does not return, and further faults are to be handled all the same.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | libc::SA_NODEFER;
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }

    /// Limits by the host's clock what runs after a fault: it may also hang, in a lock that the fault has left taken.
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
            Some(shared) => end(shared),
            None => {}
        }
        let asks = [libc::SIGTERM, libc::SIGALRM].contains(&signal);
        // SAFETY: both are what the system hands to a handler with SA_SIGINFO.
        let (info, context) = unsafe { (&*info, &*context.cast::<libc::ucontext_t>()) };
        let handled = Running::with(|core| {
            let (place, stack_pointer) = registers(context);
            let stop = Stop { core, place, stack_pointer, interrupted: asks || signal == libc::SIGPROF };
            match signal {
                libc::SIGPROF => stop.tick(),
                _ if asks => stop.end_if_whole(),
                _ => stop.fault(signal, info, context),
            }
        });
        if asks {
            look_again();
        } else if handled.is_none() && signal != libc::SIGPROF {
            // None of a simulated core's. Whatever it was happens again, and then has its usual consequence.
            // SAFETY: the default action is one.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }

    /// Nothing could be reported at this moment.
    fn look_again() {
        if !ASKED.swap(true, Relaxed) {
            alarm(BETWEEN_LOOKS);
        } else if LOOKS.fetch_add(1, Relaxed) > MOST_LOOKS {
            if let Ok(mut note) = LAST_LINE.try_lock() {
                let _ = write!(note, "{GIVEN_UP}, outside of all programs");
            }
            say_last_line();
        }
    }

    /// Where the processor was, and its stack pointer.
    fn registers(context: &libc::ucontext_t) -> (usize, usize) {
        #[cfg(target_arch = "x86_64")]
        let (place, stack) = (
            context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize,
            context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize,
        );
        #[cfg(target_arch = "aarch64")]
        let (place, stack) = (context.uc_mcontext.pc as usize, context.uc_mcontext.sp as usize);
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let (place, stack) = (0, 0);
        (place, stack)
    }

    /// Whether a page fault was a write, where that is known.
    fn is_write(context: &libc::ucontext_t) -> Option<bool> {
        #[cfg(target_arch = "x86_64")]
        return Some(context.uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0);
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    impl Stop<'_> {
        fn fault(&self, signal: c_int, info: &libc::siginfo_t, context: &libc::ucontext_t) {
            let platform = self.core.platform();
            match signal {
                libc::SIGSEGV | libc::SIGBUS => {
                    // SAFETY: these signals have an address.
                    let address = unsafe { info.si_addr() }.addr();
                    let stack = platform.stack();
                    if (stack.start..stack.start + PAGE_BYTES).contains(&address) {
                        self.report(format_args!("{}", StackOverflow { stack_bytes: stack.len() - PAGE_BYTES }));
                    }
                    if address == self.place {
                        self.report(format_args!("jump to {address:#x}, where no code is"));
                    }
                    // What is no address at all, the processor does not tell.
                    if info.si_code == libc::SI_KERNEL {
                        self.report(format_args!("access to an address that cannot be"));
                    }
                    match is_write(context) {
                        Some(true) => self.report(format_args!("write to {address:#x}, where it has no memory")),
                        Some(false) => self.report(format_args!("read of {address:#x}, where it has no memory")),
                        None => self.report(format_args!("access to {address:#x}, where it has no memory")),
                    }
                }
                libc::SIGABRT => match platform.exhausted() {
                    Some(exhausted) => self.report(format_args!("{exhausted}")),
                    None => self.report(format_args!("abort, after a panic that could not unwind")),
                },
                libc::SIGFPE => self.report(format_args!("arithmetic that the processor refuses")),
                _ => self.report(format_args!("illegal instruction")),
            }
        }

        /// Reports what somebody has asked for, unless the simulator is in the middle of something.
        fn end_if_whole(&self) {
            let shared = self.core.platform().shared();
            if told(self.place).is_some() && shared.engine.try_borrow().is_ok() {
                // SAFETY: the action is one. From now on nobody asks again.
                unsafe { libc::signal(libc::SIGALRM, libc::SIG_IGN) };
                self.tell(format_args!("{GIVEN_UP}"));
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
