//! The end of an access may be the end of an operation, in which no handler of interrupts comes: so only views tell of it.

use hal::{
    Region,
    cached::{Touch, ViewWindow},
    kind,
    sim::SimCore,
};

fn end_what_never_began(core: &SimCore, region: Region<kind::Cached>) {
    core.end_access(region, Touch { is_absent: false, is_held: true });
}

fn main() {}
