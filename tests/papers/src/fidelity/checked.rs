//! An entry that was measured, and what has become of it.

use super::entry::{Entry, Status};
use crate::verdict::{Band, Verdict};

/// An entry that was measured.
#[derive(Clone, Copy)]
pub(crate) struct Checked {
    pub(crate) entry: &'static Entry,
    pub(crate) ours: f64,
}

impl Checked {
    /// What [`cells`](Self::cells) are.
    pub(crate) const HEADER: [&'static str; 7] = ["source", "what", "ours", "paper", "error", "band", "status"];

    pub(crate) fn verdict(&self) -> Verdict {
        let Entry { published, band, status, .. } = *self.entry;
        match status {
            Status::Unexplained(_) | Status::Reported(_) => Verdict::Reported,
            Status::Fitted | Status::Predicted => band.judge(published, self.ours),
        }
    }

    /// A line of the table.
    pub(crate) fn cells(&self) -> [String; 7] {
        let Entry { source, what, published, unit, .. } = *self.entry;
        let quantity = |value: f64| format!("{} {unit}", number(value)).trim_end().to_owned();
        let published = if published.is_nan() { "-".to_owned() } else { quantity(published) };
        [source.into(), what.into(), quantity(self.ours), published, self.error(), self.band(), self.status()]
    }

    /// How far ours is from the published number: in points where those are percentages, in percent elsewhere.
    fn error(&self) -> String {
        let Entry { published, band, unit, .. } = *self.entry;
        match band {
            _ if published.is_nan() => "-".into(),
            Band::AtLeast | Band::AtMost => "-".into(),
            Band::Points(_) => format!("{:+.1} points", self.ours - published),
            Band::None if unit == "%" => format!("{:+.1} points", self.ours - published),
            // There is no share of nothing.
            _ if published == 0.0 => "-".into(),
            Band::Percent(_) | Band::None => format!("{:+.1} %", (self.ours / published - 1.0) * 100.0),
        }
    }

    fn band(&self) -> String {
        match self.entry.band {
            Band::Percent(0.0) => "equal".into(),
            Band::Percent(percent) => format!("± {percent} %"),
            Band::Points(points) => format!("± {points} points"),
            Band::AtLeast => "at least".into(),
            Band::AtMost => "at most".into(),
            Band::None => "none".into(),
        }
    }

    fn status(&self) -> String {
        let name = self.entry.status.name();
        if self.verdict() == Verdict::Fails { format!("{name}: OUTSIDE") } else { name.into() }
    }
}

/// A number with three or more digits that count.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        // Eq. 2 has a coefficient of 0.0216.
        size => (2.0 - size.log10().floor()).clamp(3.0, 6.0) as usize,
    };
    let text = format!("{value:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NOT_PUBLISHED, entry},
        *,
    };

    fn checked(published: f64, unit: &'static str, band: Band, status: Status, ours: f64) -> Checked {
        let entry = Entry { published, band, status, ..entry("S", unit, "none") };
        Checked { entry: Box::leak(Box::new(entry)), ours }
    }

    #[test]
    fn only_what_is_promised_has_a_verdict() {
        let verdict = |status, ours| checked(10.0, "us", Band::Percent(10.0), status, ours).verdict();
        for status in [Status::Predicted, Status::Fitted] {
            assert_eq!([verdict(status, 11.0), verdict(status, 11.1)], [Verdict::Holds, Verdict::Fails]);
            assert_eq!(verdict(status, f64::NAN), Verdict::Fails);
        }
        for status in [Status::Reported("r"), Status::Unexplained("u")] {
            assert_eq!([verdict(status, 11.0), verdict(status, 99.0)], [Verdict::Reported; 2]);
        }
    }

    #[test]
    fn cells_say_how_far_off() {
        let cells = |published, unit, band, status, ours| checked(published, unit, band, status, ours).cells();
        let of = |band, unit| cells(30.0, unit, band, Status::Predicted, 29.1);
        assert_eq!(of(Band::Points(3.0), "%")[2..], ["29.1 %", "30 %", "-0.9 points", "± 3 points", "predicted"]);
        assert_eq!(of(Band::Percent(1.0), "us")[2..], ["29.1 us", "30 us", "-3.0 %", "± 1 %", "predicted: OUTSIDE"]);
        assert_eq!(of(Band::AtLeast, "")[2..], ["29.1", "30", "-", "at least", "predicted: OUTSIDE"]);
        let none = cells(NOT_PUBLISHED, "MB/s", Band::None, Status::Reported("r"), 35.884);
        assert_eq!(none[2..], ["35.88 MB/s", "-", "-", "none", "reported"]);
        let zero = cells(0.0, "%", Band::None, Status::Unexplained("u"), 1.25);
        assert_eq!(zero[2..], ["1.25 %", "0 %", "+1.2 points", "none", "unexplained"]);
    }

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, -1e-9, 2.0, 0.3412, 0.0216, -0.001_234, 16.604, 249.366, 120.0];
        assert_eq!(numbers.map(number), ["0", "0", "2", "0.341", "0.0216", "-0.00123", "16.6", "249.4", "120"]);
    }
}
