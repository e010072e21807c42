//! The cores' execution units: P54Cs, by a CPU library (Unicorn, which is QEMU's translator) with everything outside of
//! them taken from it.
//!
//! * Memory: all translations and accesses are ours, see `hooks`.
//! * Instructions: before a block runs for the first time, it is disassembled. What a P54C does not have is a
//!   violation. What the library does not do as this core would (CL1INVMB, `wbinvd`, control registers, time, identity)
//!   is replaced, in the library's copy of the code, by an instruction that it stops at.
//! * Interrupts and exceptions: the library tells their vectors, and they are delivered by us.
//!
//! What is not modelled: privilege (all code runs in ring 0), segments with a base other than 0, the bits *accessed*
//! and *dirty* of page tables, and stores of other cores to instructions that have run. Time is kept or not (see `timed`):
//! if not, an instruction is a cycle, and accesses take none.

mod code;
pub(crate) mod debug;
mod delivery;
mod events;
pub(crate) mod fibre;
pub(crate) mod giving_way;
mod hooks;
mod instructions;
mod lapic;
pub(crate) mod look;
pub(crate) mod met;
mod operands;
mod paging;
mod passing;
mod peek;
mod polls;
mod prediction;
mod skipping;
mod state;
mod translation;

use std::{cell::RefCell, rc::Rc};

use unicorn_engine::{RegisterX86, uc_error};

use self::{
    debug::Points,
    hooks::{Hooks, read, write},
    lapic::Interrupt,
    state::Stop,
};
use crate::Violation;
pub(crate) use hooks::Cpu;
pub(crate) use state::{Shared, State};

const CR0_PE: u32 = 1;
const CR0_ET: u32 = 1 << 4;
/// After a reset caches are off.
const RESET_CR0: u32 = 0x6000_0010;
const RESET_SELECTOR: u32 = 0xF000;
const RESET_EIP: u32 = 0xFFF0;
/// Where a core starts, as the CPU library sees it.
const RESET_LINEAR: u32 = 0xF_FFF0;
const EFLAGS_IF: u64 = 1 << 9;

/// Family 5, model 2, stepping 1.
const SIGNATURE: u32 = 0x521;
/// x87, debugging extensions, large pages, time stamp counter, model-specific registers, `cmpxchg8b`, local APIC.
const FEATURES: u32 = 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9;

/// What `cpuid` says: EAX, EBX, ECX, EDX.
fn identify(leaf: u32) -> [u32; 4] {
    let name = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| b"GenuineIntel"[at + byte]));
    match leaf {
        0 => [1, name(0), name(8), name(4)],
        _ => [SIGNATURE, 0, 0, FEATURES],
    }
}

/// What may be written to CR4.
fn check_cr4(value: u32) -> Result<(), String> {
    const PSE: u32 = 1 << 4;
    /// VME, PVI, TSD, DE, MCE.
    const HARMLESS: u32 = 0b100_1111;
    if value & PSE != 0 {
        return Err(format!("CR4 ({value:#x}) allows large pages, which cannot be with MPBT pages"));
    }
    if value & !(HARMLESS | paging::CR4_MPE) != 0 {
        return Err(format!("CR4 ({value:#x}) has bits that a P54C does not have"));
    }
    Ok(())
}

/// What a core does after its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// It could go on.
    Busy,
    /// It waits for something, and looks again in its next turn.
    Waits,
    /// It has executed `hlt`, and waits for an interrupt.
    Halted,
    /// It has executed `hlt` with interrupts off: nothing but the one that cannot be held off starts it again, or a reset.
    Dead,
    /// It did something that no program may do.
    Refused,
}

/// A core that is not held in reset.
pub(crate) struct Core {
    cpu: Cpu,
    hooks: Hooks,
    turn: Turn,
}

