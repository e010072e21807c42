//! Asks a machine that has not ended where its cores are, or what its screen shows.
//!
//! An NMI reaches a core also where it has masked interrupts, and its handler in the kernel prints one line: that it
//! runs, and at which address, or what it waits for. QEMU injects it when told so over its socket (QMP).

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Error},
    os::{
        fd::{AsRawFd, RawFd},
        unix::net::UnixStream,
    },
    path::PathBuf,
    time::Duration,
};

/// The socket's name in the directory that QEMU runs in.
pub(crate) const SOCKET: &str = "qmp.sock";

/// Where a screen in text mode has its cells of two bytes, and how many.
const SCREEN: u32 = 0xB_8000;
const COLUMNS: usize = 80;
const ROWS: usize = 25;

/// Where QEMU saves them, in the directory that it runs in.
const SCREEN_FILE: &str = "screen.bin";

/// How long QEMU, which others may hold up, may take for an answer. One that has gone closes its socket, which is noticed at once.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is known about a machine that can be asked.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    /// Where QEMU runs.
    pub(crate) directory: PathBuf,
    /// The image, for the names of its functions.
    pub(crate) image: PathBuf,
}

impl Monitor {
    /// Makes all cores report.
    pub(crate) fn interrupt(&self) -> Result<()> {
        self.order(&json!({"execute": "inject-nmi"}))
    }

    /// Stops all cores where they are.
    pub(crate) fn stop(&self) -> Result<()> {
        self.order(&json!({"execute": "stop"}))
    }

    /// The text on the machine's screen.
    pub(crate) fn screen(&self) -> Result<String> {
        let place = json!({"val": SCREEN, "size": 2 * COLUMNS * ROWS, "filename": SCREEN_FILE});
        self.order(&json!({"execute": "pmemsave", "arguments": place}))?;
        let cells = fs::read(self.directory.join(SCREEN_FILE)).context("QEMU has not saved the screen")?;
        // The second byte of a cell has its colours.
        let rows =
            cells.chunks(2 * COLUMNS).map(|row| row.iter().step_by(2).map(|letter| char::from(*letter)).collect());
        Ok(rows.collect::<Vec<String>>().join("\n"))
    }

    /// Has QEMU obey an order.
    fn order(&self, order: &Value) -> Result<()> {
        // A socket's path is short, and the user's directories may not be; a path through the descriptor always fits.
        let directory = File::open(&self.directory).context("cannot open the machine's directory")?;
        let stream = UnixStream::connect(format!("/proc/self/fd/{}/{SOCKET}", directory.as_raw_fd()))
            .context("QEMU does not listen")?;
        stream.set_read_timeout(Some(PATIENCE)).context("no time limit")?;
        let mut answers = BufReader::new(&stream);
        answers.read_line(&mut String::new()).context("QEMU does not greet")?;
        for order in [&json!({"execute": "qmp_capabilities"}), order] {
            send(stream.as_raw_fd(), format!("{order}\n").as_bytes())?;
            obeyed(&mut answers)
                .with_context(|| format!("QEMU does not {}", order["execute"].as_str().unwrap_or_default()))?;
        }
        Ok(())
    }
}

/// Writes to the socket. The standard library would have a closed one end this process, whose SIGPIPE is the default.
fn send(socket: RawFd, bytes: &[u8]) -> Result<()> {
    // SAFETY: pointer and length are one slice's, and the socket is open as long as the caller's stream.
    let sent = unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    ensure!(usize::try_from(sent) == Ok(bytes.len()), "QEMU has gone: {}", Error::last_os_error());
    Ok(())
}

/// Reads up to the answer to an order; events may come before it.
fn obeyed(answers: &mut impl BufRead) -> Result<()> {
    loop {
        let mut line = String::new();
        ensure!(answers.read_line(&mut line)? > 0, "no answer");
        let answer: serde_json::Value = serde_json::from_str(&line)?;
        if answer.get("event").is_none() {
            ensure!(answer.get("return").is_some(), "{}", line.trim());
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Write, os::unix::net::UnixListener, thread};

    #[test]
    fn orders_are_given_one_after_the_other() {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(SOCKET)).unwrap();
        let qemu = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut orders = BufReader::new(stream.try_clone().unwrap()).lines();
            stream.write_all(b"{\"QMP\": {}}\n").unwrap();
            let first = orders.next().unwrap().unwrap();
            stream.write_all(b"{\"event\": \"RESUME\"}\n{\"return\": {}}\n").unwrap();
            let second = orders.next().unwrap().unwrap();
            stream.write_all(b"{\"return\": {}}\n").unwrap();
            [first, second]
        });
        let monitor = Monitor { directory: directory.path().into(), image: "/nonexistent".into() };
        monitor.interrupt().unwrap();
        assert_eq!(qemu.join().unwrap(), [r#"{"execute":"qmp_capabilities"}"#, r#"{"execute":"inject-nmi"}"#]);
    }
}
