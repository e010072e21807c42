//! Faults: a report that names the core and the place, then the end of the machine.
//!
//! Only a page fault may be repaired: it is offered to the core's fault handler first, which is how the private caching
//! region brings pages in. A double fault runs as a task of its own (see `descriptor`), so that a stack overflow is
//! reported instead of resetting the machine without a word.
//!
//! Handlers of faults must not use the x87: its state belongs to the interrupted code and is not saved. Interrupts
//! from other cores save it.

use super::private::Private;
use super::{cluster, console, cpu, demand, descriptor, domain, exit, heartbeat, lapic, memory, stuck, this_core};
use core::arch::global_asm;

/// A page fault's second chance: gets the address, says whether the access may be repeated.
pub(super) type FaultHandler = fn(address: usize) -> bool;

/// Number of vectors that the processor uses for exceptions.
pub(super) const EXCEPTIONS: usize = 32;
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

    /* The timer of a cluster's node. Its handler leaves the x87 alone. */
    .balign 16
    .globl trap_timer
    .type trap_timer, @function
trap_timer:
    pushal
    cld
    movl %esp, %ebx
    andl $-16, %esp
    call {timer}
    movl %ebx, %esp
    popal
    iretl
    .size trap_timer, . - trap_timer

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
    timer = sym heartbeat::tick,
    x87_bytes = const X87_STATE_BYTES,
    x87_control_word = const cpu::X87_CONTROL_WORD,
    double_fault = sym double_fault,
    options(att_syntax)
);

unsafe extern "C" {
    static trap_stubs: u8;
    static trap_unexpected: u8;
    static trap_interrupt: u8;
    static trap_timer: u8;
    static trap_ignore: u8;
    static trap_double_fault: u8;
}

pub(super) fn stub(vector: usize) -> usize {
    (&raw const trap_stubs).addr() + vector * STUB_BYTES
}

pub(super) fn unexpected_stub() -> usize {
    (&raw const trap_unexpected).addr()
}

pub(super) fn interrupt_stub() -> usize {
    (&raw const trap_interrupt).addr()
}

pub(super) fn timer_stub() -> usize {
    (&raw const trap_timer).addr()
}

pub(super) fn ignore_stub() -> usize {
    (&raw const trap_ignore).addr()
}

pub(super) fn double_fault_entry() -> usize {
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

static FAULT_HANDLER: Private<Option<FaultHandler>> = Private::new(None);
static IN_FAULT_HANDLER: Private<bool> = Private::new(false);

/// Sets this core's fault handler. It runs on the interrupted stack with interrupts off, must not use the x87, and a
/// page fault within it is reported.
pub(super) fn set_fault_handler(handler: FaultHandler) {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: only this core reaches the value.
    unsafe { FAULT_HANDLER.get().write(Some(handler)) }
}

static INTERRUPT_HANDLER: Private<Option<fn()>> = Private::new(None);

/// Sets what is called when another core interrupts this one, on the interrupted stack with interrupts off. It may
/// use the x87.
pub(super) fn set_interrupt_handler(handler: fn()) {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: only this core reaches the value.
    unsafe { INTERRUPT_HANDLER.get().write(Some(handler)) }
}

extern "C" fn interrupt() {
    // First of all, so that what is raised from here on interrupts again.
    lapic::end_interrupt();
    // SAFETY: as above.
    if let Some(handler) = unsafe { INTERRUPT_HANDLER.get().read_volatile() } {
        handler();
    }
}

/// Lets the fault handler repair a page fault.
fn repaired(address: usize) -> bool {
    // SAFETY: only this core reaches the two values, and a nested fault only reads the flag.
    unsafe {
        if IN_FAULT_HANDLER.get().read_volatile() {
            return false;
        }
        let Some(handler) = FAULT_HANDLER.get().read_volatile() else { return false };
        IN_FAULT_HANDLER.get().write_volatile(true);
        let done = handler(address);
        IN_FAULT_HANDLER.get().write_volatile(false);
        done
    }
}

extern "C" fn handle(frame: &Frame) {
    match frame.vector {
        NMI if domain::told() => return,
        NMI => return say_where(frame.eip),
        PAGE_FAULT if frame.error & 1 == 0 && demand::keep_promise(cpu::fault_address()) => return,
        PAGE_FAULT if repaired(cpu::fault_address()) => return,
        _ => {}
    }
    if exit::is_ending() {
        cpu::park();
    }
    let core = cluster::global(this_core()).index();
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
    console::write_urgent(format_args!(
        "{report}@done failed core {core}: {name}{detail} at eip {:#010x}, cr2 {address:#010x}\n",
        frame.eip
    ));
    exit::exit(false)
}

/// Says where this core is, or what it waits for: somebody wants to know why the machine does not end. It goes on
/// afterwards.
fn say_where(eip: u32) {
    let core = cluster::global(this_core()).index();
    match stuck::waits_for(this_core()) {
        Some(info) => console::write_urgent(format_args!("core {core} waits for {}\n", info.reason)),
        None => console::write_urgent(format_args!("core {core} runs at {eip:#010x}\n")),
    }
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
    let core = cluster::global(this_core()).index();
    let address = cpu::fault_address();
    let state = descriptor::interrupted_task();
    let name = if memory::is_stack_guard(address) { "stack overflow" } else { "double fault" };
    console::write_urgent(format_args!(
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
    exit::exit(false)
}
