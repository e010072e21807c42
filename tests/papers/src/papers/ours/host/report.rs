//! What was measured, side by side, and where threads lose.

use crate::bench::{Key, Row, Rows, Unit, table};
use host::mpi::{MPICH, Mpi, OPEN_MPI};
use std::fmt::Write;

/// From which ratio on threads are said to lose.
const LOSES: f64 = 1.1;

/// Contenders, as rows have them after a name.
const CONTENDERS: [(&str, &str); 4] =
    [("coherent", ""), ("write-back", "@threads+write-back"), ("MPICH", "@mpich"), ("Open MPI", "@openmpi")];

/// Bytes from which on what is moved takes longer than to say so.
const MOVED_BYTES: u64 = 1024;

/// The tables of all operations.
pub(super) fn report(rows: &Rows) -> String {
    let operations = || rows.iter().filter(|row| row.key.variant.is_empty()).map(|row| &row.key);
    let titles = CONTENDERS.map(|(title, _)| title);
    let header = ["operation", "bytes", ""].into_iter().chain(titles).collect::<Vec<_>>();
    let medians =
        table::aligned(&header, operations().map(|key| values(rows, key)), |column| column != 0 && column != 2);
    let header = ["operation", "bytes", "coherent / MPICH", "/ Open MPI", "write-back / MPICH", "/ Open MPI"];
    let ratios = table::aligned(&header, operations().map(|key| compared(rows, key)), |column| column > 0);
    let mut text = format!(
        "Median of all batches, and least time or most throughput of one, on threads and by MPI:\n{medians}\n\n\
         How many times as long threads take, as median (quartiles) of rounds:\n{ratios}\n"
    );
    for mpi in [&MPICH, &OPEN_MPI] {
        let compared: Vec<_> =
            operations().filter_map(|key| Some((key, ratio(rows, key, "threads+coherent", mpi)?))).collect();
        let lost: Vec<_> = compared.iter().filter(|(_, row)| row.quartiles.median > LOSES).collect();
        if compared.is_empty() {
            continue;
        }
        let (lost_count, all) = (lost.len(), compared.len());
        _ = write!(text, "\nCoherent threads lose to {} in {lost_count} of {all}:", mpi.name);
        if lost.is_empty() {
            text.push_str(" nowhere.");
        }
        for (key, row) in lost {
            let at_best =
                at_best(rows, key, mpi).map_or(String::new(), |ratio| format!(" ({} at best)", number(ratio)));
            let median = number(row.quartiles.median);
            _ = write!(text, "\n  {}, {median} times as long{at_best}: {}", name(key), why(key));
        }
    }
    text.push_str(
        "\nWith write-backs each line goes its way to memory when it is stored, and is fetched from there for each load: that is \
         the price of memory that hosts share without coherence.",
    );
    text
}

/// An operation in words.
fn name(key: &Key) -> String {
    let what = if key.unit == Unit::MegabytesPerSecond { "back to back" } else { "" };
    let bytes = if key.bytes > 0 { format!("of {} bytes", key.bytes) } else { String::new() };
    let words = [key.algorithm.clone(), bytes, what.into()];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Why threads lose there.
fn why(key: &Key) -> &'static str {
    match key.algorithm.as_str() {
        _ if key.bytes < MOVED_BYTES => {
            "each flag is a line with a version, stored and polled through the account that a core keeps of lines and runs"
        }
        "put" => {
            "a put is stored line by line, 32 bytes at a time, each under its version; MPI copies memory as a whole"
        }
        _ => {
            "what ranks exchange goes through MPBs of 8 KB, line by line, 32 bytes at a time; MPI copies memory as a whole"
        }
    }
}

/// How many times as long the best batch takes as the best one by MPI.
fn at_best(rows: &Rows, key: &Key, mpi: &Mpi) -> Option<f64> {
    let [our, their] = ["", &format!("@{}", mpi.key)].map(|variant| found(rows, key, variant, &key.metric));
    Some(if key.unit == Unit::MegabytesPerSecond { best(their?) / best(our?) } else { best(our?) / best(their?) })
}

