//! A guest (a machine in QEMU, an emulated board, or the simulator) from its start to a verdict, within a limit on the
//! processor time that it uses.

mod merge;
mod meter;
#[cfg(test)]
mod tests;
mod verdict;

pub(crate) use merge::{captured, merge};
pub(crate) use meter::{FOREVER, GLANCE, Meter};

use crate::{
    console::{Console, Event, Transcript},
    host_command,
    monitor::Monitor,
    places::Places,
    process::{Next, Running},
};
use anyhow::{Result, bail};
use meter::Spent;
use std::{
    cell::Cell,
    path::Path,
    process::{Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

/// What a guest that has said `@done` may still use until it goes away.
const GRACE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// What a machine that does not go away may use, after it has said `@done`, until all its cores have stopped.
const HALT_TIME: Duration = Duration::from_millis(500);

/// What the cores of a machine that has not ended may use to report where they are.
const REPORT_TIME: Duration = Duration::from_secs(2);

/// What they may use where the machine is told to end, and does so when they have reported.
const LAST_REPORT_TIME: Duration = Duration::from_secs(30);

/// How a guest ended.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Exited(ExitStatus),
    /// It has used up what it may use.
    TimedOut(Spent),
    Lingered,
    /// Others that it belongs together with have failed.
    Stopped,
    /// It ran elsewhere, and all that is known is what it said.
    Elsewhere,
    /// It has said how it ended, and its machine cannot go away.
    Halted,
}

/// A guest that is no more.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Program and machine, for messages.
    pub(crate) label: String,
    pub(crate) transcript: Transcript,
    pub(crate) elapsed: Duration,
    /// How long each of its tests took.
    pub(crate) times: Vec<Duration>,
    ending: Ending,
    /// What the process wrote to standard error.
    messages: String,
    /// Lines that its cores reported when they were asked where they are.
    reports: usize,
    /// Where the first of them ran that did not wait.
    running: Option<String>,
}

