//! How tools begin and end: what is wrong takes one line.

use crate::interrupt;
use clap::{
    Parser,
    builder::{PathBufValueParser, RangedU64ValueParser, TypedValueParser},
    error::ErrorKind,
};
use std::{
    fmt,
    fs::File,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Reads the command line, has a command carry it out, and says what is wrong. After help the process ends here.
pub fn main<C: Parser>(command: impl FnOnce(C) -> anyhow::Result<()>) -> ExitCode {
    end_with_the_reader();
    let cli = match C::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        Err(error) => {
            eprintln!("{}", usage_line(&error.to_string()));
            return ExitCode::from(2);
        }
    };
    interrupt::install();
    match command(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Said>() => ExitCode::FAILURE,
        Err(error) if error.is::<SaidWith>() => {
            ExitCode::from(error.downcast_ref::<SaidWith>().map_or(1, |said| said.0))
        }
        Err(error) => {
            eprintln!("{ERROR}{}", one_line(&format!("{error:#}")));
            ExitCode::from(if interrupt::requested() { 130 } else { 1 })
        }
    }
}

/// Seconds of processor time for a run that may be a long one.
pub const TIMEOUT_S: u64 = 600;

/// A number of seconds, a day at most.
pub fn seconds() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=86_400)
}

/// A seed; 0 would be none.
pub fn seed() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..)
}

/// A file that is written at the end of a long run: whether that is possible is seen before.
pub fn new_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| check_new_file(&path).map(|()| path))
}

fn check_new_file(path: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err("it is a directory, and a file is to be written".into());
    }
    if path.file_name().is_none() {
        return Err("it names no file".into());
    }
    if path.is_file() {
        return File::options().append(true).open(path).map(drop).map_err(failed);
    }
    if path.exists() {
        // A terminal, or a pipe, which waits for its other end.
        return Ok(());
    }
    // Directories that are missing will be made.
    let above = path.ancestors().skip(1).map(|above| if above == Path::new("") { Path::new(".") } else { above });
    let above = above.into_iter().find(|above| above.exists()).unwrap_or(Path::new("."));
    tempfile::tempfile_in(above).map(drop).map_err(failed)
}

/// A command has failed and said so itself, with a last line that stays the last.
#[derive(Debug)]
pub struct Said;

impl fmt::Display for Said {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("failed")
    }
}

impl std::error::Error for Said {}

/// A command has said what it found, and ends with an exit status of its own.
#[derive(Debug)]
pub struct SaidWith(pub u8);

impl fmt::Display for SaidWith {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("something was found")
    }
}

impl std::error::Error for SaidWith {}

/// What the line with an error begins with.
pub const ERROR: &str = "error: ";

/// Lets `cargo xtask sim terrain | head` end like any other filter; Rust would make it a panic of `println!`.
fn end_with_the_reader() {
    // SAFETY: no other thread runs yet, and the default action is no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Joins the lines of a message.
fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What clap complains about, without its paragraphs of usage and tips.
fn usage_line(message: &str) -> String {
    const APPENDED: [&str; 3] = ["Usage:", "For more information", "tip:"];
    let kept = message.lines().take_while(|line| !APPENDED.iter().any(|word| line.trim().starts_with(word)));
    let line = one_line(&kept.collect::<Vec<_>>().join("\n"));
    // This is how the standard library calls a word that is no number.
    line.replace("invalid digit found in string", "not a number") + "; see --help"
}

/// Demands that the options are consistent, and that all of these command lines are refused in one line each.
///
/// # Panics
/// When one is not.
pub fn assert_refused_in_one_line<C: Parser>(name: &str, lines: &[&[&str]]) {
    C::command().debug_assert();
    for words in lines {
        let Err(error) = C::try_parse_from([name].iter().chain(*words)) else { panic!("{words:?} is not refused") };
        let line = usage_line(&error.to_string());
        assert!(line.starts_with(ERROR) && line.ends_with("; see --help") && !line.contains('\n'), "{line}");
        assert!(!line.contains("Usage") && !line.contains("tip:") && !line.contains("digit"), "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_seen_before() {
        let directory = tempfile::tempdir().unwrap();
        let of = |name: &str| check_new_file(&directory.path().join(name));
        std::fs::write(directory.path().join("file"), "as before").unwrap();
        for name in ["file", "new", "deep/er/new"] {
            assert_eq!(of(name), Ok(()), "{name}");
        }
        for name in ["", ".", "file/new"] {
            assert!(of(name).is_err(), "{name}");
        }
        assert!(check_new_file(Path::new("")).is_err() && check_new_file(Path::new("/dev/null")).is_ok());
        assert_eq!(std::fs::read_to_string(directory.path().join("file")).unwrap(), "as before");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
