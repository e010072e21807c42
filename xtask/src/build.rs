//! Builds one binary with an inner cargo and says where it is.

use crate::{
    process::{self, Account, Next, Running},
    progress::Progress,
    workspace,
};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The package of the emulator of boards, which is built apart: it compiles a library in C.
pub(crate) const EMULATOR: &str = "emulator";

/// What every command given to [`build`] needs among its options.
pub(crate) const MESSAGES: [&str; 1] = ["--message-format=json"];

/// What the compiler is told about a crate that is to do without `std` where there is one: it is where nothing is.
pub(crate) const WITHOUT_STD: &str = "--extern=std=/none";

/// How the compiler begins where a crate asks for `std` all the same, and where there is none.
const NO_STD: [&str; 2] = ["extern location for std does not exist", "can't find crate for `std`"];

/// A cargo command for the host. It is always for the whole workspace but the emulator: with fewer packages crates would have other
/// features, and be built once more.
pub(crate) fn of_workspace(subcommand: &str) -> Command {
    let mut command = workspace::cargo(subcommand);
    command.args(["--workspace", "--exclude", EMULATOR]);
    command
}

/// A binary that was built.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) executable: PathBuf,
    /// Warnings of the compiler, as it would have printed them.
    pub(crate) warnings: Vec<String>,
    /// All libraries in it, but those of the language; whatever one needs comes before.
    pub(crate) libraries: Vec<Library>,
}

/// A library that cargo has compiled.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) name: String,
    /// The package, as cargo's metadata identifies it.
    pub(crate) package: String,
    pub(crate) path: PathBuf,
}

/// Something executable that cargo has made.
#[derive(Debug)]
pub(crate) struct Artifact {
    /// The target's name.
    pub(crate) name: String,
    /// The package's name, and its directory.
    pub(crate) package: String,
    pub(crate) directory: PathBuf,
    pub(crate) executable: PathBuf,
    is_test: bool,
}

/// What cargo's messages add up to.
#[derive(Default)]
struct Messages {
    artifacts: Vec<Artifact>,
    libraries: Vec<Library>,
    /// The last archive for other linkers.
    archive: Option<PathBuf>,
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
                let name = message["target"]["name"].as_str()?.to_owned();
                if let Some(path) = message["executable"].as_str() {
                    let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
                    let directory = manifest.parent().unwrap_or(Path::new("")).to_owned();
                    // The workspace's packages have the names of their directories.
                    let package = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    let is_test = message["profile"]["test"].as_bool() == Some(true);
                    let name = name.clone();
                    self.artifacts.push(Artifact { name, package, directory, executable: path.into(), is_test });
                }
                let mut files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
                self.archive =
                    files.clone().find(|path| path.ends_with(".a")).map(PathBuf::from).or(self.archive.take());
                for path in files.by_ref().filter(|path| path.ends_with(".rlib")) {
                    let package = message["package_id"].as_str().unwrap_or_default().to_owned();
                    self.libraries.push(Library { name: name.clone(), package, path: path.into() });
                }
                Some(name)
            }
            "compiler-message" => {
                let text = message["message"]["message"].as_str().unwrap_or_default();
                if NO_STD.iter().any(|missing| text.starts_with(missing)) {
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
pub(crate) fn build(what: &str, command: &mut Command) -> Result<Built> {
    let mut messages = execute(what, command)?;
    let built = messages.artifacts.pop().with_context(|| format!("cargo has built no executable for {what}"))?;
    Ok(Built { executable: built.executable, warnings: messages.warnings, libraries: messages.libraries })
}

/// Runs a cargo command with [`MESSAGES`] that builds an archive for another linker; its output is shown only when it fails.
pub(crate) fn archive(what: &str, command: &mut Command) -> Result<PathBuf> {
    execute(what, command)?.archive.with_context(|| format!("cargo has built no archive for {what}"))
}

/// Runs a cargo command with [`MESSAGES`] that builds tests, and returns the binaries with them.
pub(crate) fn tests(what: &str, command: &mut Command) -> Result<Vec<Artifact>> {
    let mut artifacts = execute(what, command)?.artifacts;
    artifacts.retain(|artifact| artifact.is_test);
    Ok(artifacts)
}

/// Runs a cargo command that lints; what it finds is shown.
pub(crate) fn lint(what: &str, command: &mut Command) -> Result<()> {
    let finished = process::finish(command.env("CARGO_TERM_COLOR", "never"), |_| {})?;
    if finished.status.success() {
        return Ok(());
    }
    eprintln!("{}", finished.messages.trim_end());
    let first = finished.messages.lines().find(|line| line.starts_with("error"));
    bail!("{what}: {}", first.unwrap_or("ended without a reason"))
}

/// Why nothing can be built of a crate that uses `std`.
pub(crate) fn refusal_of_std(what: &str, name: &str) -> String {
    format!(
        "cannot build {what}: the crate `{name}` uses `std`, which no backend has for programs; a program begins with \
         `#![no_std]`, and takes what is missing from `core` and `alloc`; of a dependency, look for the feature without"
    )
}

/// What was built, and what processor time that took.
static SPENT: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// What was built so far, and what processor time that took.
pub(crate) fn spent() -> Vec<(Duration, String)> {
    SPENT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Builds something, whose processor time is then no part of what whoever needs it has spent.
pub(crate) fn on_account<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let account = Account::default();
    let built = account.keep_for(work);
    SPENT.lock().unwrap_or_else(PoisonError::into_inner).push((account.time(), what.to_owned()));
    built
}

fn execute(what: &str, command: &mut Command) -> Result<Messages> {
    on_account(what, || listen(what, command))
}

fn listen(what: &str, command: &mut Command) -> Result<Messages> {
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
    let status = running.wait()?;
    drop(progress);
    if !status.success() {
        crate::interrupt::check()?;
        if let Some(name) = messages.wants_std {
            // One reason, where the compiler has hundreds.
            bail!(refusal_of_std(what, &name));
        }
        for text in messages.errors.iter().chain([&running.messages()]) {
            eprintln!("{}", text.trim_end());
        }
        bail!("cannot build {what}");
    }
    Ok(messages)
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
            r#"{"reason":"compiler-artifact","target":{"name":"a"},"manifest_path":"/w/tests/Cargo.toml","profile":{"test":true},"executable":"/t/a"}"#,
            r#"{"reason":"compiler-artifact","target":{"name":"atoll"},"executable":"/t/atoll"}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ] {
            messages.take(line);
        }
        let [test, binary] = &messages.artifacts[..] else { panic!("{:?}", messages.artifacts) };
        assert!(test.is_test && test.package == "tests" && test.directory == Path::new("/w/tests"), "{test:?}");
        assert!(!binary.is_test && binary.executable == Path::new("/t/atoll"), "{binary:?}");
        assert_eq!((messages.crates, messages.warnings.len(), messages.errors.len()), (3, 1, 0));
    }

    #[test]
    fn a_failed_build_fails() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'error: no' >&2; exit 101"]);
        assert_eq!(build("nothing", &mut command).unwrap_err().to_string(), "cannot build nothing");
    }
}
