//! What has changed since a bench was measured before.

use super::{csv::Medians, table};
use std::cmp::Ordering;

/// A row of which there is something to say.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    row: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    New(f64),
    Gone(f64),
    /// From a median to another.
    Changed(f64, f64),
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
        let mut changes = Vec::new();
        let mut compared = 0;
        for (row, median) in new.iter() {
            match old.get(row) {
                None => changes.push(Change { row: row.to_owned(), kind: Kind::New(median) }),
                Some(before) => {
                    compared += 1;
                    if percent(before, median).abs() > threshold_percent {
                        changes.push(Change { row: row.to_owned(), kind: Kind::Changed(before, median) });
                    }
                }
            }
        }
        let gone = old.iter().filter(|(row, _)| new.get(row).is_none());
        changes.extend(gone.map(|(row, median)| Change { row: row.to_owned(), kind: Kind::Gone(median) }));
        // The largest change first, then what is new, then what is gone; otherwise as in the files.
        changes.sort_by(|one, other| weight(other).partial_cmp(&weight(one)).unwrap_or(Ordering::Equal));
        Self { changes, compared, threshold_percent }
    }

    fn count(&self, is: impl Fn(&Kind) -> bool) -> usize {
        self.changes.iter().filter(|change| is(&change.kind)).count()
    }

    /// One line.
    pub(crate) fn summary(&self) -> String {
        let changed = self.count(|kind| matches!(kind, Kind::Changed(..)));
        let (new, gone) =
            (self.count(|kind| matches!(kind, Kind::New(_))), self.count(|kind| matches!(kind, Kind::Gone(_))));
        format!(
            "{changed} of {} medians changed by more than {} %, {new} rows new, {gone} gone",
            self.compared, self.threshold_percent
        )
    }

    /// The changes as a table, the largest first; nothing if there are none.
    pub(crate) fn table(&self) -> Option<String> {
        let header = ["algorithm", "machine", "ranks", "param", "bytes", "metric", "unit", "old", "new", "change"];
        let line = |change: &Change| {
            let mut words: Vec<String> = change.row.split(',').skip(1).map(str::to_owned).collect();
            // The name of the algorithm says most, and stands first.
            words.swap(0, 1);
            let shown = |median: f64| format!("{median:.3}");
            words.extend(match change.kind {
                Kind::New(new) => ["-".to_owned(), shown(new), "new".to_owned()],
                Kind::Gone(old) => [shown(old), "-".to_owned(), "gone".to_owned()],
                Kind::Changed(old, new) => [shown(old), shown(new), format!("{:+.1} %", percent(old, new))],
            });
            words
        };
        let lines: Vec<_> = self.changes.iter().map(line).collect();
        (!lines.is_empty()).then(|| table::grid(&header.map(str::to_owned), lines))
    }
}

fn weight(change: &Change) -> f64 {
    match change.kind {
        Kind::Changed(old, new) => percent(old, new).abs(),
        Kind::New(_) => -1.0,
        Kind::Gone(_) => -2.0,
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
