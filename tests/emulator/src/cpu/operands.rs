//! Where exactly an instruction has met a page that is not there. The CPU library tells the page only.

use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Register};
use unicorn_engine::{RegisterX86, Unicorn};

/// Bytes of an instruction at most.
pub(super) const LONGEST_INSTRUCTION: usize = 15;

/// The address in the page at `page` that the instruction at `at`, with these bytes, accesses first; the page's start
/// if none of its operands is there.
pub(super) fn fault_address(cpu: &Unicorn<'_, ()>, bytes: &[u8], at: u32, page: u32) -> u32 {
    let in_page = |address: u32| address & !0xFFF == page;
    if in_page(at) || bytes.is_empty() {
        return if in_page(at) { at } else { page };
    }
    let instruction = Decoder::with_ip(32, bytes, at.into(), DecoderOptions::NONE).decode();
    addresses(cpu, &instruction).into_iter().find(|address| in_page(*address)).unwrap_or(page)
}

/// The linear addresses that an instruction accesses, with the registers as they are.
pub(super) fn addresses(cpu: &Unicorn<'_, ()>, instruction: &Instruction) -> Vec<u32> {
    let mut factory = InstructionInfoFactory::new();
    let used = factory.info(instruction).used_memory();
    let addresses =
        used.iter().map(|memory| memory.virtual_address(0, |register, _, _| Some(value(cpu, register).into())));
    addresses.flatten().map(|address| address as u32).collect()
}

/// Bytes from which an instruction can be decoded.
pub(super) const BYTES: u32 = LONGEST_INSTRUCTION as u32;

/// The value of a register of 32 bits; segments begin at 0.
fn value(cpu: &Unicorn<'_, ()>, register: Register) -> u32 {
    let register = match register {
        Register::EAX => RegisterX86::EAX,
        Register::ECX => RegisterX86::ECX,
        Register::EDX => RegisterX86::EDX,
        Register::EBX => RegisterX86::EBX,
        Register::ESP => RegisterX86::ESP,
        Register::EBP => RegisterX86::EBP,
        Register::ESI => RegisterX86::ESI,
        Register::EDI => RegisterX86::EDI,
        _ => return 0,
    };
    cpu.reg_read(register).map_or(0, |value| value as u32)
}
