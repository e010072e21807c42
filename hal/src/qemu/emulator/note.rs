//! What a core notes for others to see that the machine is stuck.

use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// The state of a core that does not wait, and of one that has finished its program.
pub(crate) const RUNS: u32 = 0;
pub(crate) const FINISHED: u32 = u32::MAX;

/// What a core tells about its waits. All zero on a core that runs and has never waited.
#[repr(C)]
pub(crate) struct Note {
    /// The number of writes before its last fruitless poll, or [`RUNS`] or [`FINISHED`].
    pub(crate) state: AtomicU32,
    /// The core that has to act for it to go on, as a number from 1 on, or 0.
    pub(crate) awaits: AtomicU32,
    /// When it began to wait, on the clock of [stuck machines](crate::qemu::emulator::stuck).
    pub(crate) since: AtomicU32,
}

impl Note {
    /// That of a core that runs and has never waited.
    pub(crate) const fn none() -> Self {
        Self { state: AtomicU32::new(RUNS), awaits: AtomicU32::new(0), since: AtomicU32::new(0) }
    }

    /// Whether its last poll found nothing.
    pub(crate) fn waits(&self) -> bool {
        ![RUNS, FINISHED].contains(&self.state.load(SeqCst))
    }
}
