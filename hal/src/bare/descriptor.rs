//! Descriptor tables and task state of a core, all in its private memory.
//!
//! A double fault gets a task of its own: it is mostly a stack overflow, so the interrupted stack cannot be used.

use super::private::Private;
use super::{cpu, lapic, trap};
use core::arch::asm;

const CODE: u16 = 0x08;
const DATA: u16 = 0x10;
const MAIN_TASK: u16 = 0x18;
const DOUBLE_FAULT_TASK: u16 = 0x20;

const DOUBLE_FAULT_STACK_BYTES: usize = 16 * 1024;

/// The registers that a task switch saves and loads.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct TaskState {
    link: u32,
    stacks: [u32; 6],
    pub(crate) cr3: u32,
    pub(crate) eip: u32,
    pub(crate) eflags: u32,
    pub(crate) eax: u32,
    pub(crate) ecx: u32,
    pub(crate) edx: u32,
    pub(crate) ebx: u32,
    pub(crate) esp: u32,
    pub(crate) ebp: u32,
    pub(crate) esi: u32,
    pub(crate) edi: u32,
    es: u32,
    cs: u32,
    ss: u32,
    ds: u32,
    fs: u32,
    gs: u32,
    ldt: u32,
    io_map: u32,
}

const EMPTY_TASK: TaskState = TaskState {
    link: 0,
    stacks: [0; 6],
    cr3: 0,
    eip: 0,
    eflags: 2,
    eax: 0,
    ecx: 0,
    edx: 0,
    ebx: 0,
    esp: 0,
    ebp: 0,
    esi: 0,
    edi: 0,
    es: DATA as u32,
    cs: CODE as u32,
    ss: DATA as u32,
    ds: DATA as u32,
    fs: DATA as u32,
    gs: DATA as u32,
    ldt: 0,
    // Beyond the segment's end: no ports for unprivileged code, of which there is none.
    io_map: (size_of::<TaskState>() as u32) << 16,
};

static MAIN: Private<TaskState> = Private::new(EMPTY_TASK);
static DOUBLE_FAULT: Private<TaskState> = Private::new(EMPTY_TASK);

#[repr(C, align(16))]
struct Stack([u8; DOUBLE_FAULT_STACK_BYTES]);
static DOUBLE_FAULT_STACK: Private<Stack> = Private::new(Stack([0; DOUBLE_FAULT_STACK_BYTES]));

#[repr(C, align(8))]
struct GlobalTable([u64; 5]);
static GLOBAL: Private<GlobalTable> =
    Private::new(GlobalTable([0, 0x00CF_9B00_0000_FFFF, 0x00CF_9300_0000_FFFF, 0, 0]));

#[repr(C, align(8))]
struct InterruptTable([u64; 256]);
static INTERRUPT: Private<InterruptTable> = Private::new(InterruptTable([0; 256]));

/// Operand of `lgdt` and `lidt`.
#[repr(C, packed)]
struct TablePointer {
    limit: u16,
    base: u32,
}

/// A present task state descriptor, not busy.
fn task_descriptor(task: *const TaskState) -> u64 {
    let base = task.addr() as u64;
    let limit = size_of::<TaskState>() as u64 - 1;
    (base >> 24) << 56 | 0x89 << 40 | (base & 0xFF_FFFF) << 16 | limit
}

/// A present interrupt gate: interrupts are off in the handler.
fn interrupt_gate(handler: usize) -> u64 {
    let handler = handler as u64;
    (handler >> 16) << 48 | 0x8E << 40 | u64::from(CODE) << 16 | (handler & 0xFFFF)
}

const fn task_gate(selector: u16) -> u64 {
    0x85 << 40 | (selector as u64) << 16
}

/// Fills and loads the tables of this core, with entry points for further vectors.
///
/// # Safety
/// 1. Called once per core, in its own address space, before its interrupts are on.
/// 2. The gates lead to handlers that begin as the processor enters them, and leave everything as it was.
pub(crate) unsafe fn load(gates: &[(u8, usize)]) {
    // SAFETY: the statics are this core's own; by condition 1 nobody holds a reference to them, and the processor does
    // not use them yet.
    let (global, interrupts, double_fault) =
        unsafe { (&mut (*GLOBAL.get()).0, &mut (*INTERRUPT.get()).0, &mut *DOUBLE_FAULT.get()) };
    global[usize::from(MAIN_TASK / 8)] = task_descriptor(MAIN.get());
    global[usize::from(DOUBLE_FAULT_TASK / 8)] = task_descriptor(DOUBLE_FAULT.get());
    double_fault.cr3 = cpu::page_directory();
    double_fault.eip = trap::double_fault_entry() as u32;
    // The processor pushes the error code here before the first instruction.
    double_fault.esp = (DOUBLE_FAULT_STACK.get().addr() + DOUBLE_FAULT_STACK_BYTES) as u32;

    interrupts.fill(interrupt_gate(trap::unexpected_stub()));
    for (vector, gate) in interrupts.iter_mut().enumerate().take(trap::EXCEPTIONS) {
        *gate = interrupt_gate(trap::stub(vector));
    }
    interrupts[8] = task_gate(DOUBLE_FAULT_TASK);
    interrupts[usize::from(lapic::SPURIOUS_VECTOR)] = interrupt_gate(trap::ignore_stub());
    interrupts[usize::from(lapic::INTERRUPT_VECTOR)] = interrupt_gate(trap::interrupt_stub());
    for &(vector, handler) in gates {
        interrupts[usize::from(vector)] = interrupt_gate(handler);
    }
    let global_pointer =
        TablePointer { limit: (size_of::<GlobalTable>() - 1) as u16, base: GLOBAL.get().addr() as u32 };
    let interrupt_pointer =
        TablePointer { limit: (size_of::<InterruptTable>() - 1) as u16, base: INTERRUPT.get().addr() as u32 };
    // SAFETY: the tables are complete, live as long as the core, and keep the meaning of the selectors in use.
    unsafe {
        asm!(
            "lgdt [{global}]",
            "lidt [{interrupts}]",
            "ltr {task:x}",
            global = in(reg) &raw const global_pointer,
            interrupts = in(reg) &raw const interrupt_pointer,
            task = in(reg) u32::from(MAIN_TASK),
            options(nostack, preserves_flags),
        );
    }
}

/// What the processor saved when the double fault interrupted this core.
pub(crate) fn interrupted_task() -> TaskState {
    // SAFETY: the processor writes the value at a task switch only, and the double fault's task is never left.
    unsafe { MAIN.get().read_volatile() }
}
