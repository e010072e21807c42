//! Finds writable statics where there must be none.
//!
//! In the simulator one address space holds all ranks, so a static that programs or collectives write to would be
//! shared: a program could work there, and in no other place. On bare metal every core has its own.

use crate::symbols;
use anyhow::{Result, bail};
use std::path::Path;

/// Crates and modules whose code runs on every rank, in the tree.
pub(crate) const IN_TREE: [&str; 4] =
    ["collectives::", "kernel::programs::", "c_programs::families::", "measurements::"];

/// Sections that are writable while a program runs.
const WRITABLE: [&str; 4] = [".data", ".bss", ".tdata", ".tbss"];

/// Fails when a host binary has writable statics below the given paths.
pub(crate) fn check(binary: &Path, paths: &[&str]) -> Result<()> {
    let symbols = symbols::below(binary, paths)?;
    let writable = symbols.into_iter().filter(|symbol| WRITABLE.contains(&symbol.section.as_str()));
    let found: Vec<_> = writable.map(|symbol| symbol.name).collect();
    if !found.is_empty() {
        bail!("writable statics are shared by all ranks of a simulation: {}", found.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writable_ones_of_ranks_count() {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        static CONSTANT: [u32; 3] = [1, 2, 3];
        std::hint::black_box(&CONSTANT);
        std::hint::black_box(&COUNT).fetch_add(1, Ordering::Relaxed);
        let own = std::env::current_exe().unwrap();
        check(&own, &IN_TREE).unwrap();
        let message = check(&own, &["xtask::statics::tests::"]).unwrap_err().to_string();
        assert!(message.contains("COUNT") && !message.contains("CONSTANT"), "{message}");
    }
}
