//! What ends a run: each with the core, the address and the reason.

use emulator::{ended::Ended, machine::Machine};
use iced_x86::{IcedError, code_asm::*};

use crate::boards::*;

/// How a program ends that is on core 1, too.
fn ends(program: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Ended {
    let code = assemble(|a| {
        let mut second = a.create_label();
        a.test(esi, esi)?;
        a.jne(second)?;
        a.hlt()?;
        a.set_label(&mut second)?;
        a.nop()?;
        program(a)
    });
    run(&mut board(2, &code)).1
}

/// Core, address and reason.
fn refused(program: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> (usize, u32, String) {
    match ends(program) {
        Ended::Refused(violation, _) => (violation.core(), violation.address(), violation.reason().to_owned()),
        other => panic!("it has ended otherwise: {other:?}"),
    }
}

#[test]
fn instructions_that_a_p54c_lacks() {
    let (core, address, reason) = refused(|a| {
        a.nop()?;
        a.cmove(eax, ecx)?;
        done(a)
    });
    assert_eq!(core, 1);
    assert!((CODE..CODE + 0x100).contains(&address), "{address:#x}");
    assert_eq!(reason, "a P54C does not have it: cmove (0f 44 c1)");
}

#[test]
fn memory_that_the_lookup_table_does_not_have() {
    let (core, address, _) = refused(|a| {
        a.mov(eax, dword_ptr(0x7000_0010))?;
        done(a)
    });
    assert_eq!((core, address), (1, 0x7000_0010));
}

#[test]
fn registers_and_ports_that_do_not_exist() {
    let (core, address, _) = refused(|a| {
        a.mov(eax, dword_ptr(OWN + 0x300))?;
        done(a)
    });
    assert_eq!((core, address), (1, OWN + 0x300));
    let (core, address, _) = refused(|a| {
        a.mov(eax, dword_ptr(BOARD + 0xD600))?;
        done(a)
    });
    assert_eq!((core, address), (1, BOARD + 0xD600));
    let (core, address, reason) = refused(|a| {
        a.out(0xF4, al)?;
        done(a)
    });
    assert_eq!((core, address), (1, 0xF4));
    assert!(reason.contains("port"), "{reason}");
    let (core, address, _) = refused(|a| {
        a.mov(dword_ptr(0xFEE0_0300_u32), 0)?;
        done(a)
    });
    assert_eq!((core, address), (1, 0xFEE0_0300));
}

#[test]
fn large_pages_and_pages_of_two_kinds() {
    let (core, _, reason) = refused(|a| {
        a.mov(eax, 0x10)?;
        a.mov(cr4, eax)
    });
    assert_eq!(core, 1);
    assert!(reason.contains("large pages"), "{reason}");
    let (_, address, reason) = refused(|a| {
        a.mov(dword_ptr(DIRECTORY + 4096 + 4 * 0x300), 0x30_0093)?;
        paging(a)?;
        a.mov(eax, dword_ptr(0x30_0000))?;
        done(a)
    });
    assert_eq!(address, 0x30_0000);
    assert!(reason.contains("uncached, too"), "{reason}");
    // The same page, but MPBT is not switched on.
    let (_, _, reason) = refused(|a| {
        paging(a)?;
        a.xor(eax, eax)?;
        a.mov(cr4, eax)?;
        a.mov(eax, dword_ptr(MPB))?;
        done(a)
    });
    assert!(reason.contains("CR4.MPE"), "{reason}");
}

#[test]
fn faults_that_nothing_handles() {
    let (core, address, reason) = refused(|a| {
        paging(a)?;
        a.mov(eax, dword_ptr(0x3F_F123))?;
        done(a)
    });
    assert_eq!(core, 1);
    assert!((CODE..CODE + 0x100).contains(&address), "{address:#x}");
    assert!(reason.contains("vector 14") && reason.contains("0x3ff123"), "{reason}");
}

#[test]
fn code_that_changes_itself() {
    let (core, address, reason) = refused(|a| {
        let mut here = a.create_label();
        a.set_label(&mut here)?;
        a.nop()?;
        address(a, here)?;
        a.mov(byte_ptr(eax - 5), 0xF4)?;
        a.jmp(here)
    });
    assert_eq!(core, 1);
    assert!((CODE..CODE + 0x100).contains(&address), "{address:#x}");
    assert!(reason.contains("changes an instruction"), "{reason}");
}

#[test]
fn cores_that_all_halt_or_wait_for_ever() {
    let halted = ends(|a| a.hlt());
    assert!(
        matches!(&halted, Ended::Stuck(places) if places.contains("core 1 halted with interrupts off")),
        "{halted:?}"
    );
    let waits = ends(|a| {
        let mut wait = a.create_label();
        a.set_label(&mut wait)?;
        a.pause()?;
        a.jmp(wait)
    });
    assert!(matches!(&waits, Ended::Stuck(places) if places.contains("core 1 waiting")), "{waits:?}");
}

#[test]
fn the_program_itself() {
    let failed = ends(|a| {
        say(a, "@done failed core 1")?;
        a.hlt()
    });
    assert_eq!(failed, Ended::Failed);
}

#[test]
fn code_that_runs_past_the_end_of_its_segment() {
    let mut machine = board(1, &assemble(done));
    machine.with_chip(|chip| chip.memory_mut(0).poke(FIRST_INSTRUCTION, &[0; 16]));
    match run(&mut machine).1 {
        Ended::Refused(violation, _) => assert!(violation.reason().contains("end of its segment"), "{violation:?}"),
        other => panic!("it has ended otherwise: {other:?}"),
    }
}

#[test]
fn locked_instructions_on_what_others_reach() {
    let refused =
        |program: fn(&mut CodeAssembler) -> Result<(), IcedError>| refused(|a| program(a).and_then(|()| done(a)));
    let (_, address, reason) = refused(|a| a.lock().inc(dword_ptr(SHARED + 0x40)));
    assert_eq!(address, SHARED + 0x40);
    assert!(reason.contains("locks nothing"), "{reason}");
    let (_, address, _) = refused(|a| {
        a.mov(ebx, SHARED + 8)?;
        a.mov(eax, dword_ptr(ebx))?;
        a.xchg(dword_ptr(ebx + 4), eax)
    });
    assert_eq!(address, SHARED + 12);
    let allowed = ends(|a| {
        a.mov(eax, cr0)?;
        a.and(eax, !0x6000_0000)?;
        a.mov(cr0, eax)?;
        a.push(eax)?;
        a.lock().inc(dword_ptr(esp))?;
        a.xchg(dword_ptr(esp), eax)?;
        a.mov(dword_ptr(SHARED + 0x40), eax)?;
        done(a)
    });
    assert_eq!(allowed, Ended::Succeeded);
}

#[test]
fn model_specific_registers_that_are_not_modelled() {
    for (register, value) in [(0x10_u32, None), (0x14, None), (0x11, Some(0xFF_u32)), (0x1B, Some(0))] {
        let (core, _, reason) = refused(|a| {
            a.mov(ecx, register)?;
            match value {
                None => a.rdmsr()?,
                Some(value) => {
                    a.mov(eax, value)?;
                    a.xor(edx, edx)?;
                    a.wrmsr()?;
                }
            }
            done(a)
        });
        assert_eq!(core, 1);
        assert_eq!(reason, format!("model-specific register {register:#x} is not modelled, or not this use of it"));
    }
}

/// Cores that run on or sleep for ever, with a handler of NMIs that says so.
fn endless() -> Vec<u8> {
    assemble(|a| {
        let [mut handler, mut start, mut sleeps, mut runs] = std::array::from_fn(|_| a.create_label());
        a.jmp(start)?;
        a.set_label(&mut handler)?;
        a.pushad()?;
        say(a, "asked")?;
        a.popad()?;
        a.iretd()?;
        a.set_label(&mut start)?;
        gate(a, 2, handler)?;
        a.test(esi, esi)?;
        a.jne(sleeps)?;
        a.set_label(&mut runs)?;
        a.jmp(runs)?;
        a.set_label(&mut sleeps)?;
        a.hlt()?;
        a.jmp(sleeps)
    })
}

#[test]
fn whoever_is_given_up_says_where_it_is() {
    for board in [Machine::new, Machine::timed] {
        let mut machine = board(chip(3, &endless()));
        let ended = machine.run(|| true, |core, line| panic!("core {core} says `{line}` without being asked"));
        assert!(matches!(&ended, Ended::GivenUp(places) if places.contains("core 0 ")), "{ended:?}");
        let mut lines = Vec::new();
        machine.ask(|core, line| lines.push((core, line.to_owned())));
        lines.sort();
        assert_eq!(lines, [0, 1, 2].map(|core| (core, "asked".to_owned())));
    }
}
