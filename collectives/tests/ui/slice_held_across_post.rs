//! A slice of a view cannot outlive the view's hand-over.

use collectives::{Group, Window};
use hal::{Caches, Core, LocalView};

fn program<'c, C: Core>(window: &Window<'c, C, u32>, view: LocalView<'c, u32>, caches: &mut Caches) -> u32 {
    // SAFETY: nobody else reaches the part before the post.
    let slice = unsafe { view.as_slice(caches) };
    let exposure = window.post(view, caches, &Group::empty()).unwrap();
    let stale = slice[0];
    exposure.wait(caches);
    stale
}

fn main() {}
