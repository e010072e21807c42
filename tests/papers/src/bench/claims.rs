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
    /// What the rows say about it, unless rows that it needs are missing.
    pub(crate) check: fn(&Rows) -> Result<Finding, Missing>,
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

    /// A number that must not be below a bound.
    pub(crate) fn at_least(measured: f64, bound: f64, unit: &str) -> Self {
        let verdict = Band::AtLeast.judge(bound, measured);
        Self { measured: quantity(measured, unit), bound: format!(">= {bound}"), verdict }
    }

    /// A number that must not be above a bound.
    pub(crate) fn at_most(measured: f64, bound: f64, unit: &str) -> Self {
        let verdict = Band::AtMost.judge(bound, measured);
        Self { measured: quantity(measured, unit), bound: format!("<= {bound}"), verdict }
    }

    /// A number that must be near another one.
    pub(crate) fn within_percent(measured: f64, expected: f64, percent: f64, unit: &str) -> Self {
        let deviation = (measured / expected - 1.0) * 100.0;
        Self {
            measured: format!("{} ({deviation:+.1} %)", quantity(measured, unit)),
            bound: format!("{expected} +- {percent} %"),
            verdict: Band::Percent(percent).judge(expected, measured),
        }
    }

    /// What there is to say where nothing is demanded: the machine shows what it shows.
    pub(crate) fn reported(measured: String) -> Self {
        Self { measured, bound: "none".into(), verdict: Verdict::Reported }
    }

    /// A line whose largest median is not much above its smallest.
    pub(crate) fn flat(line: &Line<'_>, percent: f64) -> Self {
        let (least, most) = extremes(line.points().map(|(_, median)| median));
        // A call that takes no time is as flat as can be.
        let growth = if most > least { (most / least - 1.0) * 100.0 } else { 0.0 };
        let range = format!("{least:.3} to {most:.3}");
        let finding = Self::at_most(growth, percent, "%");
        Self { measured: format!("{} ({range})", finding.measured), bound: format!("{} %", finding.bound), ..finding }
    }

    /// A line that is straight: the coefficient of determination of its least-squares line is at least this.
    pub(crate) fn linear(line: &Line<'_>, r_squared: f64) -> Result<Self, Missing> {
        let points: Vec<_> = line.points().map(|(param, median)| (param as f64, median)).collect();
        // Any two points are on a line.
        let fit = Fit::linear(points.iter().copied()).filter(|_| points.len() > 2).ok_or(Missing)?;
        let finding = Self::at_least(fit.r_squared, r_squared, "");
        Ok(Self {
            measured: format!("R2 {:.5}, {:.3} each", fit.r_squared, fit.slope),
            bound: format!("R2 {}", finding.bound),
            ..finding
        })
    }

    /// A line that is below another one wherever both were measured.
    pub(crate) fn below(lower: &Line<'_>, upper: &Line<'_>) -> Result<Self, Missing> {
        let shares = lower.points().filter_map(|(param, median)| Some(median / upper.at(param).ok()?));
        let shares: Vec<_> = shares.collect();
        if shares.is_empty() {
            return Err(Missing);
        }
        let (_, most) = extremes(shares.iter().copied());
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
}

fn quantity(value: f64, unit: &str) -> String {
    format!("{value:.3} {unit}").trim_end().to_owned()
}

fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
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
    /// Checks it on rows. What it needs has to be there when the bench is `complete`: run on as many cores as the
    /// machine has, without options.
    pub(crate) fn check(&self, rows: &Rows, applies: bool, complete: bool) -> Checked {
        let found = if applies { (self.check)(rows).ok() } else { None };
        let verdict = match &found {
            Some(finding) => finding.verdict,
            None if applies && complete => Verdict::Fails,
            None => Verdict::NotChecked,
        };
        Checked { text: self.text, finding: found, verdict }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::series::Samples;

    /// One metric `m` of one algorithm `a`.
    fn rows(points: &[(u64, u64)]) -> Rows {
        let line = |(param, value): &(u64, u64)| {
            Samples::parse(&format!("algorithm=a ranks=4 param={param} bytes=0 metric=m unit=count {value}")).unwrap()
        };
        Rows::pool(points.iter().map(line))
    }

    fn holds(points: &[(u64, u64)], check: impl Fn(&Line<'_>) -> Finding) -> bool {
        let rows = rows(points);
        check(&rows.line("a", "m").unwrap()).holds()
    }

    #[test]
    fn bounds_are_inclusive() {
        assert!(Finding::at_least(20.0, 20.0, "x").holds() && !Finding::at_least(19.9, 20.0, "x").holds());
        assert!(Finding::at_most(20.0, 20.0, "").holds() && !Finding::at_most(20.1, 20.0, "").holds());
        let finding = Finding::within_percent(20.631, 25.8, 15.0, "us");
        assert_eq!(finding, Finding::new("20.631 us (-20.0 %)", "25.8 +- 15 %", false));
        assert!(Finding::within_percent(29.6, 25.8, 15.0, "us").holds());
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
    fn what_is_missing_fails_only_a_whole_bench() {
        let claim = Claim { text: "t", on: On::Every, check: |rows| Ok(Finding::flat(&rows.line("a", "other")?, 1.0)) };
        let verdict = |applies, complete| claim.check(&rows(&[(1, 1)]), applies, complete).verdict;
        assert_eq!(verdict(true, true), Verdict::Fails);
        assert_eq!(verdict(true, false), Verdict::NotChecked);
        assert_eq!(verdict(false, true), Verdict::NotChecked);
    }
}
