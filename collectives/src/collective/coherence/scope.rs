//! Which cached memory a coherence point is about.

use hal::{Cached, Caches, Region, kind};

/// Which cached memory is made coherent.
///
/// What a program declares is its own matter: memory that it left out stays as it is cached, which is seen by nobody or
/// stale. A range costs what its lines cost, and everything what the whole cache costs, however little of it is used. So
/// ranges that would cost more than everything are flushed with everything.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'r> {
    /// All that this core has cached.
    Whole,
    /// These ranges, for both directions.
    Ranges(&'r [Region<kind::Cached>]),
    /// Different ranges in the two directions.
    Declared {
        /// What this core has written, which others may read afterwards.
        written: &'r [Region<kind::Cached>],
        /// What this core may read afterwards and others have written.
        read: &'r [Region<kind::Cached>],
    },
}

impl Scope<'_> {
    /// What has to happen before others are told that this core has written: writes back. There is no operation that only
    /// does that, so the lines are forgotten, too.
    pub fn write_back(&self, hal: &impl Cached, caches: &mut Caches) {
        match self {
            Self::Whole => hal.write_back_invalidate_all(caches),
            Self::Ranges(ranges) | Self::Declared { written: ranges, .. } => flush(hal, caches, ranges),
        }
    }

    /// What has to happen after this core was told that others have written: forgets what it has cached. There is no
    /// operation that only does that, so what this core has stored meanwhile is written back.
    pub fn invalidate(&self, hal: &impl Cached, caches: &mut Caches) {
        match self {
            Self::Whole => hal.write_back_invalidate_all(caches),
            Self::Ranges(ranges) | Self::Declared { read: ranges, .. } => flush(hal, caches, ranges),
        }
    }
}

fn flush(hal: &impl Cached, caches: &mut Caches, ranges: &[Region<kind::Cached>]) {
    if ranges.is_empty() {
        // It is a coherence point all the same.
        return hal.end_slices(caches);
    }
    let lines: usize = ranges.iter().map(Region::len_lines).sum();
    if lines >= hal.layout().cache_sets() {
        hal.write_back_invalidate_all(caches);
    } else {
        ranges.iter().for_each(|range| hal.write_back_invalidate(caches, *range));
    }
}
