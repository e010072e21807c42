//! Small programs whose cycles can be counted by hand.

use iced_x86::{IcedError, code_asm::*};

use super::{Ending, cost};

fn cycles(program: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> u32 {
    let mut a = CodeAssembler::new(32).unwrap();
    program(&mut a).unwrap();
    let bytes = a.assemble(0x1000).unwrap();
    cost(&bytes, bytes.len(), 0x1000, 32).cycles
}

/// The cycles of these instructions, one after the other.
macro_rules! cycles {
    ($($instruction:ident($($operand:expr),*));+) => {
        cycles(|a| {
            $(a.$instruction($($operand),*)?;)+
            Ok(())
        })
    };
}

#[test]
fn simple_instructions_go_in_pairs() {
    assert_eq!(cycles(|a| (0..8).try_for_each(|_| a.nop())), 4);
    assert_eq!(cycles!(mov(eax, 1); mov(ecx, 2)), 1);
    // The second needs the first, or writes the same.
    assert_eq!(cycles!(mov(eax, 1); add(ecx, eax)), 2);
    assert_eq!(cycles!(mov(eax, 1); mov(eax, 2)), 2);
    // Only the first may write what the second reads no more.
    assert_eq!(cycles!(add(ecx, eax); mov(eax, 2)), 1);
    // Flags are passed on to a jump, and to nothing else.
    assert_eq!(
        cycles(|a| {
            let mut to = a.create_label();
            a.cmp(eax, 1)?;
            a.set_label(&mut to)?;
            a.je(to)
        }),
        1
    );
    assert_eq!(cycles!(add(eax, 1); adc(ecx, 0)), 2);
}

#[test]
fn some_go_into_one_pipe_only() {
    // A shift is in U.
    assert_eq!(cycles!(shl(eax, 3); mov(ecx, 1)), 1);
    assert_eq!(cycles!(mov(ecx, 1); shl(eax, 3)), 2);
    // A jump is in V, and takes nobody along behind it.
    assert_eq!(
        cycles(|a| {
            let mut to = a.create_label();
            a.mov(ecx, 1)?;
            a.set_label(&mut to)?;
            a.jmp(to)
        }),
        1
    );
    // A prefix takes a cycle, and the instruction is not in V.
    assert_eq!(cycles!(mov(ecx, 1); mov(ax, 2)), 3);
    // A displacement and a constant go alone.
    assert_eq!(cycles!(mov(dword_ptr(ebx + 4), 1); mov(ecx, 1)), 2);
    assert_eq!(cycles!(mov(dword_ptr(ebx), 1); mov(ecx, 1)), 1);
}

#[test]
fn memory_takes_longer_where_it_is_read_first() {
    assert_eq!(cycles!(mov(eax, dword_ptr(ebx)); mov(dword_ptr(ecx), edx)), 1);
    assert_eq!(cycles!(add(eax, dword_ptr(ebx))), 2);
    assert_eq!(cycles!(add(dword_ptr(ebx), eax)), 3);
    assert_eq!(cycles!(add(eax, dword_ptr(ebx)); add(ecx, dword_ptr(edx))), 2);
    assert_eq!(cycles!(add(dword_ptr(ebx), eax); add(dword_ptr(edx), ecx)), 5);
}

#[test]
fn addresses_are_needed_a_cycle_before() {
    assert_eq!(cycles!(add(ebx, 4); mov(eax, dword_ptr(ebx))), 3);
    assert_eq!(cycles!(add(ebx, 4); nop(); nop(); nop(); mov(eax, dword_ptr(ebx))), 3);
    assert_eq!(cycles!(sub(esp, 8); push(eax)), 3);
    // But not by what moves the stack pointer by itself.
    assert_eq!(cycles!(push(eax); push(ecx); push(edx); push(ebx)), 2);
}

#[test]
fn long_instructions_are_alone() {
    assert_eq!(cycles!(mov(ecx, 1); mul(ebx); mov(esi, 1)), 12);
    assert_eq!([cycles!(div(ebx)), cycles!(idiv(ebx)), cycles!(imul_2(eax, ebx))], [41, 46, 11]);
    // The prefix is decoded while a multiplication is under way.
    assert_eq!(cycles!(mul(ebx); movzx(ecx, dl)), 13);
    assert_eq!([cycles!(movzx(ecx, dl)), cycles!(rdtsc()), cycles!(xchg(dword_ptr(ebx), eax))], [4, 15, 35]);
}

#[test]
fn the_x87_unit_waits_for_results() {
    assert_eq!(cycles!(fadd_2(st0, st1); fadd_2(st0, st1)), 4);
    // Two sums side by side, by exchanges that take nothing.
    assert_eq!(cycles!(fadd_2(st0, st2); fxch(st0, st1); fadd_2(st0, st2); fxch(st0, st1)), 2);
    assert_eq!(cycles!(fld(qword_ptr(ebx)); fmul(qword_ptr(ecx)); fstp(qword_ptr(edx))), 7);
    // A division goes on while others compute.
    assert_eq!(
        cycles(|a| {
            a.fdiv_2(st0, st1)?;
            (0..20).try_for_each(|_| a.nop())?;
            a.fstp(qword_ptr(edx))
        }),
        36
    );
    assert_eq!(cycles!(fdiv_2(st0, st1); nop()), 32);
}

#[test]
fn repeated_instructions_have_turns() {
    let mut a = CodeAssembler::new(32).unwrap();
    a.rep().movsd().unwrap();
    let bytes = a.assemble(0).unwrap();
    let whole = cost(&bytes, bytes.len(), 0, 32);
    assert_eq!((whole.cycles, whole.ending), (13, Ending::Repeats(1)));
    assert_eq!(cost(&[0xF3, 0x90], 2, 0, 32).cycles, 2);
    assert_eq!(cost(&crate::CL1INVMB, 2, 0, 32).cycles, 1);
}

/// Instructions alone, with the cycles of Intel's table; the middle of what it says where that depends on operands.
#[rustfmt::skip]
const ALONE: &[(&str, &[u8], u32)] = &[
    ("and", &[0x21, 0xD8], 1),
    ("or", &[0x09, 0xD8], 1),
    ("xor", &[0x31, 0xD8], 1),
    ("inc", &[0x40], 1),
    ("dec", &[0x48], 1),
    ("sbb", &[0x19, 0xD8], 1),
    ("adc", &[0x11, 0xD8], 1),
    ("test", &[0x85, 0xD8], 1),
    ("lea", &[0x8D, 0x03], 1),
    ("pop", &[0x58], 1),
    ("push", &[0x50], 1),
    ("cmp", &[0x39, 0xD8], 1),
    ("not", &[0xF7, 0xD0], 1),
    ("not-memory", &[0xF7, 0x13], 3),
    ("neg", &[0xF7, 0xD8], 1),
    ("cdq", &[0x99], 2),
    ("cwde", &[0x98], 3),
    ("clc", &[0xF8], 2),
    ("stc", &[0xF9], 2),
    ("cmc", &[0xF5], 2),
    ("cld", &[0xFC], 2),
    ("std", &[0xFD], 2),
    ("cli", &[0xFA], 7),
    ("sti", &[0xFB], 7),
    ("sahf", &[0x9E], 2),
    ("lahf", &[0x9F], 2),
    ("leave", &[0xC9], 3),
    ("enter", &[0xC8, 0x08, 0x00, 0x00], 15),
    ("pushad", &[0x60], 5),
    ("popad", &[0x61], 5),
    ("pushfd", &[0x9C], 4),
    ("popfd", &[0x9D], 6),
    ("hlt", &[0xF4], 4),
    ("in", &[0xEC], 7),
    ("out", &[0xEE], 12),
    ("int", &[0xCD, 0x31], 16),
    ("int3", &[0xCC], 16),
    ("iretd", &[0xCF], 10),
    ("loop", &[0xE2, 0xFE], 5),
    ("loope", &[0xE1, 0xFE], 6),
    ("loopne", &[0xE0, 0xFE], 6),
    ("jecxz", &[0xE3, 0xFE], 6),
    ("call", &[0xE8, 0x00, 0x00, 0x00, 0x00], 1),
    ("call-register", &[0xFF, 0xD0], 2),
    ("ret", &[0xC3], 2),
    ("ret-more", &[0xC2, 0x04, 0x00], 3),
    ("jmp-register", &[0xFF, 0xE0], 2),
    ("rol", &[0xD1, 0xC0], 1),
    ("ror", &[0xD1, 0xC8], 1),
    ("rcl", &[0xD1, 0xD0], 1),
    ("rcr", &[0xD1, 0xD8], 1),
    ("rol-by", &[0xD3, 0xC0], 4),
    ("sar", &[0xD1, 0xF8], 1),
    ("shr", &[0xD1, 0xE8], 1),
    ("shl", &[0xD1, 0xE0], 1),
    ("sal", &[0xD1, 0xF0], 1),
    ("shl-by", &[0xD3, 0xE0], 4),
    ("mul", &[0xF7, 0xE3], 10),
    ("mul-byte", &[0xF6, 0xE3], 11),
    ("div", &[0xF7, 0xF3], 41),
    ("div-byte", &[0xF6, 0xF3], 17),
    ("idiv", &[0xF7, 0xFB], 46),
    ("idiv-byte", &[0xF6, 0xFB], 22),
    ("xchg", &[0x93], 2),
    ("xchg-others", &[0x87, 0xD9], 3),
    ("push-memory", &[0xFF, 0x33], 2),
    ("pop-memory", &[0x8F, 0x03], 3),
    ("push-segment", &[0x1E], 3),
    ("to-segment", &[0x8E, 0xD8], 2),
    ("lodsb", &[0xAC], 2),
    ("lodsd", &[0xAD], 2),
    ("stosb", &[0xAA], 3),
    ("stosd", &[0xAB], 3),
    ("movsb", &[0xA4], 4),
    ("movsd", &[0xA5], 4),
    ("scasb", &[0xAE], 4),
    ("scasd", &[0xAF], 4),
    ("cmpsb", &[0xA6], 5),
    ("cmpsd", &[0xA7], 5),
];

/// The same of those that have one prefix, which takes a cycle more.
#[rustfmt::skip]
const PREFIXED: &[(&str, &[u8], u32)] = &[
    ("bswap", &[0x0F, 0xC8], 1),
    ("cpuid", &[0x0F, 0xA2], 14),
    ("rdmsr", &[0x0F, 0x32], 20),
    ("wrmsr", &[0x0F, 0x30], 30),
    ("invlpg", &[0x0F, 0x01, 0x3B], 25),
    ("lgdt", &[0x0F, 0x01, 0x13], 6),
    ("lidt", &[0x0F, 0x01, 0x1B], 6),
    ("shld", &[0x0F, 0xA4, 0xD8, 0x04], 4),
    ("shld-by", &[0x0F, 0xA5, 0xD8], 5),
    ("shrd", &[0x0F, 0xAC, 0xD8, 0x04], 4),
    ("bt", &[0x0F, 0xA3, 0xD8], 4),
    ("bts", &[0x0F, 0xAB, 0xD8], 8),
    ("btr", &[0x0F, 0xB3, 0xD8], 8),
    ("btc", &[0x0F, 0xBB, 0xD8], 8),
    ("bsf", &[0x0F, 0xBC, 0xC3], 24),
    ("bsr", &[0x0F, 0xBD, 0xC3], 39),
    ("cmpxchg", &[0x0F, 0xB1, 0xC3], 5),
    ("cmpxchg8b", &[0x0F, 0xC7, 0x0B], 10),
    ("xadd", &[0x0F, 0xC1, 0xC3], 3),
    ("movsx", &[0x0F, 0xBE, 0xC3], 3),
    ("sete", &[0x0F, 0x94, 0xC0], 1),
    ("to-control", &[0x0F, 0x22, 0xC0], 22),
    ("from-control", &[0x0F, 0x20, 0xC0], 4),
    ("cbw", &[0x66, 0x98], 3),
    ("cwd", &[0x66, 0x99], 2),
    ("jcxz", &[0x67, 0xE3, 0xFD], 6),
    ("lodsw", &[0x66, 0xAD], 2),
    ("stosw", &[0x66, 0xAB], 3),
    ("movsw", &[0x66, 0xA5], 4),
    ("scasw", &[0x66, 0xAF], 4),
    ("cmpsw", &[0x66, 0xA7], 5),
    ("pushf", &[0x66, 0x9C], 4),
    ("popf", &[0x66, 0x9D], 6),
    ("pusha", &[0x66, 0x60], 5),
    ("popa", &[0x66, 0x61], 5),
    ("iret", &[0x66, 0xCF], 10),
];

#[test]
fn instructions_alone_take_what_the_table_says() {
    let all = ALONE.iter().map(|one| (one, 0)).chain(PREFIXED.iter().map(|one| (one, 1)));
    let wrong = all.filter_map(|((name, bytes, expected), more)| {
        let found = cost(bytes, bytes.len(), 0x1000, 32).cycles;
        (found != expected + more).then(|| format!("{name}: {found}, not {}", expected + more))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}
