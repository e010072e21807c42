//! Programs in C under the checker: wrong ones, whose mistakes are found where comments in them say, and nothing else; and their
//! right twins, in which nothing is. And those that end well in their plain runs and stand still or crash in others, which are found and repeated.

use super::{c_programs::DIRECTORY, jobs::Job, kit::Kit};
use crate::{
    c, findings, guest, host_command, kernel_line::KernelLine, loading, program::Program, sim_replay, workspace,
};
use anyhow::{Context, Result, ensure};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The programs, and on how many ranks they run.
const PROGRAMS: [(&str, u32); 3] = [("mpi.c", 3), ("epochs.c", 3), ("rcce.c", 2)];

/// The programs whose other runs are explored, and how these end.
const EXPLORED: [(&str, &str); 2] = [("locks.c", "deadlock"), ("crash.c", "read of 0x0, where it has no memory")];

/// Seconds of processor time.
const SECONDS: u64 = 2;

/// The macro that makes a program wrong.
const WRONG: &str = "WRONG";

/// A mistake: its kind, and the lines of its places.
type Mistake = (String, BTreeSet<u32>);

/// Jobs for the simulator.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    let name = |file: &str, is_wrong| {
        format!("c-checked-{}-{}", if is_wrong { "wrong" } else { "right" }, &file[..file.len() - 2])
    };
    let all = PROGRAMS.into_iter().flat_map(|(file, cores)| [(file, cores, false), (file, cores, true)]);
    let wanted: Vec<_> = all.filter(|(file, _, is_wrong)| kit.arguments.wants(&name(file, *is_wrong))).collect();
    (!wanted.is_empty()).then(|| {
        Job::new("programs in C, checked", 10, move |suite| {
            for (file, cores, is_wrong) in wanted {
                suite.check(&name(file, is_wrong), compare(kit, file, cores, is_wrong));
            }
            Ok(())
        })
    })
}

/// Jobs that explore.
pub(super) fn jobs_of_explorer<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    let name = |file: &str, is_wrong| {
        format!("c-explored-{}-{}", if is_wrong { "wrong" } else { "right" }, &file[..file.len() - 2])
    };
    let all = EXPLORED.into_iter().flat_map(|(file, end)| [(file, end, false), (file, end, true)]);
    let wanted: Vec<_> = all.filter(|(file, _, is_wrong)| kit.arguments.wants(&name(file, *is_wrong))).collect();
    (!wanted.is_empty()).then(|| {
        Job::new("programs in C, explored", 10, move |suite| {
            for (file, end, is_wrong) in wanted {
                suite.check(&name(file, is_wrong), explore(kit, file, end, is_wrong));
            }
            Ok(())
        })
    })
}

/// Explores, and repeats what was found.
fn explore(kit: &Kit<'_>, file: &str, end: &str, is_wrong: bool) -> Result<()> {
    let is_crash = end != "deadlock";
    let run =
        |words: &dyn Fn(KernelLine) -> KernelLine| run(kit, &Path::new("explored").join(file), 2, is_wrong, words);
    let (outcome, _) = run(&|words| words.value("explore", Some(SECONDS)))?;
    outcome.verdict()?;
    let explored = outcome.transcript.explored.as_ref().context("nothing was explored")?;
    let failing = outcome.transcript.failing.as_ref();
    ensure!(failing.is_some() == is_wrong, "{explored:?}: {failing:?}");
    let Some(failing) = failing else {
        ensure!(explored.by_chance > 0, "no run was made by chance");
        return Ok(());
    };
    let is_needed = failing.is_least && !failing.deviations.contains(',');
    ensure!(is_needed && failing.end.contains(end), "{failing:?}");
    ensure!(!outcome.transcript.story.is_empty(), "there is no story");
    let (again, _) = run(&|words| sim_replay::deviating(words, Some(&failing.deviations)))?;
    let end = again.transcript.done.clone();
    // Of a crash, the last line also says where in the program it was.
    let place = end.as_ref().and_then(|end| end.as_ref().err()?.strip_prefix(&failing.end));
    let is_in_program = |place: &str| place.starts_with(", in ") && place.contains(&format!("explored/{file}:"));
    let is_same = place.is_some_and(|place| place.is_empty() != is_crash && (place.is_empty() || is_in_program(place)));
    ensure!(is_same, "{end:?} instead of {}", failing.end);
    Ok(())
}

