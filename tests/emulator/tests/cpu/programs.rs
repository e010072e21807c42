//! Small programs on cores: from the reset vector through pages of all kinds to interrupts.

use emulator::ended::Ended;
use iced_x86::code_asm::*;

use crate::boards::*;

#[test]
fn every_core_gets_from_reset_to_its_program() {
    for cores in [1, 2, 48] {
        let code = assemble(|a| {
            let mut others = a.create_label();
            let mut wait = a.create_label();
            // Each counts itself at the board, and the first waits for all.
            a.mov(ebx, BOARD + 0xE000)?;
            a.test(esi, esi)?;
            a.jne(others)?;
            say(a, "core 0")?;
            a.set_label(&mut wait)?;
            a.pause()?;
            a.mov(eax, dword_ptr(ebx + 4))?;
            a.sub(eax, 0xDEAD_0000_u32 as i32)?;
            a.cmp(eax, cores as i32 - 1)?;
            a.jne(wait)?;
            done(a)?;
            a.set_label(&mut others)?;
            a.mov(eax, dword_ptr(ebx))?;
            a.hlt()
        });
        let (lines, ended) = run(&mut board(cores, &code));
        assert_eq!(ended, Ended::Succeeded, "{cores}");
        assert_eq!(lines, [(0, "core 0".into()), (0, "@done ok".into())]);
    }
}

#[test]
fn each_kind_of_page_reaches_memory_in_its_own_way() {
    const UNCACHED: u32 = SHARED;
    const COMBINED: u32 = SHARED + 0x3F_F000;
    const CACHED: u32 = SHARED + 0x3F_E000;
    let code = assemble(|a| {
        paging(a)?;
        // Uncached: at once. Combined: when another line is stored to. Cached: a line that was loaded stays.
        a.mov(dword_ptr(UNCACHED + 0x100), 0x11)?;
        a.mov(dword_ptr(COMBINED + 0x200), 0x22)?;
        a.mov(dword_ptr(COMBINED + 0x220), 0x33)?;
        a.mov(eax, dword_ptr(CACHED + 0x300))?;
        a.mov(dword_ptr(CACHED + 0x300), 0x44)?;
        a.mov(dword_ptr(CACHED + 0x400), 0x55)?;
        done(a)
    });
    let mut machine = board(1, &code);
    assert_eq!(run(&mut machine).1, Ended::Succeeded);
    machine.with_chip(|chip| {
        let word = |offset: u64| {
            let mut bytes = [0; 4];
            chip.memory(0).peek(SHARED_MEMORY + offset, &mut bytes);
            u32::from_le_bytes(bytes)
        };
        assert_eq!([word(0x100), word(0x200), word(0x400)], [0x11, 0x22, 0x55]);
        assert_ne!(word(0x220), 0x33, "it is in the write-combine buffer");
        assert_ne!(word(0x300), 0x44, "it is in L1");
    });
}

#[test]
fn lines_of_an_mpb_are_stale_until_they_are_invalidated() {
    let code = assemble(|a| {
        let mut second = a.create_label();
        let mut wait = a.create_label();
        let mut stale = a.create_label();
        paging(a)?;
        a.test(esi, esi)?;
        a.jne(second)?;
        a.mov(dword_ptr(MPB + 0x40), 0)?;
        a.mov(dword_ptr(MPB), 0)?;
        a.mov(eax, dword_ptr(MPB + 0x40))?;
        // The second core may begin.
        a.mov(dword_ptr(SHARED), 1)?;
        a.set_label(&mut wait)?;
        a.pause()?;
        a.cmp(dword_ptr(SHARED), 2)?;
        a.jne(wait)?;
        a.cmp(dword_ptr(MPB + 0x40), 0)?;
        a.jne(stale)?;
        say(a, "stale")?;
        a.set_label(&mut stale)?;
        a.db(&[0x0F, 0x0A])?;
        a.cmp(dword_ptr(MPB + 0x40), 7)?;
        a.jne(wait)?;
        done(a)?;

        a.set_label(&mut second)?;
        a.pause()?;
        a.cmp(dword_ptr(SHARED), 1)?;
        a.jne(second)?;
        a.mov(dword_ptr(MPB + 0x40), 7)?;
        a.mov(dword_ptr(MPB + 0x2000), 0)?;
        a.mov(dword_ptr(SHARED), 2)?;
        a.hlt()
    });
    let mut machine = board(2, &code);
    let (lines, ended) = run(&mut machine);
    assert_eq!(ended, Ended::Succeeded);
    assert_eq!(lines[0].1, "stale");
    assert_eq!(machine.with_chip(|chip| chip.counts(0).mpbt_invalidations), 1);
}

