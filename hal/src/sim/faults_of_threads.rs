//! Faults of cores that are threads of the host: reported as those of simulated cores are. The other threads run on
//! meanwhile, so nobody says what they wait for. Nor is an endless loop noticed, since time passes there: whoever has lost
//! patience asks for the end, and gets a report of a core that is in its program.

use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    mem::MaybeUninit,
    ops::Range,
    ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
};

use crate::{
    Topology,
    kit::{Hardware, HardwareCore},
    trace,
};

use super::{
    fault_report::{At, HANDLER_STACK_BYTES, PAGE_BYTES, registers, say, say_last_line},
    platform::Running,
};

/// The core that a thread is.
struct Core {
    number: usize,
    stack: Range<usize>,
    this: *const (),
    /// Whether it is outside of all operations.
    is_in_program: unsafe fn(*const ()) -> bool,
    /// Tells what it has noted, if it is traced.
    tell_trace: unsafe fn(*const ()),
}

/// The threads that are cores now. Handlers do not wait for the lock.
static THREADS: Mutex<Vec<libc::pthread_t>> = Mutex::new(Vec::new());

thread_local! {
    static CORE: Cell<*const Core> = const { Cell::new(ptr::null()) };
    /// Whether this thread has begun a report.
    static REPORTS: Cell<bool> = const { Cell::new(false) };
}

/// Calls `run` on the thread that is this core. If it faults, aborts or overruns its stack meanwhile, and this process
/// [reports faults](super::end_on_faults), the process ends with a report of that.
///
/// # Panics
/// On a simulated core: those share a thread, and end in any order.
///
/// # Safety
/// Calls on one thread end in the reverse of the order in which they begin: `run` leaves the thread's stack only by returning or
/// unwinding, and does not change places with a coroutine in which there is another call.
pub unsafe fn report_faults_of<H: Hardware, R>(core: &HardwareCore<H>, run: impl FnOnce() -> R) -> R {
    assert!(Running::with(|_| ()).is_none(), "a simulated core is no thread of its own");
    let noted = Core {
        number: core.core().index(),
        stack: own_stack(),
        this: ptr::from_ref(core).cast(),
        is_in_program: is_in_program::<H>,
        tell_trace: tell_trace::<H>,
    };
    let _noted = Noted::new(&noted);
    run()
}

/// Notes, until it is dropped, which core this thread is, and where its handlers have a stack.
struct Noted {
    previous: *const Core,
    previous_stack: libc::stack_t,
    _stack: Vec<u8>,
}

impl Noted {
    fn new(core: &Core) -> Self {
        let mut stack = vec![0; HANDLER_STACK_BYTES];
        let own = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
        // SAFETY: it only says which thread this is.
        threads().push(unsafe { libc::pthread_self() });
        let mut previous = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: the stack is nobody else's, and stays until the one before it is back.
        unsafe { libc::sigaltstack(&own, previous.as_mut_ptr()) };
        // SAFETY: all zeros are one, and otherwise it was written.
        Self { previous: CORE.replace(core), previous_stack: unsafe { previous.assume_init() }, _stack: stack }
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        CORE.set(self.previous);
        // SAFETY: it only says which thread this is.
        let this = unsafe { libc::pthread_self() };
        let mut threads = threads();
        if let Some(place) = threads.iter().rposition(|thread| *thread == this) {
            threads.remove(place);
        }
        drop(threads);
        // SAFETY: it was the one before.
        unsafe { libc::sigaltstack(&self.previous_stack, ptr::null_mut()) };
    }
}

fn threads() -> MutexGuard<'static, Vec<libc::pthread_t>> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This thread's stack, with a page of its guard at the lower end; empty if nobody knows.
fn own_stack() -> Range<usize> {
    let (mut start, mut bytes) = (ptr::null_mut::<c_void>(), 0);
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::zeroed();
    // SAFETY: the attributes are written before they are read, and given back.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return 0..0;
        }
        libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut bytes);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    start.addr() - PAGE_BYTES..start.addr() + bytes
}

/// Whether the core is outside of all operations.
///
/// # Safety
/// As for [`tell_trace`].
unsafe fn is_in_program<H: Hardware>(core: *const ()) -> bool {
    // SAFETY: the caller says so.
    unsafe { &*core.cast::<HardwareCore<H>>() }.is_in_program()
}

/// Tells the trace of a core that is in its program: within an operation it may be half noted.
///
/// # Safety
/// The core is one with this hardware, and this thread is that core.
unsafe fn tell_trace<H: Hardware>(core: *const ()) {
    // SAFETY: the caller says so.
    let core = unsafe { &*core.cast::<HardwareCore<H>>() };
    if core.is_in_program() && !thread::panicking() {
        trace::tell(core, false, &mut |line| say(line));
    }
}

/// Ends the process if this thread is a core, with a report of what a signal says of it.
pub(super) fn fault(signal: c_int, info: &libc::siginfo_t, context: &libc::ucontext_t) {
    if let Some(core) = this_core() {
        report(core, context, |at| at.fault(signal, info, context, None, |what| at.tell(what)));
    }
}

/// Somebody has asked for the end by this signal. Ends the process if this thread is a core in its program, with a report of where it is. If
/// it is no core, has another one look that is, at each call the next. Returns whether there are cores, as far as that can be told.
pub(super) fn end_as_asked(signal: c_int, context: &libc::ucontext_t, what: &str) -> bool {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    if let Some(core) = this_core() {
        // SAFETY: it was noted with the function for its hardware, by this thread.
        if !REPORTS.get() && unsafe { (core.is_in_program)(core.this) } {
            report(core, context, |at| at.tell(format_args!("{what}")));
        }
        return true;
    }
    let Ok(threads) = THREADS.try_lock() else { return false };
    let next = CALLS.fetch_add(1, Relaxed) % threads.len().max(1);
    if let Some(thread) = threads.get(next) {
        // SAFETY: the thread is there as long as it is in the list, which is locked.
        unsafe { libc::pthread_kill(*thread, signal) };
    }
    !threads.is_empty()
}

/// The core that this thread is.
fn this_core<'a>() -> Option<&'a Core> {
    // SAFETY: it is noted while it is there.
    unsafe { CORE.get().as_ref() }
}

/// Ends the process with what is told of this thread's core, unless another thread does so already.
fn report(core: &Core, context: &libc::ucontext_t, tell: impl FnOnce(&At)) -> ! {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, SeqCst) {
        // Whoever comes here again has failed on the way; for the others, the first one's report goes on.
        if REPORTS.get() {
            say_last_line();
        }
        loop {
            // SAFETY: it only waits for a signal.
            unsafe { libc::pause() };
        }
    }
    REPORTS.set(true);
    // The end is near, and nobody need ask for it any more.
    for signal in [libc::SIGTERM, libc::SIGALRM] {
        // SAFETY: the action is one.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let (place, stack_pointer) = registers(context);
    tell(&At { core: core.number, stack: core.stack.clone(), place, stack_pointer });
    // SAFETY: it was noted with the function for its hardware, by this thread.
    unsafe { (core.tell_trace)(core.this) };
    say_last_line()
}
