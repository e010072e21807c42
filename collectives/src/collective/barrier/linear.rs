//! The barrier of RCCE: linear, and sense-reversing.
//!
//! Source: RCCE 1.1, `RCCE_barrier`. Every rank toggles its gather flag, in its *own* MPB. The first member reads those
//! of all others from afar, and when it has found them all toggled, it toggles the release flags of the others one by
//! one, which these poll in their own MPBs.
//!
//! RCCE's root reads the flags of all members again until one sweep has found them all; here it reads each until it is
//! toggled, and goes on to the next, which takes fewer reads. A flag is a byte that counts instead of a sense.
//!
//! The root: P − 1 remote lines polled at least and P − 1 remote flags set, one after the other, and a flag of its own.
//! Every other rank: one flag in the own MPB; it polls there.

use super::schedule::Schedule;

const GATHER: usize = 0;
const RELEASE: usize = 1;

/// Flags in each MPB.
pub(super) const SLOTS: usize = 2;

/// What the member at `position` of `len` does.
pub(super) fn schedule(position: usize, len: usize) -> Schedule {
    let mut schedule = Schedule::default();
    schedule.set(position, GATHER);
    if position == 0 {
        (1..len).for_each(|other| schedule.wait_for(other, GATHER, other));
        (1..len).for_each(|other| schedule.set(other, RELEASE));
    } else {
        schedule.wait_for(position, RELEASE, 0);
    }
    schedule
}
