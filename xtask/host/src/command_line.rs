//! How tools begin and end: what is wrong takes one line.

use crate::interrupt;
use clap::{Parser, error::ErrorKind};
use std::process::ExitCode;

/// Reads the command line and prepares this process for its work; an exit status where there is nothing to do.
///
/// # Errors
///
/// With the status after something wrong, which has been said. After help the process ends here.
pub fn parse<C: Parser>() -> Result<C, ExitCode> {
    end_with_the_reader();
    match C::try_parse() {
        Ok(cli) => {
            interrupt::install();
            Ok(cli)
        }
        Err(error) if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        Err(error) => {
            eprintln!("{}", usage_line(&error.to_string()));
            Err(ExitCode::from(2))
        }
    }
}

/// Says why a command has failed, and returns the exit status for that.
pub fn failure(error: &anyhow::Error) -> ExitCode {
    eprintln!("{ERROR}{}", one_line(&format!("{error:#}")));
    ExitCode::from(if interrupt::requested() { 130 } else { 1 })
}

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

/// Demands that all of these command lines are refused in one line each.
///
/// # Panics
///
/// When one is not.
pub fn assert_refused_in_one_line<C: Parser>(name: &str, lines: &[&[&str]]) {
    for words in lines {
        let Err(error) = C::try_parse_from([name].iter().chain(*words)) else { panic!("{words:?} is not refused") };
        let line = usage_line(&error.to_string());
        assert!(line.starts_with(ERROR) && line.ends_with("; see --help") && !line.contains('\n'), "{line}");
        assert!(!line.contains("Usage") && !line.contains("tip:") && !line.contains("digit"), "{line}");
    }
}
