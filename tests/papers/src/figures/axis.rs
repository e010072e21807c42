//! Axes: which range shows all numbers, and where its ticks are.

use super::figure::Scale;
use anyhow::{Result, ensure};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// Ticks of an axis at most.
const MOST_TICKS: f64 = 10.0;

/// The part of an axis that a plot shows, from one tick to another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    scale: Scale,
    from: f64,
    to: f64,
    /// Of a linear axis: from one tick to the next.
    step: f64,
}

impl Span {
    /// The span that shows all of these numbers.
    ///
    /// # Errors
    ///
    /// When there are none, or one cannot be on such an axis.
    pub(crate) fn of(scale: Scale, numbers: impl Iterator<Item = f64>) -> Result<Self> {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers {
            let fits = number.is_finite() && (scale == Scale::Linear || number > 0.0);
            ensure!(fits, "{number} cannot be on a {} axis", scale.name());
            (least, most) = (least.min(number), most.max(number));
        }
        ensure!(least <= most, "there are no points");
        Ok(match scale {
            Scale::Linear => Self::linear(least.min(0.0), most.max(0.0)),
            Scale::Binary => Self::logarithmic(scale, least.log2(), most.log2()),
            Scale::Decimal => Self::logarithmic(scale, least.log10(), most.log10()),
        })
    }

    fn linear(least: f64, most: f64) -> Self {
        // Zeros alone have an axis, too.
        let most = if least < most { most } else { least + 1.0 };
        let step = step_of(most - least);
        // The largest number of a plot does not touch its frame.
        let (from, to) = ((least / step).floor() * step, ((most + 0.02 * (most - least)) / step).ceil() * step);
        Self { scale: Scale::Linear, from, to, step }
    }

    fn logarithmic(scale: Scale, least: f64, most: f64) -> Self {
        // So that rounding errors of logarithms make no decade of their own.
        const SLACK: f64 = 1e-9;
        let (from, to) = ((least + SLACK).floor(), (most - SLACK).ceil());
        let to = to.max(from + 1.0);
        Self { scale, from: scale.base().powf(from), to: scale.base().powf(to), step: 0.0 }
    }

    /// Where a number is, from 0 to 1.
    fn place(&self, number: f64) -> f64 {
        match self.scale {
            Scale::Linear => (number - self.from) / (self.to - self.from),
            Scale::Binary | Scale::Decimal => (number / self.from).ln() / (self.to / self.from).ln(),
        }
    }

    fn ticks(&self) -> Vec<f64> {
        let count = |length: f64| length.round() as i32;
        match self.scale {
            Scale::Linear => {
                let (first, last) = (count(self.from / self.step), count(self.to / self.step));
                (first..=last).map(|tick| f64::from(tick) * self.step).collect()
            }
            Scale::Binary | Scale::Decimal => {
                let base = self.scale.base();
                let powers = count((self.to / self.from).ln() / base.ln());
                let stride = (f64::from(powers) / MOST_TICKS).ceil().max(1.0) as i32;
                // Where there are few decades, they are divided.
                let within: &[f64] =
                    if self.scale == Scale::Decimal && powers <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let all = (0..=powers).step_by(stride as usize).map(|power| self.from * base.powi(power));
                let all = all.flat_map(|tick| within.iter().map(move |part| tick * part));
                all.filter(|tick| *tick <= self.to * 1.0001).collect()
            }
        }
    }
}

