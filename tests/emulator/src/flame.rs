//! What cores have executed, as folded stacks for flame graphs.

use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    path::Path,
    rc::Rc,
};

use addr2line::Loader;

/// The functions of an image.
struct Functions {
    loader: Loader,
    known: HashMap<u32, Rc<str>>,
}

impl Functions {
    /// The functions that an instruction is in, the outermost first, with `;` between them: those after the first were
    /// inlined.
    fn at(&mut self, address: u32) -> Result<Rc<str>, Box<dyn Error>> {
        if !self.known.contains_key(&address) {
            let mut names = Vec::new();
            let mut frames = self.loader.find_frames(address.into())?;
            while let Some(frame) = frames.next()? {
                let Some(function) = &frame.function else { continue };
                let file = frame.location.as_ref().and_then(|location| location.file);
                names.push(format!("{}{}", file.map_or_else(String::new, module), plain(&function.demangle()?)));
            }
            if names.is_empty() {
                let symbol = self.loader.find_symbol(address.into());
                names.push(symbol.map_or_else(|| format!("{address:#x}"), str::to_owned));
            }
            // A separator of folded stacks is also one of types.
            let names: Vec<String> = names.iter().rev().map(|name| name.replace(';', ",")).collect();
            self.known.insert(address, names.join(";").into());
        }
        Ok(Rc::clone(&self.known[&address]))
    }
}

/// The module that a file is, as the beginning of a name: `hal::kit::waits::` for `…/hal/src/kit/waits.rs`.
fn module(file: &str) -> String {
    let (before, within) = file.rsplit_once("/src/").unwrap_or(("", file));
    let package = before.rsplit('/').next().unwrap_or_default();
    let within = within.trim_end_matches(".rs").trim_end_matches("mod").trim_end_matches("lib").trim_end_matches('/');
    let parts = [package].into_iter().chain(within.split('/')).filter(|part| !part.is_empty());
    parts.map(|part| format!("{part}::")).collect()
}

/// A name without the types that it is for.
fn plain(name: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::new();
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    if kept.is_empty() { name.into() } else { kept }
}

/// Folded stacks: lines of functions, outermost first, with `;` between them, and how many instructions were executed there.
///
/// # Errors
/// When the image has no names of functions that can be read.
pub fn folded(image: &Path, executed: &[(Vec<u32>, u64)]) -> Result<String, Box<dyn Error>> {
    let loader =
        Loader::new(image).map_err(|error| format!("cannot read the functions of {}: {error}", image.display()))?;
    let mut functions = Functions { loader, known: HashMap::new() };
    // Cores execute the same instructions, and one function has many.
    let mut by_address: HashMap<&[u32], u64> = HashMap::new();
    for (addresses, times) in executed {
        *by_address.entry(addresses).or_default() += times;
    }
    let mut callers: HashMap<&[u32], String> = HashMap::new();
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for (addresses, times) in by_address {
        let Some((address, calls)) = addresses.split_last() else { continue };
        let called_by = match callers.get(calls) {
            Some(known) => known,
            None => {
                let mut path = String::new();
                for call in calls {
                    path += &functions.at(*call)?;
                    path.push(';');
                }
                callers.entry(calls).or_insert(path)
            }
        };
        *stacks.entry(format!("{called_by}{}", functions.at(*address)?)).or_default() += times;
    }
    Ok(stacks.iter().map(|(stack, times)| format!("{stack} {times}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        assert_eq!(module("/somewhere/hal/src/kit/waits.rs"), "hal::kit::waits::");
        assert_eq!(module("collectives/src/comm/mod.rs"), "collectives::comm::");
        assert_eq!(module("/rustc/0123/library/core/src/slice/index.rs"), "core::slice::index::");
        assert_eq!((module("kernel/src/lib.rs").as_str(), module("main.rs").as_str()), ("kernel::", "main::"));
        assert_eq!((plain("count<hal::Core<Scc>, ()>").as_str(), plain("load").as_str()), ("count", "load"));
    }
}
