//! Programs in C under the checker: wrong ones, whose mistakes are found where comments in them say, and nothing else; and their
//! right twins, in which nothing is.

use super::{c_programs::DIRECTORY, jobs::Job, kit::Kit};
use crate::{c, check, guest, host_command, kernel_line::KernelLine, loading, program::Program, workspace};
use anyhow::{Context, Result, ensure};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// The programs, and on how many ranks they run.
const PROGRAMS: [(&str, u32); 3] = [("mpi.c", 3), ("epochs.c", 3), ("rcce.c", 2)];

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

/// Compares what is found with what is to be.
fn compare(kit: &Kit<'_>, file: &str, cores: u32, is_wrong: bool) -> Result<()> {
    let path = workspace::root().join(DIRECTORY).join("checked").join(file);
    let expected = if is_wrong { expected(&fs::read_to_string(&path)?)? } else { BTreeSet::new() };
    let options = c::CompilerOptions::of_test(if is_wrong { &[WRONG] } else { &[] }, false);
    let program = Program::of_words(&[path.to_string_lossy().into_owned()], &options)?.checked();
    let built = loading::built(&program, kit.arguments.yes)?;
    let words = loading::words_of_built(built.as_deref(), KernelLine::default().free(&program.words(&[]))?);
    let words = check::words(words.value("machine", Some("scc")).value("cores", Some(cores)));
    let mut command = host_command::of(&kit.simulator(&program)?.executable, words, &[])?;
    let outcome = guest::run(&format!("{file} checked"), &mut command, None, kit.limit(), |_| {})?;
    outcome.verdict()?;
    let found: BTreeSet<Mistake> = check::findings(&outcome.transcript, built.as_deref())?
        .iter()
        .map(|finding| {
            let of_file = check::lines(finding, file).with_context(|| format!("{finding:?} is elsewhere"))?;
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
