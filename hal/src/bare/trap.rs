//! Faults: a report that names the core and the place, then the end of the machine.
//!
//! What a backend can do about a fault or an NMI, its [`Hooks`] do first. A double fault runs as a task of its own (see
//! `descriptor`), so that a stack overflow is reported instead of resetting the machine without a word.
//!
//! Handlers of faults must not use the x87: its state belongs to the interrupted code and is not saved. Interrupts
//! from other cores save it.

use super::private::{Private, PrivateOnce};
use super::{PAGE_BYTES, cpu, lapic, task};
use crate::StackOverflow;
use core::{
    arch::{asm, global_asm},
    fmt,
    ops::Range,
};

/// What only the backend knows of traps. All of it runs with interrupts off, and must not use the x87.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    /// The number by which reports call this core.
    pub(crate) core: fn() -> usize,
    /// Handles an NMI that came here.
    pub(crate) nmi: fn(place: Spot),
    /// A page fault's second chance: gets the address and whether the page is present, says whether the access may be
    /// repeated.
    pub(crate) repair: fn(address: usize, is_present: bool) -> bool,
    /// This core's stack; the page below is not mapped.
    pub(crate) stack: fn() -> Range<usize>,
    /// Where the image's code is.
    pub(crate) code: fn() -> Range<usize>,
    /// Prints what the other cores wait for, as far as this one can know.
    pub(crate) tell_who_waits: fn(),
    /// Whether the machine ends already, so that nothing is to be reported.
    pub(crate) is_ending: fn() -> bool,
    /// Prints a report, even if this core is printing.
    pub(crate) write_urgent: fn(fmt::Arguments<'_>),
    /// Ends the machine as a failure.
    pub(crate) fail: fn() -> !,
}

static HOOKS: PrivateOnce<Hooks> = PrivateOnce::new();

/// Sets what traps do. Called before the descriptor tables are loaded.
pub(crate) fn set_hooks(hooks: Hooks) {
    HOOKS.set(hooks);
}

fn hooks() -> &'static Hooks {
    HOOKS.get().unwrap_or_else(|| cpu::park())
}

/// Where a core is or was: displayed as an address, and what on its stack looks like return addresses, from the last
/// call on. `cargo xtask` makes functions and lines of them.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    eip: usize,
    esp: usize,
}

impl Spot {
    /// Where the caller is, on a core whose traps are prepared: for a report of a core that ends.
    ///
    /// # Safety
    /// When it is displayed, the core is still in the function that called this, or in what that calls, and does not return from it
    /// any more: the report looks at all words of its stack, which are variables of the functions that are under way.
    pub unsafe fn here() -> Self {
        let (eip, esp): (usize, usize);
        // SAFETY: reads two registers; the call and the word that it leaves below the stack pointer are taken back.
        unsafe {
            asm!("call 2f", "2: pop {}", "mov {}, esp", out(reg) eip, out(reg) esp);
        }
        Self { eip, esp }
    }
}

/// Return addresses that are displayed.
const RETURNS: usize = 96;

impl fmt::Display for Spot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stack, code) = ((hooks().stack)(), (hooks().code)());
        write!(out, "at {:#x}", self.eip)?;
        // What overruns its stack has its last return addresses just above the guard page.
        if !(stack.start - PAGE_BYTES..stack.end).contains(&self.esp) {
            return Ok(());
        }
        out.write_str(", on its stack are")?;
        let mut left = RETURNS;
        for slot in (self.esp.max(stack.start).next_multiple_of(4)..stack.end).step_by(4) {
            // SAFETY: a word of the core's stack, which is mapped. Whoever owns it does not run meanwhile: the core was
            // interrupted there, or will never return there, see `here`.
            let word = unsafe { core::ptr::with_exposed_provenance::<usize>(slot).read_volatile() };
            if code.contains(&word) && left > 0 {
                left -= 1;
                write!(out, " {word:#x}")?;
            }
        }
        Ok(())
    }
}

/// Number of vectors that the processor uses for exceptions.
pub(crate) const EXCEPTIONS: usize = 32;
/// Bytes between the entry points of two exceptions.
const STUB_BYTES: usize = 16;

const NMI: u32 = 2;
const PAGE_FAULT: u32 = 14;
/// What `fnsave` stores, rounded up to keep the stack aligned.
const X87_STATE_BYTES: usize = 112;
/// Pseudo vector of entries that are no exceptions.
const UNEXPECTED: u32 = 256;

/// Before the lines of a report that show registers; written as a value, since a line's own leading spaces are
/// dropped from a string that goes on in the next line.
const INDENT: &str = "  ";

