//! The view of a part is out of reach for what runs while the part is exposed.

use collectives::{Group, Window};
use hal::{Caches, Core, LocalView};

fn program<'c, C: Core>(window: &Window<'c, C, u32>, mut view: LocalView<'c, u32>, caches: &mut Caches) {
    window.while_posted(&mut view, caches, &Group::empty(), |_| view.load(0)).unwrap();
}

fn main() {}