/// The least time or the most throughput of a row.
fn best(row: &Row) -> f64 {
    if row.key.unit == Unit::MegabytesPerSecond { row.quartiles.max } else { row.quartiles.min }
}

/// Three digits that say something, or what is before the point.
fn number(value: f64) -> String {
    let digits = if value < 0.1 { 4 } else { [2, 1, 0][usize::from(value >= 10.0) + usize::from(value >= 100.0)] };
    format!("{value:.digits$}")
}

/// What each contender has measured of an operation.
fn values(rows: &Rows, key: &Key) -> Vec<String> {
    let cells = CONTENDERS.map(|(_, variant)| {
        let Some(row) = found(rows, key, variant, &key.metric) else { return "-".to_owned() };
        format!("{} ({})", number(row.quartiles.median), number(best(row)))
    });
    [key.algorithm.clone(), key.bytes.to_string(), key.unit.name().to_owned()].into_iter().chain(cells).collect()
}

/// Ratios of an operation.
fn compared(rows: &Rows, key: &Key) -> Vec<String> {
    let cells = ["threads+coherent", "threads+write-back"].into_iter().flat_map(|ours| {
        [&MPICH, &OPEN_MPI].map(|mpi| match ratio(rows, key, ours, mpi) {
            Some(Row { quartiles, .. }) => {
                let [median, q1, q3] = [quartiles.median, quartiles.q1, quartiles.q3].map(number);
                format!("{median} ({q1} to {q3})")
            }
            None => "-".to_owned(),
        })
    });
    let what = if key.unit == Unit::MegabytesPerSecond { "back to back" } else { "" };
    let name = format!("{} {what}", key.algorithm).trim_end().to_owned();
    [name, key.bytes.to_string()].into_iter().chain(cells).collect()
}

fn ratio<'r>(rows: &'r Rows, key: &Key, ours: &str, mpi: &Mpi) -> Option<&'r Row> {
    found(rows, key, &format!("@{ours}/{}", mpi.key), &format!("{}-ratio", key.metric))
}

/// The row of the same operation that somebody else has measured.
fn found<'r>(rows: &'r Rows, key: &Key, variant: &str, metric: &str) -> Option<&'r Row> {
    rows.iter().find(|row| {
        let other = &row.key;
        (other.variant.as_str(), other.metric.as_str()) == (variant, metric)
            && (&other.algorithm, other.ranks, other.bytes) == (&key.algorithm, key.ranks, key.bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::rows;

    #[test]
    fn who_loses_is_named_and_what_is_missing_is_no_number() {
        let text = report(&rows(&[
            ("put", [2, 0, 65_536], "latency ns", 60_000),
            ("put@mpich", [2, 0, 65_536], "latency ns", 12_000),
            ("put@threads+coherent/mpich", [2, 0, 65_536], "latency-ratio permille", 5000),
            ("barrier", [2, 0, 0], "latency ns", 250),
            ("barrier@mpich", [2, 0, 0], "latency ns", 500),
            ("barrier@threads+coherent/mpich", [2, 0, 0], "latency-ratio permille", 500),
        ]));
        assert!(text.contains("60.0 (60.0)") && text.contains("0.50 (0.50 to 0.50)"), "{text}");
        assert!(
            text.contains("lose to MPICH in 1 of 2:\n  put of 65536 bytes, 5.00 times as long (5.00 at best): a put"),
            "{text}"
        );
        assert!(!text.contains("to Open MPI in") && text.contains(" - "), "{text}");
    }

    #[test]
    fn numbers_have_as_many_digits_as_say_something() {
        assert_eq!([0.0004, 0.5, 12.34, 1234.5].map(number), ["0.0004", "0.50", "12.3", "1234"]);
    }
}
