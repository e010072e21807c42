//! Every operation in QEMU, on an emulated board, and in the simulator: each rank has to count the same in each step. So all
//! of them choose the same algorithms.
//!
//! What is compared are the counters that do not depend on timing, see `hal::Counters`: polls, failed acquires, fetches,
//! evictions, interrupts and atomic counters are not among them. Where *which* rank does something depends on timing, the
//! program says so, and the counters of all ranks are compared together.

use super::{backends::Backends, jobs::Job, kit::Kit, summary::Suite};
use crate::{
    console::{Step, Transcript},
    cores,
    guest::Outcome,
    kernel_line::KernelLine,
    program::{Program, ROUNDS as PROGRAM},
    progress::Progress,
    run,
};
use anyhow::{Result, bail, ensure};
use std::collections::BTreeMap;

/// Cores that it runs on.
const CORES: [u16; 4] = [1, 5, 16, 48];

/// The name of the test on `cores` cores, for `--filter`.
fn name(cores: u16) -> String {
    format!("simulator-equals-qemu-{cores}")
}

/// Jobs that run the program on both backends, on several numbers of cores, and compare.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>) -> impl Iterator<Item = Job<'t>> {
    let wanted = CORES.into_iter().filter(|cores| kit.arguments.wants(&name(*cores)));
    wanted.map(move |cores| {
        Job::new("simulator equals QEMU", usize::from(cores), move |suite| {
            let backends = Backends::of(PROGRAM, Vec::new(), kit)?;
            kit.image(&backends.program)?;
            kit.simulator(&backends.program)?;
            suite.begin();
            let label = format!("{PROGRAM} on {}", cores::cores(cores.into()));
            let _progress = Progress::new(format!("{label}, in QEMU and simulated"));
            let in_qemu =
                backends.in_qemu(cores, &run::plan(&backends.program, cores, &[], &[])?, &KernelLine::default())?;
            let simulated = backends.simulated(cores, &KernelLine::default())?;
            let verdict = in_qemu.verdict().and_then(|()| simulated.verdict());
            let same = || same(&label, "in QEMU", &in_qemu.transcript, &simulated.transcript);
            suite.check(&name(cores), verdict.and_then(|()| same()));
            suite.explain(&in_qemu);
            suite.explain(&simulated);
            Ok(())
        })
    })
}

/// Name of the test of an SCC.
pub(super) const ON_BOARD: &str = "simulator-equals-board";

/// Cores of the SCC that it runs on.
const CORES_OF_BOARD: u16 = 13;

/// Compares what an SCC counts, whose files `emulated` runs, with what the simulator of it does.
pub(super) fn on_board(
    suite: &mut Suite,
    kit: &Kit<'_>,
    emulated: impl FnOnce(&Program, u16) -> Result<Outcome>,
) -> Result<()> {
    let backends = Backends::of(PROGRAM, Vec::new(), kit)?;
    kit.board_image(&backends.program)?;
    kit.simulator(&backends.program)?;
    suite.begin();
    let on_board = emulated(&backends.program, CORES_OF_BOARD)?;
    let simulated = backends.simulated(CORES_OF_BOARD, &KernelLine::default())?;
    let verdict = on_board.verdict().and_then(|()| simulated.verdict());
    let same = || same(PROGRAM, ON_THE_BOARD, &on_board.transcript, &simulated.transcript);
    suite.check(ON_BOARD, verdict.and_then(|()| same()));
    suite.explain(&on_board);
    suite.explain(&simulated);
    Ok(())
}

/// Where that is, in messages.
const ON_THE_BOARD: &str = "on the board";

/// What boards do not tell: what their caches write back.
const NOT_ON_BOARDS: &str = "lines_written_back";

/// Counters by step and rank, or of all ranks together.
type Counts<'t> = BTreeMap<(&'t str, Option<u32>, &'t str), u64>;

