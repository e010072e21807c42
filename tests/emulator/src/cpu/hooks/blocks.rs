//! What a core executes: blocks of instructions before they run, and instructions that are left to us.

use descriptions::boards::{announced::Announced, map::PAGE_BYTES};
use p54c::timing;
use unicorn_engine::{RegisterX86, Unicorn};

use super::{GENERAL, Hooks, read};
use crate::{
    Chip, Violation,
    cpu::{
        self,
        code::Block,
        instructions::{self, Special},
        operands, peek,
        state::{State, Stop},
    },
};

/// Bytes of an instruction on average, to tell from the length of a block how long it takes.
const INSTRUCTION_BYTES: u32 = 3;

/// Bytes of what a program does that are listened to.
const MOST_SAID: u32 = 128;

/// Bytes of a segment in real mode.
const REAL_SEGMENT_BYTES: u32 = 1 << 16;

impl Hooks {
    /// A block is about to run.
    #[inline]
    pub(super) fn block(&self, cpu: &mut Unicorn<'_, ()>, linear: u32, len: u32) {
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
            events.begin_block(code, linear, len, || read(cpu, RegisterX86::ESP));
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
        let register = |register| read(cpu, register);
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
        let enabled = cpu.reg_read(RegisterX86::EFLAGS).is_ok_and(|flags| flags & cpu::EFLAGS_IF != 0);
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
            let segment = read(cpu, RegisterX86::CS) << 4;
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
                let is_plain = locked.is_empty() && !instructions::calculate(&bytes, len, linear, bits);
                let locked = (!locked.is_empty()).then(|| locked.into());
                let instructions = found.starts.len() as u64;
                state.code.note_block(linear, Block { len: len as u32, locked, is_plain, cost, instructions, lines });
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
        let selector = read(cpu, RegisterX86::CS);
        let protected = self.state.borrow().control.cr0 & cpu::CR0_PE != 0;
        if protected && selector != cpu::RESET_SELECTOR { 32 } else { 16 }
    }

    /// The core has met an instruction that it does not know, or that is left to us. Returns whether it goes on.
    pub(super) fn special(&self, cpu: &mut Unicorn<'_, ()>) -> bool {
        let instruction = read(cpu, RegisterX86::EIP);
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
                let leaf = read(cpu, RegisterX86::EAX);
                let registers = [RegisterX86::EAX, RegisterX86::EBX, RegisterX86::ECX, RegisterX86::EDX];
                let values = cpu::identify(leaf);
                changes = std::array::from_fn(|place| Some((registers[place], values[place])));
            }
            Special::FromModelSpecific | Special::ToModelSpecific => {
                let number_of = |register| read(cpu, register);
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
            Special::Pause { .. } => match &mut state.clock {
                Some(clock) => clock.pauses += 1,
                None => waits = true,
            },
            Special::FromControl { control, general } => {
                let value = if control == 0 { state.control.cr0 } else { state.control.cr4 };
                changes[0] = Some((GENERAL[general & 7], value));
            }
            Special::ToControl { control, general } => {
                let value = read(cpu, GENERAL[general & 7]);
                flush = true;
                if control == 0 {
                    state.control.cr0 = value | cpu::CR0_ET;
                    changes[0] = Some((RegisterX86::CR0, value));
                } else {
                    state.control.cr4 = value;
                    done = cpu::check_cr4(value).map_err(|reason| Violation::new(number, linear, reason));
                }
            }
        }
        let is_polling = matches!(special, Special::InvalidateMpb | Special::Pause { between_polls: true });
        if !is_polling {
            state.clock.iter_mut().for_each(|clock| clock.polls.spoil());
        }
        let keeps_time = state.clock.is_some();
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
        } else if special == (Special::Pause { between_polls: true }) && keeps_time {
            self.pause(cpu);
        }
        true
    }
}
