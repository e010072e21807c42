//! What is put may be read at any time until the epoch is complete, so it cannot be changed before.

use collectives::{Group, Window};
use hal::Core;

fn program<C: Core>(window: &Window<'_, C, u32>) {
    let mut source = [1, 2, 3];
    let access = window.start(&Group::empty()).unwrap();
    access.put(0, 0, &source).unwrap();
    source[0] = 4;
    access.complete();
}

fn main() {}