/// Runs a guest; every event is shown to `watch` as it happens. One that has used `limit` of processor time, counted anew
/// with each test that it reports, or sleeps for good, is given up; if it can be asked, it is asked where its cores are.
///
/// # Errors
/// When it cannot be started or the user wants to stop. Everything else is for [`Outcome::verdict`] to judge.
pub(crate) fn run(
    label: &str,
    command: &mut Command,
    monitor: Option<&Monitor>,
    limit: Duration,
    watch: impl FnMut(&Event<'_>),
) -> Result<Outcome> {
    run_until(label, command, monitor, limit, |_| None, watch)
}

/// Runs a guest like [`run`]. `end` is asked again and again what it may still use at most, because of others.
pub(crate) fn run_until(
    label: &str,
    command: &mut Command,
    monitor: Option<&Monitor>,
    limit: Duration,
    end: impl FnMut(&Running) -> Option<Duration>,
    mut watch: impl FnMut(&Event<'_>),
) -> Result<Outcome> {
    run_by_lines(label, command, monitor, limit, end, |_, event| watch(event))
}

/// Runs a guest like [`run_until`]; `watch` is shown every line besides what it turned out to be.
pub(crate) fn run_by_lines(
    label: &str,
    command: &mut Command,
    monitor: Option<&Monitor>,
    limit: Duration,
    mut end: impl FnMut(&Running) -> Option<Duration>,
    mut watch: impl FnMut(&str, &Event<'_>),
) -> Result<Outcome> {
    let start = Instant::now();
    let mut console = Console::default();
    // A simulator is its own image.
    let image = monitor.map_or_else(|| Path::new(command.get_program()), |monitor| &monitor.image);
    let mut places = Places::new(image).loading(host_command::loaded(command));
    let mut running = Running::start(command)?;
    let mut meter = Meter::open(limit, &running);
    let (mut done, mut last) = (false, None);
    let (mut times, mut told) = (Vec::new(), start);
    let ending = loop {
        if let Some(left) = end(&running)
            && last.is_none_or(|last| left < last)
        {
            last = Some(left);
            meter = Meter::errand(left, &running);
        }
        let is_closed = match running.next(Some(Instant::now() + GLANCE)) {
            Next::Line(line) => {
                meter.heard();
                let line = places.explain(line);
                let event = console.line(&line);
                if event == Event::Test {
                    times.push(std::mem::replace(&mut told, Instant::now()).elapsed());
                }
                match event {
                    Event::Done if !done => {
                        done = true;
                        if last.is_none() && limit != FOREVER {
                            meter = Meter::errand(GRACE, &running);
                        }
                    }
                    Event::Test if !done && last.is_none() => meter = Meter::open(limit, &running),
                    // What its cores have noted takes as long as there is of it.
                    _ if done && last.is_none() && limit != FOREVER && is_trace(&line) => {
                        meter = Meter::errand(GRACE, &running);
                    }
                    _ => {}
                }
                watch(&line, &event);
                false
            }
            Next::End => true,
            Next::TimedOut => false,
            Next::Interrupted => bail!("interrupted"),
        };
        if is_closed {
            if let Some(status) = running.status()? {
                break Ending::Exited(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        if let Some(spent) = meter.look(&running) {
            break match last {
                Some(_) => Ending::Stopped,
                None if done || is_closed => Ending::Lingered,
                None => Ending::TimedOut(spent),
            };
        }
    };
    let mut reports = 0;
    if !matches!(ending, Ending::Exited(_)) {
        let is_late = matches!(ending, Ending::TimedOut(_));
        let mut rest = if is_late { report(monitor, &running) } else { Vec::new() };
        reports = rest.iter().filter(|line| !is_trace(line)).count();
        rest.extend(running.kill());
        places.explain_all(&mut rest);
        for line in &rest {
            watch(line, &console.line(line));
        }
    }
    crate::interrupt::check()?;
    Ok(Outcome {
        label: label.into(),
        transcript: console.finish(),
        elapsed: start.elapsed(),
        times,
        ending,
        messages: running.messages(),
        reports,
        running: places.running(),
    })
}

/// Whether a line is one of those that end: what a core has noted.
fn is_trace(line: &str) -> bool {
    line.starts_with("@trace ")
}

/// Asks the cores where they are and collects what they say. A simulator and an emulator of boards end with that, and so does
/// a QEMU that cannot be asked any more.
fn report(monitor: Option<&Monitor>, running: &Running) -> Vec<String> {
    let mut lines = Vec::new();
    let is_asked = monitor.is_some_and(|monitor| monitor.interrupt().is_ok());
    if !is_asked {
        running.signal(libc::SIGTERM);
    }
    // A core that prints without end uses it up, too, and what it prints is not wanted.
    let limit = if is_asked { REPORT_TIME } else { LAST_REPORT_TIME };
    let mut meter = Meter::errand(limit, running);
    while meter.look(running).is_none() {
        match running.next(Some(Instant::now() + GLANCE)) {
            Next::Line(line) => {
                if is_trace(&line) {
                    meter = Meter::errand(limit, running);
                }
                lines.push(line);
            }
            Next::TimedOut => {}
            Next::End | Next::Interrupted => break,
        }
    }
    lines
}

/// Runs a guest like [`run`] on a machine that need not go away by itself: when it has said `@done` and its cores have
/// had the time to stop, `look` is called, and the machine ended.
pub(crate) fn run_halting(
    label: &str,
    command: &mut Command,
    monitor: &Monitor,
    limit: Duration,
    look: impl FnOnce(),
    mut watch: impl FnMut(&Event<'_>),
) -> Result<Outcome> {
    let done = Cell::new(false);
    let (mut meter, mut look) = (None, Some(look));
    let end = |running: &Running| {
        let meter = done.get().then(|| meter.get_or_insert_with(|| Meter::errand(HALT_TIME, running)))?;
        meter.look(running)?;
        look.take().map(|look| {
            look();
            Duration::ZERO
        })
    };
    let note_end = |event: &Event<'_>| {
        done.set(done.get() || *event == Event::Done);
        watch(event);
    };
    let mut outcome = run_until(label, command, Some(monitor), limit, end, note_end)?;
    if matches!(outcome.ending, Ending::Stopped) {
        outcome.ending = Ending::Halted;
    }
    Ok(outcome)
}
