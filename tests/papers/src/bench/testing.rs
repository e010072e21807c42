//! Rows for tests.

use super::series::{Rows, Samples};

/// One number: its name, with the suffix of a machine; ranks, what was varied, and bytes; the metric and the unit in
/// which guests send it, `latency ns`.
pub(crate) fn sample(name: &str, [ranks, param, bytes]: [u64; 3], metric: &str, value: u64) -> Samples {
    let of_machine =
        |(at, _): &(usize, _)| ["+flat", "+contention"].contains(&&name[*at..]) || name[*at..].starts_with('@');
    let (algorithm, variant) = name.split_at(name.char_indices().find(of_machine).map_or(name.len(), |(at, _)| at));
    let (metric, unit) = metric.split_once(' ').unwrap_or_else(|| panic!("`{metric}` has no unit"));
    let line =
        format!("algorithm={algorithm} ranks={ranks} param={param} bytes={bytes} metric={metric} unit={unit} {value}");
    let mut samples = Samples::parse(&line).unwrap_or_else(|| panic!("{line}"));
    samples.key.variant = variant.to_owned();
    samples
}

/// The rows of such numbers.
pub(crate) fn rows(numbers: &[(&str, [u64; 3], &str, u64)]) -> Rows {
    Rows::pool(numbers.iter().map(|(name, place, metric, value)| sample(name, *place, metric, *value)))
}
