//! What a debugger sees of a core, and changes: its registers, and memory as the core's linear addresses lead to it.

use std::{cell::RefCell, rc::Rc};

use descriptions::boards::map::PAGE_BYTES;
use gdbstub_arch::x86::reg::{X86CoreRegs, X86SegmentRegs, X87FpuInternalRegs};
use unicorn_engine::RegisterX86;

use super::{
    hooks::{Cpu, GENERAL, read, write},
    paging::{self, Control},
    state::State,
};
use crate::{Chip, PageKind, Violation, chip::LINE_BYTES};

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

    /// The core.
    fn number(&self) -> usize {
        self.state.borrow().number
    }

    /// Where a linear address leads: the core's physical one, and by which kind of page.
    pub(crate) fn translate(&self, chip: &Chip, linear: u32) -> Option<(u32, PageKind)> {
        let state = self.state.borrow();
        let control = Control { cr3: read(self.cpu, RegisterX86::CR3), ..state.control };
        let mapped = paging::walk(control, state.aliased(linear), false, |entry| {
            let mut bytes = [0; 4];
            let there = chip.peek(state.number, entry, control.unpaged(), &mut bytes);
            there.map(|()| u32::from_le_bytes(bytes)).ok_or_else(|| Violation::new(state.number, entry, "no memory"))
        });
        mapped.ok().map(|mapped| (mapped.physical | state.aliased(linear) & (PAGE_BYTES - 1), mapped.kind))
    }

    /// What the core would load from a linear address on. Returns how many bytes there are.
    pub(crate) fn load(&self, chip: &Chip, linear: u32, to: &mut [u8]) -> usize {
        let mut done = 0;
        for (at, len) in pieces(linear, to.len()) {
            let piece = &mut to[done..done + len];
            let there =
                self.translate(chip, at).and_then(|(physical, kind)| chip.peek(self.number(), physical, kind, piece));
            if there.is_none() {
                break;
            }
            done += len;
        }
        done
    }

    /// Changes what the core would load. Nothing if a byte is in no memory.
    pub(crate) fn store(&self, chip: &mut Chip, linear: u32, from: &[u8]) -> Option<()> {
        let mut done = 0;
        for (at, len) in pieces(linear, from.len()) {
            let (physical, kind) = self.translate(chip, at)?;
            chip.poke(self.number(), physical, kind, &from[done..done + len])?;
            done += len;
        }
        Some(())
    }
}

/// The parts of `len` bytes from an address on that are within a line each.
fn pieces(linear: u32, len: usize) -> impl Iterator<Item = (u32, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = linear.wrapping_add(done as u32);
        let piece = (LINE_BYTES - at as usize % LINE_BYTES).min(len - done);
        done += piece;
        (piece > 0).then_some((at, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_line_by_line() {
        assert_eq!(pieces(30, 36).collect::<Vec<_>>(), [(30, 2), (32, 32), (64, 2)]);
        assert_eq!(pieces(64, 0).count(), 0);
    }
}
