//! Finds writable statics where there must be none.
//!
//! In the simulator one address space holds all ranks, so a static that programs or collectives write to would be
//! shared: a program could work there, and in no other place. On bare metal every core has its own.

use crate::symbols;
use anyhow::{Result, bail};
use std::path::Path;

/// Crates and modules whose code runs on every rank, in the tree.
pub(crate) const IN_TREE: [&str; 3] = ["collectives::", "kernel::programs::", "measurements::"];

/// Sections that are writable while a program runs.
const WRITABLE: [&str; 4] = [".data", ".bss", ".tdata", ".tbss"];

/// Fails when a host binary has writable statics below the given paths.
///
/// # Errors
///
/// When there is one, or the binary cannot be read.
pub(crate) fn check(objdump: &Path, binary: &Path, paths: &[&str]) -> Result<()> {
    let table = symbols::table(objdump, binary)?;
    let found = writable(&table, paths);
    if !found.is_empty() {
        bail!("writable statics are shared by all ranks of a simulation: {}", found.join(", "));
    }
    Ok(())
}

/// The symbols in writable sections that live below one of the paths.
fn writable<'a>(table: &'a str, paths: &[&str]) -> Vec<&'a str> {
    let symbols = symbols::below(table, paths).filter(|symbol| WRITABLE.contains(&symbol.section));
    symbols.map(|symbol| symbol.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "
a:     file format elf64-x86-64

SYMBOL TABLE:
0000000000000000 l    df *ABS*\t0000000000000000              collectives.rs
0000000000004010 l     O .bss\t0000000000000004              collectives::window::NEXT
0000000000004014 l     O .data\t0000000000000004              .hidden kernel::programs::terrain::step::COUNT
0000000000004018 l     O .bss\t0000000000000004              <collectives::group::Group as core::fmt::Debug>::fmt::SEEN
0000000000001000 l     F .text\t0000000000000004              collectives::window::next
0000000000003000 l     O .data.rel.ro\t0000000000000008              collectives::TABLE
0000000000004020 l     O .bss\t0000000000000001              std::sys::ONCE
0000000000004024 l     O .bss\t0000000000000001              kernel::host::OUTPUT
";

    #[test]
    fn only_writable_ones_of_ranks_count() {
        let found = writable(TABLE, &IN_TREE);
        let expected = [
            "collectives::window::NEXT",
            "kernel::programs::terrain::step::COUNT",
            "<collectives::group::Group as core::fmt::Debug>::fmt::SEEN",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_real_binary_can_be_read() {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        std::hint::black_box(&COUNT).fetch_add(1, Ordering::Relaxed);
        let Some(objdump) = crate::setup::objdump() else { return };
        let own = std::env::current_exe().unwrap();
        check(&objdump, &own, &IN_TREE).unwrap();
        assert!(check(&objdump, &own, &["xtask::statics::"]).unwrap_err().to_string().contains("COUNT"));
    }
}
