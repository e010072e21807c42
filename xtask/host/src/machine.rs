//! Simulated machines, as the command line names them.

pub use descriptions::machines::{Machine, Variant};

use crate::cores;
use anyhow::{Context, Result, anyhow, ensure};
use std::num::NonZero;

/// The kernel's limit; a simulation with more would only be refused after it was built.
pub const MOST_CORES: u32 = 4096;

/// This machine in `domains` coherence domains, if a number is given.
///
/// # Errors
/// When its name gives another number, or it is a cluster, whose nodes are its domains.
pub fn with_domains(machine: Machine, domains: Option<NonZero<u16>>) -> Result<Machine> {
    let Some(domains) = domains else { return Ok(machine) };
    ensure!(!machine.is_cluster(), "--domains {domains} is for meshes; each node of {machine} is a coherence domain");
    machine.with_domains(domains).with_context(|| format!("--domains {domains} contradicts the machine's name"))
}

/// Checks a number of cores against a machine.
///
/// # Errors
/// When the machine has fewer, or more coherence domains.
pub fn check(machine: &Machine, cores: u32) -> Result<()> {
    ensure!((1..=MOST_CORES).contains(&cores), "the simulator takes 1 to {MOST_CORES} cores, not {cores}");
    if !machine.is_scc() {
        ensure!(cores <= machine.default_cores(), "{machine} has only {} cores, not {cores}", machine.default_cores());
    }
    check_domains(machine.variant.domains(), cores)
}

/// A number of coherence domains on the command line.
///
/// # Errors
/// When it is none.
pub fn domains(text: &str) -> Result<NonZero<u16>> {
    text.parse().map_err(|_| anyhow!("`{text}` is not a number of coherence domains from 1 to {}", u16::MAX))
}

/// Checks a number of coherence domains.
///
/// # Errors
/// When there are fewer cores.
pub fn check_domains(domains: Option<NonZero<u16>>, cores: u32) -> Result<()> {
    if let Some(domains) = domains {
        let (count, cores_of) = (domains.get(), cores::cores(cores));
        ensure!(u32::from(count) <= cores, "{cores_of} cannot be {count} coherence domains");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str) -> Machine {
        name.parse().unwrap()
    }

    #[test]
    fn cores_must_fit() {
        let is_right = |name: &str, cores| check(&machine(name), cores).is_ok();
        assert!(is_right("mesh:2x2x2", 8) && !is_right("mesh:2x2x2", 9) && !is_right("mesh:2x2x2", 0));
        assert!(is_right("scc", 4096) && !is_right("scc", 4097) && !is_right("mesh:64x64x2", 8192));
        assert!(is_right("cluster-fpga:8x8", 64) && !is_right("cluster-fpga:8x8", 65));
        assert!(is_right("mesh-4096+contention", 4096) && !is_right("mesh-1024", 1025));
        assert!(is_right("scc+domains=4", 4) && !is_right("scc+domains=4", 3));
    }

    #[test]
    fn domains_are_of_meshes() {
        let two = NonZero::new(2);
        assert_eq!(with_domains(Machine::SCC, two).unwrap().to_string(), "scc+domains=2");
        assert!(with_domains(machine("scc+domains=4"), two).unwrap_err().to_string().contains("contradicts"));
        assert!(with_domains(machine("cluster-fpga:4x4"), two).unwrap_err().to_string().contains("is for meshes"));
        assert!(with_domains(machine("cluster-fpga:4x4"), None).is_ok());
        assert!(domains("48").is_ok());
        for text in ["0", "x", "65536"] {
            let message = domains(text).expect_err(text).to_string();
            assert!(message.contains("coherence domains"), "{message}");
        }
    }
}
