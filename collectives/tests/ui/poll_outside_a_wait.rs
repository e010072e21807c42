//! A poll is no operation of its own: outside a wait, a handler of interrupts could come in the middle of it.

use hal::{Place, Poll, sim::SimCore};

fn look_without_waiting(core: &SimCore, places: &[Place]) -> u32 {
    Poll::new(core, places).word(0)
}

fn main() {}