const NAMES: [&str; EXCEPTIONS] = [
    "divide error",
    "debug exception",
    "non-maskable interrupt",
    "breakpoint",
    "overflow",
    "bound range exceeded",
    "illegal instruction",
    "no x87 available",
    "double fault",
    "x87 segment overrun",
    "invalid task state",
    "segment not present",
    "stack segment fault",
    "general protection fault",
    "page fault",
    "reserved exception 15",
    "x87 error",
    "alignment check",
    "machine check",
    "SIMD error",
    "virtualisation exception",
    "control protection exception",
    "reserved exception 22",
    "reserved exception 23",
    "reserved exception 24",
    "reserved exception 25",
    "reserved exception 26",
    "reserved exception 27",
    "hypervisor injection",
    "VMM communication exception",
    "security exception",
    "reserved exception 31",
];

global_asm!(
    r#"
    .section .text.trap, "ax", @progbits
    .balign 16
    .globl trap_stubs
    .type trap_stubs, @function
trap_stubs:
    .irp vector,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    .balign 16
    .if (\vector != 8) && ((\vector < 10) || (\vector > 14)) && (\vector != 17) && (\vector != 21) && (\vector != 29) && (\vector != 30)
    pushl $0
    .endif
    pushl $\vector
    jmp trap_common
    .endr
    .size trap_stubs, . - trap_stubs

    .balign 16
    .globl trap_unexpected
    .type trap_unexpected, @function
trap_unexpected:
    pushl $0
    pushl ${unexpected}
    jmp trap_common
    .size trap_unexpected, . - trap_unexpected

    .balign 16
    .type trap_common, @function
trap_common:
    pushal
    cld
    movl %esp, %ebx
    andl $-16, %esp
    subl $12, %esp
    pushl %ebx
    call {handle}
    movl %ebx, %esp
    popal
    addl $8, %esp
    iretl
    .size trap_common, . - trap_common

    /* An interrupt from another core. Its handler may be any code, so the x87 is saved and set up anew. */
    .balign 16
    .globl trap_interrupt
    .type trap_interrupt, @function
trap_interrupt:
    pushal
    cld
    movl %esp, %ebx
    subl ${x87_bytes} + 16, %esp
    andl $-16, %esp
    leal 16(%esp), %esi
    fnsave (%esi)
    movl ${x87_control_word}, (%esp)
    fldcw (%esp)
    call {interrupt}
    frstor (%esi)
    movl %ebx, %esp
    popal
    iretl
    .size trap_interrupt, . - trap_interrupt

    .balign 16
    .globl trap_ignore
    .type trap_ignore, @function
trap_ignore:
    iretl
    .size trap_ignore, . - trap_ignore

    /* Entered by a task switch; the error code, always 0, is on the stack. */
    .balign 16
    .globl trap_double_fault
    .type trap_double_fault, @function
trap_double_fault:
    cld
    andl $-16, %esp
    call {double_fault}
    ud2
    .size trap_double_fault, . - trap_double_fault
    .text
    "#,
    unexpected = const UNEXPECTED,
    handle = sym handle,
    interrupt = sym interrupt,
    x87_bytes = const X87_STATE_BYTES,
    x87_control_word = const cpu::X87_CONTROL_WORD,
    double_fault = sym double_fault,
    options(att_syntax)
);

unsafe extern "C" {
    static trap_stubs: u8;
    static trap_unexpected: u8;
    static trap_interrupt: u8;
    static trap_ignore: u8;
    static trap_double_fault: u8;
}

pub(crate) fn stub(vector: usize) -> usize {
    (&raw const trap_stubs).addr() + vector * STUB_BYTES
}

pub(crate) fn unexpected_stub() -> usize {
    (&raw const trap_unexpected).addr()
}

pub(crate) fn interrupt_stub() -> usize {
    (&raw const trap_interrupt).addr()
}

pub(crate) fn ignore_stub() -> usize {
    (&raw const trap_ignore).addr()
}

pub(crate) fn double_fault_entry() -> usize {
    (&raw const trap_double_fault).addr()
}

/// What `trap_common` leaves on the stack.
#[derive(Debug)]
#[repr(C)]
struct Frame {
    edi: u32,
    esi: u32,
    ebp: u32,
    esp_of_pushal: u32,
    ebx: u32,
    edx: u32,
    ecx: u32,
    eax: u32,
    vector: u32,
    error: u32,
    eip: u32,
    cs: u32,
    eflags: u32,
}

impl Frame {
    /// Where the core was.
    fn spot(&self) -> Spot {
        Spot { eip: self.eip as usize, esp: (&raw const *self).addr() + size_of::<Self>() }
    }
}

