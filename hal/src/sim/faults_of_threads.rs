//! Faults of cores that are threads of the host: reported as those of simulated cores are. The other threads run on
//! meanwhile, so nobody says what they wait for.

use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    mem::MaybeUninit,
    ops::Range,
    ptr,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
};

use crate::{
    Topology,
    kit::{Hardware, HardwareCore},
    trace,
};

use super::fault_report::{At, HANDLER_STACK_BYTES, PAGE_BYTES, say, say_last_line};

/// The core that a thread is.
struct Core {
    number: usize,
    stack: Range<usize>,
    this: *const (),
    /// Tells what it has noted, if it is traced.
    tell_trace: unsafe fn(*const ()),
}

thread_local! {
    static CORE: Cell<*const Core> = const { Cell::new(ptr::null()) };
    /// Whether this thread has begun a report.
    static REPORTS: Cell<bool> = const { Cell::new(false) };
}

/// Calls `run` on the thread that is this core. If it faults, aborts or overruns its stack meanwhile, and this process
/// [reports faults](super::end_on_faults), the process ends with a report of that.
pub fn report_faults_of<H: Hardware, R>(core: &HardwareCore<H>, run: impl FnOnce() -> R) -> R {
    let noted = Core {
        number: core.core().index(),
        stack: own_stack(),
        this: ptr::from_ref(core).cast(),
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
        // SAFETY: it was the one before.
        unsafe { libc::sigaltstack(&self.previous_stack, ptr::null_mut()) };
    }
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
pub(super) fn fault(
    signal: c_int,
    info: &libc::siginfo_t,
    context: &libc::ucontext_t,
    [place, stack_pointer]: [usize; 2],
) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    // SAFETY: it is noted while it is there.
    let Some(core) = (unsafe { CORE.get().as_ref() }) else { return };
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
    let at = At { core: core.number, stack: core.stack.clone(), place, stack_pointer };
    at.fault(signal, info, context, None, |what| at.tell(what));
    // SAFETY: it was noted with the function for its hardware, by this thread.
    unsafe { (core.tell_trace)(core.this) };
    say_last_line()
}