impl Core {
    /// A core that comes out of reset. If it is profiled, it notes where it executes the instructions that it counts; if it is
    /// debugged, it stops where that is wanted.
    ///
    /// # Errors
    /// What the CPU library says.
    pub(crate) fn new(
        number: usize,
        profiled: bool,
        debugged: Option<&Rc<Points>>,
        shared: Rc<RefCell<Shared>>,
    ) -> Result<Self, uc_error> {
        let says_at = shared.borrow().chip.says_at();
        let hooks = Hooks { state: Rc::new(RefCell::new(State::new(number, profiled, says_at))), shared };
        let mut cpu = hooks.attach(debugged.is_some())?;
        if let Some(points) = debugged {
            hooks.debug(&mut cpu, points)?;
        }
        write(&mut cpu, RegisterX86::CR0, RESET_CR0);
        for segment in [RegisterX86::DS, RegisterX86::ES, RegisterX86::SS, RegisterX86::FS, RegisterX86::GS] {
            write(&mut cpu, segment, 0);
        }
        write(&mut cpu, RegisterX86::CS, RESET_SELECTOR);
        write(&mut cpu, RegisterX86::EIP, RESET_EIP);
        write(&mut cpu, RegisterX86::EDX, SIGNATURE);
        Ok(Self { cpu, hooks, turn: Turn::Busy })
    }

    /// Its CPU and what it has besides, for a debugger: each is there as long as somebody has it.
    pub(crate) fn handles(&self) -> (Cpu, Rc<RefCell<State>>) {
        (self.cpu.clone(), self.state())
    }

    /// Where it is.
    pub(crate) fn instruction(&self) -> u32 {
        read(&self.cpu, RegisterX86::EIP)
    }

