//! The programs of the images that come with Atoll, as their host binaries list them.

use crate::{
    image::{self, Profile},
    process,
    program::{DEFAULT_PROGRAM, Program},
    workspace,
};
use anyhow::{Result, bail, ensure};

/// The PROGRAM that lists all others.
pub(crate) const LIST: &str = "list";

/// Shows the programs when that is what the user wants.
pub(crate) fn listed(program: &Program) -> Result<bool> {
    let wanted = program.chosen() == Some(LIST);
    if wanted {
        for image in Program::of_each_image() {
            lines(&image)?.iter().for_each(|line| println!("{line}"));
        }
    }
    Ok(wanted)
}

/// Refuses a name that no program has. What a user's own crate holds is not asked for.
pub(crate) fn check(program: &Program) -> Result<()> {
    // The default program is known without a build.
    if program.chosen().is_none_or(|name| name == DEFAULT_PROGRAM) {
        return Ok(());
    }
    among(&program.name, &lines(program)?)
}

fn among(wanted: &str, lines: &[String]) -> Result<()> {
    let names: Vec<_> = lines.iter().filter_map(|line| line.split_once(": ")).map(|(name, _)| name).collect();
    ensure!(!names.is_empty(), "the image lists no program");
    if !names.contains(&wanted) {
        bail!("no program is called `{wanted}`; there are {} (see `cargo xtask run {LIST}`)", names.join(", "));
    }
    Ok(())
}

/// What the binary says: one `name: about` per program.
fn lines(program: &Program) -> Result<Vec<String>> {
    let built = image::host(program, Profile::Release)?;
    let mut command = workspace::command(&built.executable);
    command.args(["--cmdline", &format!("program={LIST}")]);
    let finished = process::finish(&mut command, |_| {})?;
    Ok(finished.output.lines().filter(|line| !line.starts_with('@')).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_refused_with_those_there_are() {
        let lines = ["terrain: wears down", "hello: says where it is"].map(str::to_owned);
        assert!(among("hello", &lines).is_ok());
        let message = among("nosuch", &lines).unwrap_err().to_string();
        assert!(message.contains("`nosuch`; there are terrain, hello"), "{message}");
        assert!(among("hello", &[]).is_err());
    }
}
