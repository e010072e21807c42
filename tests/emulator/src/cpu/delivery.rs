//! Interrupts and exceptions: the way into a program's handler.

use std::ffi::c_void;

use unicorn_engine::{RegisterX86, hook::sys};

use super::{
    hooks::{Cpu, GENERAL, Hooks, read, write},
    paging::Fault,
};
use crate::Violation;

/// Vector of an invalid instruction.
pub(super) const INVALID_OPCODE: u8 = 6;
const DOUBLE_FAULT: u8 = 8;
/// Vector of an access to a page that is not there.
pub(super) const PAGE_FAULT: u8 = 14;

const EFLAGS_TF: u32 = 1 << 8;
const EFLAGS_IF: u32 = 1 << 9;
const EFLAGS_NT: u32 = 1 << 14;
const EFLAGS_VM: u32 = 1 << 17;

/// Bytes of a gate, and of a descriptor.
const DESCRIPTOR_BYTES: u32 = 8;

/// What comes with an exception that the CPU library has raised: it does not tell, and programs do not look.
pub(super) fn error_code(vector: u8) -> Option<u32> {
    matches!(vector, DOUBLE_FAULT | 10..=PAGE_FAULT | 17).then_some(0)
}

/// A table's place: what `lidt` and its like have loaded.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Table {
    selector: u16,
    base: u64,
    limit: u32,
    flags: u32,
}

fn table(cpu: &Cpu, register: RegisterX86) -> Table {
    let mut table = Table::default();
    // SAFETY: 1. The handle is that of a CPU that exists. 2. For these registers the CPU library fills in a
    // `uc_x86_mmr`, which is laid out as `Table`.
    let _ = unsafe { sys::uc_reg_read(cpu.get_handle(), register as i32, (&raw mut table).cast::<c_void>()) };
    table
}

/// Why a delivery came to nothing.
enum Failed {
    /// An access for it met no page: that is another fault.
    Fault,
    /// Something was refused.
    Refused(Violation),
}

/// A core's memory, as its linear addresses show it.
struct Linear<'a> {
    hooks: &'a Hooks,
    number: usize,
    cr3: u32,
}

impl<'a> Linear<'a> {
    fn new(cpu: &Cpu, hooks: &'a Hooks) -> Self {
        Self { hooks, number: hooks.state.borrow().number, cr3: read(cpu, RegisterX86::CR3) }
    }

    fn page(&self, address: u32, store: bool) -> Result<(u32, crate::PageKind), Failed> {
        match self.hooks.translate(self.cr3, address, store) {
            Ok(mapped) => Ok((mapped.physical | address & 0xFFF, mapped.kind)),
            Err(Fault::Page(_)) => Err(Failed::Fault),
            Err(Fault::Wrong(reason)) => Err(Failed::Refused(Violation::new(self.number, address, reason))),
            Err(Fault::Unreadable(violation)) => Err(Failed::Refused(violation)),
        }
    }

    fn load(&self, address: u32) -> Result<u32, Failed> {
        let (physical, kind) = self.page(address, false)?;
        let loaded = self.hooks.shared.borrow_mut().chip.load(self.number, physical, kind, 4);
        loaded.map(|value| value as u32).map_err(Failed::Refused)
    }

    fn store(&self, address: u32, value: u32) -> Result<(), Failed> {
        let (physical, kind) = self.page(address, true)?;
        let stored = self.hooks.shared.borrow_mut().chip.store(self.number, physical, kind, 4, value.into());
        stored.map_err(Failed::Refused)
    }

    /// The two words of a descriptor of a table.
    fn descriptor(&self, table: Table, offset: u32) -> Result<[u32; 2], Failed> {
        if offset + DESCRIPTOR_BYTES - 1 > table.limit {
            return Err(Failed::Fault);
        }
        let address = table.base as u32 + offset;
        Ok([self.load(address)?, self.load(address + 4)?])
    }
}

/// Enters the handler of a vector.
///
/// # Errors
/// What was refused on the way, or that there is no handler.
pub(super) fn deliver(cpu: &mut Cpu, hooks: &Hooks, vector: u8, error: Option<u32>) -> Result<(), Violation> {
    let at = read(cpu, RegisterX86::EIP);
    let failed = match enter(cpu, hooks, vector, error) {
        Ok(()) => return Ok(()),
        Err(Failed::Refused(violation)) => return Err(violation),
        Err(Failed::Fault) => enter(cpu, hooks, DOUBLE_FAULT, Some(0)),
    };
    match failed {
        Ok(()) => Ok(()),
        Err(Failed::Refused(violation)) => Err(violation),
        Err(Failed::Fault) => {
            let number = hooks.state.borrow().number;
            let of = if vector == PAGE_FAULT {
                format!(" (of an access to {:#x})", read(cpu, RegisterX86::CR2))
            } else {
                String::new()
            };
            Err(Violation::new(number, at, format!("nothing handles vector {vector}{of}: the core shuts down")))
        }
    }
}

