//! The x87 unit: what waits for what.
//!
//! An addition or multiplication takes three cycles, and another one can begin in each. What needs a result waits for it,
//! wherever `fxch` has put it meanwhile. A division occupies the unit, and nothing else.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// When the registers of the stack have their values, by how far they are from the top.
pub(super) struct Unit {
    ready: [u64; 8],
    busy_until: u64,
    last_multiplication: Option<u64>,
}

/// Cycles in which nothing else begins, until the result, and how long the unit is occupied.
struct Times(u64, u64, u64);

fn times(instruction: &Instruction) -> Times {
    let in_memory = (0..instruction.op_count()).any(|number| instruction.op_kind(number) == OpKind::Memory);
    let is_long = in_memory && instruction.memory_size().size() == 10;
    let all = |cycles| Times(cycles, cycles, cycles);
    match instruction.mnemonic() {
        Mnemonic::Fld | Mnemonic::Fst | Mnemonic::Fstp if is_long => all(3),
        Mnemonic::Fst | Mnemonic::Fstp if in_memory => all(2),
        Mnemonic::Fld | Mnemonic::Fst | Mnemonic::Fstp | Mnemonic::Fchs | Mnemonic::Fabs | Mnemonic::Fxch => all(1),
        Mnemonic::Fadd | Mnemonic::Faddp | Mnemonic::Fsub | Mnemonic::Fsubp | Mnemonic::Fsubr | Mnemonic::Fsubrp => {
            Times(1, 3, 1)
        }
        Mnemonic::Fmul | Mnemonic::Fmulp => Times(1, 3, 1),
        // With the 53 bits of precision that images set.
        Mnemonic::Fdiv | Mnemonic::Fdivp | Mnemonic::Fdivr | Mnemonic::Fdivrp => Times(1, 33, 32),
        Mnemonic::Fcom
        | Mnemonic::Fcomp
        | Mnemonic::Fcompp
        | Mnemonic::Fucom
        | Mnemonic::Fucomp
        | Mnemonic::Fucompp => Times(1, 4, 1),
        Mnemonic::Ftst => Times(1, 4, 1),
        Mnemonic::Ficom | Mnemonic::Ficomp => Times(4, 8, 4),
        Mnemonic::Fiadd | Mnemonic::Fisub | Mnemonic::Fisubr | Mnemonic::Fimul => Times(4, 6, 4),
        Mnemonic::Fidiv | Mnemonic::Fidivr => Times(4, 37, 36),
        Mnemonic::Fild => Times(1, 3, 1),
        Mnemonic::Fist | Mnemonic::Fistp => all(6),
        Mnemonic::Fsqrt => Times(1, 70, 69),
        // 16 to 126, 17 to 137, 17 to 173, 19 to 134, 13 to 57, 22 to 111 by their operands, and so on.
        Mnemonic::Fsin | Mnemonic::Fcos => all(82),
        Mnemonic::Fsincos => all(100),
        Mnemonic::Fptan => all(120),
        Mnemonic::Fpatan => all(98),
        Mnemonic::F2xm1 => all(53),
        Mnemonic::Fyl2x | Mnemonic::Fyl2xp1 => all(103),
        Mnemonic::Fprem | Mnemonic::Fprem1 => all(40),
        Mnemonic::Frndint => all(15),
        Mnemonic::Fscale => all(26),
        Mnemonic::Fxtract => all(13),
        Mnemonic::Fxam => all(21),
        Mnemonic::Fld1 | Mnemonic::Fldz => all(2),
        Mnemonic::Fldpi | Mnemonic::Fldl2e | Mnemonic::Fldl2t | Mnemonic::Fldlg2 | Mnemonic::Fldln2 => all(5),
        Mnemonic::Fnstsw | Mnemonic::Fstsw => all(6),
        Mnemonic::Fnstcw | Mnemonic::Fstcw => all(2),
        Mnemonic::Fldcw => all(7),
        Mnemonic::Fnclex | Mnemonic::Fclex => all(9),
        Mnemonic::Fninit | Mnemonic::Finit => all(16),
        Mnemonic::Fnsave | Mnemonic::Fsave => all(127),
        Mnemonic::Frstor => all(75),
        Mnemonic::Fldenv => all(32),
        Mnemonic::Fnstenv | Mnemonic::Fstenv => all(48),
        _ => all(1),
    }
}

/// Whether an `fxch` behind it goes along (FX).
pub(super) fn takes_exchange(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Fld
            | Mnemonic::Fadd
            | Mnemonic::Faddp
            | Mnemonic::Fsub
            | Mnemonic::Fsubp
            | Mnemonic::Fsubr
            | Mnemonic::Fsubrp
            | Mnemonic::Fmul
            | Mnemonic::Fmulp
            | Mnemonic::Fdiv
            | Mnemonic::Fdivp
            | Mnemonic::Fdivr
            | Mnemonic::Fdivrp
            | Mnemonic::Fcom
            | Mnemonic::Fcomp
            | Mnemonic::Fucom
            | Mnemonic::Fucomp
            | Mnemonic::Fchs
            | Mnemonic::Fabs
            | Mnemonic::Ftst
    )
}

impl Unit {
    pub(super) const fn new() -> Self {
        Self { ready: [0; 8], busy_until: 0, last_multiplication: None }
    }

    /// Executes an instruction that can begin at a cycle. Returns when the next one can begin.
    pub(super) fn execute(&mut self, instruction: &Instruction, now: u64) -> u64 {
        let place = |register: Register| (register as usize).wrapping_sub(Register::ST0 as usize);
        let registers: Vec<_> = (0..instruction.op_count())
            .filter(|number| instruction.op_kind(*number) == OpKind::Register)
            .map(|number| place(instruction.op_register(number)))
            .filter(|place| *place < 8)
            .collect();
        if instruction.mnemonic() == Mnemonic::Fxch {
            self.ready.swap(0, registers.last().copied().unwrap_or(1));
            return now + 1;
        }
        let Times(issue, latency, busy) = times(instruction);
        let increment = instruction.fpu_stack_increment_info().increment();
        let name = instruction.mnemonic();
        let loads = increment < 0;
        let stores =
            matches!(name, Mnemonic::Fst | Mnemonic::Fstp | Mnemonic::Fist | Mnemonic::Fistp) && registers.len() < 2;
        let mut start = now.max(self.busy_until);
        if matches!(name, Mnemonic::Fmul | Mnemonic::Fmulp) {
            // Multiplications begin in every other cycle.
            start = self.last_multiplication.map_or(start, |last| start.max(last + 2));
            self.last_multiplication = Some(start);
        }
        let sources = if loads { &registers[..] } else { &[0][..] };
        for source in sources.iter().chain(if loads { &[] } else { &registers[..] }) {
            start = start.max(self.ready[*source]);
        }
        if stores && start == self.ready[0] && start > now {
            // What is stored has to be there a cycle before.
            start += 1;
        }
        let result = start + latency;
        self.busy_until = start + busy;
        let target = if registers.is_empty() || loads { 0 } else { registers[0] };
        if loads {
            self.ready.rotate_right(1);
            self.ready[0] = result;
        } else {
            if !stores && name != Mnemonic::Fnstcw {
                self.ready[target] = result;
            }
            if increment > 0 {
                self.ready.rotate_left(increment as usize % 8);
            }
        }
        start + issue
    }

    /// When what occupies the unit is over.
    pub(super) const fn busy_until(&self) -> u64 {
        self.busy_until
    }
}
