//! What is reported of a core that faults, whatever the machine: what it did, where, and how it came there.
//!
//! All of this runs in handlers of signals: it neither allocates nor waits for a lock.

use std::{
    fmt::{self, Write},
    mem,
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
};

use super::loaded::told_of_loaded;

#[cfg(target_os = "linux")]
pub(super) use linux::registers;

#[cfg(target_os = "linux")]
use linux::code;

/// Bytes of the stack of handlers.
pub(super) const HANDLER_STACK_BYTES: usize = 64 << 10;

/// Bytes of a stack's guard.
pub(super) const PAGE_BYTES: usize = 4096;

/// Return addresses that a report lists: as many as a line has room for.
const RETURNS: usize = 96;

/// Bytes of a line of a report, which is written as a whole.
const LINE_BYTES: usize = 2048;

/// The exit status of the process after a fault.
pub(super) static STATUS: AtomicI32 = AtomicI32::new(1);

/// What the last line will say.
pub(super) static LAST_LINE: Mutex<Note> = Mutex::new(Note::new());

/// A core that was stopped by a signal.
pub(super) struct At {
    pub(super) core: usize,
    /// Its stack, with its guard page at the lower end.
    pub(super) stack: Range<usize>,
    /// The instruction that was under way.
    pub(super) place: usize,
    pub(super) stack_pointer: usize,
}

impl At {
    /// Says what happened, and where.
    pub(super) fn tell(&self, what: fmt::Arguments<'_>) {
        let core = self.core;
        say(format_args!("core {core}: {what}\n"));
        say(format_args!("{self}\n"));
        if let Ok(mut note) = LAST_LINE.try_lock() {
            let _ = write!(note, "core {core}: {what}");
        }
    }

    /// The words of the core's stack, from the last one on.
    fn words(&self) -> impl Iterator<Item = usize> {
        let stack = &self.stack;
        let first = self.stack_pointer.max(stack.start + PAGE_BYTES).next_multiple_of(size_of::<usize>());
        (first..stack.end).step_by(size_of::<usize>()).map(|slot| {
            // SAFETY: the slot lies in the core's stack above its guard page, which is mapped; the core does not run.
            unsafe { std::ptr::with_exposed_provenance::<usize>(slot).read_volatile() }
        })
    }
}

/// Where the core was, and what on its stack looks like return addresses, from the last call on.
impl fmt::Display for At {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = self.core;
        match told(self.place) {
            Some(place) => write!(out, "  core {core} was at {place:#x}")?,
            None => write!(out, "  core {core} was outside the program's code at {:#x}", self.place)?,
        }
        if !self.stack.contains(&self.stack_pointer) {
            return Ok(());
        }
        out.write_str(", on its stack are")?;
        self.words().filter_map(told).take(RETURNS).try_for_each(|place| write!(out, " {place:#x}"))
    }
}

/// A text of at most `BYTES` bytes.
pub(super) struct Note<const BYTES: usize = 256> {
    text: [u8; BYTES],
    len: usize,
}

impl<const BYTES: usize> Note<BYTES> {
    pub(super) const fn new() -> Self {
        Self { text: [0; BYTES], len: 0 }
    }

    pub(super) fn text(&self) -> &str {
        str::from_utf8(&self.text[..self.len]).unwrap_or_default()
    }
}

impl<const BYTES: usize> Write for Note<BYTES> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.text.get_mut(self.len..self.len + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// Writes lines to standard output, past all buffers and locks, and in one piece if they have room on the stack: other threads
/// print, too.
pub(super) fn say(lines: fmt::Arguments<'_>) {
    let mut output = Output(Note::new());
    // There is nobody to tell when standard output has gone.
    let _ = output.write_fmt(lines).and_then(|()| output.pass_on());
}

/// What is on its way to standard output.
struct Output(Note<LINE_BYTES>);

impl Output {
    fn pass_on(&mut self) -> fmt::Result {
        let note = mem::replace(&mut self.0, Note::new());
        write_out(note.text())
    }
}

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(text).or_else(|_| {
            self.pass_on()?;
            write_out(text)
        })
    }
}

fn write_out(text: &str) -> fmt::Result {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: pointer and length are one slice's.
        let written = unsafe { libc::write(libc::STDOUT_FILENO, rest.as_ptr().cast(), rest.len()) };
        rest = usize::try_from(written).ok().and_then(|written| rest.get(written..)).ok_or(fmt::Error)?;
    }
    Ok(())
}

/// What reports say for an address in code: its distance from the start of the executable, or of what was loaded.
pub(super) fn told(address: usize) -> Option<usize> {
    let code = code();
    if code.contains(&address) { Some(address - code.start) } else { told_of_loaded(address) }
}

/// Ends the process, with the last line.
pub(super) fn say_last_line() -> ! {
    if let Ok(note) = LAST_LINE.try_lock() {
        say(format_args!("@done failed {}\n", note.text()));
    }
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(STATUS.load(Relaxed)) }
}

/// Nobody handles signals.
#[cfg(not(target_os = "linux"))]
fn code() -> Range<usize> {
    0..0
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{ffi::c_int, fmt, ops::Range};

    use crate::{HeapExhausted, StackOverflow};

    use super::{At, PAGE_BYTES};

    unsafe extern "C" {
        // Of every executable, by its linker.
        static __executable_start: u8;
        static etext: u8;
    }

    /// The addresses of the executable's code, from the executable's own start on.
    pub(super) fn code() -> Range<usize> {
        (&raw const __executable_start).addr()..(&raw const etext).addr()
    }

    /// Where the processor was, and its stack pointer.
    pub(in super::super) fn registers(context: &libc::ucontext_t) -> (usize, usize) {
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

    impl At {
        /// Has `report` say what a signal says of the core; `exhausted` is its last allocation, if that was refused.
        pub(crate) fn fault(
            &self,
            signal: c_int,
            info: &libc::siginfo_t,
            context: &libc::ucontext_t,
            exhausted: Option<HeapExhausted>,
            report: impl FnOnce(fmt::Arguments<'_>),
        ) {
            // SAFETY: the signals that are looked at for theirs have an address.
            let address = unsafe { info.si_addr() }.addr();
            match (signal, exhausted) {
                (libc::SIGSEGV | libc::SIGBUS, _) => {
                    let Range { start, end } = self.stack;
                    if (start..start + PAGE_BYTES).contains(&address) {
                        report(format_args!("{}", StackOverflow { stack_bytes: end - start - PAGE_BYTES }));
                    } else if address == self.place {
                        report(format_args!("jump to {address:#x}, where no code is"));
                    } else if info.si_code == libc::SI_KERNEL {
                        // What is no address at all, the processor does not tell.
                        report(format_args!("access to an address that cannot be"));
                    } else {
                        let what = match is_write(context) {
                            Some(true) => "write to",
                            Some(false) => "read of",
                            None => "access to",
                        };
                        report(format_args!("{what} {address:#x}, where it has no memory"));
                    }
                }
                (libc::SIGABRT, Some(exhausted)) => report(format_args!("{exhausted}")),
                (libc::SIGABRT, None) => report(format_args!("abort, after a panic that could not unwind")),
                (libc::SIGFPE, _) => report(format_args!("arithmetic that the processor refuses")),
                _ => report(format_args!("illegal instruction")),
            }
        }
    }
}
