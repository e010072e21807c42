//! What is in a binary, by the names of its symbols.

use crate::{process, workspace};
use anyhow::{Result, bail};
use std::path::Path;

/// An item of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol<'t> {
    pub(crate) section: &'t str,
    pub(crate) name: &'t str,
}

/// The table of a binary's symbols, as objdump prints it.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn table(objdump: &Path, binary: &Path) -> Result<String> {
    let mut command = workspace::command(objdump);
    command.args(["--syms", "--demangle=rust"]).arg(binary);
    let finished = process::finish(command.env("LC_ALL", "C"), |_| {})?;
    if !finished.status.success() || !finished.output.contains(".text") {
        bail!("cannot read the symbols of {}", workspace::display(binary));
    }
    Ok(finished.output)
}

/// The symbols of a table that live below one of the paths.
pub(crate) fn below<'t>(table: &'t str, paths: &[&str]) -> impl Iterator<Item = Symbol<'t>> {
    table.lines().filter_map(symbol).filter(|symbol| {
        // An item in an impl is printed as `<path::Type as Trait>::item`.
        let path = symbol.name.trim_start_matches(['<', '&']);
        paths.iter().any(|prefix| path.starts_with(prefix))
    })
}

fn symbol(line: &str) -> Option<Symbol<'_>> {
    let (left, right) = line.split_once('\t')?;
    let section = left.split_whitespace().next_back()?;
    let (_, name) = right.trim_start().split_once(' ')?;
    Some(Symbol { section, name: name.trim_start().trim_start_matches(".hidden ") })
}

/// Fails when a binary has something that lives below one of the paths.
///
/// # Errors
///
/// When it has, or cannot be read.
pub(crate) fn check_absent(objdump: &Path, binary: &Path, paths: &[&str]) -> Result<()> {
    let table = table(objdump, binary)?;
    let found: Vec<_> = below(&table, paths).map(|symbol| symbol.name).collect();
    if let [first, ..] = found[..] {
        bail!("{} has {} items that it must not have, {first} for one", workspace::display(binary), found.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_absent_is_found() {
        let Some(objdump) = crate::setup::objdump() else { return };
        let own = std::env::current_exe().unwrap();
        check_absent(&objdump, &own, &["hal::qemu::"]).unwrap();
        let refused = check_absent(&objdump, &own, &["xtask::symbols::"]).unwrap_err().to_string();
        assert!(refused.contains("xtask::symbols::"), "{refused}");
    }
}
