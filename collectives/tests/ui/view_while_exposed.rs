//! The view of an exposed part is gone until the wait.

use collectives::{Group, Window};
use hal::{Caches, Core, LocalView};

fn program<'c, C: Core>(window: &Window<'c, C, u32>, mut view: LocalView<'c, u32>, caches: &mut Caches) {
    let exposure = window.post(view, caches, &Group::empty()).unwrap();
    view.store(0, 1);
    exposure.wait(caches);
}

fn main() {}
