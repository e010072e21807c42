//! Claims: what a bench says of its own rows, with a bound, checked each time it runs.

use super::{
    fit::Fit,
    series::{Line, Missing, Row, Rows},
};
use crate::verdict::{Band, Verdict};
use std::fmt;

/// The machines whose rows a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// All: it is about counters.
    Every,
    /// Those with virtual time.
    VirtualTime,
    /// The SCC, calibrated or not: it compares with what was measured there.
    Scc,
}

/// A sentence, and how to check it.
pub(crate) struct Claim {
    pub(crate) text: &'static str,
    pub(crate) on: On,
    check: Check,
}

/// What the rows say about a sentence, unless rows that it needs are missing.
enum Check {
    /// A number, which has to be in a band around another one or a bound.
    Number { expected: f64, band: Band, unit: &'static str, of: Number },
    /// Something else.
    Finding(fn(&Rows) -> Result<Finding, Missing>),
    /// What there is to say where nothing is demanded: the machine shows what it shows.
    Report(fn(&Rows) -> Result<String, Missing>),
}

/// A number that rows have in them.
pub(crate) type Number = fn(&Rows) -> Result<f64, Missing>;

/// A sentence of which it is not said yet how it is checked.
pub(crate) struct Sentence(On, &'static str);

/// About counters on all machines.
pub(crate) const fn everywhere(text: &'static str) -> Sentence {
    Sentence(On::Every, text)
}

/// About all machines with virtual time.
pub(crate) const fn in_virtual_time(text: &'static str) -> Sentence {
    Sentence(On::VirtualTime, text)
}

/// About the SCC.
pub(crate) const fn on_scc(text: &'static str) -> Sentence {
    Sentence(On::Scc, text)
}

impl Sentence {
    /// A number must not be below a bound.
    pub(crate) const fn at_least(self, bound: f64, unit: &'static str, of: Number) -> Claim {
        self.in_band(Band::AtLeast, bound, unit, of)
    }

    /// A number must not be above a bound.
    pub(crate) const fn at_most(self, bound: f64, unit: &'static str, of: Number) -> Claim {
        self.in_band(Band::AtMost, bound, unit, of)
    }

    /// A number must be near another one.
    pub(crate) const fn within_percent(self, percent: f64, expected: f64, unit: &'static str, of: Number) -> Claim {
        self.in_band(Band::Percent(percent), expected, unit, of)
    }

    const fn in_band(self, band: Band, expected: f64, unit: &'static str, of: Number) -> Claim {
        Claim { text: self.1, on: self.0, check: Check::Number { expected, band, unit, of } }
    }

    /// Something else must be so.
    pub(crate) const fn holds(self, check: fn(&Rows) -> Result<Finding, Missing>) -> Claim {
        Claim { text: self.1, on: self.0, check: Check::Finding(check) }
    }

    /// Nothing is demanded.
    pub(crate) const fn reports(self, what: fn(&Rows) -> Result<String, Missing>) -> Claim {
        Claim { text: self.1, on: self.0, check: Check::Report(what) }
    }
}

/// What was found, what it had to be, and whether it is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) measured: String,
    pub(crate) bound: String,
    verdict: Verdict,
}

impl Finding {
    /// What was measured, and whether it is within its bound.
    pub(crate) fn new(measured: impl Into<String>, bound: impl Into<String>, holds: bool) -> Self {
        Self { measured: measured.into(), bound: bound.into(), verdict: Verdict::on(holds) }
    }

    /// Whether nothing speaks against it.
    pub(crate) fn holds(&self) -> bool {
        self.verdict != Verdict::Fails
    }

    /// A number, and whether it is in its band.
    pub(crate) fn of(measured: f64, band: Band, expected: f64, unit: &str) -> Self {
        let quantity = format!("{measured:.3} {unit}").trim_end().to_owned();
        let verdict = band.judge(expected, measured);
        let (measured, bound) = match band {
            Band::AtLeast => (quantity, format!(">= {expected}")),
            Band::AtMost => (quantity, format!("<= {expected}")),
            Band::Percent(percent) => {
                let deviation = (measured / expected - 1.0) * 100.0;
                (format!("{quantity} ({deviation:+.1} %)"), format!("{expected} +- {percent} %"))
            }
            Band::Points(points) => (quantity, format!("{expected} +- {points}")),
            Band::None => (quantity, "none".into()),
        };
        Self { measured, bound, verdict }
    }

