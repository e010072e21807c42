//! Small programs on cores: from the reset vector to interrupts, and everything that ends a run.

mod common;

use common::*;
use emulator::machine::Ended;
use iced_x86::code_asm::*;

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
