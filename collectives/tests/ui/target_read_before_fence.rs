//! Between fences it is the same: what is got is there behind the next fence.

use collectives::{Assertions, Window};
use hal::{Caches, Core, LocalView};

fn program<'c, C: Core>(window: &Window<'c, C, u32>, view: LocalView<'c, u32>, caches: &mut Caches) -> u32 {
    let mut got = [0];
    let epoch = window.fence(view, caches, Assertions::empty()).unwrap();
    epoch.get(0, 0, &mut got).unwrap();
    let early = got[0];
    epoch.close(caches, Assertions::empty());
    early
}

fn main() {}