    /// A line whose largest median is not much above its smallest.
    pub(crate) fn flat(line: &Line<'_>, percent: f64) -> Self {
        let (least, most) = extremes(line.points().map(|(_, median)| median)).unwrap_or_default();
        // A call that takes no time is as flat as can be.
        let growth = if most > least { (most / least - 1.0) * 100.0 } else { 0.0 };
        let range = format!("{least:.3} to {most:.3}");
        let finding = Self::of(growth, Band::AtMost, percent, "%");
        Self { measured: format!("{} ({range})", finding.measured), bound: format!("{} %", finding.bound), ..finding }
    }

    /// A line that is straight: the coefficient of determination of its least-squares line is at least this.
    pub(crate) fn linear(line: &Line<'_>, r_squared: f64) -> Result<Self, Missing> {
        let points: Vec<_> = line.points().map(|(param, median)| (param as f64, median)).collect();
        // Any two points are on a line.
        let fit = Fit::linear(points.iter().copied()).filter(|_| points.len() > 2).ok_or(Missing)?;
        let finding = Self::of(fit.r_squared, Band::AtLeast, r_squared, "");
        Ok(Self {
            measured: format!("R2 {:.5}, {:.3} each", fit.r_squared, fit.slope),
            bound: format!("R2 {}", finding.bound),
            ..finding
        })
    }

    /// A line that is below another one wherever both were measured.
    pub(crate) fn below(lower: &Line<'_>, upper: &Line<'_>) -> Result<Self, Missing> {
        let shares = lower.points().filter_map(|(param, median)| Some(median / upper.at(param).ok()?));
        let (_, most) = extremes(shares)?;
        Ok(Self::new(format!("at most {most:.3} of it"), "< 1", most < 1.0))
    }

    /// Counters that are, in every sample, what a formula says.
    pub(crate) fn each(lines: &[Line<'_>], formula: &str, expected: impl Fn(u64) -> u64) -> Self {
        let is_other = |row: &&Row| row.quartiles.all().iter().any(|value| *value != expected(row.key.param) as f64);
        let other = lines.iter().flat_map(Line::rows).find(is_other);
        let measured = other.map_or_else(
            || "so in every sample".into(),
            |Row { key, quartiles, .. }| {
                format!("{} {} to {} at {}", key.metric, quartiles.min, quartiles.max, key.param)
            },
        );
        Self::new(measured, formula, other.is_none())
    }

    /// The largest of some excesses in percent, each with what it is about, which must not be above a bound.
    pub(crate) fn worst(excesses: impl IntoIterator<Item = (f64, String)>, most: f64) -> Result<Self, Missing> {
        let worst = excesses.into_iter().reduce(|worst, one| if one.0 > worst.0 { one } else { worst });
        let (excess, about) = worst.ok_or(Missing)?;
        Ok(Self::new(format!("{excess:+.1} % ({about})"), format!("<= {most} %"), excess <= most))
    }

    /// One that does not hold, if there is any; otherwise one that does.
    pub(crate) fn all(findings: impl IntoIterator<Item = Result<Self, Missing>>) -> Result<Self, Missing> {
        let findings = findings.into_iter().collect::<Result<Vec<_>, _>>()?;
        findings.into_iter().min_by_key(Self::holds).ok_or(Missing)
    }
}

/// The least and the most of some numbers.
pub(crate) fn extremes(values: impl IntoIterator<Item = f64>) -> Result<(f64, f64), Missing> {
    let pairs = values.into_iter().map(|value| (value, value));
    pairs.reduce(|(least, most), (value, _)| (least.min(value), most.max(value))).ok_or(Missing)
}

/// By how much a number is larger than another, in percent.
pub(crate) fn excess(value: f64, than: f64) -> f64 {
    (value / than - 1.0) * 100.0
}

/// A claim that was looked at.
pub(crate) struct Checked {
    pub(crate) text: &'static str,
    pub(crate) finding: Option<Finding>,
    pub(crate) verdict: Verdict,
}

impl fmt::Display for Checked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.finding {
            Some(Finding { measured, bound, .. }) => write!(out, "{}: {measured}, not {bound}", self.text),
            None => write!(out, "{}: rows that it needs are missing", self.text),
        }
    }
}

impl Claim {
    /// What rows say about it.
    pub(crate) fn finding(&self, rows: &Rows) -> Result<Finding, Missing> {
        match self.check {
            Check::Number { expected, band, unit, of } => Ok(Finding::of(of(rows)?, band, expected, unit)),
            Check::Finding(check) => check(rows),
            Check::Report(what) => {
                Ok(Finding { measured: what(rows)?, bound: "none".into(), verdict: Verdict::Reported })
            }
        }
    }

