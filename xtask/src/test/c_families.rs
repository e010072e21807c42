//! Programs in C that call the functions of a family, of RCCE and iRCCE or of MPI, rightly and wrongly, on several numbers of
//! cores.
//!
//! Each program says in comments of its own, one for each way to compile it, what it is tested on:
//! `/* test: cores=1,2,5 options=-DGORY faithful fails="report" */`, or `says="line"` for what it has to print, and `checked` where ranks
//! compare their arguments.

use super::{
    c_programs::{DIRECTORY, Subject, built},
    jobs::Job,
    kit::Kit,
    summary::Suite,
};
use crate::{c, guest::Outcome, program::Program, workspace};
use anyhow::{Context, Result, ensure};
use std::{fs, path::PathBuf};

/// Families that have programs.
const FAMILIES: [&str; 3] = ["mpi", "posix", "rcce"];

/// What is run under QEMU besides, of which family, and on how many cores: what depends on the machine.
const IN_QEMU: [(&str, &str, u16); 11] = [
    ("mpi", "collectives", 5),
    ("mpi", "messages", 5),
    ("mpi", "misuse", 2),
    ("mpi", "operators", 1),
    ("mpi", "types", 2),
    ("mpi", "windows", 5),
    ("rcce", "buffers", 5),
    ("rcce", "flags", 5),
    ("rcce", "shared", 2),
    ("rcce", "requests", 5),
    ("rcce", "dereference", 1),
];

/// A program as it is compiled, and how it has to end.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Case {
    family: &'static str,
    program: String,
    define: Vec<String>,
    faithful: bool,
    checked: bool,
    cores: u16,
    fails: Option<String>,
    says: Option<String>,
}

impl Case {
    /// The name of the test.
    fn name(&self) -> String {
        let how: String =
            self.define.iter().map(|name| format!("-{}", name.to_lowercase().replace('_', "-"))).collect();
        let faithful = if self.faithful { "-faithful" } else { "" };
        let checked = if self.checked { "-checked" } else { "" };
        format!("{}-{}{how}{faithful}{checked}-on-{}", self.family, self.program.replace('_', "-"), self.cores)
    }

    /// The tests that a program asks for.
    fn all_of(family: &'static str, program: &str, text: &str) -> Result<Vec<Self>> {
        let mut cases = Vec::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("/* test: ")?.strip_suffix(" */")) {
            let quoted = |key: &str| Some(line.split_once(&format!("{key}=\""))?.1.split_once('"')?.0.to_owned());
            let value = |key: &str| line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            let has = |word: &str| line.split(' ').any(|said| said == word);
            let define = value("options").into_iter().flat_map(|all| all.split(','));
            let define: Vec<_> = define.map(|option| option.trim_start_matches("-D").to_owned()).collect();
            for cores in value("cores").context("no cores are named")?.split(',') {
                cases.push(Self {
                    family,
                    program: program.to_owned(),
                    define: define.clone(),
                    faithful: has("faithful"),
                    checked: has("checked"),
                    cores: cores.parse().with_context(|| format!("`{line}`"))?,
                    fails: quoted("fails"),
                    says: quoted("says"),
                });
            }
        }
        ensure!(!cases.is_empty(), "{program} says nothing of how it is tested");
        Ok(cases)
    }

    fn subject<'t>(&self, kit: &'t Kit<'t>) -> Result<Subject<'t>> {
        let file = directory(self.family).join(&self.program).with_extension("c").to_string_lossy().into_owned();
        let define: Vec<_> = self.define.iter().map(String::as_str).collect();
        let program = Program::of_words(&[file], &c::CompilerOptions::of_test(&define, self.faithful))?;
        kit.c_tools()?;
        let words = self.checked.then(|| "check=arguments".to_owned()).into_iter().collect();
        Ok(Subject { kit, program, cores: self.cores, words, inputs: Vec::new() })
    }

    fn judge(&self, suite: &mut Suite, outcome: &Outcome) {
        let said = |text: &str| {
            let found = outcome.transcript.text.iter().any(|line| line.contains(text));
            ensure!(found, "`{text}` was not printed");
            Ok(())
        };
        let result = match (&self.fails, &self.says) {
            // What the program has printed before counts as well.
            (Some(report), _) if said(report).is_ok() => outcome.verdict_of_fatal(""),
            (Some(report), _) => outcome.verdict_of_fatal(report),
            (None, Some(text)) => outcome.verdict().and_then(|()| said(text)),
            (None, None) => outcome.verdict(),
        };
        suite.check(&self.name(), result);
        suite.explain(outcome);
    }
}

fn directory(family: &str) -> PathBuf {
    workspace::root().join(DIRECTORY).join(family)
}

/// All tests, of programs in the order of their names.
fn cases() -> Result<Vec<Case>> {
    let mut all = Vec::new();
    for family in FAMILIES {
        let mut files: Vec<_> = fs::read_dir(directory(family))?.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", workspace::display(&file)))?;
            all.extend(Case::all_of(family, &name, &text).with_context(|| workspace::display(&file).to_string())?);
        }
    }
    Ok(all)
}

fn job<'t>(
    kit: &'t Kit<'t>,
    (suite, cost_s): (&str, usize),
    is_meant: impl Fn(&Case) -> bool,
    prepare: fn(&Kit<'_>) -> Result<()>,
    run: impl Fn(&Subject<'t>) -> Result<Outcome> + Send + 't,
) -> Result<Option<Job<'t>>> {
    let cases: Vec<_> =
        cases()?.into_iter().filter(|case| is_meant(case) && kit.arguments.wants(&case.name())).collect();
    Ok((!cases.is_empty()).then(|| {
        Job::new(suite, cost_s, move |suite| {
            prepare(kit)?;
            suite.begin();
            for case in cases {
                case.judge(suite, &run(&case.subject(kit)?)?);
            }
            Ok(())
        })
    }))
}

/// A job for the simulator.
pub(super) fn simulated<'t>(kit: &'t Kit<'t>) -> Result<Option<Job<'t>>> {
    job(kit, ("RCCE and MPI, simulated", 150), |_| true, built, Subject::simulated)
}

/// A job for QEMU.
pub(super) fn in_qemu<'t>(kit: &'t Kit<'t>) -> Result<Option<Job<'t>>> {
    let is_meant = |case: &Case| IN_QEMU.contains(&(case.family, case.program.as_str(), case.cores)) && !case.faithful;
    job(kit, ("RCCE and MPI", 20), is_meant, |_| Ok(()), Subject::in_qemu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_how_they_are_tested() {
        let text = "/* test: cores=1,48 options=-DGORY,-DA=2 faithful */\n/* test: cores=2 fails=\"a b\" */\nint x;\n";
        let cases = Case::all_of("rcce", "two_words", text).unwrap();
        let names: Vec<_> = cases.iter().map(Case::name).collect();
        assert_eq!(
            names,
            ["rcce-two-words-gory-a=2-faithful-on-1", "rcce-two-words-gory-a=2-faithful-on-48", "rcce-two-words-on-2"]
        );
        assert_eq!((cases[2].fails.as_deref(), cases[0].define.len()), (Some("a b"), 2));
        assert!(Case::all_of("rcce", "none", "int x;").is_err());
    }

    #[test]
    fn what_runs_in_qemu_is_there() {
        let all = cases().unwrap();
        for (family, program, cores) in IN_QEMU {
            let is_it = |case: &Case| (case.family, case.program.as_str(), case.cores) == (family, program, cores);
            assert!(all.iter().any(is_it), "{family}: {program} on {cores}");
        }
    }
}
