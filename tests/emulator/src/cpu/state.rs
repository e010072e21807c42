//! What a core is besides what the CPU library keeps of it.

use std::rc::Rc;

use iced_x86::Instruction;

use super::{
    code::Code,
    events::Events,
    fibre::Clock,
    lapic::{self, LocalApic},
    paging::Control,
};
use crate::{Chip, Violation};

/// What all cores share.
pub(crate) struct Shared {
    /// Everything that is not a CPU.
    pub(crate) chip: Chip,
    /// The first thing that a core did wrong, and where its code was.
    pub(crate) wrong: Option<(Violation, u32)>,
}

impl Shared {
    /// Keeps the first violation.
    pub(super) fn refuse(&mut self, violation: Violation, code: u32) {
        self.wrong.get_or_insert((violation, code));
    }
}

/// Why the CPU library was told to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// The core has run for as long as it may.
    Slice,
    /// It waits for others, or for time to pass.
    Waits,
    /// An interrupt is to be delivered, or instructions were replaced: go on from where it is.
    Again,
    /// An exception or software interrupt with this vector.
    Exception(u8),
    /// Something was refused.
    Refused,
}

/// Where a debugger sees a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    /// Linear address of the instruction that is next, or under way.
    pub(super) at: u32,
    /// Whether it has stopped before that one, and will look whether it is still the next.
    pub(super) has_stopped: bool,
}

/// A core's state.
pub(crate) struct State {
    pub(super) number: usize,
    pub(super) code: Code,
    pub(super) apic: LocalApic,
    pub(super) events: Events,
    /// CR0 and CR4 as the program wrote them; CR3 is the CPU library's.
    pub(super) control: Control,
    /// Until the first jump out of the top of the first megabyte, that is the top of memory: there a core starts.
    pub(super) starts: bool,
    /// Linear address of the block that runs, or ran last.
    pub(super) block: u32,
    /// Its length in bytes.
    pub(super) block_len: u32,
    /// Its instructions that read, modify and write memory in one step, if it has any.
    pub(super) locked: Option<Rc<[Instruction]>>,
    /// Where a debugger sees it, if it is debugged.
    pub(super) seen: Option<Seen>,
    /// Linear address of the function by whose calls the program says what it does, if somebody listens.
    pub(super) says_at: Option<u32>,
    /// What it needs to keep time, if it does.
    pub(super) clock: Option<Clock>,
    /// Cycles that the slice still has.
    pub(super) left: i64,
    /// Cycles that the chip was not told of yet.
    pub(super) cycles: u64,
    /// An interrupt waits until the core takes some.
    pub(super) interrupted: bool,
    pub(super) stop: Option<Stop>,
    /// Linear address and error code of a page fault.
    pub(super) fault: Option<(u32, u32)>,
}

impl State {
    pub(super) fn new(number: usize, profiled: bool, says_at: Option<u32>) -> Self {
        Self {
            number,
            code: Code::new(),
            apic: LocalApic::new(),
            events: Events::new(profiled),
            control: Control { cr0: super::RESET_CR0, cr3: 0, cr4: 0 },
            starts: true,
            block: super::RESET_LINEAR,
            block_len: 0,
            locked: None,
            seen: None,
            says_at,
            clock: None,
            left: 0,
            cycles: 0,
            interrupted: false,
            stop: None,
            fault: None,
        }
    }

    /// Tells the chip of the time that has passed for the core.
    pub(super) fn tick(&mut self, chip: &mut Chip) {
        chip.tick(self.number, std::mem::take(&mut self.cycles));
    }

    /// Shows the local APIC the core's pins, and what time it is.
    ///
    /// # Errors
    /// A violation if a pin does what nobody has prepared it for.
    pub(super) fn look_at_pins(&mut self, chip: &Chip) -> Result<(), Violation> {
        let updated = self.apic.update(chip.interrupt_pins(self.number), chip.shown_cycles(self.number));
        self.interrupted = self.apic.next(true).is_some();
        updated.map_err(|reason| Violation::new(self.number, lapic::BASE, reason))
    }

    /// Where the block is that runs, and `pause` executed since the core began to keep time.
    pub(crate) fn progress(&self) -> (u32, u64) {
        (self.block, self.clock.as_ref().map_or(0, |clock| clock.pauses))
    }

    /// See [`Machine::profile`](crate::machine::Machine::profile).
    pub(crate) fn profile(&self) -> Vec<(Vec<u32>, u64)> {
        self.events.profile(&self.code)
    }

    /// The core leaves the block that runs before the instruction at a linear address.
    pub(super) fn leave_block(&mut self, linear: u32) {
        if self.events.counts() {
            self.events.leave_block(&self.code, linear);
        }
    }

    /// Whether `sti` was the last instruction before `linear`: it holds interrupts off for another one, which counts
    /// before `hlt`.
    pub(super) fn holds_off(&self, linear: u32) -> bool {
        self.block.wrapping_add(self.block_len) == linear && self.code.byte(linear.wrapping_sub(1)) == Some(0xFB)
    }

    /// The address that a core means, which is another one while it starts.
    pub(super) fn aliased(&self, linear: u32) -> u32 {
        if self.starts && (0xF_0000..0x10_0000).contains(&linear) { linear | 0xFFF0_0000 } else { linear }
    }
}
