//! Lists what has a description file, and shows what a file says.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use descriptions::{Described, EXTENSION, Subject};

/// Columns of a terminal that the table fits.
pub(crate) const WIDTH: u16 = 200;

/// Of lists that are longer, every part is on a line of its own.
const VALUE_WIDTH: usize = 40;

/// The columns that are as wide as what is in them: all but the last, the source.
const FIXED_COLUMNS: usize = 5;

/// A line for each that has a name, with the cores that it has.
pub(crate) fn list<Of: Subject>(cores: impl Fn(&Described<Of>) -> String) -> String {
    let line = |described: Described<Of>| format!("{}: {} ({})\n", described.name, described.about, cores(&described));
    Described::all().map(line).collect()
}

/// The line that tells how to describe one's own.
pub(crate) fn own_file<Of: Subject>() -> String {
    format!(
        "FILE{EXTENSION}: your own; `base = \"scc\"` and what differs is enough, and `{}s FILE{EXTENSION}` checks it\n",
        Of::NAME
    )
}

/// What the described thing is, and the table of its parameters. A parameter with the source of the line above says so.
pub(crate) fn shown<Of>(Described { name, about, values, .. }: &Described<Of>) -> String {
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
    for parameter in values.parameters() {
        let (key, source) = (parameter.key, &parameter.source);
        let kind = if source.kind.is_empty() { "-" } else { &source.kind };
        let of_base = if parameter.from == *name { "" } else { &format!(" (of {})", parameter.from) };
        let text = format!("{}{of_base}", source.text);
        let shown = if text == above && !text.is_empty() { "as above" } else { &text };
        let mut value = parameter.shown();
        if value.len() > VALUE_WIDTH {
            value = value.replace(", ", ",\n");
        }
        table.add_row([key.name, &value, key.unit(), key.about, kind, shown]);
        above = text;
    }
    format!("{name}: {about}\n\n{}", table.trim_fmt())
}
