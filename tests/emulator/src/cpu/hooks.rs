//! What the CPU library asks us about, which is everything outside of the execution units.
//!
//! Pages are translated by us: what is fetched comes from copies in memory of the CPU
//! library, and what is loaded and stored goes to ranges that call us back for every access, one range for each kind of
//! page. So a page can be fetched from and stored to, and the CPU library's own translations keep the kind with the
//! page. It makes a load that is not where its size wants it two that are, and such a store one of bytes: what calls us
//! lies within a line.

use std::{cell::RefCell, rc::Rc};

use descriptions::boards::{
    announced::Announced,
    map::{PAGE_BYTES, SLOT_BYTES},
};
use p54c::timing;
use unicorn_engine::{MemType, Prot, RegisterX86, TlbEntry, TlbType, Unicorn, uc_error};

use super::{
    code::Block,
    instructions::{self, Special},
    lapic, operands, paging,
    paging::{Control, Fault, Mapped},
    peek,
    state::{Shared, State, Stop},
};
use crate::{Chip, PageKind, Violation};

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

/// Bytes of an instruction on average, to tell from the length of a block how long it takes.
const INSTRUCTION_BYTES: u32 = 3;

/// Bytes of what a program does that are listened to.
const MOST_SAID: u32 = 128;

/// Bytes of a segment in real mode.
const REAL_SEGMENT_BYTES: u32 = 1 << 16;

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
pub(super) fn read(cpu: &Cpu, register: RegisterX86) -> u32 {
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
        self.state.borrow_mut().stop.get_or_insert(why);
        // It refuses only when nothing runs.
        let _ = cpu.emu_stop();
    }

    #[cold]
    pub(super) fn refuse(&self, cpu: &mut Unicorn<'_, ()>, violation: Violation) {
        let block = self.state.borrow().block;
        self.shared.borrow_mut().refuse(violation, block);
        self.stop(cpu, Stop::Refused);
    }

    #[inline]
    pub(super) fn load(&self, cpu: &mut Unicorn<'_, ()>, physical: u32, kind: PageKind, len: usize) -> u64 {
        if self.state.borrow().locked.is_some() && self.refuses_locked(cpu, physical, kind) {
            return 0;
        }
        let mut state = self.state.borrow_mut();
        let mut shared = self.shared.borrow_mut();
        if state.clock.is_some() {
            let number = state.number;
            if let Some(value) = shared.chip.load_hit(number, physical, kind, len) {
                return value;
            }
            drop((state, shared));
            if !self.reach(cpu, |chip| chip.load_needs(number, physical, kind)) {
                return 0;
            }
            state = self.state.borrow_mut();
            shared = self.shared.borrow_mut();
        }
        if kind == PageKind::Uncached {
            state.tick(&mut shared.chip);
        }
        match shared.chip.load(state.number, physical, kind, len) {
            Ok(value) => {
                let keeps_time = state.clock.is_some();
                drop((state, shared));
                if keeps_time {
                    self.write_back(cpu);
                }
                value
            }
            Err(violation) => {
                drop((state, shared));
                self.refuse(cpu, violation);
                0
            }
        }
    }

    #[inline]
    pub(super) fn store(&self, cpu: &mut Unicorn<'_, ()>, physical: u32, kind: PageKind, len: usize, value: u64) {
        if self.state.borrow().locked.is_some() && self.refuses_locked(cpu, physical, kind) {
            return;
        }
        if self.state.borrow().clock.is_some() {
            let number = self.state.borrow().number;
            if !self.reach(cpu, |chip| chip.store_needs(number, physical, kind, len)) {
                return;
            }
        }
        let mut state = self.state.borrow_mut();
        let mut shared = self.shared.borrow_mut();
        if kind == PageKind::Uncached {
            state.tick(&mut shared.chip);
        }
        let number = state.number;
        let code = state.code.note_store(physical, len, value);
        let stored = code.map_err(|refused| Violation::new(number, physical, refused.0));
        let stored = stored.and_then(|()| shared.chip.store(number, physical, kind, len, value));
        let stored = stored.and_then(|()| {
            if kind == PageKind::Uncached {
                // A pin that the core lowers by itself may rise again before its next turn, and has an edge then.
                state.look_at_pins(&shared.chip)?;
            }
            Ok(())
        });
        drop((state, shared));
        if let Err(violation) = stored {
            self.refuse(cpu, violation);
        }
    }

    /// Refuses a locked access to what other cores reach: nothing between cores locks, so it is not one step for them.
    /// Returns whether it is one.
    #[cold]
    fn refuses_locked(&self, cpu: &mut Unicorn<'_, ()>, physical: u32, kind: PageKind) -> bool {
        let (number, locked, pages) = {
            let state = self.state.borrow();
            (state.number, state.locked.clone().unwrap_or_default(), state.control.is_paged())
        };
        let first_shared = self.shared.borrow().chip.board().geometry.shared_slot;
        // Without pages nothing is cached, and no slot below leads to other cores' memory yet.
        if (kind == PageKind::WriteBack || !pages) && physical / SLOT_BYTES < first_shared {
            return false;
        }
        let cr3 = cpu.reg_read(RegisterX86::CR3).map_or(0, |value| value as u32);
        let is_accessed = |linear: &u32| {
            let mapped = self.translate(cr3, *linear, false);
            mapped.is_ok_and(|mapped| mapped.physical | linear & (PAGE_BYTES - 1) == physical)
        };
        let refused = locked.iter().any(|locked| operands::addresses(cpu, locked).iter().any(is_accessed));
        if refused {
            let reason = "a locked instruction accesses what other cores reach, and locks nothing there";
            self.refuse(cpu, Violation::new(number, physical, reason));
        }
        refused
    }

    fn load_apic(&self, cpu: &mut Unicorn<'_, ()>, offset: u32, len: usize) -> u64 {
        let state = self.state.borrow();
        let now = self.shared.borrow().chip.shown_cycles(state.number) + state.cycles;
        match state.apic.load(offset, len, now) {
            Ok(value) => value.into(),
            Err(reason) => {
                let violation = Violation::new(state.number, lapic::BASE + offset, reason);
                drop(state);
                self.refuse(cpu, violation);
                0
            }
        }
    }

    fn store_apic(&self, cpu: &mut Unicorn<'_, ()>, offset: u32, len: usize, value: u32) {
        let mut state = self.state.borrow_mut();
        let now = self.shared.borrow().chip.shown_cycles(state.number) + state.cycles;
        // What it held off may come now.
        state.interrupted = true;
        if let Err(reason) = state.apic.store(offset, len, value, now) {
            let violation = Violation::new(state.number, lapic::BASE + offset, reason);
            drop(state);
            self.refuse(cpu, violation);
        }
    }

    fn port_in(&self, cpu: &mut Unicorn<'_, ()>, port: u16, len: usize) -> u32 {
        let number = self.state.borrow().number;
        let loaded = self.shared.borrow_mut().chip.port_in(number, port, len);
        loaded.unwrap_or_else(|violation| {
            self.refuse(cpu, violation);
            0
        })
    }

    fn port_out(&self, cpu: &mut Unicorn<'_, ()>, port: u16, len: usize, value: u32) {
        let number = self.state.borrow().number;
        let stored = self.shared.borrow_mut().chip.port_out(number, port, len, value);
        if let Err(violation) = stored {
            self.refuse(cpu, violation);
        }
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
        let cr3 = cpu.reg_read(RegisterX86::CR3).map_or(0, |value| value as u32);
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

    /// A block is about to run.
    #[inline]
    fn block(&self, cpu: &mut Unicorn<'_, ()>, linear: u32, len: u32) {
        let mut state = self.state.borrow_mut();
        if state.stop.is_some() {
            return;
        }
        if let Some(seen) = &mut state.seen {
            seen.at = linear;
        }
        let keeps_time = state.clock.is_some();
        if state.code.block(linear).is_none_or(|block| keeps_time && block.len != len) {
            drop(state);
            if !self.inspect(cpu, linear, len as usize) {
                return;
            }
            state = self.state.borrow_mut();
        }
        if keeps_time {
            drop(state);
            if !self.pass(cpu, linear) {
                return;
            }
            state = self.state.borrow_mut();
        }
        let cycles = i64::from(len / INSTRUCTION_BYTES + 1);
        if !keeps_time && state.left < cycles {
            drop(state);
            return self.stop(cpu, Stop::Slice);
        }
        if state.interrupted && !state.holds_off(linear) {
            drop(state);
            if self.interrupt(cpu) {
                return;
            }
            state = self.state.borrow_mut();
        }
        if !keeps_time {
            state.left -= cycles;
            state.cycles += cycles as u64;
        }
        (state.block, state.block_len) = (linear, len);
        let State { events, code, .. } = &mut *state;
        if events.counts() {
            events.begin_block(code, linear, len, || cpu.reg_read(RegisterX86::ESP).map_or(0, |value| value as u32));
        }
        state.locked = state.code.block(linear).and_then(|block| block.locked.clone());
        if state.says_at == Some(linear) {
            drop(state);
            self.listen(cpu);
        }
    }

    /// The program says what it does: what it says is in memory, at the address that is behind the one where it goes on.
    #[cold]
    fn listen(&self, cpu: &Unicorn<'_, ()>) {
        let register = |register| cpu.reg_read(register).map_or(0, |value| value as u32);
        let (state, mut shared) = (self.state.borrow(), self.shared.borrow_mut());
        let load = |chip: &Chip, linear: u32, to: &mut [u8]| {
            peek::load(&state, register(RegisterX86::CR3), chip, linear, to) == to.len()
        };
        let (mut pointer, mut announced) = ([0; 4], [0; Announced::BYTES]);
        let chip = &mut shared.chip;
        if load(chip, register(RegisterX86::ESP).wrapping_add(4), &mut pointer)
            && load(chip, u32::from_le_bytes(pointer), &mut announced)
        {
            let announced = Announced::read(&announced);
            let mut name = vec![0; announced.name_bytes.min(MOST_SAID) as usize];
            if load(chip, announced.name, &mut name) {
                chip.announced(state.number, &announced, &String::from_utf8_lossy(&name), state.cycles);
            }
        }
    }

    /// Stops if there is an interrupt that may be taken now. Returns whether there is.
    #[cold]
    fn interrupt(&self, cpu: &mut Unicorn<'_, ()>) -> bool {
        let enabled = cpu.reg_read(RegisterX86::EFLAGS).is_ok_and(|flags| flags & super::EFLAGS_IF != 0);
        let taken = self.state.borrow().apic.next(enabled).is_some();
        if taken {
            self.stop(cpu, Stop::Again);
        }
        taken
    }

    /// Looks at a block that has not run yet. Returns whether it can run as the CPU library has translated it.
    #[cold]
    fn inspect(&self, cpu: &mut Unicorn<'_, ()>, linear: u32, len: usize) -> bool {
        let bits = self.bits(cpu);
        if bits == 16 {
            let segment = cpu.reg_read(RegisterX86::CS).map_or(0, |value| value as u32) << 4;
            if linear.wrapping_sub(segment).wrapping_add(len as u32) > REAL_SEGMENT_BYTES {
                let number = self.state.borrow().number;
                self.refuse(cpu, Violation::new(number, linear, "code runs past the end of its segment of 64 KB"));
                return false;
            }
        }
        let leaves = {
            let mut state = self.state.borrow_mut();
            let leaves = state.starts && state.aliased(linear) == linear;
            state.starts &= !leaves;
            leaves
        };
        if leaves {
            // What was fetched from and accessed at the top of the first megabyte was somewhere else.
            let _ = cpu.ctl_flush_tlb();
        }
        let mut state = self.state.borrow_mut();
        // Where an instruction was replaced, the CPU library takes the block for shorter than it is.
        let bytes = (0..(len + operands::LONGEST_INSTRUCTION) as u32)
            .map_while(|offset| state.code.byte(linear.wrapping_add(offset)));
        let bytes = bytes.collect::<Vec<_>>();
        let inspected = instructions::inspect(&bytes, len, linear, bits);
        match inspected {
            Err(refused) => {
                let violation = Violation::new(state.number, state.aliased(refused.address), refused.reason);
                state.block = linear;
                drop(state);
                self.refuse(cpu, violation);
                false
            }
            Ok(found) => {
                let replaced = state.code.note_inspected(linear, len, &found);
                let locked = instructions::locked(&bytes, len, linear, bits);
                let cost = if state.clock.is_some() {
                    timing::cost(&bytes, len, linear, bits)
                } else {
                    timing::Cost::default()
                };
                let lines = state.code.lines(linear, len as u32);
                let locked = (!locked.is_empty()).then(|| locked.into());
                let instructions = found.starts.len() as u64;
                state.code.note_block(linear, Block { len: len as u32, locked, cost, instructions, lines });
                drop(state);
                if replaced {
                    let _ = cpu.ctl_remove_cache(linear.into(), u64::from(linear) + len.max(1) as u64);
                    self.stop(cpu, Stop::Again);
                }
                !replaced
            }
        }
    }

    /// Whether code is of 16 or 32 bits.
    fn bits(&self, cpu: &Unicorn<'_, ()>) -> u32 {
        let selector = cpu.reg_read(RegisterX86::CS).map_or(0, |value| value as u32);
        let protected = self.state.borrow().control.cr0 & super::CR0_PE != 0;
        if protected && selector != super::RESET_SELECTOR { 32 } else { 16 }
    }

    /// The core has met an instruction that it does not know, or that is left to us. Returns whether it goes on.
    fn special(&self, cpu: &mut Unicorn<'_, ()>) -> bool {
        let instruction = cpu.reg_read(RegisterX86::EIP).map_or(0, |value| value as u32);
        let mut state = self.state.borrow_mut();
        // Segments are page aligned, and no block is as long as a page.
        let linear = state.block.wrapping_add(instruction.wrapping_sub(state.block) & (PAGE_BYTES - 1));
        let Some((special, len)) = state.code.special(linear) else { return false };
        state.leave_block(linear.wrapping_add(len as u32));
        let mut shared = self.shared.borrow_mut();
        let number = state.number;
        let mut changes: [Option<(RegisterX86, u32)>; 4] = [None; 4];
        let mut flush = false;
        let mut done = Ok(());
        let mut waits = false;
        match special {
            Special::InvalidateMpb => shared.chip.cl1invmb(number),
            Special::WriteBack => {
                done = shared.chip.wbinvd(number);
                if state.clock.is_some() {
                    state.cycles += shared.chip.board().hardware.l1_flush_cycles;
                }
            }
            Special::TimeStamp => {
                state.tick(&mut shared.chip);
                let now = shared.chip.shown_cycles(number);
                changes[0] = Some((RegisterX86::EAX, now as u32));
                changes[1] = Some((RegisterX86::EDX, (now >> 32) as u32));
            }
            Special::Identify => {
                let leaf = cpu.reg_read(RegisterX86::EAX).map_or(0, |value| value as u32);
                let registers = [RegisterX86::EAX, RegisterX86::EBX, RegisterX86::ECX, RegisterX86::EDX];
                let values = super::identify(leaf);
                changes = std::array::from_fn(|place| Some((registers[place], values[place])));
            }
            Special::FromModelSpecific | Special::ToModelSpecific => {
                let number_of = |register| cpu.reg_read(register).map_or(0, |value| value as u32);
                let register = number_of(RegisterX86::ECX);
                let known = if special == Special::FromModelSpecific {
                    let value = state.events.load(register);
                    changes[0] = value.map(|value| (RegisterX86::EAX, value as u32));
                    changes[1] = value.map(|value| (RegisterX86::EDX, (value >> 32) as u32));
                    value.is_some()
                } else {
                    let [low, high] = [RegisterX86::EAX, RegisterX86::EDX].map(number_of);
                    state.events.store(register, u64::from(high) << 32 | u64::from(low)).is_some()
                };
                if !known {
                    let reason =
                        format!("model-specific register {register:#x} is not modelled, or not this use of it");
                    done = Err(Violation::new(number, linear, reason));
                }
            }
            Special::Pause => match &mut state.clock {
                Some(clock) => clock.pauses += 1,
                None => waits = true,
            },
            Special::FromControl { control, general } => {
                let value = if control == 0 { state.control.cr0 } else { state.control.cr4 };
                changes[0] = Some((GENERAL[general & 7], value));
            }
            Special::ToControl { control, general } => {
                let value = cpu.reg_read(GENERAL[general & 7]).map_or(0, |value| value as u32);
                flush = true;
                if control == 0 {
                    state.control.cr0 = value | super::CR0_ET;
                    changes[0] = Some((RegisterX86::CR0, value));
                } else {
                    state.control.cr4 = value;
                    done = super::check_cr4(value).map_err(|reason| Violation::new(number, linear, reason));
                }
            }
        }
        drop((state, shared));
        for (register, value) in changes.into_iter().flatten() {
            let _ = cpu.reg_write(register, value.into());
        }
        if flush {
            let _ = cpu.ctl_flush_tlb();
        }
        let _ = cpu.reg_write(RegisterX86::EIP, u64::from(instruction.wrapping_add(len as u32)));
        if let Err(violation) = done {
            self.refuse(cpu, violation);
        } else if waits {
            self.stop(cpu, Stop::Waits);
        }
        true
    }
}
