//! Lists machines, and shows what is known of one.

use anyhow::{Context, Result};
use clap::Args;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use machines::{EXTENSION, MachineFile};
use std::path::Path;

/// List the machines of the simulator, or show one: every parameter, and where it comes from
#[derive(Args)]
pub(crate) struct Arguments {
    /// A machine with a name, or a machine file FILE.toml; all names if there is none
    name: Option<String>,
}

/// Columns of a terminal that the table fits.
const WIDTH: u16 = 200;

/// The columns that are as wide as what is in them: all but the last, the source.
const FIXED_COLUMNS: usize = 5;

/// The command.
///
/// # Errors
///
/// When there is no such machine.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    match &arguments.name {
        None => list(),
        Some(name) => println!("{}", shown(&find(name)?)),
    }
    Ok(())
}

fn list() {
    for machine in machines::names().filter_map(MachineFile::built_in) {
        println!("{}: {} ({})", machine.name, machine.about, crate::cores::cores(machine.cores() as u32));
    }
    println!("mesh:WxHxC: W x H tiles of C cores at the prices of scc");
    println!("cluster-fpga:NxC, cluster-asic:NxC: N nodes of C cores");
    println!(
        "FILE{EXTENSION}: your own; `base = \"scc\"` and what differs is enough, and `machines FILE{EXTENSION}` checks it"
    );
}

fn find(name: &str) -> Result<MachineFile> {
    if name.ends_with(EXTENSION) {
        return Ok(MachineFile::read(Path::new(name))?);
    }
    let known = || machines::names().collect::<Vec<_>>().join(", ");
    MachineFile::built_in(name)
        .with_context(|| format!("`{name}` has no file; there are {}, and your own FILE{EXTENSION}", known()))
}

/// The table of a machine. What has the source of the line above says so.
fn shown(machine: &MachineFile) -> String {
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
    for parameter in machine.parameters() {
        let (key, source) = (parameter.key, &parameter.source);
        let kind = if source.kind.is_empty() { "-" } else { &source.kind };
        let of_base = if parameter.from == machine.name { "" } else { &format!(" (of {})", parameter.from) };
        let text = format!("{}{of_base}", source.text);
        let shown = if text == above && !text.is_empty() { "as above" } else { &text };
        table.add_row([key.name, &parameter.value.to_string(), key.unit(), key.about, kind, shown]);
        above = text;
    }
    format!("{}: {}\n\n{}", machine.name, machine.about, table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_a_table() {
        for name in machines::names() {
            let table = shown(&find(name).unwrap());
            assert!(table.contains("hop_ps") && table.contains("chosen"), "{table}");
            assert!(table.lines().all(|line| line.chars().count() <= WIDTH.into()), "{table}");
        }
        let message = find("abacus").unwrap_err().to_string();
        assert!(message.contains("scc-calibrated") && !message.contains('\n'), "{message}");
    }
}
