//! Faults: a report that names the core and the place, then the end of the machine.
//!
//! What a backend can do about a fault or an NMI, its [`Hooks`] do first. A double fault runs as a task of its own (see
//! `descriptor`), so that a stack overflow is reported instead of resetting the machine without a word.
//!
//! Handlers of faults must not use the x87: its state belongs to the interrupted code and is not saved. Interrupts
//! from other cores save it.

use super::private::Private;
use super::{cpu, descriptor, lapic};
use core::{arch::global_asm, fmt};

/// What only the backend knows of traps. All of it runs with interrupts off, and must not use the x87.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    /// The number by which reports call this core.
    pub(crate) core: fn() -> usize,
    /// Handles an NMI that came at this instruction.
    pub(crate) nmi: fn(eip: u32),
    /// A page fault's second chance: gets the address and whether the page is present, says whether the access may be
    /// repeated.
    pub(crate) repair: fn(address: usize, is_present: bool) -> bool,
    /// Whether an address lies in the guard page below this core's stack.
    pub(crate) is_stack_guard: fn(address: usize) -> bool,
    /// Whether the machine ends already, so that nothing is to be reported.
    pub(crate) is_ending: fn() -> bool,
    /// Prints a report, even if this core is printing.
    pub(crate) write_urgent: fn(fmt::Arguments<'_>),
    /// Ends the machine as a failure.
    pub(crate) fail: fn() -> !,
}

static HOOKS: Private<Option<Hooks>> = Private::new(None);

/// Sets what traps do. Called before the descriptor tables are loaded.
pub(crate) fn set_hooks(hooks: Hooks) {
    // SAFETY: only this core reaches the value, and it takes no traps yet.
    unsafe { HOOKS.get().write(Some(hooks)) }
}

fn hooks() -> Hooks {
    // SAFETY: only this core reaches the value, which does not change after the first trap.
    match unsafe { HOOKS.get().read() } {
        Some(hooks) => hooks,
        None => cpu::park(),
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
    "invalid opcode",
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
        NMI => return (hooks.nmi)(frame.eip),
        PAGE_FAULT if (hooks.repair)(cpu::fault_address(), frame.error & 1 != 0) => return,
        _ => {}
    }
    if (hooks.is_ending)() {
        cpu::park();
    }
    let core = (hooks.core)();
    let name = NAMES.get(frame.vector as usize).copied().unwrap_or("unexpected interrupt");
    let address = cpu::fault_address();
    let detail = match frame.vector {
        PAGE_FAULT => page_fault_detail(frame.error),
        _ => "",
    };
    let esp = (&raw const *frame).addr() + size_of::<Frame>();
    let report = format_args!(
        "fault on core {core}: {name}{detail} (vector {}, error code {:#x})\n\
         {INDENT}eip {:08x}  cr2 {address:08x}  cr3 {:08x}  cs {:04x}  eflags {:08x}\n\
         {INDENT}eax {:08x}  ebx {:08x}  ecx {:08x}  edx {:08x}\n\
         {INDENT}esi {:08x}  edi {:08x}  ebp {:08x}  esp {esp:08x}\n",
        frame.vector,
        frame.error,
        frame.eip,
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
    );
    (hooks.write_urgent)(format_args!(
        "{report}@done failed core {core}: {name}{detail} at eip {:#010x}, cr2 {address:#010x}\n",
        frame.eip
    ));
    (hooks.fail)()
}

fn page_fault_detail(error: u32) -> &'static str {
    match error & 3 {
        0 => ": read of a page that is not mapped",
        1 => ": forbidden read",
        2 => ": write to a page that is not mapped",
        _ => ": write to a read-only page",
    }
}

extern "C" fn double_fault() -> ! {
    let hooks = hooks();
    let core = (hooks.core)();
    let address = cpu::fault_address();
    let state = descriptor::interrupted_task();
    let name = if (hooks.is_stack_guard)(address) { "stack overflow" } else { "double fault" };
    (hooks.write_urgent)(format_args!(
        "{name} on core {core} (vector 8)\n\
         {INDENT}eip {:08x}  cr2 {address:08x}  cr3 {:08x}  eflags {:08x}\n\
         {INDENT}eax {:08x}  ebx {:08x}  ecx {:08x}  edx {:08x}\n\
         {INDENT}esi {:08x}  edi {:08x}  ebp {:08x}  esp {:08x}\n\
         @done failed core {core}: {name} at eip {:#010x}\n",
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
        state.eip,
    ));
    (hooks.fail)()
}