/// Runs a program under the checker, with more words. Returns what came of it, and what was loaded.
fn run(
    kit: &Kit<'_>,
    file: &Path,
    cores: u32,
    is_wrong: bool,
    more: &dyn Fn(KernelLine) -> KernelLine,
) -> Result<(guest::Outcome, Option<PathBuf>)> {
    let path = workspace::root().join(DIRECTORY).join(file);
    let options = c::CompilerOptions::of_test(if is_wrong { &[WRONG] } else { &[] }, false);
    let program = Program::of_words(&[path.to_string_lossy().into_owned()], &options)?.checked();
    kit.c_tools()?;
    let built = loading::built(&program, kit.arguments.yes)?;
    let words = loading::words_of_built(built.as_deref(), KernelLine::default().free(&program.words(&[]))?);
    let words = words.value("machine", Some("scc")).value("cores", Some(cores));
    let mut command = host_command::of(&kit.simulator(&program)?.executable, more(findings::words(words)), &[])?;
    let outcome = guest::run(&format!("{} checked", file.display()), &mut command, None, kit.limit(), |_| {})?;
    Ok((outcome, built))
}

/// Compares what is found with what is to be.
fn compare(kit: &Kit<'_>, file: &str, cores: u32, is_wrong: bool) -> Result<()> {
    let path = workspace::root().join(DIRECTORY).join("checked").join(file);
    let expected = if is_wrong { expected(&fs::read_to_string(&path)?)? } else { BTreeSet::new() };
    let (outcome, built) = run(kit, &Path::new("checked").join(file), cores, is_wrong, &|words| words)?;
    outcome.verdict()?;
    let found: BTreeSet<Mistake> = findings::of(&outcome.transcript, built.as_deref())?
        .iter()
        .map(|finding| {
            let of_file = findings::lines(finding, file).with_context(|| format!("{finding:?} is elsewhere"))?;
            Ok((finding.kind.clone(), of_file))
        })
        .collect::<Result<_>>()?;
    let missed: Vec<_> = expected.difference(&found).collect();
    let more: Vec<_> = found.difference(&expected).collect();
    ensure!(missed.is_empty() && more.is_empty(), "missed: {missed:?}; found besides: {more:?}");
    Ok(())
}

/// What comments say: `KIND: LETTER` at one place of a mistake, and `LETTER` at the other, if that is another line.
fn expected(source: &str) -> Result<BTreeSet<Mistake>> {
    let (mut kinds, mut lines) = (BTreeMap::new(), BTreeMap::<&str, BTreeSet<u32>>::new());
    for (number, line) in (1..).zip(source.lines()) {
        for comment in line.split("/* ").skip(1).filter_map(|rest| rest.split_once(" */")).map(|(comment, _)| comment) {
            let (kind, letter) =
                comment.rsplit_once(": ").map_or((None, comment), |(kind, letter)| (Some(kind), letter));
            if letter.len() == 1 {
                lines.entry(letter).or_default().insert(number);
                kind.map(|kind| kinds.insert(letter, kind));
            }
        }
    }
    let mistake = |(letter, lines)| {
        let kind = kinds.get(letter).with_context(|| format!("no kind is said of {letter}"))?;
        Ok(((*kind).to_owned(), lines))
    };
    lines.into_iter().map(mistake).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_what_is_expected() {
        let source = "/* About. */\nput(); /* a */\nstore(); /* one-sided misuse: a */\nloop(); /* race: b */\n";
        let expected = expected(source).unwrap();
        let mistake = |kind: &str, lines: &[u32]| (kind.to_owned(), lines.iter().copied().collect());
        assert_eq!(expected, [mistake("one-sided misuse", &[2, 3]), mistake("race", &[4])].into());
        assert!(super::expected("x(); /* a */").is_err());
    }
}
