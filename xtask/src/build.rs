//! Builds one binary with an inner cargo and says where it is.

use crate::{
    process::{Next, Running},
    progress::Progress,
};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::{
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

/// What every command given to [`build`] needs among its options.
pub(crate) const MESSAGES: [&str; 1] = ["--message-format=json"];

/// A binary that was built.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) executable: PathBuf,
    /// Warnings of the compiler, as it would have printed them.
    pub(crate) warnings: Vec<String>,
}

/// What cargo's messages add up to.
#[derive(Default)]
struct Messages {
    executable: Option<PathBuf>,
    warnings: Vec<String>,
    errors: Vec<String>,
    /// The first crate that asks for `std` where there is none.
    wants_std: Option<String>,
    crates: usize,
}

impl Messages {
    /// Takes one line of `--message-format=json`; returns the crate that was finished.
    fn take(&mut self, line: &str) -> Option<String> {
        let message: Value = serde_json::from_str(line).ok()?;
        match message["reason"].as_str()? {
            "compiler-artifact" => {
                self.crates += 1;
                if let Some(path) = message["executable"].as_str() {
                    self.executable = Some(path.into());
                }
                message["target"]["name"].as_str().map(str::to_owned)
            }
            "compiler-message" => {
                let text = message["message"]["message"].as_str().unwrap_or_default();
                if text.starts_with("can't find crate for `std`") {
                    self.wants_std = self.wants_std.take().or(message["target"]["name"].as_str().map(str::to_owned));
                }
                let rendered = message["message"]["rendered"].as_str().unwrap_or_default().to_owned();
                match message["message"]["level"].as_str() {
                    Some("warning") => self.warnings.push(rendered),
                    Some("error" | "error: internal compiler error") => self.errors.push(rendered),
                    _ => {}
                }
                None
            }
            _ => None,
        }
    }
}

/// Runs a cargo command with [`MESSAGES`] that builds one binary; its output is shown only when it fails.
///
/// # Errors
///
/// When the build fails.
pub(crate) fn build(what: &str, command: &mut Command) -> Result<Built> {
    let progress = Progress::new(format!("building {what}"));
    let mut running = Running::start(command.env("CARGO_TERM_COLOR", "never"))?;
    let mut messages = Messages::default();
    loop {
        match running.next(None) {
            Next::Line(line) => {
                if let Some(name) = messages.take(&line) {
                    progress.say(format!("building {what}: {} crates, {name}", messages.crates));
                }
            }
            Next::End | Next::TimedOut => break,
            Next::Interrupted => bail!("interrupted"),
        }
    }
    let status = running.wait(Instant::now() + Duration::from_secs(10))?;
    drop(progress);
    if !status.success() {
        crate::interrupt::check()?;
        if let Some(name) = messages.wants_std {
            // One reason, where the compiler has hundreds.
            bail!(
                "cannot build {what}: the crate `{name}` uses `std`, which no backend has for programs; look for its feature without"
            );
        }
        for text in messages.errors.iter().chain([&running.messages()]) {
            eprintln!("{}", text.trim_end());
        }
        bail!("cannot build {what}");
    }
    let executable = messages.executable.with_context(|| format!("cargo has built no executable for {what}"))?;
    Ok(Built { executable, warnings: messages.warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_add_up() {
        let mut messages = Messages::default();
        for line in [
            r#"{"reason":"compiler-artifact","target":{"name":"core"},"executable":null}"#,
            r#"{"reason":"compiler-message","message":{"level":"warning","rendered":"warning: unused"}}"#,
            "not json",
            r#"{"reason":"compiler-artifact","target":{"name":"atoll"},"executable":"/t/atoll"}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ] {
            messages.take(line);
        }
        assert_eq!(messages.executable, Some("/t/atoll".into()));
        assert_eq!((messages.crates, messages.warnings.len(), messages.errors.len()), (2, 1, 0));
    }

    #[test]
    fn a_failed_build_fails() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'error: no' >&2; exit 101"]);
        assert_eq!(build("nothing", &mut command).unwrap_err().to_string(), "cannot build nothing");
    }
}