fn enter(cpu: &mut Cpu, hooks: &Hooks, vector: u8, error: Option<u32>) -> Result<(), Failed> {
    const PRESENT: u32 = 1 << 15;
    const TASK_GATE: u32 = 5;
    const INTERRUPT_GATE: u32 = 14;
    const TRAP_GATE: u32 = 15;

    let memory = Linear::new(cpu, hooks);
    let refuse = |reason: String| Failed::Refused(Violation::new(memory.number, read_eip(cpu), reason));
    if hooks.state.borrow().control.cr0 & super::CR0_PE == 0 {
        return Err(refuse(format!("vector {vector} in real mode, for which nothing has handlers")));
    }
    let [low, high] = memory.descriptor(table(cpu, RegisterX86::IDTR), u32::from(vector) * DESCRIPTOR_BYTES)?;
    if high & PRESENT == 0 {
        return Err(Failed::Fault);
    }
    let (selector, kind) = (low >> 16, high >> 8 & 0x1F);
    if kind == TASK_GATE {
        return switch_task(cpu, &memory, selector, error);
    }
    if !matches!(kind, INTERRUPT_GATE | TRAP_GATE) {
        return Err(refuse(format!("the gate of vector {vector} is of type {kind}, which is not modelled")));
    }
    if selector != read(cpu, RegisterX86::CS) {
        return Err(refuse(format!("the handler of vector {vector} is in another segment, which is not modelled")));
    }
    let flags = read(cpu, RegisterX86::EFLAGS);
    let mut stack = read(cpu, RegisterX86::ESP);
    for word in [Some(flags), Some(selector), Some(read_eip(cpu)), error].into_iter().flatten() {
        stack = stack.wrapping_sub(4);
        memory.store(stack, word)?;
    }
    write(cpu, RegisterX86::ESP, stack);
    let cleared = EFLAGS_TF | EFLAGS_NT | EFLAGS_VM | if kind == INTERRUPT_GATE { EFLAGS_IF } else { 0 };
    write(cpu, RegisterX86::EFLAGS, flags & !cleared);
    write(cpu, RegisterX86::EIP, low & 0xFFFF | high & 0xFFFF_0000);
    Ok(())
}

fn read_eip(cpu: &Cpu) -> u32 {
    read(cpu, RegisterX86::EIP)
}

/// Leaves the task that runs for that of a descriptor. Nothing comes back from it: it is for faults that cannot be
/// handled on the stack.
fn switch_task(cpu: &mut Cpu, memory: &Linear<'_>, selector: u32, error: Option<u32>) -> Result<(), Failed> {
    const CR3: u32 = 28;
    const EIP: u32 = 32;
    const EFLAGS: u32 = 36;
    const REGISTERS: u32 = 40;

    let [low, high] = memory.descriptor(table(cpu, RegisterX86::GDTR), selector & !7)?;
    let next = low >> 16 | high << 16 & 0xFF_0000 | high & 0xFF00_0000;
    let left = table(cpu, RegisterX86::TR).base as u32;
    memory.store(left + EIP, read_eip(cpu))?;
    memory.store(left + EFLAGS, read(cpu, RegisterX86::EFLAGS))?;
    for (place, register) in (left + REGISTERS..).step_by(4).zip(GENERAL) {
        memory.store(place, read(cpu, register))?;
    }
    let cr3 = memory.load(next + CR3)?;
    let [eip, flags] = [memory.load(next + EIP)?, memory.load(next + EFLAGS)?];
    let mut registers = [0; 8];
    for (place, value) in (next + REGISTERS..).step_by(4).zip(&mut registers) {
        *value = memory.load(place)?;
    }
    let memory = Linear { cr3, ..*memory };
    if let Some(error) = error {
        registers[4] -= 4;
        memory.store(registers[4], error)?;
    }
    write(cpu, RegisterX86::CR3, cr3);
    for (register, value) in GENERAL.into_iter().zip(registers) {
        write(cpu, register, value);
    }
    write(cpu, RegisterX86::EFLAGS, flags | EFLAGS_NT);
    write(cpu, RegisterX86::EIP, eip);
    Ok(())
}
