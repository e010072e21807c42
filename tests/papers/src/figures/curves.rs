//! From rows of benches to what figures consist of.

use super::figure::{Axis, Plot, Scale, Series, linear};
use crate::bench::{Missing, Row, Rows};

/// Microseconds, from 0.
pub(crate) const LATENCY: Axis = linear("latency (us)");

/// 10^6 bytes in a second, from 0.
pub(crate) const BANDWIDTH: Axis = linear("bandwidth (MB/s)");

/// Bytes of an operation.
pub(crate) const SIZE: Axis = Axis { label: "message size (B)", scale: Scale::Binary };

/// A plot of these.
pub(crate) fn plot(title: impl Into<String>, [x, y]: [Axis; 2], series: Vec<Series>) -> Plot {
    Plot { title: title.into(), x, y, series }
}

/// Medians of a metric of an algorithm where `x` says how far to the right they are, from left to right.
pub(crate) fn curve(
    rows: &Rows,
    algorithm: &str,
    metric: &str,
    x: impl Fn(&Row) -> Option<f64>,
) -> Result<Vec<(f64, f64)>, Missing> {
    let line = rows.line(algorithm, metric)?;
    let mut points: Vec<_> = line.rows().filter_map(|row| Some((x(row)?, row.quartiles.median))).collect();
    points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    if points.is_empty() { Err(Missing) } else { Ok(points) }
}

/// The sum of such curves, where all of them are.
pub(crate) fn sum_of_curves(
    rows: &Rows,
    algorithm: &str,
    metrics: &[&str],
    x: impl Fn(&Row) -> Option<f64>,
) -> Result<Vec<(f64, f64)>, Missing> {
    let curves = metrics.iter().map(|metric| curve(rows, algorithm, metric, &x)).collect::<Result<Vec<_>, _>>()?;
    let (first, others) = curves.split_first().ok_or(Missing)?;
    let at = |curve: &[(f64, f64)], x: f64| curve.iter().find(|point| point.0 == x).map(|point| point.1);
    let sum = |&(x, y): &(f64, f64)| Some((x, others.iter().try_fold(y, |sum, curve| Some(sum + at(curve, x)?))?));
    let points: Vec<_> = first.iter().filter_map(sum).collect();
    if points.is_empty() { Err(Missing) } else { Ok(points) }
}

/// A formula at 49 places, equally far from each other by factors.
pub(crate) fn formula(from: f64, to: f64, y: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    const STEPS: i32 = 48;
    (0..=STEPS).map(|step| from * (to / from).powf(f64::from(step) / f64::from(STEPS))).map(|x| (x, y(x))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    fn rows(lines: &[(&str, u64, u64)]) -> Rows {
        Rows::pool(lines.iter().map(|(metric, bytes, value)| sample("a", [2, 1, *bytes], metric, *value)))
    }

    #[test]
    fn curves_go_from_left_to_right() {
        let rows = rows(&[("x count", 8, 1), ("x count", 2, 5), ("x count", 4, 3)]);
        let found = curve(&rows, "a", "x", |row| (row.key.bytes > 2).then_some(-(row.key.bytes as f64)));
        assert_eq!(found, Ok(vec![(-8.0, 1.0), (-4.0, 3.0)]));
        assert_eq!(curve(&rows, "a", "y", |_| Some(0.0)), Err(Missing));
        assert_eq!(curve(&rows, "a", "x", |_| None), Err(Missing));
    }

    #[test]
    fn sums_are_where_all_are() {
        let rows = rows(&[("x count", 2, 5), ("x count", 4, 3), ("y count", 4, 10), ("y count", 8, 1)]);
        let by_bytes = |row: &Row| Some(row.key.bytes as f64);
        assert_eq!(sum_of_curves(&rows, "a", &["x", "y"], by_bytes), Ok(vec![(4.0, 13.0)]));
        assert_eq!(sum_of_curves(&rows, "a", &["x", "z"], by_bytes), Err(Missing));
        assert_eq!(sum_of_curves(&rows, "a", &[], by_bytes), Err(Missing));
    }

    #[test]
    fn formulas_begin_and_end_where_they_should() {
        let points = formula(2.0, 512.0, |x| 10.0 * x);
        assert_eq!((points[0], points.len()), ((2.0, 20.0), 49));
        let (x, y) = points[48];
        assert!((x - 512.0).abs() < 1e-9 && (y - 5120.0).abs() < 1e-8);
    }
}
