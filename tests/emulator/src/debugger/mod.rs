//! A debugger at a run, by gdb's protocol: it stops and looks at all cores of a board that keeps time, each of which is a
//! thread. While it looks, no time passes for anybody.

mod monitor;
mod target;
mod wire;

use std::{
    io,
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
};

use gdbstub::{
    common::{Signal, Tid},
    conn::ConnectionExt,
    stub::{DisconnectReason, GdbStub, MultiThreadStopReason, state_machine::GdbStubStateMachine},
    target::ext::breakpoints::WatchKind,
};

use self::wire::Wire;
use crate::{cpu::met::Met, ended::Ended, timed::Timed};

type Stub = GdbStubStateMachine<'static, Timed, Wire>;
type StopReason = MultiThreadStopReason<u32>;

/// The thread that a core is.
fn thread(core: usize) -> Tid {
    Tid::new(core + 1).unwrap_or(Tid::MIN)
}

/// A debugger that may come, or is there.
pub struct Debugger {
    listener: UnixListener,
    socket: PathBuf,
    /// Whether the run waits for it before it begins, or where it fails.
    begins: bool,
    /// The debugger, while cores run.
    stub: Option<Stub>,
}

impl Debugger {
    /// Listens at a socket. The run waits for a debugger before its first instruction, or where it has failed.
    ///
    /// # Errors
    /// When there cannot be such a socket.
    pub fn new(socket: &Path, begins: bool) -> io::Result<Self> {
        Ok(Self { listener: UnixListener::bind(socket)?, socket: socket.into(), begins, stub: None })
    }

    /// The run is about to begin.
    ///
    /// # Errors
    /// How the run ends, if it does.
    pub(crate) fn begin(&mut self, timed: &mut Timed) -> Result<(), Ended> {
        timed.debug()?;
        if self.begins { self.accept(timed) } else { Ok(()) }
    }

    /// A core has stopped.
    ///
    /// # Errors
    /// If the debugger ends the run.
    pub(crate) fn stopped(&mut self, timed: &mut Timed, core: usize, met: Met) -> Result<(), Ended> {
        let tid = thread(core);
        self.report(
            timed,
            match met {
                Met::Breakpoint => StopReason::SwBreak(tid),
                Met::Step => StopReason::SignalWithThread { tid, signal: Signal::SIGTRAP },
                Met::Watchpoint(point) => {
                    let kind = match (point.loads, point.stores) {
                        (true, true) => WatchKind::ReadWrite,
                        (true, false) => WatchKind::Read,
                        (false, _) => WatchKind::Write,
                    };
                    StopReason::Watch { tid, kind, addr: point.address }
                }
            },
        )
    }

    /// Looks whether the debugger wants something while cores run.
    ///
    /// # Errors
    /// If it ends the run.
    pub(crate) fn look(&mut self, timed: &mut Timed) -> Result<(), Ended> {
        let Some(mut stub) = self.stub.take() else { return Ok(()) };
        while let GdbStubStateMachine::Running(mut running) = stub {
            match running.borrow_conn().peek() {
                Ok(Some(_)) => {
                    let Ok(byte) = running.borrow_conn().read() else { return self.lose(timed) };
                    match running.incoming_data(timed, byte) {
                        Ok(next) => stub = next,
                        Err(_) => return self.lose(timed),
                    }
                }
                Ok(None) => {
                    self.stub = Some(running.into());
                    return Ok(());
                }
                Err(_) => return self.lose(timed),
            }
        }
        self.serve(timed, stub)
    }

    /// The run has ended: where it has failed, the debugger may look at it as it is.
    pub(crate) fn end(&mut self, timed: &mut Timed, ended: &Ended) {
        let status = u8::from(*ended != Ended::Succeeded);
        if matches!(ended, Ended::Succeeded | Ended::Killed) || self.stub.is_none() && self.begins {
            self.leave(timed, status);
            return;
        }
        // What it wants to be done then is over with the run.
        let seen = if self.stub.is_some() {
            let core = if let Ended::Refused(violation, _) = ended { Some(violation.core()) } else { None };
            let tid = thread(core.or_else(|| timed.running().next()).unwrap_or(0));
            self.report(timed, StopReason::SignalWithThread { tid, signal: Signal::SIGABRT })
        } else {
            println!("the board has failed, and is held for a debugger");
            self.accept(timed)
        };
        if seen.is_ok() {
            self.leave(timed, status);
        }
    }

    fn leave(&mut self, timed: &mut Timed, status: u8) {
        if let Some(GdbStubStateMachine::Running(running)) = self.stub.take() {
            // It has gone if that cannot be told.
            let _ = running.report_stop(timed, StopReason::Exited(status));
        }
    }

    fn report(&mut self, timed: &mut Timed, reason: StopReason) -> Result<(), Ended> {
        let Some(GdbStubStateMachine::Running(running)) = self.stub.take() else { return Ok(()) };
        match running.report_stop(timed, reason) {
            Ok(stub) => self.serve(timed, stub),
            Err(_) => self.lose(timed),
        }
    }

    /// Waits for a debugger, and does what it wants until cores run.
    fn accept(&mut self, timed: &mut Timed) -> Result<(), Ended> {
        let Ok((stream, _)) = self.listener.accept() else { return self.lose(timed) };
        match GdbStub::new(Wire::new(stream)).run_state_machine(timed) {
            Ok(stub) => self.serve(timed, stub),
            Err(_) => self.lose(timed),
        }
    }

    /// Does what the debugger wants until cores run.
    fn serve(&mut self, timed: &mut Timed, mut stub: Stub) -> Result<(), Ended> {
        loop {
            let next = match stub {
                GdbStubStateMachine::Running(_) => {
                    self.stub = Some(stub);
                    return Ok(());
                }
                GdbStubStateMachine::Idle(mut idle) => match idle.borrow_conn().read() {
                    Ok(byte) => idle.incoming_data(timed, byte),
                    Err(_) => return self.lose(timed),
                },
                GdbStubStateMachine::CtrlCInterrupt(interrupted) => {
                    let tid = thread(timed.running().next().unwrap_or(0));
                    let reason = StopReason::SignalWithThread { tid, signal: Signal::SIGINT };
                    interrupted.interrupt_handled(timed, Some(reason))
                }
                GdbStubStateMachine::Disconnected(gone) => {
                    return match gone.get_reason() {
                        DisconnectReason::Kill => Err(Ended::Killed),
                        _ => self.lose(timed),
                    };
                }
            };
            match next {
                Ok(next) => stub = next,
                Err(error) => {
                    eprintln!("emulator: the debugger is left alone: {error}");
                    return self.lose(timed);
                }
            }
        }
    }

    /// The debugger has gone: the run goes on without it, and nobody else is let in.
    fn lose(&mut self, timed: &mut Timed) -> Result<(), Ended> {
        self.stub = None;
        // Whoever comes now would wait for an answer for ever.
        let _ = std::fs::remove_file(&self.socket);
        timed.points().clear();
        timed.shared().borrow_mut().chip.unwatch_all();
        timed.choose(None);
        timed.go_on();
        Ok(())
    }
}

impl Drop for Debugger {
    fn drop(&mut self) {
        // Whoever looks there next shall not take it for one that listens.
        let _ = std::fs::remove_file(&self.socket);
    }
}
