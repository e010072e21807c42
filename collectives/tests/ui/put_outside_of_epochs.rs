//! Operations belong to epochs: a window has none.

use collectives::Window;
use hal::Core;

fn program<C: Core>(window: &Window<'_, C, u32>) {
    window.put(0, 0, &[1]).unwrap();
}

fn main() {}