static INTERRUPT_HANDLER: Private<Option<fn()>> = Private::new(None);

/// Sets what is called when another core interrupts this one, on the interrupted stack with interrupts off. It may
/// use the x87.
pub(crate) fn set_interrupt_handler(handler: fn()) {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: only this core reaches the value.
    unsafe { INTERRUPT_HANDLER.get().write(Some(handler)) }
}

extern "C" fn interrupt() {
    // First of all, so that what is raised from here on interrupts again.
    lapic::end_interrupt();
    // SAFETY: only this core reaches the value.
    if let Some(handler) = unsafe { INTERRUPT_HANDLER.get().read_volatile() } {
        handler();
    }
}

extern "C" fn handle(frame: &Frame) {
    let hooks = hooks();
    match frame.vector {
        NMI => return (hooks.nmi)(frame.spot()),
        PAGE_FAULT if (hooks.repair)(cpu::fault_address(), frame.error & 1 != 0) => return,
        _ => {}
    }
    if (hooks.is_ending)() {
        cpu::park();
    }
    let name = NAMES.get(frame.vector as usize).copied().unwrap_or("unexpected interrupt");
    let what = What { name, frame, address: cpu::fault_address() };
    report(
        frame.spot(),
        format_args!("{what}"),
        format_args!(
            "{INDENT}vector {}  error code {:#x}  eip {:08x}  cr2 {:08x}  cr3 {:08x}  cs {:04x}  eflags {:08x}\n\
             {INDENT}eax {:08x}  ebx {:08x}  ecx {:08x}  edx {:08x}\n\
             {INDENT}esi {:08x}  edi {:08x}  ebp {:08x}  esp {:08x}\n",
            frame.vector,
            frame.error,
            frame.eip,
            what.address,
            cpu::page_directory(),
            frame.cs as u16,
            frame.eflags,
            frame.eax,
            frame.ebx,
            frame.ecx,
            frame.edx,
            frame.esi,
            frame.edi,
            frame.ebp,
            frame.spot().esp,
        ),
    )
}

/// Says what happened on this core, where, and who waits; ends the machine.
fn report(spot: Spot, what: fmt::Arguments<'_>, registers: fmt::Arguments<'_>) -> ! {
    let hooks = hooks();
    let core = (hooks.core)();
    (hooks.write_urgent)(format_args!("core {core}: {what}\n{registers}{INDENT}core {core} was {spot}\n"));
    (hooks.tell_who_waits)();
    (hooks.write_urgent)(format_args!("@done failed core {core}: {what}\n"));
    (hooks.fail)()
}

/// A fault in words, the same as in the simulator where that has it.
struct What<'a> {
    name: &'static str,
    frame: &'a Frame,
    address: usize,
}

impl fmt::Display for What<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, frame, address } = self;
        if frame.vector != PAGE_FAULT {
            return out.write_str(name);
        }
        let (is_present, is_write) = (frame.error & 1 != 0, frame.error & 2 != 0);
        match (is_present, is_write) {
            (false, _) if *address == frame.eip as usize => write!(out, "jump to {address:#x}, where no code is"),
            (false, true) => write!(out, "write to {address:#x}, where it has no memory"),
            (false, false) => write!(out, "read of {address:#x}, where it has no memory"),
            (true, true) => write!(out, "write to {address:#x}, which is read-only"),
            (true, false) => write!(out, "read of {address:#x}, which is forbidden"),
        }
    }
}

extern "C" fn double_fault() -> ! {
    let hooks = hooks();
    let address = cpu::fault_address();
    let state = task::interrupted_task();
    let stack = (hooks.stack)();
    let overflow = StackOverflow { stack_bytes: stack.len() };
    let is_overflow = (stack.start - PAGE_BYTES..stack.start).contains(&address);
    let what: &dyn fmt::Display = if is_overflow { &overflow } else { &"double fault" };
    report(
        Spot { eip: state.eip as usize, esp: state.esp as usize },
        format_args!("{what}"),
        format_args!(
            "{INDENT}vector 8  eip {:08x}  cr2 {address:08x}  cr3 {:08x}  eflags {:08x}\n\
             {INDENT}eax {:08x}  ebx {:08x}  ecx {:08x}  edx {:08x}\n\
             {INDENT}esi {:08x}  edi {:08x}  ebp {:08x}  esp {:08x}\n",
            state.eip,
            cpu::page_directory(),
            state.eflags,
            state.eax,
            state.ebx,
            state.ecx,
            state.edx,
            state.esi,
            state.edi,
            state.ebp,
            state.esp,
        ),
    )
}
