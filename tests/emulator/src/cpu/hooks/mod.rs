//! What the CPU library asks us about, which is everything outside of the execution units.
//!
//! Pages are translated by us: what is fetched comes from copies in memory of the CPU
//! library, and what is loaded and stored goes to ranges that call us back for every access, one range for each kind of
//! page. So a page can be fetched from and stored to, and the CPU library's own translations keep the kind with the
//! page. It makes a load that is not where its size wants it two that are, and such a store one of bytes: what calls us
//! lies within a line.

mod accesses;
mod blocks;

use std::{cell::RefCell, rc::Rc};

use descriptions::boards::map::PAGE_BYTES;
use unicorn_engine::{MemType, Prot, RegisterX86, TlbEntry, TlbType, Unicorn, uc_error};

use super::{
    lapic,
    paging::{self, Control, Fault, Mapped},
    state::{Shared, State, Stop},
};
use crate::{PageKind, Violation};

/// The CPU library's view of one core.
pub(crate) type Cpu = Unicorn<'static, ()>;
type Handle<T> = Rc<RefCell<T>>;

/// Where the CPU library finds copies of code, far from the ranges of [`base`].
const CODE: u64 = 1 << 40;
/// Where it finds the local APIC.
const APIC: u64 = 1 << 41;
/// Bytes of a kind of page.
pub(super) const SPAN: u64 = 1 << 32;
const KINDS: [PageKind; 4] = [PageKind::WriteBack, PageKind::Uncached, PageKind::Mpbt, PageKind::MpbtWriteBack];

/// Model in the CPU library that is nearest to a P54C (`UC_CPU_X86_PENTIUM`).
const PENTIUM: i32 = 8;

/// Where the CPU library finds physical memory as pages of a kind.
fn base(kind: PageKind) -> u64 {
    let place = KINDS.iter().position(|other| *other == kind).unwrap_or(0);
    SPAN * (place as u64 + 1)
}

/// General registers by the number that instructions use, which is also their order in the state of a task.
pub(super) const GENERAL: [RegisterX86; 8] = [
    RegisterX86::EAX,
    RegisterX86::ECX,
    RegisterX86::EDX,
    RegisterX86::EBX,
    RegisterX86::ESP,
    RegisterX86::EBP,
    RegisterX86::ESI,
    RegisterX86::EDI,
];

/// A register of 32 bits. The CPU library has all those that we name.
pub(super) fn read(cpu: &Unicorn<'_, ()>, register: RegisterX86) -> u32 {
    cpu.reg_read(register).map_or(0, |value| value as u32)
}

/// Changes a register.
pub(super) fn write(cpu: &mut Cpu, register: RegisterX86, value: u32) {
    cpu.reg_write(register, value.into()).expect("the CPU library has this register");
}

/// What every hook of a core holds.
#[derive(Clone)]
pub(super) struct Hooks {
    pub(super) state: Handle<State>,
    pub(super) shared: Handle<Shared>,
}

