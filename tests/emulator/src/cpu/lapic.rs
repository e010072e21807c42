//! The interrupt controller inside a core: what comes in by its two pins, and by its timer.
//!
//! Registers that a P54C's has and that programs for such a board have no use for (other cores are not reached by it)
//! are refused, like those that do not exist.

use crate::chip::Pins;

/// Where it is in physical memory. It is in the core: no lookup table is asked.
pub(super) const BASE: u32 = 0xFEE0_0000;

const ID: u32 = 0x20;
const VERSION: u32 = 0x30;
const TASK_PRIORITY: u32 = 0x80;
const END_OF_INTERRUPT: u32 = 0xB0;
const LOGICAL_DESTINATION: u32 = 0xD0;
const DESTINATION_FORMAT: u32 = 0xE0;
const SPURIOUS: u32 = 0xF0;
const IN_SERVICE: u32 = 0x100;
const REQUESTED: u32 = 0x200;
const ERROR_STATUS: u32 = 0x280;
const TIMER: u32 = 0x320;
const LINT0: u32 = 0x350;
const LINT1: u32 = 0x360;
const ERROR: u32 = 0x370;
const INITIAL_COUNT: u32 = 0x380;
const CURRENT_COUNT: u32 = 0x390;
const DIVIDE: u32 = 0x3E0;

/// Version of a P54C's: four entries of the local vector table.
const VERSION_VALUE: u32 = 0x0003_0010;
/// Bit of [`SPURIOUS`] that switches the controller on.
const ENABLED: u32 = 1 << 8;
const MASKED: u32 = 1 << 16;
const PERIODIC: u32 = 1 << 17;
const LEVEL: u32 = 1 << 15;
const MODE: u32 = 7 << 8;
const MODE_FIXED: u32 = 0;
const MODE_NMI: u32 = 4 << 8;

/// What a core is interrupted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Interrupt {
    /// The one that cannot be held off.
    NonMaskable,
    /// With this vector.
    Vector(u8),
}

/// The state of the controller.
#[derive(Clone)]
pub(super) struct LocalApic {
    task_priority: u32,
    logical_destination: u32,
    destination_format: u32,
    spurious: u32,
    timer: u32,
    lint: [u32; 2],
    error: u32,
    divide: u32,
    initial_count: u32,
    /// When the timer was started, in cycles.
    started: u64,
    /// Periods of the timer that have been noticed.
    periods: u64,
    requested: [u32; 8],
    in_service: [u32; 8],
    non_maskable: bool,
    pins: Pins,
}

/// The highest bit that is set.
fn highest(bits: &[u32; 8]) -> Option<u8> {
    let word = bits.iter().rposition(|word| *word != 0)?;
    Some((word * 32 + 31 - bits[word].leading_zeros() as usize) as u8)
}

impl LocalApic {
    /// The controller after a reset, when it is switched off.
    pub(super) fn new() -> Self {
        Self {
            task_priority: 0,
            logical_destination: 0,
            destination_format: u32::MAX,
            spurious: 0xFF,
            timer: MASKED,
            lint: [MASKED; 2],
            error: MASKED,
            divide: 0,
            initial_count: 0,
            started: 0,
            periods: 0,
            requested: [0; 8],
            in_service: [0; 8],
            non_maskable: false,
            pins: Pins::default(),
        }
    }

    /// Cycles of the core for one of the timer.
    fn divisor(&self) -> u64 {
        match self.divide & 0b1011 {
            0b0000 => 2,
            0b0001 => 4,
            0b0010 => 8,
            0b0011 => 16,
            0b1000 => 32,
            0b1001 => 64,
            0b1010 => 128,
            _ => 1,
        }
    }

