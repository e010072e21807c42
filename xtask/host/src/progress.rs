//! What the user sees while he waits: a spinner or a bar on a terminal; elsewhere, in the log of a CI for one, a line for
//! each stage, and now and then one that says how far it is.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{
    io::IsTerminal,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Lines of progress that exist at the same time stand below each other: a bench of a figure below the figures.
static ALL: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// The least time between two lines of a stage that is no spinner.
const INTERVAL: Duration = Duration::from_secs(10);

/// A spinner with a message; it disappears when dropped.
pub struct Progress {
    bar: ProgressBar,
    /// When the last line was printed, where there is no terminal.
    printed: Option<Mutex<Instant>>,
}

impl Progress {
    /// Starts to spin, or prints the line.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        let printed = (!std::io::stderr().is_terminal()).then(|| {
            eprintln!("{message}");
            Mutex::new(Instant::now())
        });
        let bar = ALL.add(ProgressBar::new_spinner());
        // The template is fixed; when it is wrong the default one does.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_message(message);
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, printed }
    }

    /// Starts a bar of `steps` steps.
    pub fn bar(message: impl Into<String>, steps: u64) -> Self {
        let progress = Self::new(message);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{bar:32}] {pos}/{len} ({elapsed})") {
            progress.bar.set_style(style);
        }
        progress.bar.set_length(steps);
        progress
    }

    /// One step of a bar is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Replaces the message.
    pub fn say(&self, message: impl Into<String>) {
        let message = message.into();
        if let Some(printed) = &self.printed {
            let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
            if printed.elapsed() >= INTERVAL {
                eprintln!("{message}");
                *printed = Instant::now();
            }
        }
        self.bar.set_message(message);
    }

    /// Prints a line to standard output without breaking the spinner.
    pub fn print(&self, line: &str) {
        self.bar.suspend(|| println!("{line}"));
    }
}

/// Prints lines for whoever watches, above all that spins.
pub fn say(lines: &str) {
    ALL.suspend(|| eprintln!("{lines}"));
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
