//! The table: what each integer instruction takes when L1 has its data, and which pipe it can go into beside another one.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// Which pipe an instruction can go into while another one is in the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pipe {
    /// Either (UV).
    Either,
    /// U only (PU).
    First,
    /// V only (PV).
    Second,
    /// It is alone (NP).
    Alone,
}

use Pipe::{Alone, Either, First, Second};

/// Whether operand `number` is in memory.
fn in_memory(instruction: &Instruction, number: u32) -> bool {
    instruction.op_count() > number && instruction.op_kind(number) == OpKind::Memory
}

/// Whether the last operand is a constant.
fn has_constant(instruction: &Instruction) -> bool {
    let last = instruction.op_count().saturating_sub(1);
    instruction.op_count() > 0
        && !matches!(
            instruction.op_kind(last),
            OpKind::Register | OpKind::Memory | OpKind::NearBranch16 | OpKind::NearBranch32
        )
}

/// Cycles and pipe of an instruction that is not of the x87 unit.
pub(super) fn timing(instruction: &Instruction) -> (u32, Pipe) {
    let (to_memory, from_memory) = (in_memory(instruction, 0), in_memory(instruction, 1));
    let memory = to_memory || from_memory;
    // Nothing with both a displacement and a constant goes with another one.
    let pipe =
        |pipe| if memory && instruction.memory_displ_size() > 0 && has_constant(instruction) { Alone } else { pipe };
    let operation = if to_memory { 3 } else { 1 + u32::from(from_memory) };
    let by_size = |sizes: [u32; 3]| {
        let size = if to_memory { instruction.memory_size().size() } else { instruction.op0_register().size() };
        sizes[match size {
            1 => 0,
            2 => 1,
            _ => 2,
        }]
    };
    let is_segment = |number| instruction.op_count() > number && instruction.op_register(number).is_segment_register();
    match instruction.mnemonic() {
        Mnemonic::Mov if instruction.op0_register().is_cr() => (22, Alone),
        Mnemonic::Mov if instruction.op1_register().is_cr() => (4, Alone),
        Mnemonic::Mov if is_segment(0) => (2, Alone),
        Mnemonic::Mov if is_segment(1) => (1, Alone),
        Mnemonic::Mov => (1, pipe(Either)),
        Mnemonic::Pause => (1, Alone),
        Mnemonic::Nop if crate::is_between_polls(instruction) => (1, Alone),
        Mnemonic::Lea | Mnemonic::Nop => (1, Either),
        Mnemonic::Add | Mnemonic::Sub | Mnemonic::And | Mnemonic::Or | Mnemonic::Xor => {
            (locked(instruction, operation), pipe(Either))
        }
        Mnemonic::Cmp => (1 + u32::from(memory), pipe(Either)),
        Mnemonic::Test if has_constant(instruction) && !is_accumulator(instruction) => (1 + u32::from(memory), Alone),
        Mnemonic::Test => (1 + u32::from(memory), pipe(Either)),
        Mnemonic::Inc | Mnemonic::Dec => (locked(instruction, operation), Either),
        Mnemonic::Adc | Mnemonic::Sbb => (locked(instruction, operation), pipe(First)),
        Mnemonic::Push if memory => (2, Alone),
        Mnemonic::Pop if to_memory => (3, Alone),
        Mnemonic::Push | Mnemonic::Pop if is_segment(0) => (3, Alone),
        Mnemonic::Push | Mnemonic::Pop => (1, Either),
        Mnemonic::Shl | Mnemonic::Sal | Mnemonic::Shr | Mnemonic::Sar => {
            if instruction.op1_register() == Register::CL {
                (if to_memory { 5 } else { 4 }, Alone)
            } else {
                (operation, pipe(First))
            }
        }
        Mnemonic::Rol | Mnemonic::Ror | Mnemonic::Rcl | Mnemonic::Rcr => {
            let by_one =
                !instruction.op_kinds().any(|kind| kind == OpKind::Immediate8) || instruction.immediate8() == 1;
            if instruction.op1_register() == Register::CL {
                (if to_memory { 5 } else { 4 }, Alone)
            } else {
                (operation, if by_one { First } else { Alone })
            }
        }
        Mnemonic::Jmp if matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32) => (1, Second),
        Mnemonic::Jmp => (if instruction.op0_kind() == OpKind::FarBranch32 { 3 } else { 2 }, Alone),
        Mnemonic::Call if matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32) => (1, Second),
        Mnemonic::Call => (2, Alone),
        Mnemonic::Ret => (if instruction.op_count() > 0 { 3 } else { 2 }, Alone),
        _ if instruction.is_jcc_short_or_near() => (1, Second),
        Mnemonic::Not | Mnemonic::Neg => (operation, Alone),
        Mnemonic::Mul => (by_size([11, 11, 10]), Alone),
        Mnemonic::Imul => (10, Alone),
        Mnemonic::Div => (by_size([17, 25, 41]), Alone),
        Mnemonic::Idiv => (by_size([22, 30, 46]), Alone),
        Mnemonic::Movzx | Mnemonic::Movsx => (3, Alone),
        Mnemonic::Xchg if memory => (35, Alone),
        Mnemonic::Xchg => (if is_accumulator(instruction) { 2 } else { 3 }, Alone),
        Mnemonic::Cmpxchg if instruction.has_lock_prefix() => (39, Alone),
        Mnemonic::Cmpxchg => (5 + u32::from(to_memory), Alone),
        Mnemonic::Cmpxchg8b => (if instruction.has_lock_prefix() { 39 } else { 10 }, Alone),
        Mnemonic::Xadd => (locked(instruction, 3 + u32::from(to_memory)), Alone),
        Mnemonic::Bswap => (1, Alone),
        Mnemonic::Cdq
        | Mnemonic::Cwd
        | Mnemonic::Cmc
        | Mnemonic::Clc
        | Mnemonic::Stc
        | Mnemonic::Cld
        | Mnemonic::Std => (2, Alone),
        Mnemonic::Cwde | Mnemonic::Cbw => (3, Alone),
        Mnemonic::Sahf | Mnemonic::Lahf => (2, Alone),
        Mnemonic::Shld | Mnemonic::Shrd => (4 + u32::from(instruction.op_register(2) == Register::CL), Alone),
        Mnemonic::Bt => (if to_memory && !has_constant(instruction) { 9 } else { 4 }, Alone),
        Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc => {
            (if to_memory && !has_constant(instruction) { 14 } else { 8 }, Alone)
        }
        // 6 to 42, and 7 to 71, by where the bit is.
        Mnemonic::Bsf | Mnemonic::Tzcnt => (24, Alone),
        Mnemonic::Bsr => (39, Alone),
        Mnemonic::Leave => (3, Alone),
        Mnemonic::Enter => (15, Alone),
        Mnemonic::Pushad | Mnemonic::Pusha | Mnemonic::Popad | Mnemonic::Popa => (5, Alone),
        Mnemonic::Pushfd | Mnemonic::Pushf => (4, Alone),
        Mnemonic::Popfd | Mnemonic::Popf => (6, Alone),
        Mnemonic::Cli | Mnemonic::Sti => (7, Alone),
        Mnemonic::Hlt => (4, Alone),
        Mnemonic::Cpuid | Mnemonic::Rdtsc => (14, Alone),
        Mnemonic::Rdmsr => (20, Alone),
        Mnemonic::Wrmsr => (30, Alone),
        Mnemonic::Invlpg => (25, Alone),
        Mnemonic::In => (7, Alone),
        Mnemonic::Out => (12, Alone),
        Mnemonic::Int | Mnemonic::Int3 => (16, Alone),
        Mnemonic::Iretd | Mnemonic::Iret => (10, Alone),
        Mnemonic::Lgdt | Mnemonic::Lidt => (6, Alone),
        Mnemonic::Loop => (5, Alone),
        Mnemonic::Jecxz | Mnemonic::Jcxz | Mnemonic::Loope | Mnemonic::Loopne => (6, Alone),
        _ if instruction.mnemonic_is_set() => (1 + u32::from(to_memory), Alone),
        _ => (string(instruction).unwrap_or(3), Alone),
    }
}

