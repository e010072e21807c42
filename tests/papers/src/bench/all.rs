//! All benches, one after the other in the table and all at once on the host's cores.

use super::{Arguments, check, compare::Comparison, conclude, csv, rows_of, setting::Setting, write};
use crate::{bench::series::Samples, papers};
use anyhow::{Result, bail, ensure};
use host::progress::Progress;
use std::{path::Path, sync::Mutex};

/// Runs all benches, writes all files, and says a line about each.
///
/// # Errors
/// When a bench fails, after all others have run.
pub(super) fn run(arguments: &Arguments, setting: &Setting<'_>) -> Result<()> {
    // Those that are about another machine are left to their own call.
    let (benches, others): (Vec<_>, Vec<_>) = papers::benches().partition(|bench| bench.only_on.is_none());
    for (bench, machine) in others.iter().filter_map(|bench| Some((bench, bench.only_on.as_ref()?))) {
        println!("{}: left out, it is about {machine}: `cargo xtask bench {}`", bench.name, bench.name);
    }
    // Read before they are written over.
    let old: Vec<_> = match &arguments.compare {
        None => benches.iter().map(|_| None).collect(),
        Some(directory) => {
            ensure!(directory.is_dir(), "{} is no directory", super::shown(Some(directory)));
            let file = |name: &str| directory.join(file_name(name, setting));
            let read = |path: &Path| if path.is_file() { csv::Medians::read(path).map(Some) } else { Ok(None) };
            benches.iter().map(|bench| read(&file(bench.name))).collect::<Result<_>>()?
        }
    };
    let failed = Mutex::new(Vec::new());
    let finished = |place: usize, samples: Result<Vec<Samples>>, progress: &Progress| {
        let bench = benches[place];
        let line = samples.and_then(|samples| {
            let rows = rows_of(bench, setting.machine, samples)?;
            write(bench, setting.machine, &rows)?;
            let said = conclude(bench.name, &check(bench, &rows, setting))?;
            let said = format!("{said}; {} rows", rows.iter().count());
            Ok(match (&old[place], &arguments.compare) {
                (Some(old), _) => {
                    let new = csv::Medians::of(bench.name, &setting.machine.to_string(), &rows)?;
                    let comparison = Comparison::of(old, &new, arguments.threshold);
                    let table = comparison.table().map_or_else(String::new, |table| format!("\n{table}"));
                    format!("{said}; {}{table}", comparison.summary())
                }
                (None, Some(_)) => format!("{said}; nothing to compare with"),
                (None, None) => said,
            })
        });
        match line {
            Ok(line) => progress.print(&line),
            Err(error) => {
                // The error of a claim begins with the name by itself.
                let text = format!("{error:#}");
                let text = text.strip_prefix(&format!("{}: ", bench.name)).unwrap_or(&text).to_owned();
                progress.print(&format!("{}: FAILED: {}", bench.name, text.replace('\n', " ")));
                if let Ok(mut failed) = failed.lock() {
                    failed.push(bench.name);
                }
            }
        }
    };
    setting.run_each(&benches, finished)?;
    let failed = failed.into_inner().unwrap_or_default();
    if !failed.is_empty() {
        bail!("{} of {} benches have failed: {}", failed.len(), benches.len(), failed.join(", "));
    }
    println!("{} benches: ok, all files are in target/bench", benches.len());
    Ok(())
}

/// The name of a bench's file, in whatever directory.
fn file_name(bench: &str, setting: &Setting<'_>) -> std::path::PathBuf {
    let is_default = *setting.machine == super::Machine::default();
    let path = csv::path(bench, &setting.machine.to_string(), is_default);
    path.file_name().map(Into::into).unwrap_or_default()
}
