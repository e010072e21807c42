//! Descriptor tables and task state of a core, all in its private memory.
//!
//! A double fault gets a task of its own: it is mostly a stack overflow, so the interrupted stack cannot be used.

use core::arch::asm;

use super::{
    cpu, lapic,
    private::Private,
    task::{CODE, EMPTY_TASK, MAIN, TaskState},
    trap,
};

const MAIN_TASK: u16 = 0x18;
const DOUBLE_FAULT_TASK: u16 = 0x20;

const DOUBLE_FAULT_STACK_BYTES: usize = 16 * 1024;

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