/// Measured on the chip (Barrelfish TN-005): 36 cycles for a locked `dec`.
fn locked(instruction: &Instruction, cycles: u32) -> u32 {
    if instruction.has_lock_prefix() { 36 } else { cycles }
}

fn is_accumulator(instruction: &Instruction) -> bool {
    (0..instruction.op_count().min(2)).any(|number| {
        instruction.op_kind(number) == OpKind::Register
            && instruction.op_register(number).full_register32() == Register::EAX
    })
}

/// What a string instruction takes: alone, or to begin its turns.
fn string(instruction: &Instruction) -> Option<u32> {
    let repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    let (alone, begin) = match instruction.mnemonic() {
        Mnemonic::Movsb | Mnemonic::Movsw | Mnemonic::Movsd => (4, 13),
        Mnemonic::Stosb | Mnemonic::Stosw | Mnemonic::Stosd => (3, 9),
        Mnemonic::Lodsb | Mnemonic::Lodsw | Mnemonic::Lodsd => (2, 7),
        Mnemonic::Cmpsb | Mnemonic::Cmpsw | Mnemonic::Cmpsd => (5, 9),
        Mnemonic::Scasb | Mnemonic::Scasw | Mnemonic::Scasd => (4, 9),
        _ => return None,
    };
    Some(if repeated { begin } else { alone })
}

/// What a further turn of a repeated string instruction takes, if it is one.
pub(super) fn turn(instruction: &Instruction) -> Option<u8> {
    if !instruction.has_rep_prefix() && !instruction.has_repne_prefix() {
        return None;
    }
    string(instruction)?;
    Some(match instruction.mnemonic() {
        Mnemonic::Lodsb | Mnemonic::Lodsw | Mnemonic::Lodsd => 3,
        Mnemonic::Cmpsb | Mnemonic::Cmpsw | Mnemonic::Cmpsd | Mnemonic::Scasb | Mnemonic::Scasw | Mnemonic::Scasd => 4,
        _ => 1,
    })
}

/// What the table asks of instructions' names.
trait Named {
    /// Whether it sets a byte by a condition.
    fn mnemonic_is_set(&self) -> bool;
}

impl Named for Instruction {
    fn mnemonic_is_set(&self) -> bool {
        format!("{:?}", self.mnemonic()).starts_with("Set")
    }
}
