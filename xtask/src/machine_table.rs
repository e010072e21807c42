//! Lists machines, and shows what is known of one.

use crate::parameter_table::parameter_table;
use anyhow::{Context, Result};
use clap::Args;
use machines::{EXTENSION, MachineFile};
use std::path::Path;

/// List the machines of the simulator, or show one: every parameter, and where it comes from
#[derive(Args)]
pub(crate) struct Arguments {
    /// A machine with a name, or a machine file FILE.toml; all names if there is none
    name: Option<String>,
}

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

/// The table of a machine.
fn shown(machine: &MachineFile) -> String {
    format!("{}: {}\n\n{}", machine.name, machine.about, parameter_table(&machine.name, machine.parameters()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter_table::WIDTH;

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