/// A handler that stores a word to say that it ran, and what the core does meanwhile.
pub(crate) fn interrupted(pin: u32, entry: u32, sleeps: bool) -> Vec<u8> {
    const APIC: u32 = 0xFEE0_0000;
    assemble(|a| {
        let mut second = a.create_label();
        let mut handler = a.create_label();
        let mut wait = a.create_label();
        paging(a)?;
        a.test(esi, esi)?;
        a.jne(second)?;
        gate(a, if entry == 0x400 { 2 } else { entry }, handler)?;
        a.mov(dword_ptr(APIC + 0xF0), 0x1FF)?;
        a.mov(dword_ptr(APIC + if pin == 2 { 0x350 } else { 0x360 }), entry)?;
        a.xor(edi, edi)?;
        a.mov(dword_ptr(SHARED), 1)?;
        a.sti()?;
        if sleeps {
            // It takes longer than the other core until that interrupts, where time is kept.
            a.mov(eax, dword_ptr(BOARD + 0x8224))?;
            a.hlt()?;
        }
        a.set_label(&mut wait)?;
        a.cmp(edi, 1)?;
        a.jne(wait)?;
        done(a)?;

        a.set_label(&mut handler)?;
        say(a, "interrupted")?;
        a.mov(edi, 1)?;
        a.and(dword_ptr(OWN + 0x10), !3)?;
        a.mov(dword_ptr(APIC + 0xB0), 0)?;
        a.iretd()?;

        a.set_label(&mut second)?;
        a.pause()?;
        a.cmp(dword_ptr(SHARED), 1)?;
        a.jne(second)?;
        a.or(dword_ptr(REGISTERS + 0x10), pin as i32)?;
        a.hlt()
    })
}

#[test]
fn interrupts_reach_cores_that_compute_and_that_sleep() {
    for (pin, entry) in [(2, 0x31), (1, 0x32), (1, 0x400)] {
        for sleeps in [false, true] {
            let (lines, ended) = run(&mut board(2, &interrupted(pin, entry, sleeps)));
            assert_eq!(ended, Ended::Succeeded, "pin {pin}, entry {entry:#x}, sleeps {sleeps}");
            assert_eq!(lines[0], (0, "interrupted".into()));
        }
    }
}

#[test]
fn exceptions_reach_their_handlers() {
    let code = assemble(|a| {
        let mut fault = a.create_label();
        let mut invalid = a.create_label();
        let mut divided = a.create_label();
        let mut software = a.create_label();
        let mut wrong = a.create_label();
        let mut begin = a.create_label();
        a.jmp(begin)?;
        // A store to a page that may only be read: present, write.
        a.set_label(&mut fault)?;
        a.push(eax)?;
        say(a, "F")?;
        a.pop(eax)?;
        a.pop(eax)?;
        a.cmp(eax, 3)?;
        a.jne(wrong)?;
        a.mov(eax, cr2)?;
        a.cmp(eax, 0x3F_E010)?;
        a.jne(wrong)?;
        a.add(dword_ptr(esp), 7)?;
        a.inc(edi)?;
        a.iretd()?;
        a.set_label(&mut invalid)?;
        a.push(eax)?;
        say(a, "I")?;
        a.pop(eax)?;
        a.add(dword_ptr(esp), 2)?;
        a.inc(edi)?;
        a.iretd()?;
        a.set_label(&mut divided)?;
        a.push(eax)?;
        say(a, "D")?;
        a.pop(eax)?;
        a.add(dword_ptr(esp), 2)?;
        a.inc(edi)?;
        a.iretd()?;
        a.set_label(&mut software)?;
        a.push(eax)?;
        say(a, "S")?;
        a.pop(eax)?;
        a.inc(edi)?;
        a.iretd()?;
        a.set_label(&mut wrong)?;
        say(a, "wrong")?;
        a.hlt()?;

        a.set_label(&mut begin)?;
        gate(a, 14, fault)?;
        gate(a, 6, invalid)?;
        gate(a, 0, divided)?;
        gate(a, 0x60, software)?;
        paging(a)?;
        a.xor(edi, edi)?;
        // 7 bytes: an operand of 2 bytes, so that no shorter form is chosen.
        a.mov(ebx, 0x3F_E000)?;
        a.mov(dword_ptr(ebx + 0x10), 5)?;
        a.ud2()?;
        a.xor(ecx, ecx)?;
        a.div(ecx)?;
        a.int(0x60)?;
        a.cmp(edi, 4)?;
        a.jne(wrong)?;
        done(a)
    });
    let (lines, ended) = run(&mut board(1, &code));
    let lines: Vec<_> = lines.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!((ended, lines), (Ended::Succeeded, vec!["F", "I", "D", "S", "@done ok"]));
}

