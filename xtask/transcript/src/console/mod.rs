//! The protocol that guests speak on the serial line, and the simulator on standard output.
//!
//! A line that starts with `@` is for this tool, every other one for the user. Guests crash at any moment, so a line
//! may come anywhere; what does not fit becomes a problem of the transcript, never a panic, and never goes unnoticed.

use crate::{
    asked_for::AskedFor,
    explored::{self, Explored, Failing},
    finding::Finding,
    samples::Samples,
    sent_file::{File, UnfinishedFile},
    trace::Trace,
};
use std::collections::BTreeMap;

/// One core's counters: name and value in the order they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// The rank that has counted.
    pub rank: u32,
    /// Counts as they were sent, by the names of the counters.
    pub values: BTreeMap<String, String>,
}

/// What a rank has counted in one step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rank that has counted.
    pub rank: u32,
    /// The name of the step.
    pub name: String,
    /// Only the sum over all ranks means anything.
    pub is_together: bool,
    /// The counters that are not 0.
    pub counters: BTreeMap<String, u64>,
}

/// One test that has run in a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The name of the test.
    pub name: String,
    /// The message when it failed.
    pub failure: Option<String>,
}

/// All that a guest has said.
#[derive(Debug, Default)]
pub struct Transcript {
    /// Lines for the user.
    pub text: Vec<String>,
    /// Result files that arrived whole.
    pub files: Vec<File>,
    /// Tests that have ended.
    pub tests: Vec<Test>,
    /// The guest's own count of passed and failed tests.
    pub counts: Option<(usize, usize)>,
    /// Counters of whole runs, one entry for each rank.
    pub counters: Vec<Counters>,
    /// Counters of the steps of a program.
    pub steps: Vec<Step>,
    /// What was measured, piece by piece.
    pub samples: Vec<Samples>,
    /// Results that are no files, by their names: a checksum, for example.
    pub results: BTreeMap<String, String>,
    /// Programs that have to end the machine: name, and what their report has to contain.
    pub fatal: Vec<(String, String)>,
    /// Mistakes that the checker has found.
    pub findings: Vec<Finding>,
    /// What the program has asked for, if the checker has kept account of it.
    pub asked_for: Vec<AskedFor>,
    /// How the search for a run that goes wrong went, if there was one.
    pub explored: Option<Explored>,
    /// The run that it has found.
    pub failing: Option<Failing>,
    /// What happened in that.
    pub story: Vec<explored::Step>,
    /// What ranks did and when, if they were traced.
    pub trace: Trace,
    /// How long the program took on rank 0, in ticks of its clock.
    pub ticks: Option<u64>,
    /// The last phase that was announced.
    pub phase: Option<String>,
    /// The last word: all well, or a message.
    pub done: Option<Result<(), String>>,
    /// What was wrong with the protocol itself.
    pub problems: Vec<String>,
}

impl Transcript {
    /// What these lines say, each without its end.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut console = Console::default();
        lines.into_iter().for_each(|line| _ = console.line(line));
        console.finish()
    }

    /// The last lines for the user.
    pub fn tail(&self, lines: usize) -> &[String] {
        &self.text[self.text.len().saturating_sub(lines)..]
    }
}

