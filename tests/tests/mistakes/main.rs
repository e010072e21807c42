//! Small programs with a mistake each, and the same programs without it. The coherence checker has to name the mistake by its
//! kind at the line that is marked, and nothing else; and of the right ones nothing at all.
//!
//! A case is a function that gets the core and whether it is to be wrong. The line that has to change is marked by the comment
//! `MISTAKE`. It is never the last call of its function: the compiler may leave the function before it makes that call, and the
//! line of the caller would be named. Most mistakes are what programmers of such chips got wrong: what stays in a write-combine
//! buffer, what L1 kept, two ranks in one cached line.

#[path = "../common/mod.rs"]
mod common;
mod explored;
mod flags;
mod kinds;
mod left_out;
mod lost;
mod machine;
mod races;
mod registers_freed_early;
mod stale_cached;
mod stale_lines;
mod wasted;
mod windows;

use std::{fs, path::Path};

use hal::{
    emulated::Omit,
    sim::{Finding, Machine, Mistake, SimCore},
};

/// The line of a function that ends with this mark.
fn marked_line(source: &str, function: &str, mark: &str) -> u32 {
    let mut lines = source.lines().zip(1..);
    lines.find(|(line, _)| line.starts_with(&format!("fn {function}("))).expect("a case is a function");
    lines.take_while(|(line, _)| *line != "}").find(|(line, _)| line.ends_with(mark)).expect("a line is marked").1
}

/// A program that is wrong if it is asked to be.
struct Case {
    name: &'static str,
    file: &'static str,
    mistake: Mistake,
    cores: usize,
    run: fn(&SimCore, bool),
}

/// Lists cases: the kind of their mistake, how many cores they need, and the function.
macro_rules! cases {
    ($($mistake:ident on $cores:literal: $run:ident;)*) => {
        pub(crate) const CASES: &[crate::Case] = &[$(
            crate::Case {
                name: stringify!($run),
                file: file!(),
                mistake: hal::sim::Mistake::$mistake,
                cores: $cores,
                run: $run,
            },
        )*];
    };
}
pub(crate) use cases;

impl Case {
    /// The line of its mistake.
    fn line(&self) -> u32 {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(self.file);
        marked_line(&fs::read_to_string(path).expect("the sources are there"), self.name, "// MISTAKE")
    }

    fn findings(&self, wrong: bool) -> Vec<Finding> {
        let checked = Machine::scc(self.cores).check(|core, _| (self.run)(core, wrong));
        assert!(wrong || checked.result.is_ok(), "{}: the right one fails: {:?}", self.name, checked.result);
        checked.findings
    }

    /// Kind and place of what is found in the wrong one.
    fn found(&self) -> Vec<(Mistake, u32)> {
        let line = |finding: &Finding| {
            let mut frames = finding.place.frames.iter();
            frames.find(|frame| frame.file.ends_with(self.file)).map_or(0, |frame| frame.line)
        };
        self.findings(true).iter().map(|finding| (finding.mistake, line(finding))).collect()
    }
}

fn all() -> Vec<&'static Case> {
    let lists = [
        stale_lines::CASES,
        stale_cached::CASES,
        lost::CASES,
        races::CASES,
        flags::CASES,
        kinds::CASES,
        registers_freed_early::CASES,
        windows::CASES,
    ];
    lists.into_iter().flatten().collect()
}

#[test]
fn each_mistake_is_found_where_it_is_and_nothing_else() {
    let wrong: Vec<_> = all()
        .into_iter()
        .filter_map(|case| {
            let (found, expected) = (case.found(), (case.mistake, case.line()));
            let is_right = !found.is_empty() && found.iter().all(|found| *found == expected);
            (!is_right).then(|| format!("{}: {found:?} instead of {expected:?}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all().len(), wrong.join("\n"));
}

#[test]
fn nothing_is_found_in_what_is_right() {
    for case in all() {
        let findings = case.findings(false);
        assert!(findings.is_empty(), "{}: {findings:#?}", case.name);
    }
}

#[test]
fn all_kinds_have_cases() {
    for mistake in Mistake::OF_SHARED_MEMORY {
        let count = all().iter().filter(|case| case.mistake == mistake).count();
        assert!(count >= 4, "{count} of {mistake}");
    }
    assert!(all().len() >= 60, "{}", all().len());
}

/// What protocols would be without their own drains, write-backs and invalidations.
#[test]
fn what_protocols_leave_out_is_found() {
    for (left_out, expected) in [
        (Omit::DRAIN, "a drain"),
        (Omit::FLUSH, "a write-back (`write_back_invalidate`"),
        (Omit::INVALIDATE_MPB, "an `invalidate_mpb`"),
    ] {
        let checked = Machine::scc(3).check(|core, _| {
            core.omit(left_out);
            windows::ring(core);
        });
        let remedies: Vec<_> = checked.findings.iter().map(|finding| &finding.remedy).collect();
        assert!(remedies.iter().any(|remedy| remedy.contains(expected)), "{left_out:?}: {remedies:?}");
    }
    let whole = Machine::scc(3).check(|core, _| windows::ring(core));
    assert!(whole.findings.is_empty() && whole.result.is_ok(), "{:?}", whole.findings);
}

/// What the checker says of a run does not change the run.
#[test]
fn checked_runs_take_as_long_as_others() {
    for case in all() {
        let machine = Machine::scc(case.cores);
        let plain = machine.run(|core| (case.run)(core, false)).expect("it is right");
        let checked = machine.check(|core, _| (case.run)(core, false)).result.expect("it is right");
        assert_eq!(plain, checked, "{}", case.name);
    }
}
