//! Tests of pooling and quartiles.

use super::*;

fn samples(algorithm: &str, param: u64, metric: &str, unit: &str, values: &str) -> Samples {
    let line = format!("algorithm={algorithm} ranks=4 param={param} bytes=0 metric={metric} unit={unit} {values}");
    Samples::parse(&line).unwrap_or_else(|| panic!("{line}"))
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
    let rows = Rows::pool([
        samples("ring", 2, "latency", "ns", "3000 1000"),
        samples("ring", 1, "latency", "ns", "5000"),
        samples("ring", 2, "latency", "ns", "2000"),
    ]);
    assert_eq!(names(&rows), ["ring latency 1", "ring latency 2"]);
    let line = rows.line("ring", "latency").unwrap();
    assert_eq!((line.at(1), line.at(2), line.at(3)), (Ok(5.0), Ok(2.0), Err(Missing)));
    assert_eq!(line.rows().map(|row| row.samples).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(rows.line("ring", "throughput").unwrap_err(), Missing);
}

#[test]
fn names_stay_in_the_order_in_which_they_came() {
    let rows = Rows::pool([
        samples("z", 10, "start", "ns", "1"),
        samples("z", 10, "complete", "ns", "1"),
        samples("z", 9, "complete", "ns", "1"),
        samples("z", 9, "start", "ns", "1"),
        samples("a", 1, "start", "permille", "250"),
    ]);
    assert_eq!(names(&rows), ["z start 9", "z start 10", "z complete 9", "z complete 10", "a start 1"]);
    assert_eq!(rows.line("a", "start").unwrap().at(1), Ok(0.25));
}

#[test]
fn sums_are_rows_of_one_sample() {
    let mut rows = Rows::pool([
        samples("a", 1, "post", "ns", "1000 3000"),
        samples("a", 1, "wait", "ns", "500"),
        samples("a", 2, "post", "ns", "1000"),
        samples("b", 1, "wait", "ns", "1000"),
    ]);
    rows.add_sum_of_medians("target", &["post", "wait"]);
    let sums: Vec<_> = rows.iter().filter(|row| row.key.metric == "target").collect();
    assert_eq!(sums.len(), 1);
    assert_eq!((sums[0].key.algorithm.as_str(), sums[0].key.param, sums[0].samples), ("a", 1, 1));
    assert_eq!(sums[0].quartiles.all(), [2.5; 5]);
}

#[test]
fn medians_are_combined_to_another_unit() {
    let mut rows = Rows::pool([
        samples("a", 1, "comm", "ns", "1000 2000 9000"),
        samples("a", 1, "total", "ns", "3000"),
        samples("b", 1, "comm", "ns", "1000"),
    ]);
    rows.add_from_medians("share", Some(Unit::Fraction), &["comm", "total"], |medians| medians[0] / medians[1]);
    let line = rows.line("a", "share").unwrap();
    assert_eq!(line.at(1), Ok(2.0 / 3.0));
    assert!(line.rows().all(|row| row.key.unit == Unit::Fraction));
    assert_eq!(rows.line("b", "share").unwrap_err(), Missing);
}

#[test]
fn rates_are_of_time() {
    let rows = Rows::pool([samples("a", 1, "put.throughput", "kBps", "43033")]);
    assert_eq!(rows.line("a", "put.throughput").unwrap().at(1), Ok(43.033));
    assert!(rows.iter().all(|row| row.key.unit.is_of_time() && row.key.unit.name() == "MB/s"));
}

#[test]
fn rows_are_computed_from_lines() {
    let at = |param, values| samples("ring", param, "step", "ns", values);
    let mut rows = Rows::pool([at(1, "8000"), at(2, "5000 5000"), at(4, "4000")]);
    rows.add_computed("efficiency", "step", Unit::Fraction, |line, param| {
        Ok(line.at(1)? / line.at(param)? / param as f64)
    });
    rows.add_computed("nothing", "step", Unit::Count, |line, _| line.at(3));
    let efficiency = rows.line("ring", "efficiency").unwrap();
    assert_eq!(efficiency.points().collect::<Vec<_>>(), [(1, 1.0), (2, 0.8), (4, 0.5)]);
    assert_eq!(efficiency.above(1).points().collect::<Vec<_>>(), [(2, 0.8), (4, 0.5)]);
    assert!(rows.line("ring", "nothing").is_err());
}
