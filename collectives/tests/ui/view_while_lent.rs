//! The view of a part that is lent is gone until it is taken back.

use collectives::Window;
use hal::{Caches, Core, LocalView};

fn program<'c, C: Core>(window: &Window<'c, C, u32>, view: LocalView<'c, u32>, caches: &mut Caches) -> u32 {
    let lent = window.lend(view, caches).unwrap();
    let stale = view.load(0);
    lent.take_back(caches);
    stale
}

fn main() {}
