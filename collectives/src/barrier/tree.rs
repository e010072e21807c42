//! Trees: flags go up to the root, and its release comes down.
//!
//! The children of a rank store their flags side by side into a line of *its* MPB, where it polls them all at once; so
//! the time of a level does not grow with the number of children, up to what a line holds. The release comes down
//! either way: pushed, a flag for each child, or pulled, one flag in the own MPB that all children poll (reads of one
//! line meet nowhere but at its port).
//!
//! Per rank and barrier: one flag to the parent; pushed, one to each child; pulled, one in the own MPB.

use super::{Release, schedule::Schedule};

/// Flags that ranks of a tree with so many children have.
pub(super) fn slots(fan_in: usize) -> usize {
    fan_in + 1
}

/// What the rank at `position` of `len` does in a tree in which ranks have up to `fan_in` children.
pub(super) fn schedule(position: usize, len: usize, fan_in: usize, release: Release) -> Schedule {
    let mut schedule = Schedule::default();
    let first_child = (position * fan_in + 1).min(len);
    let children = first_child..(first_child + fan_in).min(len);
    let released = fan_in;
    schedule.wait_for(position, 0..children.len());
    if position > 0 {
        let parent = (position - 1) / fan_in;
        schedule.set(parent, (position - 1) % fan_in);
        match release {
            Release::Push => schedule.wait_for(position, released..released + 1),
            Release::Pull => schedule.wait_for(parent, released..released + 1),
        }
    }
    match release {
        Release::Push => children.for_each(|child| schedule.set(child, released)),
        Release::Pull if !children.is_empty() => schedule.set(position, released),
        Release::Pull => {}
    }
    schedule
}