    /// Loads from a register, at a time in cycles.
    pub(super) fn load(&self, offset: u32, len: usize, now: u64) -> Result<u32, String> {
        if len != 4 || !offset.is_multiple_of(16) {
            return Err(format!("{len} bytes of the local APIC are loaded at {offset:#x}"));
        }
        let word = (offset >> 4 & 7) as usize;
        Ok(match offset {
            ID => 0,
            VERSION => VERSION_VALUE,
            TASK_PRIORITY => self.task_priority,
            LOGICAL_DESTINATION => self.logical_destination,
            DESTINATION_FORMAT => self.destination_format,
            SPURIOUS => self.spurious,
            IN_SERVICE..=0x170 => self.in_service[word],
            REQUESTED..=0x270 => self.requested[word],
            ERROR_STATUS => 0,
            TIMER => self.timer,
            LINT0 => self.lint[0],
            LINT1 => self.lint[1],
            ERROR => self.error,
            INITIAL_COUNT => self.initial_count,
            CURRENT_COUNT => self.current_count(now),
            DIVIDE => self.divide,
            _ => return Err(format!("the local APIC has no register {offset:#x} to load from")),
        })
    }

    fn current_count(&self, now: u64) -> u32 {
        let initial = u64::from(self.initial_count);
        let passed = now.saturating_sub(self.started) / self.divisor();
        if initial == 0 || (self.timer & PERIODIC == 0 && passed >= initial) {
            return 0;
        }
        (initial - passed % initial) as u32
    }

    /// Stores to a register, at a time in cycles.
    pub(super) fn store(&mut self, offset: u32, len: usize, value: u32, now: u64) -> Result<(), String> {
        if len != 4 || !offset.is_multiple_of(16) {
            return Err(format!("{len} bytes of the local APIC are stored at {offset:#x}"));
        }
        match offset {
            TASK_PRIORITY => self.task_priority = value & 0xFF,
            END_OF_INTERRUPT => {
                if let Some(vector) = highest(&self.in_service) {
                    self.in_service[usize::from(vector / 32)] &= !(1 << (vector % 32));
                }
            }
            LOGICAL_DESTINATION => self.logical_destination = value,
            DESTINATION_FORMAT => self.destination_format = value,
            SPURIOUS => self.spurious = value,
            ERROR_STATUS => {}
            TIMER => self.timer = value,
            LINT0 | LINT1 => {
                if !matches!(value & MODE, MODE_FIXED | MODE_NMI) && value & MASKED == 0 {
                    return Err(format!("a pin of the local APIC is given a mode ({value:#x}) that is not modelled"));
                }
                self.lint[usize::from(offset == LINT1)] = value;
            }
            ERROR => self.error = value,
            INITIAL_COUNT => {
                self.initial_count = value;
                self.started = now;
                self.periods = 0;
            }
            DIVIDE => self.divide = value,
            _ => return Err(format!("the local APIC has no register {offset:#x} to store to")),
        }
        Ok(())
    }

    fn request(&mut self, vector: u8) {
        self.requested[usize::from(vector / 32)] |= 1 << (vector % 32);
    }

    /// Looks at the pins and at the timer.
    pub(super) fn update(&mut self, pins: Pins, now: u64) -> Result<(), String> {
        let before = std::mem::replace(&mut self.pins, pins);
        if self.spurious & ENABLED == 0 {
            // Without the controller the pins are those of the core.
            self.non_maskable |= pins.nmi && !before.nmi;
            return if pins.intr && !before.intr {
                Err("a core is interrupted by INTR while its local APIC is off: nobody would tell it a vector".into())
            } else {
                Ok(())
            };
        }
        let lines = [(self.lint[0], pins.intr, before.intr), (self.lint[1], pins.nmi, before.nmi)];
        for (entry, level, before) in lines {
            let wanted = level && (!before || entry & LEVEL != 0);
            if !wanted || entry & MASKED != 0 {
                continue;
            }
            if entry & MODE == MODE_NMI {
                self.non_maskable |= !before;
            } else if (entry & 0xFF) < 16 {
                return Err(format!("a pin of the local APIC interrupts with vector {}", entry & 0xFF));
            } else {
                self.request(entry as u8);
            }
        }
        if self.initial_count != 0 {
            let periods = now.saturating_sub(self.started) / self.divisor() / u64::from(self.initial_count);
            let fires =
                if self.timer & PERIODIC == 0 { self.periods == 0 && periods > 0 } else { periods > self.periods };
            self.periods = self.periods.max(periods);
            if fires && self.timer & MASKED == 0 {
                self.request(self.timer as u8);
            }
        }
        Ok(())
    }