    /// What it does, in a word.
    pub(crate) fn state_name(&self) -> &'static str {
        match self.turn {
            Turn::Busy => "busy",
            Turn::Waits => "waiting",
            Turn::Halted => "halted",
            Turn::Dead => "halted with interrupts off",
            Turn::Refused => "stopped",
        }
    }

    /// Whether it did nothing in its last turn but wait.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.turn, Turn::Waits | Turn::Halted | Turn::Dead)
    }

    /// Whether time alone may let it do something.
    pub(crate) fn may_wake(&self) -> bool {
        match self.turn {
            Turn::Busy | Turn::Waits => true,
            Turn::Halted => self.hooks.state.borrow().apic.timer_runs(),
            Turn::Dead | Turn::Refused => false,
        }
    }

    /// Lets it run for `cycles` cycles, or until it waits.
    pub(crate) fn run(&mut self, cycles: u64) -> Turn {
        self.begin(cycles);
        let turn = loop {
            match self.take_interrupt() {
                Ok(()) => {}
                Err(violation) => break self.refuse(violation),
            }
            if matches!(self.turn, Turn::Halted | Turn::Dead) {
                break self.turn;
            }
            if let Some(turn) = self.execute() {
                break turn;
            }
        };
        self.turn = turn;
        let mut shared = self.hooks.shared.borrow_mut();
        self.hooks.state.borrow_mut().tick(&mut shared.chip);
        turn
    }

    /// The core's clock.
    fn cycles(&self) -> u64 {
        self.hooks.shared.borrow().chip.cycles(self.hooks.state.borrow().number)
    }

    /// It is so late, or later.
    fn advance(&self, cycle: u64) {
        let number = self.hooks.state.borrow().number;
        let chip = &mut self.hooks.shared.borrow_mut().chip;
        let now = chip.cycles(number).max(cycle);
        chip.set_clock(number, now, cycle);
    }

    /// What it is besides its CPU.
    pub(crate) fn state(&self) -> Rc<RefCell<State>> {
        Rc::clone(&self.hooks.state)
    }

    /// Looks at what came in since the last turn.
    fn begin(&mut self, cycles: u64) {
        let mut state = self.hooks.state.borrow_mut();
        state.left = cycles as i64;
        let looked = state.look_at_pins(&self.hooks.shared.borrow().chip);
        if let Err(violation) = looked {
            self.hooks.shared.borrow_mut().refuse(violation, state.block);
        }
    }

    /// Delivers the interrupt that is due, if one is.
    fn take_interrupt(&mut self) -> Result<(), Violation> {
        let mut state = self.hooks.state.borrow_mut();
        if !state.interrupted {
            return Ok(());
        }
        let enabled = u64::from(read(&self.cpu, RegisterX86::EFLAGS)) & EFLAGS_IF != 0;
        let linear = read(&self.cpu, RegisterX86::EIP);
        let shadow = self.turn != Turn::Halted && state.holds_off(linear);
        let Some(interrupt) = state.apic.next(enabled).filter(|_| !shadow) else { return Ok(()) };
        state.apic.take(interrupt);
        state.interrupted = state.apic.next(true).is_some();
        drop(state);
        self.turn = Turn::Busy;
        let vector = match interrupt {
            Interrupt::NonMaskable => 2,
            Interrupt::Vector(vector) => vector,
        };
        delivery::deliver(&mut self.cpu, &self.hooks, vector, None)
    }

    fn refuse(&mut self, violation: Violation) -> Turn {
        let at = self.hooks.state.borrow().block;
        self.hooks.shared.borrow_mut().refuse(violation, at);
        Turn::Refused
    }

    /// Runs until the CPU library stops. Returns nothing if it can go on at once.
    fn execute(&mut self) -> Option<Turn> {
        {
            let mut state = self.hooks.state.borrow_mut();
            state.stop = None;
            state.clock.iter_mut().for_each(|clock| clock.polls.spoil());
        }
        let start = read(&self.cpu, RegisterX86::EIP);
        let ended = self.cpu.emu_start(start.into(), 0, 0, 0);
        let (stop, fault) = {
            let mut state = self.hooks.state.borrow_mut();
            (state.stop.take(), state.fault.take())
        };
        if self.hooks.shared.borrow().wrong.is_some() {
            return Some(Turn::Refused);
        }
        let delivered = match (ended, stop, fault) {
            (Ok(()), Some(Stop::Slice), _) => return Some(Turn::Busy),
            (Ok(()), Some(Stop::Waits), _) => return Some(Turn::Waits),
            (Ok(()), Some(Stop::Again), _) => Ok(()),
            (Ok(()), Some(Stop::Refused), _) => return Some(Turn::Refused),
            (Ok(()), Some(Stop::Exception(vector)), _) => {
                delivery::deliver(&mut self.cpu, &self.hooks, vector, delivery::error_code(vector))
            }
            (Ok(()), None, _) => {
                let enabled = u64::from(read(&self.cpu, RegisterX86::EFLAGS)) & EFLAGS_IF != 0;
                self.turn = if enabled { Turn::Halted } else { Turn::Dead };
                // Where time is kept, others may have interrupted it while it made its last accesses.
                self.hooks.state.borrow_mut().look_at_pins(&self.hooks.shared.borrow().chip)
            }
            (Err(_), _, Some((linear, code))) => {
                let at = read(&self.cpu, RegisterX86::EIP);
                self.hooks.state.borrow_mut().leave_block(at);
                let bytes: Vec<u8> = {
                    let state = self.hooks.state.borrow();
                    (0..operands::BYTES).map_while(|offset| state.code.byte(at.wrapping_add(offset))).collect()
                };
                let linear = operands::fault_address(&self.cpu, &bytes, at, linear);
                write(&mut self.cpu, RegisterX86::CR2, linear);
                delivery::deliver(&mut self.cpu, &self.hooks, delivery::PAGE_FAULT, Some(code))
            }
            (Err(uc_error::INSN_INVALID), ..) => {
                delivery::deliver(&mut self.cpu, &self.hooks, delivery::INVALID_OPCODE, None)
            }
            (Err(error), ..) => {
                let number = self.hooks.state.borrow().number;
                let at = read(&self.cpu, RegisterX86::EIP);
                Err(Violation::new(number, at, format!("the CPU library stops: {error:?}")))
            }
        };
        match delivered {
            Ok(()) => None,
            Err(violation) => Some(self.refuse(violation)),
        }
    }
}
