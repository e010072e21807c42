//! What is in a binary, by the names of its symbols.

use crate::workspace;
use anyhow::{Context, Result, bail};
use object::{Object, ObjectSection, ObjectSymbol};
use std::{fs, path::Path};

/// An item of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) section: String,
    pub(crate) name: String,
}

/// The symbols of a binary that live below one of the paths.
pub(crate) fn below(binary: &Path, paths: &[&str]) -> Result<Vec<Symbol>> {
    let cannot = || format!("cannot read the symbols of {}", workspace::display(binary));
    let bytes = fs::read(binary).with_context(cannot)?;
    let file = object::File::parse(&*bytes).with_context(cannot)?;
    let mut found = Vec::new();
    let mut symbols = file.symbols().peekable();
    symbols.peek().with_context(cannot)?;
    for symbol in symbols {
        let name = demangled(symbol.name().unwrap_or_default());
        if is_below(&name, paths) {
            let section = symbol.section_index().and_then(|section| file.section_by_index(section).ok());
            let section = section.and_then(|section| Some(section.name().ok()?.to_owned())).unwrap_or_default();
            found.push(Symbol { section, name });
        }
    }
    Ok(found)
}

/// The address of a function of a binary, by the name of its symbol; nothing if it has none.
pub(crate) fn address(binary: &Path, name: &str) -> Result<Option<u64>> {
    let cannot = || format!("cannot read the symbols of {}", workspace::display(binary));
    let bytes = fs::read(binary).with_context(cannot)?;
    let file = object::File::parse(&*bytes).with_context(cannot)?;
    Ok(file.symbol_by_name(name).map(|symbol| symbol.address()))
}

/// A name as it stands in the sources.
pub(crate) fn demangled(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

fn is_below(name: &str, paths: &[&str]) -> bool {
    // An item in an impl is printed as `<path::Type as Trait>::item`.
    let path = name.trim_start_matches(['<', '&']);
    paths.iter().any(|prefix| path.starts_with(prefix))
}

/// Fails when a binary has something that lives below one of the paths.
pub(crate) fn check_absent(binary: &Path, paths: &[&str]) -> Result<()> {
    let found = below(binary, paths)?;
    if let [first, ..] = &found[..] {
        bail!("{} has {} items that it must not have, {} for one", workspace::display(binary), found.len(), first.name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_where_an_item_lives() {
        let name = demangled(
            "_ZN62_$LT$collectives..group..Group$u20$as$u20$core..fmt..Debug$GT$3fmt4SEEN17h0123456789abcdefE",
        );
        assert_eq!(name, "<collectives::group::Group as core::fmt::Debug>::fmt::SEEN");
        assert!(is_below(&name, &["collectives::"]) && !is_below(&name, &["core::"]));
    }

    #[test]
    fn what_must_be_absent_is_found() {
        let own = std::env::current_exe().unwrap();
        check_absent(&own, &["hal::qemu::"]).unwrap();
        let refused = check_absent(&own, &["xtask::symbols::"]).unwrap_err().to_string();
        assert!(refused.contains("xtask::symbols::"), "{refused}");
        assert!(below(Path::new("/dev/null"), &[]).is_err());
    }
}
