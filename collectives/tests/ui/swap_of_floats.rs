//! Equality of floats is not equality of their bits: they cannot be compared and swapped.

use collectives::{Group, Window};
use hal::Core;

fn program<C: Core>(window: &Window<'_, C, f64>) {
    let mut found = 0.0;
    let access = window.start(&Group::empty()).unwrap();
    access.compare_and_swap(0, 0, 0.0, 1.0, &mut found).unwrap();
    access.complete();
}

fn main() {}
