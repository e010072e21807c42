//! Under a lock it is the same: what is got is there after a flush.

use collectives::{Lock, Window};
use hal::Core;

fn program<C: Core>(window: &Window<'_, C, u32>) -> u32 {
    let mut got = [0];
    let epoch = window.lock(0, Lock::Shared).unwrap();
    epoch.get(0, 0, &mut got).unwrap();
    let early = got[0];
    epoch.flush().unlock();
    early
}

fn main() {}
