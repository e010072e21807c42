//! An access epoch cannot be used when it is complete.

use collectives::{Group, Window};
use hal::Core;

fn program<C: Core>(window: &Window<'_, C, u32>) {
    let access = window.start(&Group::empty()).unwrap();
    access.complete();
    access.put_value(0, 0, 1).unwrap();
}

fn main() {}
