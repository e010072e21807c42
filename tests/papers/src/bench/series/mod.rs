//! What guests have measured: samples pooled into series, and their quartiles.

use std::{cmp::Ordering, collections::HashMap, error::Error, fmt};

pub(crate) use transcript::samples::{Key, Samples, Unit};

/// Least, quarter, half, three quarters, most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quartiles {
    pub(crate) min: f64,
    pub(crate) q1: f64,
    pub(crate) median: f64,
    pub(crate) q3: f64,
    pub(crate) max: f64,
}

impl Quartiles {
    /// The quartiles of numbers of which there is at least one, by linear interpolation between the two that are next
    /// in rank (type 7 of Hyndman and Fan: quantile p of n numbers is at rank p (n − 1), counted from 0).
    fn of(mut values: Vec<u64>, divisor: f64) -> Self {
        values.sort_unstable();
        let last = values.len() - 1;
        let at = |quarters: usize| {
            let (place, rest) = (quarters * last / 4, quarters * last % 4);
            let (below, above) = (values[place] as f64, values[(place + 1).min(last)] as f64);
            (below + (above - below) * rest as f64 / 4.0) / divisor
        };
        Self { min: at(0), q1: at(1), median: at(2), q3: at(3), max: at(4) }
    }

    /// One number that was computed.
    fn single(value: f64) -> Self {
        Self { min: value, q1: value, median: value, q3: value, max: value }
    }

    /// From least to most.
    pub(crate) fn all(&self) -> [f64; 5] {
        [self.min, self.q1, self.median, self.q3, self.max]
    }
}

/// One row of a table: a series and its quartiles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) key: Key,
    pub(crate) samples: usize,
    pub(crate) quartiles: Quartiles,
}

/// All that a bench has measured, in the order in which it is shown: by algorithm, ranks, bytes and metric, then by
/// what was varied. Algorithms and metrics are in the order in which they first came.
#[derive(Debug, Default)]
pub(crate) struct Rows(Vec<Row>);

impl Rows {
    /// Pools samples of equal keys.
    pub(crate) fn pool(samples: impl IntoIterator<Item = Samples>) -> Self {
        let mut pools: HashMap<Key, Vec<u64>> = HashMap::new();
        let mut order = Vec::new();
        for Samples { key, values } in samples {
            let pool = pools.entry(key).or_insert_with_key(|key| {
                order.push(key.clone());
                Vec::new()
            });
            pool.extend(values);
        }
        let row = |key: Key| {
            let values = pools.remove(&key)?;
            Some(Row { samples: values.len(), quartiles: Quartiles::of(values, key.unit.divisor()), key })
        };
        let mut rows = Self(order.into_iter().filter_map(row).collect());
        rows.sort();
        rows
    }

    fn sort(&mut self) {
        let mut names = HashMap::new();
        for row in &self.0 {
            for name in [row.key.name(), row.key.metric.clone()] {
                let next = names.len();
                names.entry(name).or_insert(next);
            }
        }
        self.0.sort_by(|Row { key: one, .. }, Row { key: other, .. }| -> Ordering {
            let by_name = |one: &String, other: &String| names[one].cmp(&names[other]);
            by_name(&one.name(), &other.name())
                .then(one.ranks.cmp(&other.ranks))
                .then(one.bytes.cmp(&other.bytes))
                .then_with(|| by_name(&one.metric, &other.metric))
                .then(one.param.cmp(&other.param))
        });
    }

    /// Adds a row for the sum of the medians of some metrics, wherever all of them were measured.
    pub(crate) fn add_sum_of_medians(&mut self, metric: &str, of: &[&str]) {
        self.add_from_medians(metric, None, of, |medians| medians.iter().sum());
    }

    /// Adds a row for what `combine` makes of the medians of some metrics, in their order, wherever all of them were
    /// measured. Its unit is that of the first, unless it is given.
    pub(crate) fn add_from_medians(
        &mut self,
        metric: &str,
        unit: Option<Unit>,
        of: &[&str],
        combine: impl Fn(&[f64]) -> f64,
    ) {
        self.add_where_known(of[0], metric, unit, |rows, row| {
            let median = |metric: &&str| {
                let key = Key { metric: (*metric).to_owned(), ..row.key.clone() };
                rows.0.iter().find(|other| other.key == key).map(|other| other.quartiles.median)
            };
            Some(combine(&of.iter().map(median).collect::<Option<Vec<_>>>()?))
        });
    }