/// What a line turned out to be, as far as someone who watches cares.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A line for the user.
    Text(&'a str),
    /// The name of the phase that begins.
    Phase(&'a str),
    /// A test has ended.
    Test,
    /// A result file has arrived whole.
    File,
    /// The guest has said its last word.
    Done,
    /// Anything else, or a part of it.
    Other,
}

/// The reader of a guest's lines.
#[derive(Default)]
pub struct Console {
    transcript: Transcript,
    open: Option<UnfinishedFile>,
    /// A frame was given up and its rest is still to come.
    skipping: bool,
}

impl Console {
    /// Takes one line, without its end.
    pub fn line<'a>(&mut self, line: &'a str) -> Event<'a> {
        if let Some(words) = line.strip_prefix("@end ") {
            return self.end(words);
        }
        if self.skipping && !line.is_empty() && UnfinishedFile::is_content(line) {
            return Event::Other;
        }
        if let Some(frame) = &mut self.open {
            if UnfinishedFile::is_content(line) {
                if let Err(error) = frame.push(line) {
                    self.transcript.problems.push(error.to_string());
                    self.give_up();
                }
                return Event::Other;
            }
            // Another core's last words cut in. They matter more than the file.
            let problem = format!("result file {} is cut off by `{line}`", frame.name);
            self.transcript.problems.push(problem);
            self.give_up();
        }
        match line.strip_prefix('@') {
            Some(message) => self.message(message),
            None => {
                self.transcript.text.push(line.to_owned());
                Event::Text(line)
            }
        }
    }

    /// Ends the conversation.
    pub fn finish(mut self) -> Transcript {
        if let Some(frame) = self.open.take() {
            self.transcript
                .problems
                .push(format!("result file {} is cut off: the guest ended in the middle of it", frame.name));
        }
        self.transcript
    }

    fn give_up(&mut self) {
        self.open = None;
        self.skipping = true;
    }

    fn end(&mut self, words: &str) -> Event<'static> {
        let skipped = std::mem::take(&mut self.skipping);
        match self.open.take().map(|frame| frame.end(words)) {
            Some(Ok(file)) => {
                self.transcript.files.push(file);
                return Event::File;
            }
            Some(Err(error)) => self.transcript.problems.push(format!("{error:#}")),
            None if skipped => {}
            None => self.transcript.problems.push(format!("`@end {words}` without `@data`")),
        }
        Event::Other
    }

    fn message<'a>(&mut self, message: &'a str) -> Event<'a> {
        let (keyword, words) = message.split_once(' ').unwrap_or((message, ""));
        let known = match keyword {
            "data" => {
                match UnfinishedFile::begin(words) {
                    Ok(frame) => self.open = Some(frame),
                    Err(error) => {
                        self.transcript.problems.push(format!("{error:#}"));
                        self.give_up();
                    }
                }
                Some(Event::Other)
            }
            "phase" => {
                self.transcript.phase = Some(words.to_owned());
                Some(Event::Phase(words))
            }
            "test" => test(words).map(|test| {
                self.transcript.tests.push(test);
                Event::Test
            }),
            "tests" => counts(words).map(|counts| {
                self.transcript.counts = Some(counts);
                Event::Other
            }),
            "counters" => counters(words).map(|counters| {
                self.transcript.counters.push(counters);
                Event::Other
            }),
            "step" => step(words).map(|step| {
                self.transcript.steps.push(step);
                Event::Other
            }),
            "samples" => Samples::parse(words).map(|samples| {
                self.transcript.samples.push(samples);
                Event::Other
            }),
            "trace" => self.transcript.trace.take(words).map(|()| Event::Other),
            "finding" => Finding::parse(words).map(|finding| {
                self.transcript.findings.push(finding);
                Event::Other
            }),
            "asked" => AskedFor::parse(words).map(|asked_for| {
                self.transcript.asked_for.push(asked_for);
                Event::Other
            }),
            "explored" => Explored::parse(words).map(|explored| {
                self.transcript.explored = Some(explored);
                Event::Other
            }),
            "failing" => Failing::parse(words).map(|failing| {
                self.transcript.failing = Some(failing);
                Event::Other
            }),
            "story" => explored::Step::parse(words).map(|step| {
                self.transcript.story.push(step);
                Event::Other
            }),
            "fatal" => words.split_once(' ').map(|(name, report)| {
                self.transcript.fatal.push((name.to_owned(), report.to_owned()));
                Event::Other
            }),
            "result" => words.split_once(' ').filter(|(name, value)| !name.is_empty() && !value.is_empty()).map(
                |(name, value)| {
                    self.transcript.results.insert(name.to_owned(), value.to_owned());
                    Event::Other
                },
            ),
            "ticks" => words.parse().ok().map(|ticks| {
                self.transcript.ticks = Some(ticks);
                Event::Other
            }),
            "done" => verdict(words).map(|done| {
                // The first failure is the cause, and success does not undo it.
                if !matches!(self.transcript.done, Some(Err(_))) {
                    self.transcript.done = Some(done);
                }
                Event::Done
            }),
            _ => None,
        };
        known.unwrap_or_else(|| {
            self.transcript.problems.push(format!("`@{message}` means nothing to this tool"));
            Event::Other
        })
    }
}

/// `ok` or `failed MESSAGE`.
fn verdict(words: &str) -> Option<Result<(), String>> {
    match words.split_once(' ').unwrap_or((words, "")) {
        ("ok", "") => Some(Ok(())),
        ("failed", "") => Some(Err("no reason given".into())),
        ("failed", message) => Some(Err(message.to_owned())),
        _ => None,
    }
}

fn test(words: &str) -> Option<Test> {
    let (name, words) = words.split_once(' ')?;
    Some(Test { name: name.to_owned(), failure: verdict(words)?.err() })
}

fn counts(words: &str) -> Option<(usize, usize)> {
    let (passed, failed) = words.split_once(' ')?;
    Some((passed.parse().ok()?, failed.parse().ok()?))
}

fn counters(words: &str) -> Option<Counters> {
    let mut words = words.split_whitespace();
    let rank = words.next()?.parse().ok()?;
    let values = words.map(|word| word.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())));
    Some(Counters { rank, values: values.collect::<Option<_>>()? })
}

/// `RANK NAME [together] COUNTER=NUMBER...`
fn step(words: &str) -> Option<Step> {
    let mut words = words.split_whitespace().peekable();
    let (rank, name) = (words.next()?.parse().ok()?, words.next()?.to_owned());
    let is_together = words.next_if_eq(&"together").is_some();
    let counters = words.map(|word| {
        let (counter, number) = word.split_once('=')?;
        Some((counter.to_owned(), number.parse().ok()?))
    });
    Some(Step { rank, name, is_together, counters: counters.collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests;