impl Ranged for Span {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (first, last) = (f64::from(limit.0), f64::from(limit.1));
        (first + self.place(*value) * (last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Span {
    fn format_ext(&self, value: &f64) -> String {
        match self.scale {
            Scale::Binary => binary(*value),
            Scale::Linear => number(*value),
            // More digits than that have no room beside the axis.
            Scale::Decimal if *value >= 1e5 => format!("{value:e}"),
            Scale::Decimal => number(*value),
        }
    }
}

impl Scale {
    fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Binary => "binary",
            Self::Decimal => "decimal",
        }
    }

    /// What the powers on it are powers of.
    fn base(self) -> f64 {
        match self {
            // Not asked for.
            Self::Linear => 1.0,
            Self::Binary => 2.0,
            Self::Decimal => 10.0,
        }
    }
}

/// The distance of ticks, of 1, 2 or 5 times a power of ten, that does not divide a length into too many.
fn step_of(length: f64) -> f64 {
    let least = length / MOST_TICKS;
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|part| part * power);
    // Rounding errors of the division are not worth a larger step.
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// A number in four digits, or as many as its whole part has, without zeros at the end.
pub(crate) fn number(value: f64) -> String {
    // Also what rounding has left of zero.
    if value.abs() < 1e-12 {
        return "0".into();
    }
    if value.abs() < 1e-4 {
        return format!("{value:.3e}");
    }
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 7.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A power of two: 1024 is 1 Ki.
fn binary(value: f64) -> String {
    let units = [(30, "Gi"), (20, "Mi"), (10, "Ki")].map(|(power, unit)| (2_f64.powi(power), unit));
    match units.iter().find(|(size, _)| value >= *size) {
        Some((size, unit)) => format!("{} {unit}", number(value / size)),
        None => number(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(scale: Scale, numbers: &[f64]) -> Span {
        Span::of(scale, numbers.iter().copied()).unwrap()
    }

    fn labels(span: &Span) -> String {
        span.ticks().iter().map(|tick| span.format_ext(tick)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn linear_axes_begin_at_zero_and_end_above_the_largest() {
        assert_eq!(labels(&span(Scale::Linear, &[3.0, 47.0])), "0 5 10 15 20 25 30 35 40 45 50");
        assert_eq!(labels(&span(Scale::Linear, &[0.07])), "0 0.01 0.02 0.03 0.04 0.05 0.06 0.07 0.08");
        assert_eq!(labels(&span(Scale::Linear, &[-0.5, 1.0])), "-0.6 -0.4 -0.2 0 0.2 0.4 0.6 0.8 1 1.2");
        assert_eq!(span(Scale::Linear, &[100.0]).range(), 0.0..110.0);
    }

    #[test]
    fn zeros_alone_have_an_axis() {
        assert_eq!(labels(&span(Scale::Linear, &[0.0, 0.0])), "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 1.1");
    }

    #[test]
    fn logarithmic_axes_go_from_power_to_power() {
        assert_eq!(labels(&span(Scale::Binary, &[1.0, 1000.0])), "1 2 4 8 16 32 64 128 256 512 1 Ki");
        assert_eq!(
            labels(&span(Scale::Binary, &[1.0, f64::from(1 << 20)])),
            "1 4 16 64 256 1 Ki 4 Ki 16 Ki 64 Ki 256 Ki 1 Mi"
        );
        assert_eq!(labels(&span(Scale::Decimal, &[0.3, 4000.0])), "0.1 1 10 100 1000 10000");
        assert_eq!(labels(&span(Scale::Decimal, &[13.0, 40.0])), "10 20 50 100");
        assert_eq!(labels(&span(Scale::Decimal, &[1e4, 1e7])), "10000 1e5 1e6 1e7");
        assert_eq!(span(Scale::Binary, &[8.0]).range(), 8.0..16.0);
        assert_eq!(span(Scale::Decimal, &[1000.0, 10.0]).range(), 10.0..1000.0);
    }

    #[test]
    fn what_has_no_logarithm_is_refused() {
        for scale in [Scale::Binary, Scale::Decimal] {
            let message = Span::of(scale, [1.0, 0.0].into_iter()).unwrap_err().to_string();
            assert_eq!(message, format!("0 cannot be on a {} axis", scale.name()));
        }
        assert!(Span::of(Scale::Linear, [f64::NAN].into_iter()).is_err());
        assert_eq!(Span::of(Scale::Linear, [].into_iter()).unwrap_err().to_string(), "there are no points");
    }

    #[test]
    fn numbers_are_placed_in_the_frame() {
        let linear = span(Scale::Linear, &[100.0]);
        assert_eq!([0.0, 55.0, 110.0].map(|number| linear.map(&number, (10, 210))), [10, 110, 210]);
        // Upwards on the screen.
        let decimal = span(Scale::Decimal, &[1.0, 100.0]);
        assert_eq!([1.0, 10.0, 100.0].map(|number| decimal.map(&number, (400, 0))), [400, 200, 0]);
    }

    #[test]
    fn numbers_have_four_digits() {
        let texts = [0.0, 25.8, 115.25, 1.0 / 3.0, 123_456.7, 0.000_012_3, 0.03 * 7.0, -2.5].map(number);
        assert_eq!(texts, ["0", "25.8", "115.2", "0.3333", "123457", "1.230e-5", "0.21", "-2.5"]);
    }
}
