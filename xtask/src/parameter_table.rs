//! The table of what a file says of a machine or a board.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use machines::Parameter;

/// Columns of a terminal that the table fits.
pub(crate) const WIDTH: u16 = 200;

/// Of lists that are longer, every part is on a line of its own.
const VALUE_WIDTH: usize = 40;

/// The columns that are as wide as what is in them: all but the last, the source.
const FIXED_COLUMNS: usize = 5;

/// The table of the parameters of what has this name. What has the source of the line above says so.
pub(crate) fn parameter_table<'a>(name: &str, parameters: impl Iterator<Item = &'a Parameter>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table.set_header(["parameter", "value", "unit", "what it is", "kind", "source"]);
    for column in table.column_iter_mut().take(FIXED_COLUMNS) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    if let Some(values) = table.column_mut(1) {
        values.set_cell_alignment(CellAlignment::Right);
    }
    let mut above = String::new();
    for parameter in parameters {
        let (key, source) = (parameter.key, &parameter.source);
        let kind = if source.kind.is_empty() { "-" } else { &source.kind };
        let of_base = if parameter.from == name { "" } else { &format!(" (of {})", parameter.from) };
        let text = format!("{}{of_base}", source.text);
        let shown = if text == above && !text.is_empty() { "as above" } else { &text };
        let mut value = parameter.shown();
        if value.len() > VALUE_WIDTH {
            value = value.replace(", ", ",\n");
        }
        table.add_row([key.name, &value, key.unit(), key.about, kind, shown]);
        above = text;
    }
    table.trim_fmt()
}
