//! The micro-experiments of section 3 of the OC-Bcast paper: what puts and gets take over each distance (figure 3),
//! at one MPB beside others (figure 4), and over a loaded link of the mesh (3.3).
//!
//! They are operations of the hardware alone, on the staging lines of the communicator, which nobody else uses
//! meanwhile.

mod contention;
mod distance;
mod link;
mod model;
#[cfg(test)]
mod tests;

pub use self::{contention::MpbContention, distance::MpbDistance, link::MeshLink, model::MpbModel};

use alloc::vec::Vec;

use collectives::Comm;
use hal::{Clock, CoreId, MpbCoherence, MpbCopy, MpbLine};

use crate::measure::demand;
use kernel::Failure;

/// Lines of the gets of sections 3.3 and 3.2.
const LINES: usize = 128;

/// The first line of every MPB that is used here; there are [`LINES`] of them, and the target of copies between MPBs
/// begins half-way.
///
/// # Errors
/// On a machine whose MPBs have fewer left, and so on all ranks alike.
fn first_line<C>(comm: &Comm<'_, C>) -> Result<usize, Failure> {
    let layout = comm.mpb_layout();
    let has_room = 2 * layout.buffer_lines() >= LINES + LINES / 2;
    demand(has_room, "with so many ranks an MPB has no room for 128 lines and their copy")?;
    Ok(layout.buffer(0))
}

/// Gets lines from an MPB into the own one.
fn get<C: MpbCopy + MpbCoherence>(hal: &C, first: usize, from: CoreId) {
    // What is in L1 from the time before would be read from there.
    hal.invalidate_mpb();
    hal.get_to_own_mpb(MpbLine::new(from, first), first + LINES / 2, LINES);
}

/// Passes the time while others are measured for `span` ticks, and a little longer. Who waited for them would poll MPBs,
/// the one that is measured perhaps, and load links.
fn stay_away<C: Clock>(hal: &C, span: u64) {
    /// A poll of the clock costs nothing; what counts is how often the simulator looks.
    const STEP_CYCLES: u64 = 4096;
    let begin = hal.now();
    while hal.now() - begin < span + span / 8 {
        hal.compute(STEP_CYCLES);
    }
}

/// Does something for `span` ticks, once at least; what it took each time.
fn for_span<C: Clock>(hal: &C, span: u64, mut operation: impl FnMut()) -> Vec<u64> {
    let begin = hal.now();
    let mut times = Vec::new();
    while times.is_empty() || hal.now() - begin < span {
        let before = hal.now();
        operation();
        times.push(hal.now() - before);
    }
    times
}
