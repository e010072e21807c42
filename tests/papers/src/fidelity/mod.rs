//! How true the simulator is: what the papers measured beside what it says, entry by entry.
//!
//! An entry measures by benches, as everything here does ([`Evidence`]). Its band is that of the project's goals and is
//! not widened: a number that leaves it is either explained by a cause that can be measured, or listed as unexplained.

mod checked;
mod entry;
pub(crate) mod output;

pub(crate) use crate::verdict::Band;
pub(crate) use checked::Checked;
pub(crate) use entry::{Entry, NOT_PUBLISHED, entry};

use crate::{bench::Evidence, papers::entries, verdict::Verdict};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use host::{command_line, interrupt, workspace};
use std::time::Duration;

/// Compare the simulator with what the papers measured
///
/// Runs what the published numbers are about, and shows ours beside them: the error, the band that the project has set
/// itself, and whether the number is fitted, predicted, unexplained or only reported. All goes to
/// target/fidelity/fidelity.csv and .md. The exit status is 0 only when every number that is predicted or fitted is in
/// its band.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Only entries whose source or description has this text in it; `table 2`, for example
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Seconds of processor time until a run that does not end is given up
    #[arg(long, value_name = "SECONDS", default_value_t = command_line::TIMEOUT_S, value_parser = command_line::seconds())]
    timeout: u64,
}

/// Carries out `cargo xtask fidelity`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let mut evidence = Evidence::new(Duration::from_secs(arguments.timeout));
    let wanted: Vec<_> = match &arguments.only {
        None => entries().collect(),
        Some(only) => part(only)?,
    };
    let (checked, failed) = measured(wanted, |entry| ours(entry, &mut evidence))?;
    println!("{}", output::for_the_eye(&checked));
    let directory = workspace::target().join("fidelity");
    for path in output::write(&directory, &checked)? {
        println!("wrote {}", workspace::display(&path));
    }
    all_measured(&failed)?;
    conclude(&checked)
}

/// All entries, measured.
pub(crate) fn table(evidence: &mut Evidence) -> Result<Vec<Checked>> {
    let (checked, failed) = measured(entries().collect(), |entry| ours(entry, evidence))?;
    all_measured(&failed)?;
    Ok(checked)
}

/// The entries that have a text in them.
fn part(only: &str) -> Result<Vec<&'static Entry>> {
    let wanted: Vec<_> = entries().filter(|entry| is_asked_for(entry, only)).collect();
    ensure!(!wanted.is_empty(), "no entry has `{only}` in it");
    Ok(wanted)
}

/// Measures entries. Those that cannot be measured do not keep others from it, whose benches may take minutes: they
/// come back by name, with the reason.
fn measured(
    wanted: Vec<&'static Entry>,
    mut measure: impl FnMut(&Entry) -> Result<f64>,
) -> Result<(Vec<Checked>, Vec<String>)> {
    let (mut checked, mut failed) = (Vec::new(), Vec::new());
    for entry in wanted {
        match measure(entry).with_context(|| format!("{}, {}", entry.source, entry.what)) {
            Ok(ours) => checked.push(Checked { entry, ours }),
            Err(why) if interrupt::requested() => return Err(why),
            Err(why) => failed.push(format!("{why:#}")),
        }
    }
    Ok((checked, failed))
}

fn ours(entry: &Entry, evidence: &mut Evidence) -> Result<f64> {
    Ok((entry.ours)(evidence.rows(entry.bench, entry.machine)?)?)
}

/// Demands that nothing could not be measured.
fn all_measured(failed: &[String]) -> Result<()> {
    match failed {
        [] => Ok(()),
        [one] => bail!("fidelity: 1 entry cannot be measured: {one}"),
        [first, ..] => bail!("fidelity: {} entries cannot be measured, the first: {first}", failed.len()),
    }
}

fn is_asked_for(entry: &Entry, only: &str) -> bool {
    let only = only.to_lowercase();
    [entry.source, entry.what].iter().any(|text| text.to_lowercase().contains(&only))
}

/// The last line, and the verdict on all entries.
fn conclude(checked: &[Checked]) -> Result<()> {
    let failed: Vec<_> = checked.iter().filter(|checked| checked.verdict() == Verdict::Fails).collect();
    if !failed.is_empty() {
        let name = |checked: &&Checked| {
            let [source, what, ours, published, error, band, _] = checked.cells();
            format!("{source}, {what}: {ours}, published {published} ({error}, band {band})")
        };
        let names: Vec<_> = failed.iter().map(name).collect();
        bail!("fidelity: {} of {} entries have left their bands: {}", failed.len(), checked.len(), names.join("; "));
    }
    let count = |name| match checked.iter().filter(|checked| checked.entry.status.name() == name).count() {
        0 => String::new(),
        count => format!(", {count} {name}"),
    };
    let open: String = ["unexplained", "reported"].map(count).concat();
    let held = checked.iter().filter(|checked| checked.verdict() == Verdict::Holds).count();
    println!("fidelity: ok, {held} entries are in their bands{open}");
    Ok(())
}

#[cfg(test)]
mod tests;