#[test]
fn a_double_fault_is_handled_by_a_task_of_its_own() {
    /// Two task states, and where their descriptors go.
    const TASK: u32 = 0x5000;
    const OTHER: u32 = 0x5100;
    const GDT: u32 = 0x5200;
    let code = assemble(|a| {
        let mut handler = a.create_label();
        for (place, value) in [
            (GDT, 0),
            (GDT + 4, 0),
            (GDT + 8, 0x0000_FFFF),
            (GDT + 12, 0x00CF_9A00),
            (GDT + 16, 0x0000_FFFF),
            (GDT + 20, 0x00CF_9200),
            (GDT + 24, TASK << 16 | 0x67),
            (GDT + 28, 0x8900),
            (GDT + 32, OTHER << 16 | 0x67),
            (GDT + 36, 0x8900),
            (GDT + 0x40, 0x27 | GDT << 16),
            (GDT + 0x44, 0),
            // A task gate for vector 8.
            (IDT + 64, 4 << 19),
            (IDT + 68, 0x8500),
            (OTHER + 28, DIRECTORY),
            (OTHER + 36, 2),
            (OTHER + 56, STACK),
        ] {
            a.mov(dword_ptr(place), value)?;
        }
        a.lgdt(fword_ptr(GDT + 0x40))?;
        a.mov(eax, 24)?;
        a.ltr(ax)?;
        address(a, handler)?;
        a.mov(dword_ptr(OTHER + 32), eax)?;
        gate(a, 14, handler)?;
        paging(a)?;
        // The stack has run into a page that is not there.
        a.mov(esp, 0x3F_F008)?;
        a.mov(edi, 5)?;
        a.push(eax)?;
        a.push(eax)?;
        a.push(eax)?;
        a.hlt()?;
        a.set_label(&mut handler)?;
        let mut wrong = a.create_label();
        // What the other task was doing.
        a.cmp(dword_ptr(TASK + 68), 5)?;
        a.jne(wrong)?;
        done(a)?;
        a.set_label(&mut wrong)?;
        a.hlt()
    });
    assert_eq!(run(&mut board(1, &code)).1, Ended::Succeeded);
}

#[test]
fn a_core_can_start_another_and_time_passes() {
    let code = assemble(|a| {
        let mut second = a.create_label();
        let mut wait = a.create_label();
        a.test(esi, esi)?;
        a.jne(second)?;
        a.rdtsc()?;
        a.mov(edi, eax)?;
        a.mov(eax, dword_ptr(OWN + 0x80))?;
        a.and(eax, 0xFFFF_FFF5_u32 as i32)?;
        a.mov(dword_ptr(OWN + 0x80), eax)?;
        a.set_label(&mut wait)?;
        a.pause()?;
        a.rdtsc()?;
        a.sub(eax, edi)?;
        a.cmp(eax, 50_000_000)?;
        a.jb(wait)?;
        done(a)?;
        a.set_label(&mut second)?;
        say(a, "started")?;
        a.hlt()
    });
    let mut machine = board(1, &code);
    let (lines, ended) = run(&mut machine);
    assert_eq!(ended, Ended::Succeeded);
    assert_eq!(lines[0], (1, "started".into()));
    assert!(machine.rounds() < 1000, "waiting is quick: {} rounds", machine.rounds());
}

