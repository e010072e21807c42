//! What the simulation has cost the host so far.

use std::time::Duration;

/// Processor time that this process has used, or nothing where the host does not say.
pub(super) fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is written to a place of this function's own.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if status == 0 { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) } else { Duration::ZERO }
}
