//! What the emulation of non-coherent memory costs and catches: the same program on a coherent machine and on the emulated one.

use crate::{guest::Outcome, test::same_files};
use anyhow::{Context, Result, bail};

/// Compares a run on a coherent machine with one under emulation.
///
/// # Errors
///
/// When the program fails or has another result without coherence: then it has relied on it.
pub(crate) fn compare(coherent: &Outcome, emulated: &Outcome) -> Result<()> {
    emulated.verdict().context("the program succeeds on coherent memory only")?;
    if !coherent.transcript.files.is_empty() {
        same_files("on coherent memory", &coherent.transcript, "under emulation", &emulated.transcript)
            .context("the program's result depends on coherence")?;
    }
    let (Some(with), Some(without)) = (emulated.transcript.ticks, coherent.transcript.ticks) else {
        bail!("the guest did not say how long its program took");
    };
    let percent = (with as f64 / without as f64 - 1.0) * 100.0;
    println!(
        "emulated non-coherence gives the same result; it costs {percent:+.1} % ({with} ticks instead of {without})"
    );
    Ok(())
}
