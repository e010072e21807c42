//! Faults that are unwound: in a run that is checked a core that has failed is taken down like one that has panicked, so that what was
//! found until then is told, and whoever explores can make another run.
//!
//! The handler of the signal lets the core go on in [`fail`], as if the instruction that has failed had called it. From there the core's
//! stack is unwound, which takes tables of the compiler's: where a frame is, they say for each instruction, but what Rust has to drop for
//! calls only. A function that has something to drop and fails between calls cannot be unwound, and aborts, which ends the process. What the core has done to other memory nobody knows, so that whoever has met such a run
//! makes it once more in a process of its own.

use std::{
    any::Any,
    fmt::{self, Write},
    panic,
    sync::Mutex,
};

use super::{fault_report::Note, heap::off_account, platform::Running};

/// Bytes of a core's stack that unwinding takes.
#[cfg(target_os = "linux")]
pub(super) const ROOM_BYTES: usize = 16 << 10;

/// What a core has done, and the address of the instruction, if it has not been unwound yet.
static NOTED: Mutex<Option<(Note, usize)>> = Mutex::new(None);

/// A core is on its way out after a fault.
struct Unwound;

/// Notes what the running core has done.
#[cfg(target_os = "linux")]
pub(super) fn note(what: fmt::Arguments<'_>, place: usize) {
    let mut text = Note::new();
    let _ = text.write_fmt(what);
    if let Ok(mut noted) = NOTED.try_lock() {
        *noted = Some((text, place));
    }
}

/// What was noted, and is not any more.
pub(super) fn take() -> Option<(Note, usize)> {
    NOTED.try_lock().ok()?.take()
}

/// What was noted, if this payload is what has ended a core's program.
pub(super) fn of_payload(payload: &(dyn Any + Send)) -> Option<(Note, usize)> {
    payload.is::<Unwound>().then(take).flatten()
}

/// Takes the running core down.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
extern "C-unwind" fn fail() -> ! {
    let tell = || {
        let noted = NOTED.try_lock().ok();
        let what = noted.as_ref().and_then(|noted| noted.as_ref()).map_or("", |(what, _)| what.text());
        Running::with(|core| core.platform().tell_fault(what));
    };
    off_account(tell);
    panic::resume_unwind(Box::new(Unwound))
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod entry {
    use std::arch::naked_asm;

    /// How far below the stack pointer the place is noted: right below the red zone, in which a function that calls nothing may have what
    /// its caller needs.
    const BELOW: usize = 128 + 8;

    /// Flags that a call has to find cleared: that strings are worked on downwards, and that what is not aligned is refused.
    const DIRECTION: i64 = 1 << 10;
    const ALIGNMENT_CHECK: i64 = 1 << 18;

    /// Calls [`fail`](super::fail) on a stack that is aligned, from wherever the processor was, and says how that is unwound: the caller's
    /// frame ends where its stack pointer was, and not right above the return address.
    #[unsafe(naked)]
    extern "C" fn enter() {
        naked_asm!(
            ".cfi_startproc",
            ".cfi_def_cfa_offset {below}",
            ".cfi_offset rip, -{below}",
            "push rbp",
            ".cfi_def_cfa_offset {pushed}",
            ".cfi_offset rbp, -{pushed}",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "and rsp, -16",
            "call {fail}",
            "ud2",
            ".cfi_endproc",
            below = const BELOW,
            pushed = const BELOW + 8,
            fail = sym super::fail,
        )
    }

    /// Lets what a signal has interrupted go on where it is taken down.
    ///
    /// # Safety
    /// The context is that of a core's program, whose instruction has failed and is never resumed, and below its stack pointer are
    /// [`ROOM_BYTES`](super::ROOM_BYTES) of its stack.
    pub(in super::super) unsafe fn begin(context: &mut libc::ucontext_t) {
        let registers = &mut context.uc_mcontext.gregs;
        let place = registers[libc::REG_RIP as usize];
        let stack_pointer = registers[libc::REG_RSP as usize] - BELOW as i64;
        // An unwinder takes what it finds here for the end of a call, and looks one byte before it.
        // SAFETY: the caller says that there is room, and what the failed function keeps below its stack pointer ends above.
        unsafe { std::ptr::with_exposed_provenance_mut::<i64>(stack_pointer as usize).write_volatile(place + 1) };
        registers[libc::REG_RSP as usize] = stack_pointer;
        registers[libc::REG_RIP as usize] = enter as *const () as i64;
        registers[libc::REG_EFL as usize] &= !(DIRECTION | ALIGNMENT_CHECK);
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) use entry::begin;

/// Nobody asks for it.
#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
pub(super) unsafe fn begin(_: &mut libc::ucontext_t) {}
