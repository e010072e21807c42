//! Which instructions a P54C has, and which of them the CPU library must leave to us.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

pub(super) use p54c::CL1INVMB;
use p54c::timing;

/// What the CPU library does not do as a P54C of this board would.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Special {
    /// CL1INVMB.
    InvalidateMpb,
    /// `wbinvd`.
    WriteBack,
    /// `rdtsc`.
    TimeStamp,
    /// `cpuid`.
    Identify,
    /// `rdmsr`.
    FromModelSpecific,
    /// `wrmsr`.
    ToModelSpecific,
    /// `pause`, which a P54C takes for `nop`; or a `nop` of another prefix, if it is between polls by which alone a wait decides.
    Pause { between_polls: bool },
    /// `mov` from a control register to a general one, each by its number.
    FromControl { control: usize, general: usize },
    /// `mov` to a control register.
    ToControl { control: usize, general: usize },
}

/// A special instruction and where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// Bytes from the start of the block.
    pub(super) offset: usize,
    /// Its length in bytes.
    pub(super) len: usize,
    /// Which it is.
    pub(super) special: Special,
}

/// What is in a block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Inspected {
    /// Where its instructions begin, from its start.
    pub(super) starts: Vec<usize>,
    /// Those that are left to us.
    pub(super) specials: Vec<Found>,
}

/// An instruction that a P54C does not have, or that is not modelled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused {
    /// Where it is.
    pub(super) address: u32,
    /// Why it is refused.
    pub(super) reason: String,
}

/// Looks at all instructions that begin in the first `len` bytes, the first of which is at `address`. `bits` is 16 or
/// 32, as their code segment says.
pub(super) fn inspect(bytes: &[u8], len: usize, address: u32, bits: u32) -> Result<Inspected, Refused> {
    let mut found = Inspected::default();
    let mut offset = 0;
    while offset < len.min(bytes.len()) {
        let rest = &bytes[offset..];
        let at = address.wrapping_add(offset as u32);
        found.starts.push(offset);
        if rest.starts_with(&CL1INVMB) {
            found.specials.push(Found { offset, len: 2, special: Special::InvalidateMpb });
            offset += 2;
            continue;
        }
        let instruction = Decoder::with_ip(bits, rest, u64::from(at), DecoderOptions::NONE).decode();
        if let Err(why) = check(&instruction) {
            let shown = &rest[..instruction.len().clamp(1, rest.len())];
            let hex: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
            let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
            return Err(Refused { address: at, reason: format!("{why}: {name} ({})", hex.join(" ")) });
        }
        if let Some(special) = special(&instruction) {
            found.specials.push(Found { offset, len: instruction.len(), special });
        }
        offset += instruction.len();
    }
    Ok(found)
}

/// Which of these instructions read, modify and write memory in one step, as seen by others: by `lock`, or as `xchg`
/// with memory does without.
pub(super) fn locked(bytes: &[u8], len: usize, address: u32, bits: u32) -> Vec<Instruction> {
    let mut decoder = Decoder::with_ip(bits, bytes, u64::from(address), DecoderOptions::NONE);
    let mut locked = Vec::new();
    while decoder.can_decode() && decoder.position() < len {
        let instruction = decoder.decode();
        let in_memory = (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
        if instruction.has_lock_prefix() || (instruction.mnemonic() == Mnemonic::Xchg && in_memory) {
            locked.push(instruction);
        }
    }
    locked
}

/// Whether any of these instructions is one of the x87.
pub(super) fn calculate(bytes: &[u8], len: usize, address: u32, bits: u32) -> bool {
    let mut decoder = Decoder::with_ip(bits, bytes, u64::from(address), DecoderOptions::NONE);
    let mut calculate = false;
    while decoder.can_decode() && decoder.position() < len {
        calculate |= timing::is_x87(&decoder.decode());
    }
    calculate
}

fn check(instruction: &Instruction) -> Result<(), &'static str> {
    if let Some(why) = p54c::refusal(instruction) {
        return Err(why);
    }
    match instruction.mnemonic() {
        Mnemonic::Invd => Err("it loses what L1 has not written back"),
        Mnemonic::Smsw | Mnemonic::Lmsw | Mnemonic::Clts | Mnemonic::Rsm => Err("it is not modelled"),
        Mnemonic::Mov if touches_system_register(instruction) => Err("this register is not modelled"),
        _ => Ok(()),
    }
}