    /// Whether the timer will interrupt.
    pub(super) fn timer_runs(&self) -> bool {
        self.initial_count != 0 && self.timer & MASKED == 0 && (self.timer & PERIODIC != 0 || self.periods == 0)
    }

    /// The interrupt that the core takes next, if it may be interrupted.
    pub(super) fn next(&self, enabled: bool) -> Option<Interrupt> {
        if self.non_maskable {
            return Some(Interrupt::NonMaskable);
        }
        let vector = highest(&self.requested).filter(|_| enabled && self.spurious & ENABLED != 0)?;
        let held_off = self.task_priority.max(highest(&self.in_service).unwrap_or(0).into()) >> 4;
        (u32::from(vector) >> 4 > held_off).then_some(Interrupt::Vector(vector))
    }

    /// The core takes it.
    pub(super) fn take(&mut self, interrupt: Interrupt) {
        match interrupt {
            Interrupt::NonMaskable => self.non_maskable = false,
            Interrupt::Vector(vector) => {
                let (word, bit) = (usize::from(vector / 32), 1 << (vector % 32));
                self.requested[word] &= !bit;
                self.in_service[word] |= bit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTR: Pins = Pins { intr: true, nmi: false };
    const NONE: Pins = Pins { intr: false, nmi: false };

    fn enabled() -> LocalApic {
        let mut apic = LocalApic::new();
        apic.store(SPURIOUS, 4, 0x1FF, 0).unwrap();
        apic
    }

    #[test]
    fn a_pin_interrupts_once_for_each_edge() {
        let mut apic = enabled();
        apic.store(LINT0, 4, 0x41, 0).unwrap();
        apic.update(INTR, 0).unwrap();
        assert_eq!((apic.next(false), apic.next(true)), (None, Some(Interrupt::Vector(0x41))));
        apic.take(Interrupt::Vector(0x41));
        apic.update(INTR, 0).unwrap();
        assert_eq!(apic.next(true), None);
        apic.update(NONE, 0).unwrap();
        apic.update(INTR, 0).unwrap();
        assert_eq!(apic.next(true), None, "the first is in service");
        apic.store(END_OF_INTERRUPT, 4, 0, 0).unwrap();
        assert_eq!(apic.next(true), Some(Interrupt::Vector(0x41)));
        apic.store(TASK_PRIORITY, 4, 0x40, 0).unwrap();
        assert_eq!(apic.next(true), None);
    }

    #[test]
    fn nobody_tells_a_vector_while_it_is_off() {
        let mut apic = LocalApic::new();
        assert!(apic.update(INTR, 0).unwrap_err().contains("off"));
        apic.update(Pins { intr: true, nmi: true }, 0).unwrap();
        assert_eq!(apic.next(false), Some(Interrupt::NonMaskable));
    }

    #[test]
    fn the_timer_fires_when_its_count_has_passed() {
        let mut apic = enabled();
        apic.store(DIVIDE, 4, 0b1011, 0).unwrap();
        apic.store(TIMER, 4, PERIODIC | 0x50, 0).unwrap();
        apic.store(INITIAL_COUNT, 4, 100, 1000).unwrap();
        apic.update(NONE, 1099).unwrap();
        assert_eq!((apic.next(true), apic.load(CURRENT_COUNT, 4, 1099)), (None, Ok(1)));
        apic.update(NONE, 1100).unwrap();
        assert_eq!(apic.next(true), Some(Interrupt::Vector(0x50)));
    }

    #[test]
    fn other_registers_are_refused() {
        let mut apic = LocalApic::new();
        assert!(apic.load(0x40, 4, 0).is_err() && apic.load(0x22, 2, 0).is_err());
        assert!(apic.store(0x300, 4, 0, 0).unwrap_err().contains("0x300"));
        assert!(apic.store(LINT0, 4, 0x700, 0).is_err());
        assert_eq!(apic.load(VERSION, 4, 0), Ok(VERSION_VALUE));
    }
}
