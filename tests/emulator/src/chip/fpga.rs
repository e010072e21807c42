//! The registers of the board's FPGA that a program may touch: timestamp and counters.
//!
//! Others exist on the SCC's (interrupts between cores, among them), but an access to one that does not may lock up the
//! whole chip, so that programs keep to these, and the model to refusing the rest. Its interrupts stay masked, as after
//! a reset.

use descriptions::boards::Geometry;

/// The timestamp when the chip is powered on: its lower word wraps around soon.
const POWERED_ON: u64 = 0x7_FF00_0000;

enum Register {
    Timestamp { upper: bool },
    Counter(usize),
    CounterValue(usize),
}

/// Timestamp and counters.
pub(super) struct Fpga {
    counters: Box<[u32]>,
}

impl Fpga {
    pub(super) fn new(geometry: &Geometry) -> Self {
        Self { counters: (0..geometry.counters).map(|number| 0xDEAD_0000 | (number * 0x0101)).collect() }
    }

    fn decode(&self, geometry: &Geometry, offset: u32) -> Option<Register> {
        if geometry.timestamp != 0 && (offset == geometry.timestamp || offset == geometry.timestamp + 4) {
            return Some(Register::Timestamp { upper: offset != geometry.timestamp });
        }
        let half = self.counters.len().div_ceil(2);
        geometry.counter_offsets.iter().enumerate().find_map(|(which, start)| {
            let within = offset.checked_sub(*start)? as usize;
            let counter = which * half + within / 8;
            let exists = within / 8 < half && counter < self.counters.len();
            match within % 8 {
                0 if exists => Some(Register::Counter(counter)),
                4 if exists => Some(Register::CounterValue(counter)),
                _ => None,
            }
        })
    }

    /// Whether a load from there counts, so that others could see it.
    pub(super) fn counts(&self, geometry: &Geometry, offset: u32) -> bool {
        matches!(self.decode(geometry, offset), Some(Register::Counter(_)))
    }

    /// Loads from a register, `cycles` cycles of a core after the chip was powered on.
    pub(super) fn load(&mut self, geometry: &Geometry, offset: u32, cycles: u64) -> Result<u32, String> {
        match self.decode(geometry, offset) {
            Some(Register::Timestamp { upper }) => {
                let ticks =
                    u128::from(cycles) * u128::from(geometry.timestamp_mhz) / u128::from(geometry.costs.core_mhz);
                let timestamp = POWERED_ON + ticks as u64;
                Ok(if upper { (timestamp >> 32) as u32 } else { timestamp as u32 })
            }
            Some(Register::Counter(number)) => {
                let counter = &mut self.counters[number];
                let before = *counter;
                *counter = before.wrapping_add(1);
                Ok(before)
            }
            Some(Register::CounterValue(number)) => Ok(self.counters[number]),
            None => Err(undefined(offset)),
        }
    }

    /// Stores to one.
    pub(super) fn store(&mut self, geometry: &Geometry, offset: u32, value: u32) -> Result<(), String> {
        match self.decode(geometry, offset) {
            Some(Register::Timestamp { .. }) => Err("a store to the timestamp, which is read only".into()),
            Some(Register::Counter(number)) => {
                self.counters[number] = self.counters[number].wrapping_sub(1);
                Ok(())
            }
            Some(Register::CounterValue(number)) => {
                self.counters[number] = value;
                Ok(())
            }
            None => Err(undefined(offset)),
        }
    }
}

fn undefined(offset: u32) -> String {
    format!("{offset:#x} is none of the board's registers that may be accessed: the whole chip may lock up")
}
