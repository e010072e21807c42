//! What the emulation of non-coherent memory costs and catches: the same program on a coherent machine and on the
//! emulated one.

use crate::{agreement::Runs, console::Transcript, guest::Outcome};
use anyhow::{Context, Result, bail};

/// Compares a run on a coherent machine with one under emulation.
///
/// # Errors
/// When the program fails or has another result without coherence: then it has relied on it.
pub(crate) fn compare(coherent: &Outcome, emulated: &Outcome) -> Result<()> {
    emulated.verdict().context("the program succeeds on coherent memory only")?;
    let is_compared =
        same(&coherent.transcript, &emulated.transcript).context("the program's result depends on coherence")?;
    let (Some(with), Some(without)) = (emulated.transcript.ticks, coherent.transcript.ticks) else {
        bail!("the guest did not say how long its program took");
    };
    let percent = (with as f64 / without as f64 - 1.0) * 100.0;
    // A program without a result to compare has shown no more than that it succeeds.
    let finding = if is_compared { "gives the same result" } else { "succeeds as well" };
    println!("emulated non-coherence {finding}; it costs {percent:+.1} % ({with} ticks instead of {without})");
    Ok(())
}

/// Compares results and tells whether there were any.
fn same(coherent: &Transcript, emulated: &Transcript) -> Result<bool> {
    let runs = Runs::new(["on coherent memory", "under emulation"], [coherent, emulated]);
    runs.agree_in_values()?;
    let has_files = !coherent.files.is_empty() || !emulated.files.is_empty();
    if has_files {
        runs.agree_in_files()?;
    }
    Ok(has_files || !coherent.results.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: Option<&str>) -> Transcript {
        let results = value.map(|value| ("checksum".to_owned(), value.to_owned()));
        Transcript { results: results.into_iter().collect(), ..Transcript::default() }
    }

    #[test]
    fn nothing_to_compare_is_no_agreement() {
        assert!(!same(&with(None), &with(None)).unwrap());
        assert!(same(&with(Some("7")), &with(Some("7"))).unwrap());
        assert!(same(&with(Some("7")), &with(Some("8"))).is_err());
        assert!(same(&with(None), &with(Some("8"))).is_err());
    }
}