    /// Checks it on rows. What it needs has to be there when the bench is `complete`: run on as many cores as the
    /// machine has, without options.
    pub(crate) fn check(&self, rows: &Rows, applies: bool, complete: bool) -> Checked {
        let finding = if applies { self.finding(rows).ok() } else { None };
        let verdict = match &finding {
            Some(finding) => finding.verdict,
            None if applies && complete => Verdict::Fails,
            None => Verdict::NotChecked,
        };
        Checked { text: self.text, finding, verdict }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    /// One metric `m` of one algorithm `a`.
    fn rows(points: &[(u64, u64)]) -> Rows {
        Rows::pool(points.iter().map(|(param, value)| sample("a", [4, *param, 0], "m count", *value)))
    }

    fn holds(points: &[(u64, u64)], check: impl Fn(&Line<'_>) -> Finding) -> bool {
        let rows = rows(points);
        check(&rows.line("a", "m").unwrap()).holds()
    }

    #[test]
    fn bounds_are_inclusive() {
        for (band, inside, outside) in [(Band::AtLeast, 20.0, 19.9), (Band::AtMost, 20.0, 20.1)] {
            let holds = |measured| Finding::of(measured, band, 20.0, "x").holds();
            assert!(holds(inside) && !holds(outside), "{band:?}");
        }
        let near = |measured| Finding::of(measured, Band::Percent(15.0), 25.8, "us");
        assert_eq!(near(20.631), Finding::new("20.631 us (-20.0 %)", "25.8 +- 15 %", false));
        assert!(near(29.6).holds());
    }

    #[test]
    fn flat_lines() {
        assert!(holds(&[(1, 100), (2, 104), (3, 102)], |line| Finding::flat(line, 5.0)));
        assert!(!holds(&[(1, 100), (2, 106), (3, 102)], |line| Finding::flat(line, 5.0)));
        assert!(holds(&[(1, 0), (2, 0)], |line| Finding::flat(line, 0.0)));
        assert!(!holds(&[(1, 0), (2, 1)], |line| Finding::flat(line, 1000.0)));
    }

    #[test]
    fn straight_lines() {
        assert!(holds(&[(1, 15), (2, 25), (9, 95)], |line| Finding::linear(line, 1.0).unwrap()));
        assert!(!holds(&[(1, 1), (2, 4), (3, 9), (4, 16), (9, 81)], |line| Finding::linear(line, 0.99).unwrap()));
        let finding = Finding::linear(&rows(&[(1, 15), (2, 25), (9, 95)]).line("a", "m").unwrap(), 0.99).unwrap();
        assert_eq!((finding.measured.as_str(), finding.bound.as_str()), ("R2 1.00000, 10.000 each", "R2 >= 0.99"));
        let few = rows(&[(1, 1), (2, 2)]);
        assert_eq!(Finding::linear(&few.line("a", "m").unwrap(), 0.5), Err(Missing));
    }

    #[test]
    fn lines_below_each_other() {
        let (low, high, apart) = (rows(&[(1, 1), (2, 5)]), rows(&[(1, 2), (2, 5)]), rows(&[(7, 7)]));
        let below =
            |one: &Rows, other: &Rows| Finding::below(&one.line("a", "m").unwrap(), &other.line("a", "m").unwrap());
        assert!(!below(&low, &high).unwrap().holds());
        assert!(below(&rows(&[(1, 1)]), &high).unwrap().holds());
        assert_eq!(below(&low, &apart), Err(Missing));
    }

    #[test]
    fn counters_follow_a_formula() {
        let double = |points: &[(u64, u64)]| {
            let rows = rows(points);
            Finding::each(&[rows.line("a", "m").unwrap()], "2 k", |k| 2 * k)
        };
        assert!(double(&[(1, 2), (7, 14)]).holds());
        let finding = double(&[(1, 2), (7, 13)]);
        assert_eq!((finding.measured.as_str(), finding.holds()), ("m 13 to 13 at 7", false));
    }

    #[test]
    fn the_first_of_the_worst_is_named() {
        let worst = |most| Finding::worst([(1.0, "a"), (2.5, "b"), (2.5, "c")].map(|(by, of)| (by, of.into())), most);
        assert_eq!(worst(2.0), Ok(Finding::new("+2.5 % (b)", "<= 2 %", false)));
        assert!(worst(2.5).unwrap().holds() && Finding::worst([], 1.0) == Err(Missing));
    }

    #[test]
    fn what_is_missing_fails_only_a_whole_bench() {
        let claim = everywhere("t").holds(|rows| Ok(Finding::flat(&rows.line("a", "other")?, 1.0)));
        let verdict = |applies, complete| claim.check(&rows(&[(1, 1)]), applies, complete).verdict;
        assert_eq!(verdict(true, true), Verdict::Fails);
        assert_eq!(verdict(true, false), Verdict::NotChecked);
        assert_eq!(verdict(false, true), Verdict::NotChecked);
    }
}
