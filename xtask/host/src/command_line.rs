//! How tools begin and end: what is wrong takes one line.

use crate::interrupt;
use clap::{Parser, builder::RangedU64ValueParser, error::ErrorKind};
use std::{fmt, process::ExitCode};

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
///
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
