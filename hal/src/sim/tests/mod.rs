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

use crate::{CoreId, MpbLine, Region, SharedAddress, kind};

use super::*;

/// Some line of `core`'s MPB that is not the drain target.
fn line(core: usize, line: usize) -> MpbLine {
    MpbLine::new(CoreId::new(core), line)
}

/// The first lines of shared memory behind controller 0.
fn region<K: kind::Kind>(lines: usize) -> Region<K> {
    Region::new(SharedAddress::new(0, 0), lines * 32)
}
