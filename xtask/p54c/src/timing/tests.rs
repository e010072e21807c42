//! Small programs whose cycles can be counted by hand.

use iced_x86::{IcedError, code_asm::*};

use super::{Ending, cost};

fn cycles(program: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> u32 {
    let mut a = CodeAssembler::new(32).unwrap();
    program(&mut a).unwrap();
    let bytes = a.assemble(0x1000).unwrap();
    cost(&bytes, bytes.len(), 0x1000, 32).cycles
}

#[test]
fn simple_instructions_go_in_pairs() {
    assert_eq!(cycles(|a| (0..8).try_for_each(|_| a.nop())), 4);
    assert_eq!(
        cycles(|a| {
            a.mov(eax, 1)?;
            a.mov(ecx, 2)
        }),
        1
    );
    // The second needs the first, or writes the same.
    assert_eq!(
        cycles(|a| {
            a.mov(eax, 1)?;
            a.add(ecx, eax)
        }),
        2
    );
    assert_eq!(
        cycles(|a| {
            a.mov(eax, 1)?;
            a.mov(eax, 2)
        }),
        2
    );
    // Only the first may write what the second reads no more.
    assert_eq!(
        cycles(|a| {
            a.add(ecx, eax)?;
            a.mov(eax, 2)
        }),
        1
    );
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
    assert_eq!(
        cycles(|a| {
            a.add(eax, 1)?;
            a.adc(ecx, 0)
        }),
        2
    );
}

#[test]
fn some_go_into_one_pipe_only() {
    // A shift is in U.
    assert_eq!(
        cycles(|a| {
            a.shl(eax, 3)?;
            a.mov(ecx, 1)
        }),
        1
    );
    assert_eq!(
        cycles(|a| {
            a.mov(ecx, 1)?;
            a.shl(eax, 3)
        }),
        2
    );
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
    assert_eq!(
        cycles(|a| {
            a.mov(ecx, 1)?;
            a.mov(ax, 2)
        }),
        3
    );
    // A displacement and a constant go alone.
    assert_eq!(
        cycles(|a| {
            a.mov(dword_ptr(ebx + 4), 1)?;
            a.mov(ecx, 1)
        }),
        2
    );
    assert_eq!(
        cycles(|a| {
            a.mov(dword_ptr(ebx), 1)?;
            a.mov(ecx, 1)
        }),
        1
    );
}

#[test]
fn memory_takes_longer_where_it_is_read_first() {
    assert_eq!(
        cycles(|a| {
            a.mov(eax, dword_ptr(ebx))?;
            a.mov(dword_ptr(ecx), edx)
        }),
        1
    );
    assert_eq!(cycles(|a| a.add(eax, dword_ptr(ebx))), 2);
    assert_eq!(cycles(|a| a.add(dword_ptr(ebx), eax)), 3);
    assert_eq!(
        cycles(|a| {
            a.add(eax, dword_ptr(ebx))?;
            a.add(ecx, dword_ptr(edx))
        }),
        2
    );
    assert_eq!(
        cycles(|a| {
            a.add(dword_ptr(ebx), eax)?;
            a.add(dword_ptr(edx), ecx)
        }),
        5
    );
}

#[test]
fn addresses_are_needed_a_cycle_before() {
    assert_eq!(
        cycles(|a| {
            a.add(ebx, 4)?;
            a.mov(eax, dword_ptr(ebx))
        }),
        3
    );
    assert_eq!(
        cycles(|a| {
            a.add(ebx, 4)?;
            a.nop()?;
            a.nop()?;
            a.nop()?;
            a.mov(eax, dword_ptr(ebx))
        }),
        3
    );
    assert_eq!(
        cycles(|a| {
            a.sub(esp, 8)?;
            a.push(eax)
        }),
        3
    );
    // But not by what moves the stack pointer by itself.
    assert_eq!(
        cycles(|a| {
            a.push(eax)?;
            a.push(ecx)?;
            a.push(edx)?;
            a.push(ebx)
        }),
        2
    );
}

#[test]
fn long_instructions_are_alone() {
    assert_eq!(
        cycles(|a| {
            a.mov(ecx, 1)?;
            a.mul(ebx)?;
            a.mov(esi, 1)
        }),
        12
    );
    assert_eq!([cycles(|a| a.div(ebx)), cycles(|a| a.idiv(ebx)), cycles(|a| a.imul_2(eax, ebx))], [41, 46, 11]);
    // The prefix is decoded while a multiplication is under way.
    assert_eq!(
        cycles(|a| {
            a.mul(ebx)?;
            a.movzx(ecx, dl)
        }),
        13
    );
    assert_eq!(
        [cycles(|a| a.movzx(ecx, dl)), cycles(|a| a.rdtsc()), cycles(|a| a.xchg(dword_ptr(ebx), eax))],
        [4, 15, 35]
    );
}

#[test]
fn the_x87_unit_waits_for_results() {
    assert_eq!(
        cycles(|a| {
            a.fadd_2(st0, st1)?;
            a.fadd_2(st0, st1)
        }),
        4
    );
    // Two sums side by side, by exchanges that take nothing.
    assert_eq!(
        cycles(|a| {
            a.fadd_2(st0, st2)?;
            a.fxch(st0, st1)?;
            a.fadd_2(st0, st2)?;
            a.fxch(st0, st1)
        }),
        2
    );
    assert_eq!(
        cycles(|a| {
            a.fld(qword_ptr(ebx))?;
            a.fmul(qword_ptr(ecx))?;
            a.fstp(qword_ptr(edx))
        }),
        7
    );
    // A division goes on while others compute.
    assert_eq!(
        cycles(|a| {
            a.fdiv_2(st0, st1)?;
            (0..20).try_for_each(|_| a.nop())?;
            a.fstp(qword_ptr(edx))
        }),
        36
    );
    assert_eq!(
        cycles(|a| {
            a.fdiv_2(st0, st1)?;
            a.nop()
        }),
        32
    );
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
