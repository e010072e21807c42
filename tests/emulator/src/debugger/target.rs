//! What the debugger can do to a run.

use std::convert::Infallible;

use gdbstub::{
    common::{Signal, Tid},
    target::{
        Target, TargetError, TargetResult,
        ext::{
            base::{
                BaseOps,
                multithread::{
                    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
                    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
                },
            },
            breakpoints::{
                Breakpoints, BreakpointsOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint, SwBreakpointOps, WatchKind,
            },
            monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps},
            thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps},
        },
    },
};
use gdbstub_arch::x86::{X86_SSE, reg::X86CoreRegs};

use super::{monitor, thread};
use crate::{chip::Watchpoint, timed::Timed};

/// What gdb is told where something is not there.
const NO_SUCH_ADDRESS: u8 = 14;
/// What it is told where something cannot be done now.
const BUSY: u8 = 16;

fn core_of(tid: Tid) -> usize {
    tid.get() - 1
}

/// Which accesses a watchpoint is for: loads, and stores.
fn accesses(kind: WatchKind) -> (bool, bool) {
    match kind {
        WatchKind::Write => (false, true),
        WatchKind::Read => (true, false),
        WatchKind::ReadWrite => (true, true),
    }
}

impl Target for Timed {
    type Arch = X86_SSE;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, X86_SSE, Infallible> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Timed {
    fn read_registers(&mut self, registers: &mut X86CoreRegs, tid: Tid) -> TargetResult<(), Self> {
        self.select(core_of(tid));
        *registers = self.look_at(core_of(tid)).ok_or(TargetError::NonFatal)?.registers();
        Ok(())
    }

    fn write_registers(&mut self, registers: &X86CoreRegs, tid: Tid) -> TargetResult<(), Self> {
        let look = self.look_at(core_of(tid)).ok_or(TargetError::NonFatal)?;
        look.set_registers(registers).ok_or(TargetError::Errno(BUSY))
    }

    fn read_addrs(&mut self, start: u32, to: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        self.select(core_of(tid));
        let look = self.look_at(core_of(tid)).ok_or(TargetError::NonFatal)?;
        match look.load(&self.shared().borrow().chip, start, to) {
            0 => Err(TargetError::Errno(NO_SUCH_ADDRESS)),
            len => Ok(len),
        }
    }

    fn write_addrs(&mut self, start: u32, from: &[u8], tid: Tid) -> TargetResult<(), Self> {
        let look = self.look_at(core_of(tid)).ok_or(TargetError::NonFatal)?;
        let stored = look.store(&mut self.shared().borrow_mut().chip, start, from);
        stored.ok_or(TargetError::Errno(NO_SUCH_ADDRESS))
    }

    fn list_active_threads(&mut self, is_active: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        self.running().for_each(|core| is_active(thread(core)));
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for Timed {
    fn thread_extra_info(&self, tid: Tid, to: &mut [u8]) -> Result<usize, Infallible> {
        let name = format!("rank {}", core_of(tid));
        let len = name.len().min(to.len());
        to[..len].copy_from_slice(&name.as_bytes()[..len]);
        Ok(len)
    }
}

impl MultiThreadResume for Timed {
    fn resume(&mut self) -> Result<(), Infallible> {
        self.go_on();
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.points().forget_steps();
        self.choose(None);
        Ok(())
    }

    fn set_resume_action_continue(&mut self, tid: Tid, _signal: Option<Signal>) -> Result<(), Infallible> {
        self.choose(Some(core_of(tid)));
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for Timed {
    fn set_resume_action_step(&mut self, tid: Tid, _signal: Option<Signal>) -> Result<(), Infallible> {
        self.points().step(core_of(tid));
        self.choose(Some(core_of(tid)));
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for Timed {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        self.lock();
        Ok(())
    }
}

impl Breakpoints for Timed {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Timed {
    fn add_sw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        self.points().break_at(address, true);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        self.points().break_at(address, false);
        Ok(true)
    }
}

impl HwWatchpoint for Timed {
    /// The bytes are where the thread sees them that gdb has selected last, since it says no other: shared memory is in the same
    /// place for all.
    fn add_hw_watchpoint(&mut self, address: u32, len: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        let (loads, stores) = accesses(kind);
        let core = self.selected();
        let Some(look) = self.look_at(core) else { return Ok(false) };
        let chip = &mut self.shared().borrow_mut().chip;
        let place = look.translate(chip, address).and_then(|(physical, _)| chip.translate(core, physical).ok());
        let Some(place) = place else { return Ok(false) };
        chip.watch(Watchpoint { address, len, place, loads, stores });
        Ok(true)
    }

    fn remove_hw_watchpoint(&mut self, address: u32, len: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        let (loads, stores) = accesses(kind);
        Ok(self.shared().borrow_mut().chip.unwatch(address, len, loads, stores))
    }
}

impl MonitorCmd for Timed {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Infallible> {
        let told = monitor::tell(self, &String::from_utf8_lossy(command));
        out.write_raw(told.unwrap_or_else(|why| format!("{why}\n")).as_bytes());
        Ok(())
    }
}
