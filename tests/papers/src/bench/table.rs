//! A bench's rows, and the claims on them, as tables for the eye.

use super::{
    claims::Checked,
    description::Column,
    series::{Row, Rows, Unit},
};
use comfy_table::{CellAlignment, Table, presets};

/// The rows that `shown` picks.
pub(crate) fn rows(rows: &Rows, shown: impl Fn(&Row) -> bool) -> String {
    const HEADER: [&str; 12] =
        ["algorithm", "ranks", "param", "bytes", "metric", "unit", "samples", "min", "q1", "median", "q3", "max"];
    let line = |Row { key, samples, quartiles }: &Row| {
        let [ranks, param, bytes] = [key.ranks, key.param, key.bytes].map(|number| number.to_string());
        let words = [key.name(), ranks, param, bytes, key.metric.clone(), key.unit.name().into()];
        let numbers = quartiles.all().map(|value| number(value, key.unit));
        words.into_iter().chain([samples.to_string()]).chain(numbers).collect::<Vec<_>>()
    };
    aligned(&HEADER, rows.iter().filter(|row| shown(row)).map(line), |column| ![0, 4, 5].contains(&column))
}

/// A line for each algorithm, on each variant of the machine, of which there is anything in these columns.
pub(crate) fn columns(rows: &Rows, columns: &[Column]) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    for Row { key, quartiles, .. } in rows.iter().filter(|row| row.key.param == 0) {
        let is_here = |Column(_, metric, bytes): &Column| (*metric, *bytes) == (key.metric.as_str(), key.bytes);
        for place in (0..columns.len()).filter(|place| is_here(&columns[*place])) {
            let name = key.name();
            let line = lines.iter().position(|line| line[0] == name).unwrap_or_else(|| {
                lines.push([name].into_iter().chain(columns.iter().map(|_| "-".to_owned())).collect());
                lines.len() - 1
            });
            lines[line][1 + place] = number(quartiles.median, key.unit);
        }
    }
    let header: Vec<_> = ["algorithm"].into_iter().chain(columns.iter().map(|Column(title, ..)| *title)).collect();
    grid(&header, lines)
}

/// Lines of cells below a header; all but the first column are numbers, or look well beside them.
pub(crate) fn grid(header: &[impl ToString], lines: impl IntoIterator<Item = Vec<String>>) -> String {
    aligned(header, lines, |column| column > 0)
}

/// The claims and what became of them.
pub(crate) fn claims(claims: &[Checked]) -> String {
    let line = |Checked { text, finding, verdict }: &Checked| {
        let (measured, bound) =
            finding.as_ref().map_or(("-", "-"), |finding| (finding.measured.as_str(), finding.bound.as_str()));
        [text, measured, bound, verdict.name()].map(str::to_owned)
    };
    aligned(&["claim", "measured", "bound", ""], claims.iter().map(line), |_| false)
}

/// A table whose columns with these numbers end on the right.
pub(crate) fn aligned<L: Into<comfy_table::Row>>(
    header: &[impl ToString],
    lines: impl IntoIterator<Item = L>,
    is_right: impl Fn(usize) -> bool,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().map(ToString::to_string));
    let columns = table.column_iter_mut().enumerate();
    columns.filter(|(column, _)| is_right(*column)).for_each(|(_, column)| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    table.add_rows(lines);
    table.trim_fmt()
}

fn number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Microseconds | Unit::Fraction | Unit::MegabytesPerSecond => format!("{value:.3}"),
        // The quartiles of whole numbers have quarters.
        Unit::Count if value.fract() == 0.0 => format!("{value:.0}"),
        Unit::Count => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    #[test]
    fn columns_are_filled_from_the_rows_there_are() {
        const COLUMNS: &[Column] = &[Column("32 B (us)", "latency", 32), Column("peak (MB/s)", "throughput", 1024)];
        let samples = [
            ("a", 32, "latency ns", 1500),
            ("b", 1024, "throughput kBps", 30_000),
            ("c", 64, "latency ns", 1),
            ("a", 1024, "throughput kBps", 7),
        ];
        let samples = samples.map(|(name, bytes, metric, value)| sample(name, [4, 0, bytes], metric, value));
        let table = columns(&Rows::pool(samples), COLUMNS);
        let cells: Vec<Vec<_>> = table.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(cells, [["a", "1.500", "0.007"], ["b", "-", "30.000"]]);
    }
}