    /// Adds a row of another metric for each row of one, computed from its line and its parameter where that can be
    /// done.
    pub(crate) fn add_computed(
        &mut self,
        metric: &str,
        from: &str,
        unit: Unit,
        value: impl Fn(&Line<'_>, u64) -> Result<f64, Missing>,
    ) {
        self.add_where_known(from, metric, Some(unit), |rows, row| {
            value(&rows.line(&row.key.name(), from).ok()?, row.key.param).ok()
        });
    }

    /// Adds a row of another metric for each row of one of which there is a value.
    fn add_where_known(
        &mut self,
        from: &str,
        metric: &str,
        unit: Option<Unit>,
        value: impl Fn(&Self, &Row) -> Option<f64>,
    ) {
        let known = self.0.iter().filter(|row| row.key.metric == from).filter_map(|row| {
            let key = Key { metric: metric.to_owned(), unit: unit.unwrap_or(row.key.unit), ..row.key.clone() };
            Some((key, value(self, row)?))
        });
        self.add_known(known.collect::<Vec<_>>());
    }

    /// Adds rows that were not measured.
    pub(crate) fn add_known(&mut self, known: impl IntoIterator<Item = (Key, f64)>) {
        let row = |(key, value)| Row { key, samples: 1, quartiles: Quartiles::single(value) };
        self.0.extend(known.into_iter().map(row));
        self.sort();
    }

    /// Leaves out what is not to be there.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&Row) -> bool) {
        self.0.retain(keep);
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.0.iter()
    }

    /// A metric of an algorithm, over what was varied. What ran on a variant of the machine has its suffix in the name:
    /// `oc-k7+contention`.
    pub(crate) fn line(&self, algorithm: &str, metric: &str) -> Result<Line<'_>, Missing> {
        let rows = self.0.iter().filter(|row| row.key.name() == algorithm && row.key.metric == metric);
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() { Err(Missing) } else { Ok(Line(rows)) }
    }

    /// The median of a metric of an algorithm at a parameter and a size in bytes.
    pub(crate) fn median(&self, algorithm: &str, metric: &str, param: u64, bytes: u64) -> Result<f64, Missing> {
        Ok(self.line(algorithm, metric)?.row(param, bytes)?.quartiles.median)
    }

    /// The line of an algorithm and a metric on `ranks` ranks.
    pub(crate) fn line_of(&self, ranks: u64, algorithm: &str, metric: &str) -> Result<Line<'_>, Missing> {
        let line = self.line(algorithm, metric)?;
        if line.rows().all(|row| row.key.ranks == ranks) { Ok(line) } else { Err(Missing) }
    }
}

/// A row that is asked for was not measured: the one error that there is in looking for numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missing;

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a row that is needed was not measured")
    }
}

impl Error for Missing {}

/// The rows of one metric of one algorithm, over what was varied.
#[derive(Clone, Debug)]
pub(crate) struct Line<'r>(Vec<&'r Row>);

impl Line<'_> {
    /// The row of a parameter and a size in bytes.
    pub(crate) fn row(&self, param: u64, bytes: u64) -> Result<&Row, Missing> {
        self.rows().find(|row| (row.key.param, row.key.bytes) == (param, bytes)).ok_or(Missing)
    }

    /// The median where the parameter is this.
    pub(crate) fn at(&self, param: u64) -> Result<f64, Missing> {
        self.points().find(|(found, _)| *found == param).map(|(_, median)| median).ok_or(Missing)
    }

    /// Bytes and medians where nothing was varied but those.
    pub(crate) fn by_bytes(&self) -> impl Iterator<Item = (u64, f64)> {
        self.0.iter().filter(|row| row.key.param == 0).map(|row| (row.key.bytes, row.quartiles.median))
    }

    /// The median at `bytes` bytes, where nothing was varied but those.
    pub(crate) fn at_bytes(&self, bytes: u64) -> Result<f64, Missing> {
        self.by_bytes().find(|(found, _)| *found == bytes).map(|(_, median)| median).ok_or(Missing)
    }

    /// The part of the line where more is varied than this.
    pub(crate) fn above(self, param: u64) -> Self {
        Self(self.0.into_iter().filter(|row| row.key.param > param).collect())
    }

    /// Parameters and medians.
    pub(crate) fn points(&self) -> impl Iterator<Item = (u64, f64)> {
        self.0.iter().map(|row| (row.key.param, row.quartiles.median))
    }

    /// Whether there is nothing but zeros.
    pub(crate) fn is_zero(&self) -> bool {
        self.0.iter().all(|row| row.quartiles.max == 0.0)
    }

    /// The rows themselves.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests;
