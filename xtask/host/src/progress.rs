//! What the user sees while he waits: a spinner or a bar on a terminal, one line per stage elsewhere, in the log of a
//! CI for one.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{io::IsTerminal, sync::LazyLock, time::Duration};

/// Those that are there at the same time stand below each other: a bench of a figure below the figures.
static ALL: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// A spinner with a message; it disappears when dropped.
pub struct Progress(ProgressBar);

impl Progress {
    /// Starts to spin, or prints the line.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        if !std::io::stderr().is_terminal() {
            eprintln!("{message}");
        }
        let bar = ALL.add(ProgressBar::new_spinner());
        // The template is fixed; when it is wrong the default one does.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_message(message);
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    /// Starts a bar of that many steps.
    pub fn bar(message: impl Into<String>, steps: u64) -> Self {
        let progress = Self::new(message);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{bar:32}] {pos}/{len} ({elapsed})") {
            progress.0.set_style(style);
        }
        progress.0.set_length(steps);
        progress
    }

    /// One step of a bar is done.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Replaces the message.
    pub fn say(&self, message: impl Into<String>) {
        self.0.set_message(message.into());
    }

    /// Prints a line to standard output without breaking the spinner.
    pub fn print(&self, line: &str) {
        self.0.suspend(|| println!("{line}"));
    }
}

/// Prints lines for whoever watches, above all that spins.
pub fn say(lines: &str) {
    ALL.suspend(|| eprintln!("{lines}"));
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
