//! Times as the tables of programs show them.
//!
//! Where the clock tells the time, in virtual time and on boards, they are milliseconds. Under QEMU, whose clock counts
//! instructions of all cores together, no time can be told.

use alloc::{
    format,
    string::{String, ToString},
};

use hal::Clock;

/// How one machine's times are shown.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub(super) tells_time: bool,
    ticks_per_second: u64,
}

impl Shown {
    /// Times of this clock.
    pub(super) fn of(clock: &impl Clock) -> Self {
        Self { tells_time: clock.tells_time(), ticks_per_second: clock.ticks_per_second() }
    }

    /// What the numbers count.
    pub(super) fn unit(self) -> &'static str {
        if self.tells_time { "milliseconds" } else { "instructions" }
    }

    /// The number for `ticks` ticks.
    pub(super) fn number(self, ticks: u64) -> String {
        if self.tells_time { decimal(ticks, self.ticks_per_second, 3, 3) } else { ticks.to_string() }
    }
}

/// `count / of` in units of 10^-`power`, with `decimals` decimals, rounded down.
pub(super) fn decimal(count: u64, of: u64, power: u32, decimals: u32) -> String {
    let one = 10u128.pow(decimals);
    let value = u128::from(count) * 10u128.pow(power) * one / u128::from(of.max(1));
    format!("{}.{:0width$}", value / one, value % one, width = decimals as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_decimals() {
        assert_eq!(decimal(1_234_567, 1_000_000_000, 3, 3), "1.234");
        assert_eq!(decimal(533, 533_000_000, 3, 3), "0.001");
        assert_eq!(decimal(u64::MAX, 1, 3, 3), "18446744073709551615000.000");
        assert_eq!(decimal(391, 10, 0, 1), "39.1");
        // What took no time.
        assert_eq!(decimal(0, 0, 0, 1), "0.0");
    }

    #[test]
    fn milliseconds_only_where_the_clock_tells_the_time() {
        let shown = |tells_time| Shown { tells_time, ticks_per_second: 533_000_000 };
        assert_eq!((shown(true).unit(), shown(true).number(533_000)), ("milliseconds", "1.000".into()));
        assert_eq!((shown(false).unit(), shown(false).number(533_000)), ("instructions", "533000".into()));
    }
}
