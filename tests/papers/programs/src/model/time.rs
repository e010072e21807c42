//! Times of the model.

use core::{
    fmt,
    iter::Sum,
    ops::{Add, AddAssign, Mul, Sub},
};

use hal::LINE_BYTES;

/// A span of modelled time, or a moment counted from the call of the root. Whole picoseconds, so that sums are exact
/// and no mathematical library is needed; arithmetic saturates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Debug)]
pub struct Time {
    ps: u64,
}

impl Time {
    /// No time.
    pub const ZERO: Self = Self::from_ps(0);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self { ps }
    }

    /// `ns` nanoseconds; the longest time that can be, if they are more.
    pub const fn from_ns(ns: u64) -> Self {
        Self { ps: ns.saturating_mul(1_000) }
    }

    /// In picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.ps
    }

    /// In microseconds, the unit of the paper.
    pub fn as_us(self) -> f64 {
        self.ps as f64 / 1e6
    }
}

impl Add for Time {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { ps: self.ps.saturating_add(other.ps) }
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The time from `other` to `self`; none if it is the later one.
impl Sub for Time {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { ps: self.ps.saturating_sub(other.ps) }
    }
}

impl Mul<usize> for Time {
    type Output = Self;

    fn mul(self, times: usize) -> Self {
        Self { ps: self.ps.saturating_mul(times as u64) }
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:.3} µs", self.as_us())
    }
}

/// The rate at which `lines` lines are broadcast in `time`, in MB/s. 1 MB is 10⁶ bytes, as in the paper's Table 2.
///
/// Infinite for something in no time, and not a number for nothing in no time.
pub fn megabytes_per_second(lines: usize, time: Time) -> f64 {
    // Bytes per microsecond.
    lines as f64 * LINE_BYTES as f64 / time.as_us()
}
