//! What is got may arrive at any time until the epoch is complete, so it cannot be looked at before.

use collectives::{Group, Window};
use hal::Core;

fn program<C: Core>(window: &Window<'_, C, u32>) -> u32 {
    let mut got = [0];
    let access = window.start(&Group::empty()).unwrap();
    access.get(0, 0, &mut got).unwrap();
    let early = got[0];
    access.complete();
    early
}

fn main() {}
