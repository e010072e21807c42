//! Clusters of machines: the in-kernel tests on them, and what they say of a node that is gone.

use super::{Arguments, guests, summary::Suite};
use crate::{
    cluster::{Cluster, Disturbance, Ended, Shape},
    memory::Plan,
    progress::Progress,
    setup::Tools,
    words::Words,
};
use anyhow::{Result, ensure};
use std::{path::Path, time::Duration};

/// Clusters for the in-kernel tests, and which of them they run: more nodes than a small host has processors take
/// their turns on these, and are slow.
pub(crate) const SHAPES: [(Shape, Option<&str>); 2] =
    [(Shape { nodes: 2, cores: 4 }, None), (Shape { nodes: 3, cores: 2 }, Some("cluster::"))];

/// What becomes of node 1, by the names of the tests.
const DISTURBANCES: [(&str, i32); 2] =
    [("cluster-node-is-killed", libc::SIGKILL), ("cluster-node-is-stopped", libc::SIGSTOP)];

/// Seconds without a sign of life in these tests.
const DEADLINE_S: u64 = 3;

/// How much later than at the deadline the report may be there, on a busy host.
const SLACK: Duration = Duration::from_secs(10);

/// Boots the image with the tests on a cluster and counts them.
///
/// # Errors
///
/// When a node cannot be started.
pub(crate) fn run(
    suite: &mut Suite,
    arguments: &Arguments,
    tools: &Tools,
    image: &Path,
    shape: Shape,
    part: Option<&str>,
) -> Result<()> {
    let filter = match (arguments.filter.as_deref(), part) {
        // What is asked for and not part of this is not run.
        (Some(filter), Some(part)) if !filter.starts_with(part) => return Ok(()),
        (filter, part) => filter.or(part),
    };
    let words = Words::default().value("filter", filter);
    let label = format!("in-kernel tests on {shape}");
    let ended = boot(arguments, tools, image, shape, words, &label, None)?;
    if guests::count(suite, &ended.outcome, arguments.filter.is_some()) {
        ended.outcome.show_tail();
    }
    Ok(())
}

/// Has something happen to one of three nodes. The others have to report it in time.
///
/// # Errors
///
/// When a node cannot be started.
pub(crate) fn disturbed(suite: &mut Suite, arguments: &Arguments, tools: &Tools, image: &Path) -> Result<()> {
    let shape = Shape { nodes: 3, cores: 2 };
    for (name, signal) in DISTURBANCES.into_iter().filter(|(name, _)| arguments.wants(name)) {
        let words = Words::default().value("program", Some("endless"));
        let disturbance = Disturbance { node: 1, signal, after: Duration::from_millis(500) };
        let ended = boot(arguments, tools, image, shape, words, name, Some(disturbance))?;
        suite.check(name, judge(&ended));
    }
    Ok(())
}

fn judge(ended: &Ended) -> Result<()> {
    let Err(error) = ended.outcome.verdict() else { anyhow::bail!("a cluster without one of its nodes ended well") };
    let report = error.to_string();
    let expected = format!("node 1 has disappeared: no sign of life for {DEADLINE_S} s");
    ensure!(report.contains(&expected), "`{report}` instead of `{expected}`");
    ensure!(report.contains("waits for"), "`{report}` does not say who waits for what");
    let limit = Duration::from_secs(DEADLINE_S) + SLACK;
    let took = ended.disturbed.unwrap_or(Duration::MAX);
    ensure!(took < limit, "the report and the end took {} s", took.as_secs());
    Ok(())
}

fn boot(
    arguments: &Arguments,
    tools: &Tools,
    image: &Path,
    shape: Shape,
    words: Words,
    label: &str,
    disturbance: Option<Disturbance>,
) -> Result<Ended> {
    let _progress = Progress::new(label);
    let cluster = Cluster {
        qemu: &tools.qemu,
        image,
        inputs: &[],
        shape,
        plan: &Plan::new(shape.cores, 0, None, None)?,
        words,
        deadline_s: if disturbance.is_some() { DEADLINE_S } else { crate::cluster::DEADLINE_S },
    };
    cluster.run(label, arguments.limit(), disturbance, |_, _| {})
}
