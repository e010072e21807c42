//! Child processes that never outlive this one, and their output line by line.

use crate::interrupt;
use anyhow::{Context, Result, bail};
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    fs,
    io::{BufRead, BufReader, Error, Read},
    iter,
    os::unix::process::CommandExt,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How often a waiting loop looks whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(100);

/// Lines that may wait for the reader before the child has to.
const QUEUE_LINES: usize = 4096;

/// Bytes of a child's standard error that are kept.
const MESSAGE_BYTES: usize = 4 << 20;

/// How long the last lines of a child that was killed may take to be read.
const REST_TIME: Duration = Duration::from_secs(10);

/// What came next from a child.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A line, without its end.
    Line(String),
    /// The child has closed its output.
    End,
    /// Nothing until the deadline.
    TimedOut,
    /// The user wants to stop.
    Interrupted,
}

/// An account of processor time: what child processes have spent, with the children that they have waited for. A child is charged when
/// it ends, to the account that the thread kept which started it.
#[derive(Clone, Default)]
pub struct Account(Arc<AtomicU64>);

thread_local! {
    static ACCOUNT: RefCell<Account> = RefCell::default();
}

impl Account {
    /// The account that this thread keeps.
    pub fn of_this_thread() -> Self {
        ACCOUNT.with_borrow(Clone::clone)
    }

    /// Does something for which this thread keeps the account.
    pub fn keep_for<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = ACCOUNT.replace(self.clone());
        let done = work();
        ACCOUNT.set(before);
        done
    }

    /// What is on it.
    pub fn time(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// A running child whose standard output is read line by line; it is killed when dropped.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    messages: Option<JoinHandle<String>>,
    /// What it has spent goes there, once.
    account: Option<Account>,
}

