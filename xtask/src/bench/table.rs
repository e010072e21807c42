//! A bench's rows, and the claims on them, as tables for the eye.

use super::{
    claims::Checked,
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
