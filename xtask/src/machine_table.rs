//! Lists machines, and shows what is known of one.

use crate::{cores, described};
use anyhow::Result;
use clap::Args;
use descriptions::machines::{MachineFile, Simulated};

/// List the machines of the simulator, or show one: every parameter, and where it comes from
#[derive(Args)]
pub(crate) struct Arguments {
    /// A machine with a name, or a machine file FILE.toml; all names if there is none
    name: Option<String>,
}

/// Carries out `cargo xtask machines`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    match &arguments.name {
        None => print!("{}", list()),
        Some(name) => println!("{}", described::shown(&MachineFile::find(name)?)),
    }
    Ok(())
}

fn list() -> String {
    described::list(|machine: &MachineFile| cores::cores(machine.cores() as u32))
        + "mesh:WxHxC: W x H tiles of C cores at the prices of scc\n"
        + "cluster-fpga:NxC, cluster-asic:NxC: N nodes of C cores\n"
        + &described::own_file::<Simulated>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::described::{WIDTH, shown};

    #[test]
    fn every_machine_has_a_table() {
        for name in MachineFile::names() {
            let table = shown(&MachineFile::find(name).unwrap());
            assert!(table.contains("hop_ps") && table.contains("chosen"), "{table}");
            assert!(table.lines().all(|line| line.chars().count() <= WIDTH.into()), "{table}");
        }
        let message = MachineFile::find("abacus").unwrap_err().to_string();
        assert!(message.contains("scc-calibrated") && !message.contains('\n'), "{message}");
    }
}
