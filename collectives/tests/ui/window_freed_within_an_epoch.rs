//! A window cannot be freed while an epoch is open on it.

use collectives::{Group, Window};
use hal::{Caches, Core, LocalView};

fn program<'c, C: Core>(window: Window<'c, C, u32>, view: LocalView<'c, u32>, caches: &mut Caches) {
    let access = window.start(&Group::empty()).unwrap();
    let _ = window.free(view, caches);
    access.complete();
}

fn main() {}
