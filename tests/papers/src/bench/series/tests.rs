//! Tests of pooling and quartiles.

use super::*;
use crate::bench::testing::rows;

/// Rows of 4 ranks: algorithm, what was varied, metric with its unit, value.
fn of_4(numbers: &[(&str, u64, &str, u64)]) -> Rows {
    rows(
        &numbers
            .iter()
            .map(|(name, param, metric, value)| (*name, [4, *param, 0], *metric, *value))
            .collect::<Vec<_>>(),
    )
}

fn names(rows: &Rows) -> Vec<String> {
    rows.iter().map(|row| format!("{} {} {}", row.key.algorithm, row.key.metric, row.key.param)).collect()
}

#[test]
fn quartiles_are_interpolated() {
    let of = |values: &[u64]| Quartiles::of(values.to_vec(), 1.0).all();
    assert_eq!(of(&[7]), [7.0; 5]);
    assert_eq!(of(&[4, 2]), [2.0, 2.5, 3.0, 3.5, 4.0]);
    assert_eq!(of(&[3, 1, 2]), [1.0, 1.5, 2.0, 2.5, 3.0]);
    // R: quantile(c(1, 2, 4, 8)), quantile(c(1, 2, 4, 8, 16)), quantile(c(1, 2, 4, 8, 16, 32)).
    assert_eq!(of(&[8, 4, 2, 1]), [1.0, 1.75, 3.0, 5.0, 8.0]);
    assert_eq!(of(&[16, 8, 4, 2, 1]), [1.0, 2.0, 4.0, 8.0, 16.0]);
    assert_eq!(of(&[32, 16, 8, 4, 2, 1]), [1.0, 2.5, 6.0, 14.0, 32.0]);
    assert_eq!(Quartiles::of(vec![1500, 2500], 1000.0).all(), [1.5, 1.75, 2.0, 2.25, 2.5]);
}

#[test]
fn equal_keys_are_pooled_wherever_they_come_from() {
    let latency = "latency ns";
    let all = [
        ("ring", 2, latency, 3000),
        ("ring", 2, latency, 1000),
        ("ring", 1, latency, 5000),
        ("ring", 2, latency, 2000),
    ];
    let rows = of_4(&all);
    assert_eq!(names(&rows), ["ring latency 1", "ring latency 2"]);
    let line = rows.line("ring", "latency").unwrap();
    assert_eq!((line.at(1), line.at(2), line.at(3)), (Ok(5.0), Ok(2.0), Err(Missing)));
    assert_eq!(line.rows().map(|row| row.samples).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(rows.line("ring", "throughput").unwrap_err(), Missing);
}

#[test]
fn names_stay_in_the_order_in_which_they_came() {
    let rows = of_4(&[
        ("z", 10, "start ns", 1),
        ("z", 10, "complete ns", 1),
        ("z", 9, "complete ns", 1),
        ("z", 9, "start ns", 1),
        ("a", 1, "start permille", 250),
    ]);
    assert_eq!(names(&rows), ["z start 9", "z start 10", "z complete 9", "z complete 10", "a start 1"]);
    assert_eq!(rows.line("a", "start").unwrap().at(1), Ok(0.25));
}

#[test]
fn medians_are_combined_where_all_were_measured() {
    let mut rows = of_4(&[
        ("a", 1, "post ns", 1000),
        ("a", 1, "post ns", 3000),
        ("a", 1, "wait ns", 500),
        ("a", 2, "post ns", 1000),
        ("b", 1, "wait ns", 1000),
    ]);
    rows.add_sum_of_medians("target", &["post", "wait"]);
    rows.add_from_medians("share", Some(Unit::Fraction), &["wait", "post"], |medians| medians[0] / medians[1]);
    for (metric, unit, value) in [("target", Unit::Microseconds, 2.5), ("share", Unit::Fraction, 0.25)] {
        let sums: Vec<_> = rows.iter().filter(|row| row.key.metric == metric).collect();
        assert_eq!(sums.len(), 1);
        assert_eq!((sums[0].key.algorithm.as_str(), sums[0].key.param, sums[0].samples), ("a", 1, 1));
        assert_eq!((sums[0].quartiles.all(), sums[0].key.unit), ([value; 5], unit));
    }
}

#[test]
fn rates_are_of_time() {
    let rows = of_4(&[("a", 1, "put.throughput kBps", 43_033)]);
    assert_eq!(rows.line("a", "put.throughput").unwrap().at(1), Ok(43.033));
    assert!(rows.iter().all(|row| row.key.unit.is_of_time() && row.key.unit.name() == "MB/s"));
}

#[test]
fn rows_are_computed_from_lines() {
    let mut rows = of_4(&[("ring", 1, "step ns", 8000), ("ring", 2, "step ns", 5000), ("ring", 4, "step ns", 4000)]);
    rows.add_computed("efficiency", "step", Unit::Fraction, |line, param| {
        Ok(line.at(1)? / line.at(param)? / param as f64)
    });
    rows.add_computed("nothing", "step", Unit::Count, |line, _| line.at(3));
    let efficiency = rows.line("ring", "efficiency").unwrap();
    assert_eq!(efficiency.points().collect::<Vec<_>>(), [(1, 1.0), (2, 0.8), (4, 0.5)]);
    assert_eq!(efficiency.above(1).points().collect::<Vec<_>>(), [(2, 0.8), (4, 0.5)]);
    assert!(rows.line("ring", "nothing").is_err());
}