/// Whether it moves to or from a debug or test register, or a control register that a P54C does not have.
fn touches_system_register(instruction: &Instruction) -> bool {
    [instruction.op0_register(), instruction.op1_register()].into_iter().any(|register| {
        let known = matches!(register, Register::CR0 | Register::CR2 | Register::CR3 | Register::CR4);
        register.is_cr() && !known || register.is_dr() || register.is_tr()
    })
}

fn special(instruction: &Instruction) -> Option<Special> {
    let control = |register: Register| {
        let number = register.number();
        (register.is_cr() && matches!(number, 0 | 4)).then_some(number)
    };
    match instruction.mnemonic() {
        Mnemonic::Wbinvd => Some(Special::WriteBack),
        Mnemonic::Rdtsc => Some(Special::TimeStamp),
        Mnemonic::Cpuid => Some(Special::Identify),
        Mnemonic::Rdmsr => Some(Special::FromModelSpecific),
        Mnemonic::Wrmsr => Some(Special::ToModelSpecific),
        Mnemonic::Pause => Some(Special::Pause { between_polls: false }),
        Mnemonic::Nop => p54c::is_between_polls(instruction).then_some(Special::Pause { between_polls: true }),
        Mnemonic::Mov => {
            let (target, source) = (instruction.op0_register(), instruction.op1_register());
            control(target)
                .map(|control| Special::ToControl { control, general: source.number() })
                .or_else(|| control(source).map(|control| Special::FromControl { control, general: target.number() }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> String {
        inspect(bytes, bytes.len(), 0x1000, 32).expect_err("it cannot be executed").reason
    }

    #[test]
    fn what_cannot_be_executed_is_refused() {
        let reason = refused(&[0x0F, 0x44, 0xC1]);
        assert!(reason.starts_with("a P54C does not have it: cmove"), "{reason}");
        assert!(refused(&[0x90, 0x0F, 0x04]).starts_with("there is no instruction"));
        assert_eq!(inspect(&[0x90, 0x0F, 0x44, 0xC1], 4, 0x1000, 32).unwrap_err().address, 0x1001);
        assert!(refused(&[0x0F, 0x08]).contains("loses"));
        for bytes in [[0x0F, 0x23, 0xC0], [0x0F, 0xAA, 0x90]] {
            assert!(refused(&bytes).contains("not modelled"), "{bytes:02x?}");
        }
    }

    #[test]
    fn what_is_left_to_us_is_found() {
        let bytes = [
            0x0F, 0x0A, 0x90, 0x0F, 0x09, 0x0F, 0x31, 0x0F, 0xA2, 0xF3, 0x90, 0x0F, 0x22, 0xE1, 0x0F, 0x20, 0xC7, 0x0F,
            0x32, 0x0F, 0x30, 0xF2, 0x90,
        ];
        let found = inspect(&bytes, bytes.len(), 0, 32).unwrap();
        let expected = [
            (0, 2, Special::InvalidateMpb),
            (3, 2, Special::WriteBack),
            (5, 2, Special::TimeStamp),
            (7, 2, Special::Identify),
            (9, 2, Special::Pause { between_polls: false }),
            (11, 3, Special::ToControl { control: 4, general: 1 }),
            (14, 3, Special::FromControl { control: 0, general: 7 }),
            (17, 2, Special::FromModelSpecific),
            (19, 2, Special::ToModelSpecific),
            (21, 2, Special::Pause { between_polls: true }),
        ];
        assert_eq!(found.starts, [0, 2, 3, 5, 7, 9, 11, 14, 17, 19, 21]);
        assert_eq!(found.specials, expected.map(|(offset, len, special)| Found { offset, len, special }));
    }
}
