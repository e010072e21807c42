//! Whoever takes a slice promises that nobody stores to what it looks at.

use hal::{Caches, LocalView};

fn program<'s>(view: &'s LocalView<'_, u32>, caches: &'s Caches) -> &'s [u32] {
    view.as_slice(caches)
}

fn main() {}
