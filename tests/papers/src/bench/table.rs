//! A bench's rows, and the claims on them, as tables for the eye.

use super::{
    claims::Checked,
    description::Column,
    series::{Row, Rows, Unit},
};
use comfy_table::{CellAlignment, Table, presets};

/// The rows that `shown` picks.
pub(crate) fn rows(rows: &Rows, shown: impl Fn(&Row) -> bool) -> String {
    const TEXT_COLUMNS: [usize; 3] = [0, 4, 5];
    const HEADER: [&str; 12] =
        ["algorithm", "ranks", "param", "bytes", "metric", "unit", "samples", "min", "q1", "median", "q3", "max"];
    let mut table = plain();
    table.set_header(HEADER);
    for (_, column) in table.column_iter_mut().enumerate().filter(|(place, _)| !TEXT_COLUMNS.contains(place)) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for Row { key, samples, quartiles } in rows.iter().filter(|row| shown(row)) {
        let [ranks, param, bytes] = [key.ranks, key.param, key.bytes].map(|number| number.to_string());
        let words = [key.name(), ranks, param, bytes, key.metric.clone(), key.unit.name().into()];
        let numbers = quartiles.all().map(|value| number(value, key.unit));
        table.add_row(words.into_iter().chain([samples.to_string()]).chain(numbers));
    }
    table.trim_fmt()
}

/// A line for each algorithm, on each variant of the machine, of which there is anything in these columns.
pub(crate) fn columns(rows: &Rows, columns: &[Column]) -> String {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for Row { key, quartiles, .. } in rows.iter().filter(|row| row.key.param == 0) {
        let is_here = |column: &Column| (column.metric, column.bytes) == (key.metric.as_str(), key.bytes);
        for place in (0..columns.len()).filter(|place| is_here(&columns[*place])) {
            let name = key.name();
            let line = lines.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
                lines.push((name, vec!["-".to_owned(); columns.len()]));
                lines.len() - 1
            });
            lines[line].1[place] = number(quartiles.median, key.unit);
        }
    }
    let mut table = plain();
    table.set_header(["algorithm"].into_iter().chain(columns.iter().map(|column| column.title)));
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    for (name, cells) in lines {
        table.add_row([name].into_iter().chain(cells));
    }
    table.trim_fmt()
}

/// Lines of cells below a header; all but the first column are numbers, or look well beside them.
pub(crate) fn grid(header: &[String], lines: Vec<Vec<String>>) -> String {
    let mut table = plain();
    table.set_header(header);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table.add_rows(lines);
    table.trim_fmt()
}

/// The claims and what became of them.
pub(crate) fn claims(claims: &[Checked]) -> String {
    let mut table = plain();
    table.set_header(["claim", "measured", "bound", ""]);
    for Checked { text, finding, verdict } in claims {
        let (measured, bound) =
            finding.as_ref().map_or(("-", "-"), |finding| (finding.measured.as_str(), finding.bound.as_str()));
        table.add_row([*text, measured, bound, verdict.name()]);
    }
    table.trim_fmt()
}

fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
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
    use crate::bench::series::Samples;

    #[test]
    fn columns_are_filled_from_the_rows_there_are() {
        const COLUMNS: &[Column] = &[
            Column { title: "32 B (us)", metric: "latency", bytes: 32 },
            Column { title: "peak (MB/s)", metric: "throughput", bytes: 1024 },
        ];
        let lines =
            ["a 32 latency ns 1500", "b 1024 throughput kBps 30000", "c 64 latency ns 1", "a 1024 throughput kBps 7"];
        let samples = lines.map(|line| {
            let [algorithm, bytes, metric, unit, value] = line.split(' ').collect::<Vec<_>>()[..] else { panic!() };
            let line =
                format!("algorithm={algorithm} ranks=4 param=0 bytes={bytes} metric={metric} unit={unit} {value}");
            Samples::parse(&line).unwrap()
        });
        let table = columns(&Rows::pool(samples), COLUMNS);
        let cells: Vec<Vec<_>> = table.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(cells, [["a", "1.500", "0.007"], ["b", "-", "30.000"]]);
    }
}
