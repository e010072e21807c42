//! What a debugger sees of a core, and changes: its registers, and memory as the core's linear addresses lead to it.

use std::{cell::RefCell, rc::Rc};

use gdbstub_arch::x86::reg::{X86CoreRegs, X86SegmentRegs, X87FpuInternalRegs};
use unicorn_engine::RegisterX86;

use super::{
    hooks::{Cpu, GENERAL, read, write},
    peek::{self, pieces},
    state::State,
};
use crate::{Chip, PageKind};

const SEGMENTS: [RegisterX86; 6] =
    [RegisterX86::CS, RegisterX86::SS, RegisterX86::DS, RegisterX86::ES, RegisterX86::FS, RegisterX86::GS];

const STACK: [RegisterX86; 8] = [
    RegisterX86::ST0,
    RegisterX86::ST1,
    RegisterX86::ST2,
    RegisterX86::ST3,
    RegisterX86::ST4,
    RegisterX86::ST5,
    RegisterX86::ST6,
    RegisterX86::ST7,
];

const X87: [RegisterX86; 3] = [RegisterX86::FPCW, RegisterX86::FPSW, RegisterX86::FPTAG];

/// A core as a debugger sees it.
pub(crate) struct Look<'a> {
    pub(crate) cpu: &'a Cpu,
    pub(crate) state: &'a Rc<RefCell<State>>,
}

impl Look<'_> {
    /// Its registers, as they are before the instruction that the core is at.
    pub(crate) fn registers(&self) -> X86CoreRegs {
        let [eax, ecx, edx, ebx, esp, ebp, esi, edi] = GENERAL.map(|register| read(self.cpu, register));
        let [cs, ss, ds, es, fs, gs] = SEGMENTS.map(|register| read(self.cpu, register));
        let [fctrl, fstat, ftag] = X87.map(|register| read(self.cpu, register));
        let long = |register| {
            let value = self.cpu.reg_read_long(register).unwrap_or_default();
            std::array::from_fn(|place| value.get(place).copied().unwrap_or_default())
        };
        X86CoreRegs {
            eax,
            ecx,
            edx,
            ebx,
            esp,
            ebp,
            esi,
            edi,
            eip: self.state.borrow().seen.map_or_else(|| read(self.cpu, RegisterX86::EIP), |seen| seen.at),
            eflags: read(self.cpu, RegisterX86::EFLAGS),
            segments: X86SegmentRegs { cs, ss, ds, es, fs, gs },
            st: STACK.map(long),
            fpu: X87FpuInternalRegs { fctrl, fstat, ftag, ..X87FpuInternalRegs::default() },
            // A P54C has none.
            xmm: [0; 8],
            mxcsr: 0,
        }
    }

    /// Changes its registers, but for segments. Nothing if it is within an instruction, whose end would undo that.
    pub(crate) fn set_registers(&self, registers: &X86CoreRegs) -> Option<()> {
        if !self.state.borrow().seen.is_some_and(|seen| seen.has_stopped) {
            return None;
        }
        let X86CoreRegs { eax, ecx, edx, ebx, esp, ebp, esi, edi, eip, eflags, .. } = *registers;
        // Another handle of the same CPU.
        let cpu = &mut self.cpu.clone();
        GENERAL
            .into_iter()
            .zip([eax, ecx, edx, ebx, esp, ebp, esi, edi])
            .for_each(|(register, value)| write(cpu, register, value));
        let fpu = &registers.fpu;
        X87.into_iter().zip([fpu.fctrl, fpu.fstat, fpu.ftag]).for_each(|(register, value)| write(cpu, register, value));
        for (register, value) in STACK.into_iter().zip(&registers.st) {
            cpu.reg_write_long(register, value).ok()?;
        }
        write(cpu, RegisterX86::EFLAGS, eflags);
        if let Some(seen) = &mut self.state.borrow_mut().seen
            && seen.at != eip
        {
            seen.at = eip;
            write(cpu, RegisterX86::EIP, eip);
        }
        Some(())
    }

    /// Where a linear address leads: the core's physical one, and by which kind of page.
    pub(crate) fn translate(&self, chip: &Chip, linear: u32) -> Option<(u32, PageKind)> {
        peek::translate(&self.state.borrow(), read(self.cpu, RegisterX86::CR3), chip, linear)
    }

    /// What the core would load from a linear address on. Returns how many bytes there are.
    pub(crate) fn load(&self, chip: &Chip, linear: u32, to: &mut [u8]) -> usize {
        peek::load(&self.state.borrow(), read(self.cpu, RegisterX86::CR3), chip, linear, to)
    }

    /// Changes what the core would load. Nothing if a byte is in no memory.
    pub(crate) fn store(&self, chip: &mut Chip, linear: u32, from: &[u8]) -> Option<()> {
        let mut done = 0;
        for (at, len) in pieces(linear, from.len()) {
            let (physical, kind) = self.translate(chip, at)?;
            chip.poke(self.state.borrow().number, physical, kind, &from[done..done + len])?;
            done += len;
        }
        Some(())
    }
}
