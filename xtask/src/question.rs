//! Questions to the user.

use anyhow::{Context, Result};
use std::io::{IsTerminal, Write};

/// Whether somebody is there to answer.
pub(crate) fn can_be_asked() -> bool {
    std::io::stdin().is_terminal()
}

/// Asks whether something may be done.
pub(crate) fn ask(question: &str) -> Result<bool> {
    eprint!("{question}? [y/N] ");
    std::io::stderr().flush().context("cannot write to the terminal")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