/// What a backend has counted, and how many steps each rank has told.
fn counted(transcript: &Transcript) -> (Counts<'_>, BTreeMap<(&str, u32), usize>) {
    let (mut counts, mut told) = (Counts::new(), BTreeMap::new());
    for Step { rank, name, is_together, counters } in &transcript.steps {
        *told.entry((name.as_str(), *rank)).or_default() += 1;
        for (counter, count) in counters {
            let rank = (!is_together).then_some(*rank);
            *counts.entry((name.as_str(), rank, counter.as_str())).or_default() += count;
        }
    }
    (counts, told)
}

/// Compares all counters.
fn same(program: &str, place: &str, run: &Transcript, simulated: &Transcript) -> Result<()> {
    let ((left, left_told), (right, right_told)) = (counted(run), counted(simulated));
    ensure!(!left_told.is_empty(), "{program}: no steps {place}");
    let is_told = |counter: &str| place != ON_THE_BOARD || counter != NOT_ON_BOARDS;
    let missing = left_told.iter().find(|(step, told)| right_told.get(*step) != Some(*told));
    let missing = missing.or_else(|| right_told.iter().find(|(step, told)| left_told.get(*step) != Some(*told)));
    if let Some(((step, rank), _)) = missing {
        bail!("{program}: only one backend has step {step} of rank {rank}, or one has it more often");
    }
    let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
    let keys = keys.filter(|(_, _, counter)| is_told(counter));
    let differences: Vec<_> = keys
        .filter_map(|key| {
            let [one, other] = [&left, &right].map(|counts| counts.get(key).copied().unwrap_or(0));
            let (step, rank, counter) = key;
            let who = rank.map_or_else(|| "all ranks".to_owned(), |rank| format!("rank {rank}"));
            (one != other).then(|| format!("step {step}, {who}, {counter}: {one} {place}, {other} in the simulator"))
        })
        .collect();
    match differences.first() {
        None => Ok(()),
        Some(first) => bail!("{program}: {} counters differ, the first: {first}", differences.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(lines: &str) -> Transcript {
        let transcript = Transcript::of(lines.lines());
        assert!(transcript.problems.is_empty(), "{:?}", transcript.problems);
        transcript
    }

    fn message(left: &str, right: &str) -> String {
        same("p", "in QEMU", &transcript(left), &transcript(right)).unwrap_err().to_string()
    }

    #[test]
    fn counters_are_compared_by_rank_or_together() {
        let left = "@step 0 a drains=1\n@step 1 a drains=2\n@step 0 b together drains=1\n@step 1 b together drains=2";
        let right = "@step 1 a drains=2\n@step 0 a drains=1\n@step 0 b together drains=3\n@step 1 b together";
        assert!(same("p", "in QEMU", &transcript(left), &transcript(right)).is_ok());
        assert_eq!(
            message("@step 0 a drains=1", "@step 0 a drains=2"),
            "p: 1 counters differ, the first: step a, rank 0, drains: 1 in QEMU, 2 in the simulator"
        );
        assert_eq!(
            message("@step 3 a\n@step 4 a together", "@step 3 a words_read=7\n@step 4 a together words_read=1"),
            "p: 2 counters differ, the first: step a, all ranks, words_read: 0 in QEMU, 1 in the simulator"
        );
    }

    #[test]
    fn boards_do_not_tell_what_is_written_back() {
        let (left, right) = ("@step 0 a drains=1", "@step 0 a drains=1 lines_written_back=5");
        assert!(same("p", ON_THE_BOARD, &transcript(left), &transcript(right)).is_ok());
        assert!(message(left, right).ends_with("lines_written_back: 0 in QEMU, 5 in the simulator"));
    }

    #[test]
    fn steps_must_be_there() {
        assert_eq!(message("", "@step 0 a"), "p: no steps in QEMU");
        let missing = "p: only one backend has step b of rank 0, or one has it more often";
        assert_eq!(message("@step 0 a\n@step 0 b", "@step 0 a"), missing);
        assert_eq!(message("@step 0 a", "@step 0 a\n@step 0 b"), missing);
        assert_eq!(message("@step 0 a\n@step 0 b\n@step 0 b", "@step 0 a\n@step 0 b"), missing);
    }
}