impl Running {
    /// Starts the command with both outputs piped.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(command: &mut Command) -> Result<Self> {
        die_with_this_process(command);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))?;
        let (Some(output), Some(error)) = (child.stdout.take(), child.stderr.take()) else {
            bail!("the child's output is not piped");
        };
        let messages = thread::spawn(move || {
            let mut text = Vec::new();
            let mut error = error;
            let _ = error.by_ref().take(MESSAGE_BYTES as u64).read_to_end(&mut text);
            // A full pipe would stop the child.
            let _ = std::io::copy(&mut error, &mut std::io::sink());
            String::from_utf8_lossy(&text).into_owned()
        });
        let (lines, account) = (read_lines(output), Some(Account::of_this_thread()));
        Ok(Self { child, lines, messages: Some(messages), account })
    }

    /// Waits for the next line.
    pub fn next(&self, deadline: Option<Instant>) -> Next {
        loop {
            if interrupt::requested() {
                return Next::Interrupted;
            }
            let left =
                deadline.map_or(GLANCE, |deadline| deadline.saturating_duration_since(Instant::now()).min(GLANCE));
            match self.lines.recv_timeout(left) {
                Ok(line) => return Next::Line(line),
                Err(RecvTimeoutError::Disconnected) => return Next::End,
                Err(RecvTimeoutError::Timeout) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                    return Next::TimedOut;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Processor time that the child has used, all its threads together; nothing when it is gone.
    pub fn processor_time(&self) -> Option<Duration> {
        accounts(&self.child.id().to_string(), [11, 12])
    }

    /// Tells whether nothing of the child runs, wants to run, or waits for a disk: no thread of it, and none of what it has
    /// started, in whatever process groups. A child that a busy host lets wait is not asleep, nor is one that waits for a file
    /// that others have locked: a cargo for another one.
    pub fn is_asleep(&self) -> bool {
        let leader = self.child.id();
        // Most that are looked at are awake, and that is seen without a look at all processes.
        if is_awake(leader) {
            return false;
        }
        let all: Vec<_> = stats("/proc").collect();
        let parents: HashMap<u32, u32> = all.iter().filter_map(|stat| Some((number(stat)?, parent(stat)?))).collect();
        let is_below = |process: u32| {
            iter::successors(Some(process), |process| parents.get(process).copied()).any(|process| process == leader)
        };
        let ours = all.iter().filter_map(|stat| {
            let process = number(stat)?;
            (is_below(process) || group(stat) == Some(leader)).then_some(process)
        });
        let ours: HashSet<_> = ours.collect();
        !ours.iter().copied().any(is_awake)
            && !wait_for_others(&ours, &fs::read_to_string("/proc/locks").unwrap_or_default())
    }

    /// Sends the child a signal, unless it is gone.
    pub fn signal(&self, signal: i32) {
        if let Ok(child) = i32::try_from(self.child.id()) {
            // SAFETY: this only sends a signal. The child is not waited for before `self` is borrowed mutably, so that
            // the number is its own.
            unsafe { libc::kill(child, signal) };
        }
    }

    /// Kills the child and returns the lines that it had written but nobody had read.
    pub fn kill(&mut self) -> Vec<String> {
        self.kill_group();
        // Grandchildren may hold the pipe open, so this does not wait for its end for ever.
        let deadline = Instant::now() + REST_TIME;
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            rest.push(line);
        }
        rest
    }

    /// Kills the child and, where it leads a process group, all that it has started.
    fn kill_group(&mut self) {
        // A child that has been waited for no longer owns its number, and another group may have it by now.
        if let (Ok(None), Ok(leader)) = (self.status(), i32::try_from(self.child.id())) {
            // SAFETY: this only sends a signal. The child has not been waited for, so the number is its own; when it
            // leads no group there is none of this number.
            unsafe { libc::kill(-leader, libc::SIGKILL) };
        }
        let _ = self.child.kill();
        while let Ok(None) = self.status() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// How the child has ended, if it has.
    ///
    /// # Errors
    /// When nobody can tell.
    pub fn status(&mut self) -> Result<Option<ExitStatus>> {
        // Nobody can tell any more what a child has spent that was waited for.
        let spent = self.account.as_ref().and_then(|_| accounts(&self.child.id().to_string(), [11, 12, 13, 14]));
        let status = self.child.try_wait().context("cannot wait for the child")?;
        if status.is_some()
            && let (Some(account), Some(spent)) = (self.account.take(), spent)
        {
            account.0.fetch_add(spent.as_millis() as u64, Ordering::Relaxed);
        }
        Ok(status)
    }

    /// Waits until the child, whose output has ended, is gone.
    ///
    /// # Errors
    /// When the user wants to stop.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.status()? {
                return Ok(status);
            }
            interrupt::check()?;
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// What the child, which has ended, wrote to standard error.
    pub fn messages(&mut self) -> String {
        self.messages.take().and_then(|reader| reader.join().ok()).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// Processor time that this process has used, and all that it started and that have ended.
pub fn processor_time_of_all() -> Option<Duration> {
    accounts("self", [11, 12, 13, 14])
}

/// The sum of some of a process's accounts of processor time, by their places behind its name.
fn accounts<const N: usize>(process: &str, places: [usize; N]) -> Option<Duration> {
    /// In which Linux counts for other processes, on every architecture.
    const TICKS_PER_S: u64 = 100;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<_> = after_name(&stat)?.split(' ').collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let sum = places.into_iter().map(ticks).sum::<Option<u64>>()?;
    Some(Duration::from_millis(sum * 1000 / TICKS_PER_S))
}

/// What `stat` says of a process behind its name, which may contain anything.
fn after_name(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ").map(|(_, rest)| rest)
}

/// Whether a thread of a process runs, wants to, or waits for a disk. A process is in the state of its first thread, which may do no
/// more than wait for the others: a compiler's does.
fn is_awake(process: u32) -> bool {
    stats(&format!("/proc/{process}/task")).any(|stat| matches!(state(&stat), Some('R' | 'D')))
}

/// The state of a process or thread: running, asleep, …
fn state(stat: &str) -> Option<char> {
    after_name(stat)?.chars().next()
}

fn number(stat: &str) -> Option<u32> {
    stat.split(' ').next()?.parse().ok()
}

fn parent(stat: &str) -> Option<u32> {
    after_name(stat)?.split(' ').nth(1)?.parse().ok()
}

/// The process group that it is in.
fn group(stat: &str) -> Option<u32> {
    after_name(stat)?.split(' ').nth(2)?.parse().ok()
}

/// Whether one of these processes waits for a lock of a file that none of them has. `locks` are lines of the holder, and behind
/// it, with an arrow, of who waits: `7: -> FLOCK  ADVISORY  WRITE 4711 fe:00:42 0 EOF`.
fn wait_for_others(ours: &HashSet<u32>, locks: &str) -> bool {
    let mut holder = None;
    locks.lines().any(|line| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let waits = words.get(1) == Some(&"->");
        let process = words.get(if waits { 5 } else { 4 }).and_then(|word| word.parse::<u32>().ok());
        if !waits {
            holder = process;
        }
        let is_ours = |process: Option<u32>| process.is_some_and(|process| ours.contains(&process));
        waits && is_ours(process) && !is_ours(holder)
    })
}

/// What there is of processes or threads below a directory of `/proc`.
fn stats(directory: &str) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
}

/// Has the kernel kill the child when this process is gone: after a `kill -9` no drop does it.
///
/// It is the end of the starting thread that counts: a thread that starts a child has to outlive it.
fn die_with_this_process(command: &mut Command) {
    let parent = std::process::id();
    let bind = move || {
        // SAFETY: both are plain system calls without pointers, and may be made between fork and exec.
        let (bound, now) = unsafe { (libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL), libc::getppid()) };
        if bound != 0 {
            return Err(Error::last_os_error());
        }
        // The parent may have gone before it was asked for.
        if u32::try_from(now) == Ok(parent) { Ok(()) } else { Err(Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: the closure makes two system calls, and neither allocates nor locks.
    unsafe { command.pre_exec(bind) };
}

fn read_lines(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = sync_channel(QUEUE_LINES);
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line);
            if sender.send(text.trim_end_matches(['\n', '\r']).to_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

/// What a finished command left behind.
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// The standard output of the process.
    pub output: String,
    /// The standard error of the process.
    pub messages: String,
}

/// Runs a command to its end with its output captured; each line of standard output is also shown to `look`. It may take
/// as long as it likes: what builds, or looks at what was built, ends by itself, and later on a busy host.
///
/// # Errors
/// When it cannot be started or the user wants to stop.
pub fn finish(command: &mut Command, look: impl FnMut(&str)) -> Result<Finished> {
    finish_by(command, None, look)
}

/// [`finish`] for what waits for others, such as a server that does not answer: it is given up after `limit`.
///
/// # Errors
/// As [`finish`], and when the command takes longer.
pub fn finish_within(command: &mut Command, limit: Duration) -> Result<Finished> {
    finish_by(command, Some(limit), |_| {})
}

fn finish_by(command: &mut Command, limit: Option<Duration>, mut look: impl FnMut(&str)) -> Result<Finished> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut running = Running::start(command)?;
    let deadline = limit.map(|limit| Instant::now() + limit);
    let mut output = String::new();
    loop {
        match running.next(deadline) {
            Next::Line(line) => {
                look(&line);
                output.push_str(&line);
                output.push('\n');
            }
            Next::End => break,
            Next::TimedOut => bail!("{name} has not ended after {} s", limit.unwrap_or_default().as_secs()),
            Next::Interrupted => bail!("interrupted"),
        }
    }
    let status = running.wait()?;
    interrupt::check()?;
    Ok(Finished { status, output, messages: running.messages() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    #[test]
    fn lines_and_status_arrive() {
        let finished = finish(&mut shell("printf 'one\\r\\ntwo'; echo three >&2; exit 3"), |_| {}).unwrap();
        assert_eq!((finished.output.as_str(), finished.messages.as_str()), ("one\ntwo\n", "three\n"));
        assert_eq!(finished.status.code(), Some(3));
    }

    #[test]
    fn a_child_that_hangs_is_killed() {
        let error = finish_within(&mut shell("exec sleep 6000"), Duration::from_millis(300)).err().expect("too slow");
        assert!(error.to_string().contains("has not ended"), "{error}");
    }

    #[test]
    fn whoever_computes_is_not_asleep() {
        let used = |running: &Running| running.processor_time().unwrap_or_default();
        let busy = Running::start(&mut shell("while :; do :; done")).unwrap();
        assert!(soon(&busy, false) && !is_asleep_for(&busy, 20));
        let has_computed = |_| {
            thread::sleep(Duration::from_millis(20));
            used(&busy) > Duration::from_millis(50)
        };
        assert!((0..1000).any(has_computed));
        drop(busy);
        // Of a child that has been waited for, too.
        assert!(processor_time_of_all() > Some(Duration::from_millis(50)));
        let idle = Running::start(&mut shell("exec sleep 6000")).unwrap();
        assert!(soon(&idle, true));
        let before = used(&idle);
        thread::sleep(Duration::from_millis(200));
        assert_eq!(used(&idle), before);
        // The shell sleeps, and what it has started does not.
        let leader = Running::start(shell("while :; do :; done & wait").process_group(0)).unwrap();
        assert!(soon(&leader, false) && !is_asleep_for(&leader, 20));
        // Not even if that leads a group of its own.
        let above = Running::start(&mut shell("set -m; (while kill -0 $$; do :; done) & wait")).unwrap();
        assert!(soon(&above, false) && !is_asleep_for(&above, 20));
        drop((leader, above));
        // Nor what it has started and whose first thread waits for the one that computes.
        let mut below = shell("\"$0\" --exact process::tests::computes_in_its_second_thread & wait");
        below.arg(std::env::current_exe().unwrap()).env(COMPUTES, "").process_group(0);
        let below = Running::start(&mut below).unwrap();
        assert!(soon(&below, false) && !is_asleep_for(&below, 20));
    }

    #[test]
    fn an_account_has_what_was_started_for_it() {
        let account = Account::default();
        let computes = || finish(&mut shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"), |_| {});
        account.keep_for(|| {
            let account = Account::of_this_thread();
            thread::scope(|scope| _ = scope.spawn(move || account.keep_for(computes).unwrap()));
        });
        let ended = account.time();
        assert!(ended > Duration::from_millis(20), "{ended:?}");
        // One that is killed, too.
        account.keep_for(|| {
            let busy = Running::start(&mut shell("while :; do :; done")).unwrap();
            while busy.processor_time() < Some(Duration::from_millis(50)) {
                thread::sleep(Duration::from_millis(5));
            }
        });
        let killed = account.time();
        assert!(killed >= ended + Duration::from_millis(50), "{killed:?} after {ended:?}");
        computes().unwrap();
        assert!(account.time() == killed && Account::of_this_thread().time() > Duration::ZERO);
    }

    #[test]
    fn who_waits_for_a_lock_of_others_is_not_asleep() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let waiting = |file: &std::path::Path| {
            let mut command = shell("flock \"$0\" true; exec sleep 6000");
            command.arg(file);
            Running::start(&mut command).unwrap()
        };
        file.as_file().lock().unwrap();
        let waits = waiting(file.path());
        assert!(soon(&waits, false) && !is_asleep_for(&waits, 20));
        file.as_file().unlock().unwrap();
        // Now it has the lock, gives it back, and sleeps.
        assert!(soon(&waits, true));
        let lines = "1: FLOCK  ADVISORY  WRITE 7 fe:00:5 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 8 fe:00:5 0 EOF\n\
                     2: POSIX  ADVISORY  READ 9 fe:00:6 0 EOF\n";
        // Of locks of their own nobody else will ever let go.
        for (ours, expected) in [(&[8][..], true), (&[7, 8], false), (&[7], false), (&[9], false), (&[], false)] {
            assert_eq!(wait_for_others(&ours.iter().copied().collect(), lines), expected, "{ours:?}");
        }
    }

    /// Set for the process that only computes.
    const COMPUTES: &str = "ATOLL_TEST_COMPUTES";

    #[test]
    fn computes_in_its_second_thread() {
        if std::env::var_os(COMPUTES).is_some() {
            let _ = thread::spawn(|| {
                loop {
                    std::hint::spin_loop()
                }
            })
            .join();
        }
    }

    /// Whether it is before long.
    fn soon(running: &Running, asleep: bool) -> bool {
        (0..1000).any(|_| {
            thread::sleep(Duration::from_millis(20));
            running.is_asleep() == asleep
        })
    }

    /// Whether it was asleep at half of these looks.
    fn is_asleep_for(running: &Running, looks: usize) -> bool {
        let is_asleep = |_: &usize| {
            thread::sleep(Duration::from_millis(20));
            running.is_asleep()
        };
        (0..looks).filter(is_asleep).count() * 2 >= looks
    }

    #[test]
    fn a_killed_child_gives_up_its_last_line() {
        let mut running = Running::start(&mut shell("printf 'half a line'; exec sleep 60")).unwrap();
        // It has written by the time that it is another program.
        let name = format!("/proc/{}/comm", running.child.id());
        while fs::read_to_string(&name).unwrap().trim_end() != "sleep" {
            thread::sleep(GLANCE);
        }
        assert_eq!(running.next(Some(Instant::now())), Next::TimedOut);
        assert_eq!(running.kill(), ["half a line"]);
    }

    /// Whether a process runs; one that is dead and only not waited for does not.
    fn is_alive(process: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        !matches!(state(&stat), None | Some('Z' | 'X'))
    }

    fn ends_soon(process: &str) -> bool {
        (0..200).any(|_| {
            thread::sleep(Duration::from_millis(20));
            !is_alive(process)
        })
    }

    #[test]
    fn grandchildren_are_killed_with_their_group() {
        let mut command = shell("sleep 60 & echo $!; wait");
        let mut running = Running::start(command.process_group(0)).unwrap();
        let Next::Line(grandchild) = running.next(None) else { panic!() };
        assert!(is_alive(&grandchild));
        running.kill();
        assert!(ends_soon(&grandchild));
    }

    #[test]
    fn a_child_ends_with_the_thread_that_started_it() {
        let start = || {
            let running = Running::start(&mut shell("echo $$; exec sleep 60")).unwrap();
            let Next::Line(child) = running.next(None) else { panic!() };
            // As after a kill -9: nothing is dropped.
            std::mem::forget(running);
            child
        };
        let child = thread::spawn(start).join().unwrap();
        assert!(ends_soon(&child));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Running::start(&mut Command::new("/nonexistent/program")).err().expect("cannot start");
        assert!(format!("{error:#}").starts_with("cannot start /nonexistent/program"));
    }
}
