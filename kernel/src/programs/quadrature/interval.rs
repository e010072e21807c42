//! Intervals, and what the integral over them is.

use hal::Clock;

/// Cycles of the P54C that an evaluation takes: 8 additions and multiplications of 3, and 2 divisions of 39.
const EVALUATION_CYCLES: u64 = 102;

/// Units of a sum in one: sums are integers, so that the order in which they are made does not matter.
pub(super) const ONE: f64 = (1_u64 << 44) as f64;

/// Shortest interval that is divided.
const SHORTEST: f64 = 1.0 / (1_u64 << 40) as f64;

/// From where to where.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Interval {
    pub(super) from: f64,
    pub(super) to: f64,
}

/// What is known of an integral.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Known {
    /// The integral over the parts that are exact enough, in units of 2⁻⁴⁴.
    pub(super) sum: i64,
    /// How many parts these are.
    pub(super) parts: u64,
    /// How often the function was evaluated.
    pub(super) evaluations: u64,
}

impl Known {
    pub(super) fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.parts += other.parts;
        self.evaluations += other.evaluations;
    }
}

/// A smooth function with peaks, narrow ones and a wide one: nearly all of the work is where these are.
fn function(x: f64) -> f64 {
    let (narrow, wide) = (x - 0.3, x - 0.9);
    1.0 / (narrow * narrow + 1e-6) + 1.0 / (wide * wide + 0.04) - 6.0
}

impl Interval {
    fn middle(self) -> f64 {
        (self.from + self.to) / 2.0
    }

    /// The lower half and the upper half.
    pub(super) fn halves(self) -> [Self; 2] {
        let middle = self.middle();
        [Self { to: middle, ..self }, Self { from: middle, ..self }]
    }

    /// Its parts, as many as a power of 2.
    pub(super) fn divided(self, times: u32) -> impl Iterator<Item = Self> {
        let (count, width) = (1_u32 << times, self.to - self.from);
        let at = move |index: u32| self.from + width * f64::from(index) / f64::from(count);
        (0..count).map(move |index| Self { from: at(index), to: at(index + 1) })
    }

    /// Simpson's rule.
    fn simpson(self) -> f64 {
        (function(self.from) + 4.0 * function(self.middle()) + function(self.to)) * (self.to - self.from) / 6.0
    }

    /// The integral, if the rule for both halves says about the same as that for all.
    fn integral(self, tolerance: f64) -> Option<f64> {
        let (whole, [left, right]) = (self.simpson(), self.halves().map(Self::simpson));
        let (width, error) = (self.to - self.from, left + right - whole);
        let is_exact = -tolerance * width <= error && error <= tolerance * width;
        (is_exact || width <= SHORTEST).then_some(left + right)
    }
}

/// Integrates over what is left, dividing it where that is not exact enough, until nothing is left or `most` intervals were looked
/// at.
pub(super) fn integrate(
    clock: &impl Clock,
    left: &mut alloc::vec::Vec<Interval>,
    tolerance: f64,
    most: usize,
) -> Known {
    let mut known = Known::default();
    for _ in 0..most {
        let Some(interval) = left.pop() else { break };
        known.evaluations += 9;
        clock.compute(9 * EVALUATION_CYCLES);
        match interval.integral(tolerance) {
            Some(integral) => {
                known.sum += (integral * ONE) as i64;
                known.parts += 1;
            }
            None => left.extend(interval.halves()),
        }
    }
    known
}
