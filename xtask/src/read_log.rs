//! Reads what was captured of a run on hardware, which is the only thing that such a run leaves.

use crate::{
    console::{Console, Event, Transcript},
    guest, run, workspace,
};
use anyhow::{Context, Result};
use clap::Args;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What results are called of which no program is known.
const NAME: &str = "read-log";

/// Show what was captured of a run on hardware, write its result files, and judge it
///
/// Takes what came over the serial lines: a file for each core of a board, or one with the lines of all of them. Files
/// of cores that said nothing may be missing. The exit status is 0 only if the run has ended well.
#[derive(Args)]
pub(crate) struct Arguments {
    /// What was captured, in one file or several
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Directory for the result files [default: target/out/read-log]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Show every rank's operation counters (those that do not depend on timing)
    #[arg(long)]
    counters: bool,
}

/// Carries out `cargo xtask read-log`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let outcome = outcome(&arguments.files, |line| println!("{line}"))?;
    let directory = arguments.out.clone().unwrap_or_else(|| workspace::results(NAME));
    run::judge(&outcome, &directory, &[], arguments.counters)?;
    println!("{}: ok", outcome.label);
    Ok(())
}

/// Reads the files, and shows the lines that are for the user.
fn outcome(files: &[PathBuf], mut show: impl FnMut(&str)) -> Result<guest::Outcome> {
    let mut parts = Vec::new();
    for file in files {
        // What a single file says needs no name.
        let name = if files.len() == 1 { String::new() } else { name(file) };
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", workspace::display(file)))?;
        let transcript = read(&bytes, |line| match name.as_str() {
            "" => show(line),
            name => show(&format!("{name}: {line}")),
        });
        parts.push((name, transcript));
    }
    let label = match files {
        [file] => format!("the run in {}", workspace::display(file)),
        _ => format!("the run in {} files", files.len()),
    };
    Ok(guest::captured(&label, parts))
}

/// A short name: that of the file, without what it ends with.
fn name(file: &Path) -> String {
    file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// What was said in one file. Serial lines add returns and zeros, and may damage a letter.
fn read(bytes: &[u8], mut show: impl FnMut(&str)) -> Transcript {
    let mut console = Console::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        let line = line.trim_matches(|letter: char| letter.is_control() && letter != '\t');
        if let Event::Text(text) = console.line(line) {
            show(text);
        }
    }
    console.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine, engine::general_purpose::STANDARD};

    /// The verdict, what was shown, and the names of the result files.
    fn judged(files: &[(&str, &[u8])]) -> (Result<(), String>, Vec<String>, Vec<String>) {
        let directory = tempfile::tempdir().unwrap();
        let paths: Vec<_> = files.iter().map(|(name, _)| directory.path().join(name)).collect();
        files.iter().zip(&paths).for_each(|((_, content), path)| fs::write(path, content).unwrap());
        let mut shown = Vec::new();
        let outcome = outcome(&paths, |line| shown.push(line.to_owned())).unwrap();
        let out = directory.path().join("out");
        let verdict = run::judge(&outcome, &out, &[], false).map_err(|error| format!("{error:#}"));
        let written = fs::read_dir(&out).into_iter().flatten().flatten();
        let mut written: Vec<_> = written.map(|entry| entry.file_name().into_string().unwrap()).collect();
        written.sort();
        (verdict, shown, written)
    }

    fn file(name: &str, content: &[u8]) -> String {
        let (text, sum) = (STANDARD.encode(content), crc32fast::hash(content));
        format!("@data {name} {}\r\n{text}\r\n@end {name} {sum:08x}\r\n", content.len())
    }

    #[test]
    fn a_good_run_is_shown_and_its_results_are_written() {
        let log = format!("\0hello\r\n@phase work\r\n{}@counters 0 drains=1\r\n@done ok\r\n", file("a.txt", b"text"));
        let (verdict, shown, written) = judged(&[("all.log", log.as_bytes())]);
        assert_eq!((verdict, shown, written), (Ok(()), vec!["hello".into()], vec!["a.txt".into()]));
    }

    #[test]
    fn one_core_ends_the_run_of_all() {
        let first = format!("boot\n{}@done ok\n", file("a.txt", b"text"));
        let (verdict, shown, written) =
            judged(&[("core0.log", first.as_bytes()), ("core1.log", b""), ("core2.log", b"hi")]);
        assert_eq!(verdict, Ok(()));
        assert_eq!(shown, ["core0: boot", "core2: hi"]);
        assert_eq!(written, ["a.txt"]);
    }

    #[test]
    fn any_core_can_fail() {
        let failed = b"core 1 panicked at x.rs:1: boom\r\n@done failed core 1 panicked\r\n";
        let (verdict, ..) = judged(&[("core0.log", b"@phase work\n@done ok\n"), ("core1.log", failed)]);
        let message = verdict.unwrap_err();
        assert!(message.starts_with("the run in 2 files failed: core1: core 1 panicked"), "{message}");
        assert!(message.ends_with("x.rs:1: boom") && !message.contains('\n'), "{message}");
    }

    #[test]
    fn a_single_file_needs_no_name() {
        let (verdict, ..) = judged(&[("x.log", b"@done failed core 1 panicked\n")]);
        let message = verdict.unwrap_err();
        assert!(message.ends_with("x.log failed: core 1 panicked"), "{message}");
    }

    #[test]
    fn what_is_not_whole_is_no_success() {
        let (verdict, ..) = judged(&[("x.log", b"hello\n@phase work\ncore 3 waits for core 2\n")]);
        let message = verdict.unwrap_err();
        assert!(message.contains("has not ended, as far as was captured, in phase `work`"), "{message}");
        assert!(message.ends_with("core 3 waits for core 2"), "{message}");
        let (verdict, ..) = judged(&[("x.log", b"@data a 3\nAAAA\n@done ok\n")]);
        assert!(verdict.unwrap_err().contains("cut off"));
        let (verdict, _, written) = judged(&[("x.log", b"@done ok\n@b\xFFgus\n")]);
        assert!(verdict.unwrap_err().contains("means nothing") && written.is_empty());
        assert!(judged(&[("x.log", b"")]).0.unwrap_err().contains("before its first phase"));
        let error = outcome(&["/nonexistent/x".into()], |_| {}).err().unwrap().to_string();
        assert_eq!(error, "cannot read /nonexistent/x");
    }
}
