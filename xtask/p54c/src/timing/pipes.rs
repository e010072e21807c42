//! The two pipes: which instructions go together.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};

use super::{
    instructions::{Pipe, timing},
    is_x87,
    x87::{Unit, takes_exchange},
};

/// Sets of registers: a bit for each general one, one for the flags.
type Registers = u16;

const STACK: Registers = 1 << 4;
const FLAGS: Registers = 1 << 8;

/// What an instruction reads and writes of registers.
#[derive(Clone, Copy, Default)]
struct Uses {
    reads: Registers,
    writes: Registers,
    /// What it computes addresses by.
    addresses: Registers,
    /// Whether it moves the stack pointer by itself, as `push` does.
    is_stack: bool,
}

impl Uses {
    /// What it writes that the next cycle gets late: `push` and its like tell each other what the stack pointer is.
    const fn passed_on(&self) -> Registers {
        if self.is_stack { self.writes & !STACK } else { self.writes }
    }
}

/// What is in U, with room in V.
struct Half {
    uses: Uses,
    cycles: u32,
    /// Whether it reads, modifies and writes memory.
    modifies: bool,
}

/// A block as it goes through the pipes.
pub(super) struct Pipes {
    factory: InstructionInfoFactory,
    cycles: u64,
    half: Option<Half>,
    /// What the last cycle has written, by whatever is in its pipes.
    written: Registers,
    /// Cycles of the last instruction: who decodes meanwhile is not kept waiting.
    hidden: u32,
    unit: Unit,
    exchange: bool,
}

impl Pipes {
    pub(super) fn new() -> Self {
        let factory = InstructionInfoFactory::new();
        let unit = Unit::new();
        Self { factory, cycles: 0, half: None, written: 0, hidden: 0, unit, exchange: false }
    }

    /// An instruction that needs nothing and goes alone.
    pub(super) fn alone(&mut self, cycles: u32) {
        self.half = None;
        self.exchange = false;
        self.cycles += u64::from(cycles);
        (self.written, self.hidden) = (0, cycles - 1);
    }

    /// The next instruction, with `prefixes` prefixes.
    pub(super) fn add(&mut self, instruction: &Instruction, prefixes: u32) {
        let decoding = u64::from(prefixes.saturating_sub(self.hidden));
        if is_x87(instruction) {
            self.half = None;
            if instruction.mnemonic() == Mnemonic::Fxch && std::mem::take(&mut self.exchange) {
                self.unit.execute(instruction, self.cycles);
                return;
            }
            let stall = u64::from(self.written & self.uses(instruction).addresses != 0);
            let before = self.cycles;
            self.cycles = self.unit.execute(instruction, before + decoding + stall);
            self.exchange = takes_exchange(instruction);
            (self.written, self.hidden) = (0, (self.cycles - before - 1) as u32);
            return;
        }
        self.exchange = false;
        let uses = self.uses(instruction);
        let (cycles, pipe) = timing(instruction);
        let modifies = cycles == 3 && pipe == Pipe::Either;
        if prefixes == 0
            && matches!(pipe, Pipe::Either | Pipe::Second)
            && let Some(half) = self.half.take_if(|half| goes_beside(&half.uses, &uses, pipe))
        {
            // What it takes longer than what is in U; two that modify memory get in each other's way.
            let more = if modifies && half.modifies { 2 } else { cycles.saturating_sub(half.cycles) };
            self.cycles += u64::from(more);
            self.written |= uses.passed_on();
            self.hidden = half.cycles.max(cycles) - 1;
            return;
        }
        // An address that the cycle before has computed is a cycle late.
        let stack = if uses.is_stack { STACK } else { 0 };
        let stalls = u64::from(self.written & (uses.addresses | stack) != 0);
        self.cycles += decoding + stalls + u64::from(cycles);
        self.hidden = cycles - 1;
        self.written = uses.passed_on();
        self.half = matches!(pipe, Pipe::Either | Pipe::First).then_some(Half { uses, cycles, modifies });
    }

    /// Cycles of all.
    pub(super) fn end(self) -> u32 {
        self.cycles.max(self.unit.busy_until()).try_into().unwrap_or(u32::MAX)
    }

    fn uses(&mut self, instruction: &Instruction) -> Uses {
        let is_stack = matches!(
            instruction.mnemonic(),
            Mnemonic::Push | Mnemonic::Pop | Mnemonic::Call | Mnemonic::Ret | Mnemonic::Pushad | Mnemonic::Popad
        );
        let mut uses = Uses { is_stack, ..Uses::default() };
        if instruction.rflags_read() != 0 {
            uses.reads |= FLAGS;
        }
        if instruction.rflags_modified() != 0 {
            uses.writes |= FLAGS;
        }
        for used in self.factory.info(instruction).used_registers() {
            let bit = bit(used.register());
            match used.access() {
                OpAccess::Read | OpAccess::CondRead => uses.reads |= bit,
                OpAccess::Write | OpAccess::CondWrite => uses.writes |= bit,
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => {
                    uses.reads |= bit;
                    uses.writes |= bit;
                }
                _ => {}
            }
        }
        uses.addresses = bit(instruction.memory_base()) | bit(instruction.memory_index());
        uses
    }
}

fn bit(register: Register) -> Registers {
    let register = register.full_register32();
    if register.is_gpr32() { 1 << register.number() } else { 0 }
}

/// Whether an instruction can be in V while the other one is in U.
fn goes_beside(first: &Uses, second: &Uses, pipe: Pipe) -> bool {
    // The stack pointer of two that move it, and flags for a jump, are passed on at once.
    let passed =
        if first.is_stack && second.is_stack { STACK } else { 0 } | if pipe == Pipe::Second { FLAGS } else { 0 };
    let written = first.writes & !passed;
    let both_write = first.writes & second.writes & !passed & !FLAGS;
    written & second.reads == 0 && both_write == 0 && first.writes & second.addresses == 0
}
