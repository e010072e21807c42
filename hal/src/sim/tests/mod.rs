//! What the simulator promises, tested through the traits of the HAL.

mod bounds;
mod caches;
mod cluster;
mod contention;
mod costs;
mod domains;
mod exploration;
mod exposed;
mod failures;
mod hazards;
mod heat;
mod interrupts;
mod scale;
mod slices;
mod software;
mod stops;
mod trains;
mod waits;

use crate::{CoreId, MpbLine, Place, Reason, Region, SharedAddress, Wait, kind};

use super::*;

/// Some line of `core`'s MPB that is not the drain target.
fn line(core: usize, line: usize) -> MpbLine {
    MpbLine::new(CoreId::new(core), line)
}

/// The first lines of shared memory behind controller 0.
fn region<K: kind::Kind>(lines: usize) -> Region<K> {
    Region::new(SharedAddress::new(0, 0), lines * 32)
}

/// Waits until a byte of a line has this value.
fn await_byte(core: &SimCore, at: MpbLine, byte: usize, value: u8) {
    core.wait(&[Place::Line(at)], Reason::new("a flag"), |poll| (poll.line(0).0[byte] == value).then_some(()));
}
