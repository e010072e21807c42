//! The console: COM1, whole messages, from any core.
//!
//! A message is formatted and sent under one lock, so lines of different cores never mix. The lock knows its owner, for
//! two reasons: a core that faults in the middle of a message must still be able to report it, and so must a core that
//! finds the owner stuck. Such a core waits as long as the owner makes progress and then breaks in.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::{
    bare::{cpu, port, this_core::this_core, uart},
    qemu::{
        exit::ending::is_ending,
        pc::{fw_cfg, screen},
    },
};

/// How often the UART is asked for room before its absence is assumed and the bytes are dropped: more than a second.
const MAX_LOOKS: u32 = 2_000_000;
/// How often somebody who waits for others that print looks in vain for their progress: some milliseconds.
const MAX_IDLE_LOOKS: u32 = 4_000;

const NOBODY: u32 = 0;

/// The owner's core number plus 1, or [`NOBODY`].
#[unsafe(link_section = ".emulator")]
static OWNER: AtomicU32 = AtomicU32::new(NOBODY);
/// Counts filled FIFOs and finished messages, so that a waiting core sees that the owner is not stuck.
#[unsafe(link_section = ".emulator")]
static PROGRESS: AtomicU32 = AtomicU32::new(0);

/// Whether a PC's UART has been waited for in vain, so that nobody waits for it again.
#[unsafe(link_section = ".emulator")]
static IS_DEAD: AtomicBool = AtomicBool::new(false);

/// Prints one line; the line end is added.
pub fn write_line(line: &str) {
    write_fmt(format_args!("{line}\n"));
}

/// Prints a message in one piece. It should end with a line end, since another core may print next.
///
/// A message printed while this core prints one already (from a formatted value's own code) appears inside it.
pub fn write_fmt(message: fmt::Arguments<'_>) {
    let _interrupts = cpu::InterruptsOff::new();
    let me = this_core() as u32 + 1;
    if OWNER.load(Ordering::Relaxed) == me {
        return send(message);
    }
    while OWNER.compare_exchange_weak(NOBODY, me, Ordering::Acquire, Ordering::Relaxed).is_err() {
        if is_ending() {
            cpu::park();
        }
        cpu::pause();
    }
    if is_ending() {
        cpu::park();
    }
    send(message);
    // Only if it is still ours: an urgent message may have broken in.
    let _ = OWNER.compare_exchange(me, NOBODY, Ordering::Release, Ordering::Relaxed);
}

/// Prints a message of a core that is about to end the machine, even if the console's owner is stuck or is this core.
pub fn write_urgent(message: fmt::Arguments<'_>) {
    if is_ending() {
        cpu::park();
    }
    write_last(message);
}

/// Prints a message as [`write_urgent`] does, also while the machine is ending.
pub(super) fn write_last(message: fmt::Arguments<'_>) {
    let _interrupts = cpu::InterruptsOff::new();
    let me = this_core() as u32 + 1;
    if !take_in_time(me) {
        send(format_args!("\n"));
    }
    send(message);
    let _ = OWNER.compare_exchange(me, NOBODY, Ordering::Release, Ordering::Relaxed);
}

/// Takes the console for good: a message under way is finished, no other follows.
pub(super) fn seize() {
    take_in_time(this_core() as u32 + 1);
    // What is in the FIFO leaves it before the machine ends (QEMU has sent it already).
    uart::wait_for_room(MAX_LOOKS);
}

/// Takes the lock, by force if its owner makes no progress or is this core. Returns whether it was free.
fn take_in_time(me: u32) -> bool {
    let mut is_mine = false;
    let has_come = await_while_printing(|| {
        let taken = OWNER.compare_exchange(NOBODY, me, Ordering::Acquire, Ordering::Relaxed);
        is_mine = taken == Err(me);
        taken.is_ok() || is_mine
    });
    if !has_come {
        OWNER.store(me, Ordering::Relaxed);
    }
    has_come && !is_mine
}

/// Waits for something as long as somebody prints. Returns whether it has come.
pub(super) fn await_while_printing(mut has_come: impl FnMut() -> bool) -> bool {
    let (mut seen, mut idle_looks) = (PROGRESS.load(Ordering::Relaxed), 0);
    while !has_come() {
        let now = PROGRESS.load(Ordering::Relaxed);
        idle_looks = if now == seen { idle_looks + 1 } else { 0 };
        seen = now;
        if idle_looks > MAX_IDLE_LOOKS {
            return false;
        }
        port::short_delay();
        cpu::pause();
    }
    true
}

fn send(message: fmt::Arguments<'_>) {
    uart::in_pieces(message, |bytes| {
        screen::write(bytes);
        if !bytes.is_empty() && !IS_DEAD.load(Ordering::Relaxed) {
            if uart::wait_for_room(MAX_LOOKS) {
                uart::fill(bytes);
            } else if !fw_cfg::is_used() {
                IS_DEAD.store(true, Ordering::Relaxed);
            }
        }
        PROGRESS.fetch_add(1, Ordering::Relaxed);
    });
}