impl Hooks {
    /// A CPU with all hooks. If it is debugged, its accesses are shown to whoever watches memory.
    pub(super) fn attach(&self, debugged: bool) -> Result<Cpu, uc_error> {
        let mut cpu = Unicorn::new(unicorn_engine::Arch::X86, unicorn_engine::Mode::MODE_32)?;
        cpu.ctl_set_cpu_model(PENTIUM)?;
        cpu.ctl_set_tlb_type(TlbType::VIRTUAL)?;
        let (pointer, len) = self.state.borrow_mut().code.memory();
        // SAFETY: 1. The copies of code never move, and live as long as the state, of which the hooks of this CPU hold
        // a reference. 2. They are changed by this thread only, between executions of the CPU library or in its hooks.
        unsafe { cpu.mem_map_ptr(CODE, len as u64, Prot::READ | Prot::EXEC, pointer.cast()) }?;
        for kind in KINDS {
            if debugged {
                self.map_watched(&mut cpu, base(kind), kind)?;
                continue;
            }
            let (loads, stores) = (self.clone(), self.clone());
            cpu.mmio_map(
                base(kind),
                SPAN,
                Some(move |cpu: &mut Unicorn<'_, ()>, physical: u64, len: usize| {
                    loads.load(cpu, physical as u32, kind, len)
                }),
                Some(move |cpu: &mut Unicorn<'_, ()>, physical: u64, len: usize, value: u64| {
                    stores.store(cpu, physical as u32, kind, len, value);
                }),
            )?;
        }
        let (loads, stores) = (self.clone(), self.clone());
        cpu.mmio_map(
            APIC,
            PAGE_BYTES.into(),
            Some(move |cpu: &mut Unicorn<'_, ()>, offset: u64, len: usize| loads.load_apic(cpu, offset as u32, len)),
            Some(move |cpu: &mut Unicorn<'_, ()>, offset: u64, len: usize, value: u64| {
                stores.store_apic(cpu, offset as u32, len, value as u32);
            }),
        )?;
        self.add_hooks(&mut cpu)?;
        Ok(cpu)
    }

    fn add_hooks(&self, cpu: &mut Cpu) -> Result<(), uc_error> {
        let hooks = self.clone();
        cpu.add_tlb_hook(1, 0, move |cpu, linear, access| hooks.fill(cpu, linear as u32, access))?;
        let hooks = self.clone();
        cpu.add_block_hook(1, 0, move |cpu, linear, len| hooks.block(cpu, linear as u32, len))?;
        let hooks = self.clone();
        cpu.add_insn_invalid_hook(move |cpu| hooks.special(cpu))?;
        let hooks = self.clone();
        cpu.add_intr_hook(move |cpu, vector| hooks.stop(cpu, Stop::Exception(vector as u8)))?;
        let hooks = self.clone();
        cpu.add_insn_in_hook(move |cpu, port, len| hooks.port_in(cpu, port as u16, len))?;
        let hooks = self.clone();
        cpu.add_insn_out_hook(move |cpu, port, len, value| hooks.port_out(cpu, port as u16, len, value))?;
        Ok(())
    }

    /// Stops the core, for the first reason that there is.
    pub(super) fn stop(&self, cpu: &mut Unicorn<'_, ()>, why: Stop) {
        let mut state = self.state.borrow_mut();
        state.stop.get_or_insert(why);
        state.clock.iter_mut().for_each(|clock| clock.polls.spoil());
        drop(state);
        // It refuses only when nothing runs.
        let _ = cpu.emu_stop();
    }

    #[cold]
    pub(super) fn refuse(&self, cpu: &mut Unicorn<'_, ()>, violation: Violation) {
        let block = self.state.borrow().block;
        self.shared.borrow_mut().refuse(violation, block);
        self.stop(cpu, Stop::Refused);
    }

    /// Translates the page of a linear address.
    pub(super) fn translate(&self, cr3: u32, linear: u32, store: bool) -> Result<Mapped, Fault> {
        let state = self.state.borrow();
        let mut shared = self.shared.borrow_mut();
        let control = Control { cr3, ..state.control };
        paging::walk(control, state.aliased(linear), store, |address| {
            // The CPU library asks again whenever it has forgotten, which depends on how busy the host is: so caches are left as they are.
            let mut entry = [0; 4];
            match shared.chip.peek(state.number, address, control.unpaged(), &mut entry) {
                Some(()) => Ok(u32::from_le_bytes(entry)),
                // It says why there is none.
                None => shared.chip.load(state.number, address, control.unpaged(), 4).map(|entry| entry as u32),
            }
        })
    }

    /// The CPU library wants to access a page.
    fn fill(&self, cpu: &mut Unicorn<'_, ()>, linear: u32, access: MemType) -> Option<TlbEntry> {
        let cr3 = read(cpu, RegisterX86::CR3);
        let number = self.state.borrow().number;
        let mapped = match self.translate(cr3, linear, access == MemType::WRITE) {
            Ok(mapped) => mapped,
            Err(Fault::Page(code)) => {
                self.state.borrow_mut().fault = Some((linear, code));
                return None;
            }
            Err(Fault::Wrong(reason)) => {
                self.refuse(cpu, Violation::new(number, linear, reason));
                return None;
            }
            Err(Fault::Unreadable(violation)) => {
                self.refuse(cpu, violation);
                return None;
            }
        };
        if access == MemType::FETCH {
            return match self.copy_of(linear, mapped) {
                Ok(offset) => Some(TlbEntry { paddr: CODE + offset as u64, perms: Prot::EXEC }),
                Err(violation) => {
                    self.refuse(cpu, violation);
                    None
                }
            };
        }
        let perms = if mapped.writable { Prot::READ | Prot::WRITE } else { Prot::READ };
        if mapped.physical != lapic::BASE {
            return Some(TlbEntry { paddr: base(mapped.kind) + u64::from(mapped.physical), perms });
        }
        if mapped.kind != PageKind::Uncached {
            self.refuse(cpu, Violation::new(number, linear, "the local APIC is cached"));
            return None;
        }
        Some(TlbEntry { paddr: APIC, perms })
    }

    /// Offset of the copy of a page of code.
    fn copy_of(&self, linear: u32, mapped: Mapped) -> Result<usize, Violation> {
        let mut state = self.state.borrow_mut();
        if let Some(offset) = state.code.find(linear, mapped.physical) {
            return Ok(offset);
        }
        if matches!(mapped.kind, PageKind::Mpbt | PageKind::MpbtWriteBack) {
            return Err(Violation::new(state.number, linear, "instructions are fetched from an MPBT page"));
        }
        let bytes = self.shared.borrow().chip.fetch_page(state.number, mapped.physical)?;
        let number = state.number;
        state.code.add(mapped.physical, &bytes).map_err(|refused| Violation::new(number, linear, refused.0))?;
        Ok(state.code.find(linear, mapped.physical).unwrap_or(0))
    }
}
