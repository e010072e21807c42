//! How long a P54C takes for a block of instructions, all of which and whose data L1 has.
//!
//! By the tables and the rules of Intel's *Pentium Processor Family Developer's Manual*, volume 3, appendix F, and its
//! optimisation guide (AP-526): two pipes, U and V, of which V takes simple instructions beside one in U that it does not
//! depend on; a cycle more for an address that the cycle before has computed, and for each prefix; an x87 unit beside
//! them. It is worked out once for each block, when it is inspected. What depends on more than the block is added when it
//! runs: branches that were not foretold, misses, turns of repeated instructions.
//!
//! A block begins with an empty pipe, and its cycles pass when it begins, before its first access. What an instruction takes that depends on its operands (`bsf`, `fsin`) is the middle
//! of what the manual says. Not modelled: banks of L1, and the translation buffers.

mod instructions;
mod pipes;
#[cfg(test)]
mod tests;
mod x87;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};

/// What a block takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Cycles, from its first instruction to the one after it.
    pub cycles: u32,
    /// Where its last instruction is, in bytes from its start.
    pub last: u32,
    /// How it ends.
    pub ending: Ending,
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ending {
    /// The next instruction follows.
    #[default]
    Falls,
    /// With a jump that may be taken.
    Conditional,
    /// With a jump, call or return.
    Taken,
    /// With a repeated string instruction, each further turn of which takes this number of cycles.
    Repeats(u8),
}

/// Works out what the instructions take that begin in the first `len` bytes. `bits` is 16 or 32.
pub fn cost(bytes: &[u8], len: usize, address: u32, bits: u32) -> Cost {
    let mut pipes = pipes::Pipes::new();
    let mut cost = Cost::default();
    let mut offset = 0;
    while offset < len.min(bytes.len()) {
        let rest = &bytes[offset..];
        cost.last = offset as u32;
        if rest.starts_with(&crate::CL1INVMB) {
            pipes.alone(1);
            offset += 2;
            continue;
        }
        let at = address.wrapping_add(offset as u32);
        let instruction = Decoder::with_ip(bits, rest, u64::from(at), DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            break;
        }
        pipes.add(&instruction, prefixes(rest, &instruction));
        cost.ending = ending(&instruction);
        offset += instruction.len();
    }
    cost.cycles = pipes.end();
    cost
}

fn ending(instruction: &Instruction) -> Ending {
    if let Some(turn) = instructions::turn(instruction) {
        return Ending::Repeats(turn);
    }
    match instruction.flow_control() {
        FlowControl::ConditionalBranch => Ending::Conditional,
        FlowControl::UnconditionalBranch
        | FlowControl::IndirectBranch
        | FlowControl::Call
        | FlowControl::IndirectCall
        | FlowControl::Return => Ending::Taken,
        _ => Ending::Falls,
    }
}

/// Bytes of prefixes, each of which takes a cycle to decode. The 0F of a near conditional jump takes none.
fn prefixes(bytes: &[u8], instruction: &Instruction) -> u32 {
    const PREFIXES: [u8; 11] = [0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, 0xF3];
    let count = bytes.iter().take_while(|byte| PREFIXES.contains(byte)).count();
    // `rep` is part of what string instructions take, and a P54C decodes `pause` as `nop` with a prefix.
    let is_repeat = instructions::turn(instruction).is_some();
    let two_bytes = bytes.get(count) == Some(&0x0F) && !instruction.is_jcc_near();
    (count - usize::from(is_repeat && count > 0)) as u32 + u32::from(two_bytes)
}

/// Whether it is one of the x87 unit's.
pub fn is_x87(instruction: &Instruction) -> bool {
    let name = instruction.mnemonic();
    name == Mnemonic::Wait || format!("{name:?}").starts_with('F')
}
