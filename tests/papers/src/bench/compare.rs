//! What has changed since a bench was measured before.

use super::{csv::Medians, table};
use std::cmp::Ordering;

/// A row of which there is something to say: its median before, unless it is new, and now, unless it is gone.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    row: String,
    old: Option<f64>,
    new: Option<f64>,
}

impl Change {
    /// By how many percent the median has changed, of a row that was there before and is there now.
    fn percent(&self) -> Option<f64> {
        Some(percent(self.old?, self.new?))
    }

    /// The largest change comes first, then what is new, then what is gone.
    fn weight(&self) -> f64 {
        self.percent().map_or(if self.new.is_some() { -1.0 } else { -2.0 }, f64::abs)
    }
}

/// The differences between two files.
#[derive(Debug)]
pub(crate) struct Comparison {
    changes: Vec<Change>,
    compared: usize,
    threshold_percent: f64,
}

impl Comparison {
    /// Compares the rows of two files. Medians that differ by less than the threshold are the same.
    pub(crate) fn of(old: &Medians, new: &Medians, threshold_percent: f64) -> Self {
        let change = |row: &str| Change { row: row.to_owned(), old: old.get(row), new: new.get(row) };
        let gone = old.iter().filter(|(row, _)| new.get(row).is_none());
        let all: Vec<_> = new.iter().chain(gone).map(|(row, _)| change(row)).collect();
        let compared = all.iter().filter(|change| change.percent().is_some()).count();
        let is_change = |change: &Change| change.percent().is_none_or(|percent| percent.abs() > threshold_percent);
        let mut changes: Vec<_> = all.into_iter().filter(is_change).collect();
        // Otherwise as in the files.
        changes.sort_by(|one, other| other.weight().partial_cmp(&one.weight()).unwrap_or(Ordering::Equal));
        Self { changes, compared, threshold_percent }
    }

    /// One line.
    pub(crate) fn summary(&self) -> String {
        let count = |is: fn(&Change) -> bool| self.changes.iter().filter(|change| is(change)).count();
        let [new, gone] = [count(|change| change.old.is_none()), count(|change| change.new.is_none())];
        format!(
            "{} of {} medians changed by more than {} %, {new} rows new, {gone} gone",
            self.changes.len() - new - gone,
            self.compared,
            self.threshold_percent
        )
    }

    /// The changes as a table, the largest first; nothing if there are none.
    pub(crate) fn table(&self) -> Option<String> {
        let header = ["algorithm", "machine", "ranks", "param", "bytes", "metric", "unit", "old", "new", "change"];
        let line = |change: &Change| {
            let mut words: Vec<String> = change.row.split(',').skip(1).map(str::to_owned).collect();
            // The name of the algorithm says most, and stands first.
            words.swap(0, 1);
            words.extend(
                [change.old, change.new].map(|median| median.map_or("-".into(), |value| format!("{value:.3}"))),
            );
            let other = if change.new.is_some() { "new" } else { "gone" };
            words.push(change.percent().map_or(other.into(), |percent| format!("{percent:+.1} %")));
            words
        };
        (!self.changes.is_empty()).then(|| table::grid(&header, self.changes.iter().map(line)))
    }
}

/// By how much a median has changed; by any amount if it was 0.
fn percent(old: f64, new: f64) -> f64 {
    match old {
        _ if old == new => 0.0,
        0.0 => f64::INFINITY * new.signum(),
        _ => (new - old) / old.abs() * 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medians(rows: &[(&str, f64)]) -> Medians {
        let header = "bench,machine,algorithm,ranks,param,bytes,metric,unit,samples,min,q1,median,q3,max\n";
        let line = |(name, median): &(&str, f64)| format!("b,scc,{name},48,0,32,latency,us,1,0,0,{median},0,0\n");
        Medians::parse("b.csv", (header.to_owned() + &rows.iter().map(line).collect::<String>()).as_bytes()).unwrap()
    }

    #[test]
    fn changes_are_sorted_by_their_size() {
        let old = medians(&[
            ("same", 5.0),
            ("near", 100.0),
            ("faster", 10.0),
            ("slower", 10.0),
            ("zero", 0.0),
            ("gone", 1.0),
        ]);
        let new =
            medians(&[("same", 5.0), ("near", 100.9), ("faster", 4.0), ("slower", 12.0), ("zero", 3.0), ("new", 2.0)]);
        let comparison = Comparison::of(&old, &new, 1.0);
        assert_eq!(comparison.summary(), "3 of 5 medians changed by more than 1 %, 1 rows new, 1 gone");
        let table = comparison.table().unwrap();
        let lines: Vec<Vec<_>> = table.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        let ends: Vec<_> = lines.iter().map(|words| (words[0], *words.last().unwrap())).collect();
        assert_eq!(ends, [("zero", "%"), ("faster", "%"), ("slower", "%"), ("new", "new"), ("gone", "gone")]);
        assert!(table.contains("-60.0 %") && table.contains("+20.0 %") && table.contains("+inf %"), "{table}");
        assert_eq!(Comparison::of(&old, &new, 0.5).changes.len(), 6);
    }

    #[test]
    fn nothing_has_changed() {
        let rows = medians(&[("a", 5.0), ("b", 0.0)]);
        let comparison = Comparison::of(&rows, &rows, 0.0);
        assert!(comparison.table().is_none());
        assert_eq!(comparison.summary(), "0 of 2 medians changed by more than 0 %, 0 rows new, 0 gone");
    }
}
