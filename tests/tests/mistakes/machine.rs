//! What the cases have in common: places in memory, and ways to tell another core.

use hal::{
    Cached, Caches, CoreId, LINE_BYTES, MpbLine, Place, Reason, Region, SharedAddress, Topology, Uncached, Wait,
    kind::{self, Kind},
    sim::SimCore,
};

/// Cycles after which the other cores have done what they do in a case.
pub(crate) const LATE: u64 = 533_000;

pub(crate) fn me(core: &SimCore) -> usize {
    core.core().index()
}

pub(crate) fn caches(core: &SimCore) -> Caches {
    core.take_caches().expect("it is asked for once")
}

/// A line of a core's MPB.
pub(crate) fn mpb(core: usize, line: usize) -> MpbLine {
    MpbLine::new(CoreId::new(core), line)
}

/// Four lines of shared memory that begin on a page of their own.
pub(crate) fn data<K: Kind>() -> Region<K> {
    regions::of_a_test().region(SharedAddress::new(0, 4096), 4 * LINE_BYTES)
}

/// Four more on the same page.
pub(crate) fn more<K: Kind>() -> Region<K> {
    regions::of_a_test().region(SharedAddress::new(0, 4096 + 4 * LINE_BYTES), 4 * LINE_BYTES)
}

/// Uncached words for flags, each in a line of its own.
fn flags() -> Region<kind::Uncached> {
    regions::of_a_test().region(SharedAddress::new(1, 0), 8 * LINE_BYTES)
}

/// Raises an uncached flag, which pushes nothing out of the write-combine buffer.
pub(crate) fn tell(core: &SimCore, flag: usize) {
    core.store_word(flags(), flag * 8, 1);
}

/// Waits for a flag. The polls of a wait invalidate L1.
pub(crate) fn wait(core: &SimCore, flag: usize) {
    let place = Place::Word(flags(), flag * 8);
    core.wait(&[place], Reason::new("a flag of the case"), |poll| (poll.word(0) == 1).then_some(()));
}

/// Waits for any of some flags, and says which.
pub(crate) fn wait_for_any<const N: usize>(core: &SimCore, among: [usize; N]) -> usize {
    let places = among.map(|flag| Place::Word(flags(), flag * 8));
    core.wait(&places, Reason::new("a flag of the case"), |poll| {
        among.into_iter().enumerate().find_map(|(place, flag)| (poll.word(place) == 1).then_some(flag))
    })
}

/// Waits for a flag by loads, which invalidate nothing.
pub(crate) fn spin(core: &SimCore, flag: usize) {
    while core.load_word(flags(), flag * 8) == 0 {
        core.relax();
    }
}
