//! A buffer lives until the epoch that uses it is over.

use collectives::{Group, Window};
use hal::Core;

fn program<C: Core>(window: &Window<'_, C, u32>) {
    let access = window.start(&Group::empty()).unwrap();
    {
        let source = [1, 2, 3];
        access.put(0, 0, &source).unwrap();
    }
    access.complete();
}

fn main() {}