#[test]
fn a_p54c_says_that_it_is_one_and_computes_with_53_bits() {
    let code = assemble(|a| {
        let mut wrong = a.create_label();
        a.mov(eax, 1)?;
        a.cpuid()?;
        a.shr(eax, 4)?;
        a.and(eax, 0xFF)?;
        a.cmp(eax, 0x52)?;
        a.jne(wrong)?;
        // 1 + 2^-53 is 1 with 53 bits, but not with 64.
        a.fninit()?;
        for (control, same) in [(0x27F, true), (0x37F, false)] {
            a.mov(word_ptr(0x6000), control)?;
            a.fldcw(word_ptr(0x6000))?;
            a.mov(dword_ptr(0x6008), 0)?;
            a.mov(dword_ptr(0x600C), 0x3CA0_0000)?;
            a.fld1()?;
            a.fld(qword_ptr(0x6008))?;
            a.fadd_2(st0, st1)?;
            a.fcompp()?;
            a.fnstsw(ax)?;
            a.and(eax, 0x4000)?;
            if same {
                a.je(wrong)?;
            } else {
                a.jne(wrong)?;
            }
        }
        done(a)?;
        a.set_label(&mut wrong)?;
        a.hlt()
    });
    assert_eq!(run(&mut board(1, &code)).1, Ended::Succeeded);
}

/// Without its bound the CPU library overruns its memory, and this program ends by a signal.
#[test]
fn long_formulas_are_computed() {
    const TERMS: u32 = 1000;
    let code = assemble(|a| {
        let mut wrong = a.create_label();
        a.fninit()?;
        a.fld1()?;
        a.fldz()?;
        for _ in 0..TERMS {
            a.fadd_2(st0, st1)?;
        }
        a.fistp(dword_ptr(0x6000))?;
        a.cmp(dword_ptr(0x6000), TERMS)?;
        a.jne(wrong)?;
        done(a)?;
        a.set_label(&mut wrong)?;
        a.hlt()
    });
    assert_eq!(run(&mut board(1, &code)).1, Ended::Succeeded);
}

#[test]
fn executed_instructions_are_counted_and_noted() {
    const CESR: u32 = 0x11;
    const CTR0: u32 = 0x12;
    let code = assemble(|a| {
        let mut wrong = a.create_label();
        let mut called = a.create_label();
        let mut again = a.create_label();
        let counts = |a: &mut CodeAssembler, on: u32| {
            a.mov(ecx, CESR)?;
            a.mov(eax, on)?;
            a.xor(edx, edx)?;
            a.wrmsr()
        };
        let mut over = a.create_label();
        a.mov(esp, STACK)?;
        // What is not counted.
        a.call(called)?;
        counts(a, 0x16 | 0b011 << 6)?;
        // 1, and 4 of the function.
        a.call(called)?;
        // 2 and three turns of 2; a block ends within, at what the emulator does itself.
        a.mov(ebx, 3)?;
        a.rdtsc()?;
        a.set_label(&mut again)?;
        a.dec(ebx)?;
        a.jne(again)?;
        // 4, the last of which ends it.
        counts(a, 0)?;
        a.nop()?;
        a.mov(ecx, CTR0)?;
        a.rdmsr()?;
        a.cmp(eax, 1 + 4 + 2 + 6 + 4)?;
        a.jne(wrong)?;
        a.test(edx, edx)?;
        a.jne(wrong)?;
        done(a)?;
        a.set_label(&mut wrong)?;
        a.hlt()?;
        a.set_label(&mut called)?;
        a.nop()?;
        a.jmp(over)?;
        a.nop()?;
        a.set_label(&mut over)?;
        a.nop()?;
        a.ret()
    });
    let mut machine = board(1, &code);
    machine.profile_counted();
    assert_eq!(run(&mut machine).1, Ended::Succeeded);
    let executed = machine.profile();
    let within = |depth| executed.iter().filter(|(stack, _)| stack.len() == depth).map(|(_, times)| times).sum::<u64>();
    assert_eq!((within(1), within(2), within(3)), (13, 4, 0), "{executed:x?}");
    // What has returned while nothing was counted has not called what comes later.
    let calls: Vec<_> = executed.iter().filter(|(stack, _)| stack.len() == 2).map(|(stack, _)| stack[0]).collect();
    assert!(calls.iter().all(|call| *call == calls[0] && (CODE..CODE + 0x100).contains(call)), "{calls:x?}");
}
