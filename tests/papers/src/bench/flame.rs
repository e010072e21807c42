//! Where instructions were executed: folded stacks, and what they say by function.

use super::table;
use anyhow::{Context, Result};
use host::workspace;
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// Functions that the table shows.
const SHOWN: usize = 16;

/// Where folded stacks of a bench go if the user does not say.
pub(crate) fn default_path(bench: &str) -> Result<PathBuf> {
    let directory = workspace::target().join("bench");
    fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", workspace::display(&directory)))?;
    Ok(directory.join(format!("{bench}.folded")))
}

/// The functions that most instructions were executed in, by a file of folded stacks.
pub(crate) fn functions(file: &Path) -> Result<String> {
    let folded = fs::read_to_string(file).with_context(|| format!("cannot read {}", workspace::display(file)))?;
    let functions = by_function(&folded);
    let all: u64 = functions.iter().map(|(_, instructions)| instructions).sum();
    let lines = functions.into_iter().take(SHOWN).map(|(name, instructions)| {
        let percent = instructions as f64 * 100.0 / all as f64;
        vec![name.to_owned(), format!("{percent:.1} %")]
    });
    Ok(table::aligned(&["function", "of all counted instructions"], lines, |column| column == 1))
}

/// Packages whose functions count as part of what has called them: nobody makes these leaner here.
const LIBRARIES: [&str; 4] = ["core::", "alloc::", "compiler_builtins::", "bytemuck-"];

/// Instructions in each function itself and what it calls of [`LIBRARIES`], the most first.
fn by_function(folded: &str) -> Vec<(&str, u64)> {
    let mut functions: HashMap<&str, u64> = HashMap::new();
    for line in folded.lines() {
        let Some((stack, instructions)) = line.rsplit_once(' ') else { continue };
        let is_ours = |function: &&str| !LIBRARIES.iter().any(|library| function.starts_with(library));
        let function = stack.rsplit(';').find(is_ours).unwrap_or(stack);
        *functions.entry(function).or_default() += instructions.parse::<u64>().unwrap_or_default();
    }
    let mut functions: Vec<_> = functions.into_iter().collect();
    functions.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_count_by_themselves() {
        let functions = by_function("a;b 3\na;b;c 4\na;c 2\na 1\na;b;core::ptr::read;core::x 10\n");
        assert_eq!(functions, [("b", 13), ("c", 6), ("a", 1)]);
    }
}
