//! How a guest has ended, judged and told.

use super::{Ending, Outcome};
use anyhow::{Result, bail};
use std::os::unix::process::ExitStatusExt;

/// The exit status of a guest that succeeded: one odd number, so that a reset of the machine (0) is no success.
const SUCCESS: i32 = 33;

/// The exit status of a guest that ended itself because something was wrong.
const FAILURE: i32 = 35;

/// The exit status of the emulator of boards when a core did what its board does not allow.
const VIOLATION: i32 = 3;

/// A guest's exit status when no core can go on and none has said how the program ended.
const STANDSTILL: i32 = 4;

/// The exit status of the emulator of boards when it was told to end.
const TOLD_TO_END: i32 = 5;

/// The exit status of the emulator of boards when a debugger has ended the run.
const KILLED: i32 = 6;
/// How many console lines are shown of a guest that has failed.
const TAIL_LINES: usize = 12;

impl Outcome {
    /// Judges the guest: it has succeeded only when it has said `@done ok`, its status says so too, and no line for
    /// this tool was malformed.
    ///
    /// # Errors
    /// In every other case, with the reason.
    pub(crate) fn verdict(&self) -> Result<()> {
        let label = &self.label;
        if let Some(Err(message)) = &self.transcript.done {
            let cause = self.with_cause(message);
            match self.ending {
                Ending::TimedOut(spent) => {
                    bail!("{label} {spent}, {}: {cause}; --timeout SECONDS gives it more", self.place())
                }
                _ => bail!("{label} failed: {cause}"),
            }
        }
        let status = match self.ending {
            Ending::TimedOut(spent) => {
                bail!(
                    "{label} {spent}, {}{}; look at who waits for whom in its last lines, or give it more with --timeout SECONDS",
                    self.place(),
                    self.running()
                );
            }
            Ending::Lingered => bail!("{label} does not go away after its work is done"),
            Ending::Stopped => bail!("{label} was stopped, because another node failed"),
            Ending::Elsewhere if self.transcript.done.is_some() => return self.check_protocol(),
            Ending::Elsewhere => {
                bail!("{label} has not ended, as far as was captured, {}{}", self.place(), self.last_words())
            }
            Ending::Halted => return self.check_protocol(),
            Ending::Exited(status) => status,
        };
        match (status.code(), &self.transcript.done) {
            (Some(SUCCESS), Some(_)) => {}
            (Some(SUCCESS), None) => bail!("{label} ended with the status of success but without `@done ok`"),
            (Some(0), _) => bail!("{label} reset its machine (a triple fault) {}{}", self.place(), self.last_words()),
            (Some(VIOLATION), _) => bail!("{label} did what its board does not allow{}", self.reason()),
            (Some(STANDSTILL), _) => bail!("{label} stands still{}", self.reason()),
            (Some(TOLD_TO_END), _) => {
                bail!("{label} was told to end, {}{}{}", self.place(), self.running(), self.reason())
            }
            (Some(KILLED), _) => bail!("{label} was ended by its debugger, {}", self.place()),
            (Some(code), _) => bail!("{label} ended with status {code}{}", self.last_words()),
            (None, _) => {
                bail!("{label} was ended by signal {}{}", status.signal().unwrap_or_default(), self.last_words())
            }
        }
        self.check_protocol()
    }

    fn check_protocol(&self) -> Result<()> {
        match self.transcript.problems.first() {
            Some(problem) => bail!("{}: {problem}", self.label),
            None => Ok(()),
        }
    }

    /// Judges a guest that had to end with a report: it has to fail by itself, and say this.
    ///
    /// # Errors
    /// When it did anything else.
    pub(crate) fn verdict_of_fatal(&self, report: &str) -> Result<()> {
        let label = &self.label;
        let status = match self.ending {
            Ending::Exited(status) => status.code(),
            Ending::TimedOut(_) | Ending::Lingered | Ending::Stopped | Ending::Elsewhere | Ending::Halted => {
                bail!("{label} has not ended instead of saying `{report}`")
            }
        };
        let last_word = match &self.transcript.done {
            Some(Ok(())) => bail!("{label} ended well instead of saying `{report}`"),
            Some(Err(message)) => Some(message),
            None => None,
        };
        if status != Some(FAILURE) {
            bail!(
                "{label} ended with {} instead of {FAILURE}",
                status.map_or_else(|| "a signal".into(), |code| format!("status {code}"))
            );
        }
        if !self.transcript.text.iter().chain(last_word).any(|line| line.contains(report)) {
            bail!("{label} did not say `{report}`{}", self.last_words());
        }
        Ok(())
    }

    /// What to show of a guest whose console was not shown live: its last lines.
    pub(crate) fn tail(&self) -> String {
        let lines = self.transcript.tail(TAIL_LINES + self.reports).iter().map(String::as_str);
        let lines = lines.chain(self.messages.lines().take(TAIL_LINES)).map(|line| format!("\n    {line}"));
        format!("--- {}: last lines of its console{}", self.label, lines.collect::<String>())
    }

    /// Shows what the process itself complained about.
    pub(crate) fn show_messages(&self) {
        for line in self.messages.lines().take(TAIL_LINES) {
            eprintln!("    {line}");
        }
    }

    /// How far it had come.
    fn place(&self) -> String {
        self.transcript
            .phase
            .as_ref()
            .map_or_else(|| "before its first phase".into(), |phase| format!("in phase `{phase}`"))
    }

    /// Where the first core runs that was asked and waits for nothing.
    fn running(&self) -> String {
        self.running.as_ref().map_or_else(String::new, |running| format!(": {running}"))
    }

    /// The guest's last word with the first line in which a core or rank says that it failed, nothing said twice.
    fn with_cause(&self, message: &str) -> String {
        let telling = |line: &&String| ["panicked", " failed: "].iter().any(|word| line.contains(word));
        match self.transcript.text.iter().find(telling).map(|line| line.trim()) {
            Some(cause) if cause.contains(message) => cause.into(),
            // Who has failed does not come any more, and so the others wait.
            Some(cause) if message.starts_with("deadlock") => format!("{cause}; {message}"),
            Some(cause) if !message.contains(cause) => format!("{message}: {cause}"),
            _ => message.into(),
        }
    }

    /// The last line that the process itself wrote, without its name.
    fn reason(&self) -> String {
        let last = self.messages.lines().map(str::trim).rfind(|line| !line.is_empty());
        last.map_or_else(String::new, |line| format!(": {}", line.trim_start_matches("emulator: ")))
    }

    /// The line that says most about an early end.
    fn last_words(&self) -> String {
        let messages = self.messages.lines().map(str::trim);
        let text = self.transcript.text.iter().map(|line| line.trim());
        let telling =
            |line: &&str| ["panic", "fault", "error", "cannot", "could not"].iter().any(|word| line.contains(word));
        let lines: Vec<_> = text.chain(messages).filter(|line| !line.is_empty()).collect();
        lines
            .iter()
            .copied()
            .find(telling)
            .or(lines.last().copied())
            .map_or_else(String::new, |line| format!(": {line}"))
    }
}
