//! A guest (a machine in QEMU, an emulated board, or the simulator) from its start to a verdict, within a limit on the
//! processor time that it uses.

mod merge;
mod meter;

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
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

/// The exit status of a guest that succeeded: one odd number, so that a reset of the machine (0) is no success.
pub(crate) const SUCCESS: i32 = 33;

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

/// What a guest that has said `@done` may still use until it goes away.
const GRACE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// What a machine that does not go away may use, after it has said `@done`, until all its cores have stopped.
const HALT_TIME: Duration = Duration::from_millis(500);

/// What the cores of a machine that has not ended may use to report where they are.
const REPORT_TIME: Duration = Duration::from_secs(2);

/// What they may use where the machine is told to end, and does so when they have reported.
const LAST_REPORT_TIME: Duration = Duration::from_secs(30);

/// How many console lines are shown of a guest that has failed.
const TAIL_LINES: usize = 12;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(script: &str, limit_ms: u64) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run("stand-in", &mut command, None, Duration::from_millis(limit_ms), |_| {}).unwrap()
    }

    fn failure(script: &str) -> String {
        guest(script, 10_000).verdict().expect_err("failure").to_string()
    }

    #[test]
    fn success_needs_word_and_status() {
        assert!(guest("echo hello; echo @done ok; exit 33", 10_000).verdict().is_ok());
        assert!(failure("exit 33").contains("without `@done ok`"));
        assert!(failure("echo @done ok; exit 35").contains("status 35"));
        assert!(failure("echo @done ok; exit 0").contains("triple fault"));
        assert!(failure("echo @done ok; echo @bogus; exit 33").contains("@bogus"));
        assert!(failure("echo @done failed wrong sum on core 7; exit 33").contains("wrong sum on core 7"));
    }

    #[test]
    fn an_early_end_quotes_the_guest() {
        assert!(
            failure("echo booting; echo 'core 3: panic at x.rs:1: boom'; echo bye; exit 35")
                .ends_with("core 3: panic at x.rs:1: boom")
        );
        assert!(failure("echo 'qemu: could not load kernel' >&2; exit 1").contains("could not load kernel"));
        let script = "echo 'rank 2 failed: wrong sum'; echo '@done failed on 1 of 4 ranks'; exit 35";
        assert_eq!(failure(script), "stand-in failed: on 1 of 4 ranks: rank 2 failed: wrong sum");
        let script = "echo 'rank 2 failed: wrong sum'; echo '@done failed deadlock: all wait'; exit 35";
        assert_eq!(failure(script), "stand-in failed: rank 2 failed: wrong sum; deadlock: all wait");
        assert!(failure("kill -9 $$").contains("signal 9"));
    }

    #[test]
    fn an_emulated_board_gives_its_reason_last() {
        let script = "echo 'emulator: starts' >&2; echo 'emulator: core 3 at 0x100040: slot 0x29 leads nowhere' >&2; ";
        assert_eq!(
            failure(&format!("{script} exit 3")),
            "stand-in did what its board does not allow: core 3 at 0x100040: slot 0x29 leads nowhere"
        );
        assert!(
            failure("echo 'emulator: all cores have halted' >&2; exit 4").ends_with("still: all cores have halted")
        );
        let late = failure("echo '@phase halos'; echo 'emulator: core 0 waits at 0x10' >&2; exit 5");
        assert_eq!(late, "stand-in was told to end, in phase `halos`: core 0 waits at 0x10");
        let killed = failure("echo 'emulator: the debugger has ended it' >&2; exit 6");
        assert_eq!(killed, "stand-in was ended by its debugger, before its first phase");
        // What the program itself has said comes first.
        assert!(failure(&format!("{script} echo '@done failed no'; exit 3")).ends_with("failed: no"));
        assert!(failure(&format!("{script} echo '@done ok'; exit 3")).contains("does not allow"));
    }

    #[test]
    fn nothing_is_said_twice() {
        let script = "echo 'core 3 panicked at x.rs:1: boom'; echo '@done failed core 3 panicked'; exit 35";
        assert_eq!(failure(script), "stand-in failed: core 3 panicked at x.rs:1: boom");
        let script = "echo 'rank 2 failed: no'; echo '@done failed 1 rank: rank 2 failed: no'; exit 35";
        assert_eq!(failure(script), "stand-in failed: 1 rank: rank 2 failed: no");
    }

    #[test]
    fn a_machine_that_cannot_be_asked_is_judged_all_the_same() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; exec sleep 60"]);
        let monitor = Monitor { directory: "/nonexistent".into(), image: "/nonexistent".into() };
        let outcome = run("stand-in", &mut command, Some(&monitor), Duration::from_millis(300), |_| {}).unwrap();
        assert_eq!(outcome.transcript.text, ["one"]);
        assert!(
            outcome
                .verdict()
                .unwrap_err()
                .to_string()
                .contains("does nothing any more, all its cores are halted, before")
        );
    }

    #[test]
    fn a_hang_is_ended_and_explained() {
        let said = "echo '@phase halos'; echo 'core 1 waits for core 2'";
        for (script, how) in
            [("exec sleep 6000", "does nothing any more"), ("while :; do :; done", "after 0 s of its own")]
        {
            let outcome = guest(&format!("{said}; {script}"), 500);
            let message = outcome.verdict().unwrap_err().to_string();
            assert!(message.contains(how), "{message}");
            assert!(message.contains("in phase `halos`") && message.contains("--timeout"), "{message}");
            assert_eq!(outcome.transcript.text, ["core 1 waits for core 2"]);
        }
    }

    #[test]
    fn what_a_guest_may_use_is_counted_anew_with_each_test() {
        let turns = "turn() { i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; }";
        let used =
            |script: &str| guest(&format!("{turns}; {script}"), 400).verdict().map_err(|error| error.to_string());
        let many = |told: &str| format!("for n in $(seq 40); do turn; {told}; done; echo @done ok; exit 33");
        assert_eq!(used(&many("echo @test a ok")), Ok(()));
        assert!(used(&many("echo working")).unwrap_err().contains("of its own processor time"));
        assert!(used("echo @done ok; while :; do :; done").unwrap_err().contains("does not go away"));
    }

    #[test]
    fn a_fatal_program_has_to_end_with_its_report() {
        let verdict =
            |script| guest(script, 500).verdict_of_fatal("waits for core 2").map_err(|error| error.to_string());
        assert_eq!(verdict("echo 'core 1 waits for core 2'; exit 35"), Ok(()));
        assert_eq!(verdict("echo '@done failed core 1 waits for core 2'; exit 35"), Ok(()));
        assert!(verdict("echo 'core 1 waits for core 2'; exit 0").is_err());
        assert!(verdict("echo 'core 1 waits for core 2'; echo '@done ok'; exit 33").is_err());
        assert!(verdict("echo other; exit 35").unwrap_err().contains("did not say"));
        assert!(verdict("echo 'core 1 waits for core 2'; exec sleep 60").unwrap_err().contains("has not ended"));
    }

    #[test]
    fn a_machine_that_halts_is_looked_at_and_judged_by_its_word() {
        let halting = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            let monitor = Monitor { directory: "/nonexistent".into(), image: "/nonexistent".into() };
            let mut looks = 0;
            let limit = Duration::from_secs(3);
            let outcome = run_halting("stand-in", &mut command, &monitor, limit, || looks += 1, |_| {}).unwrap();
            (outcome.verdict().map_err(|error| error.to_string()), looks)
        };
        assert_eq!(halting("echo @done ok; exec sleep 60"), (Ok(()), 1));
        assert_eq!(halting("echo @done ok; exit 33"), (Ok(()), 0));
        assert_eq!(halting("echo @done failed no; exec sleep 60"), (Err("stand-in failed: no".into()), 1));
        assert!(halting("echo @bogus; echo @done ok; exec sleep 60").0.unwrap_err().contains("@bogus"));
        let (verdict, looks) = halting("echo one; exec sleep 60");
        assert!(verdict.unwrap_err().contains("has not ended") && looks == 0);
    }

    #[test]
    fn a_cut_off_result_fails() {
        assert!(failure("echo '@data a.bin 3'; echo AAAA; echo '@done ok'; exit 33").contains("a.bin is cut off"));
    }
}
