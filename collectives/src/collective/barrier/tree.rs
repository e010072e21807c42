//! Trees: flags go up to the root, and its release comes down.
//!
//! Sources: *Highly Scalable Barriers*, section V.A, compares pushed flags with polled ones; the tree of its section
//! V.B is [hierarchical](super::hierarchical). Trees of any fan-in are Mellor-Crummey and Scott's.
//!
//! Flags are pushed or pulled, both ways up and down:
//!
//! * The children of a rank store their flags side by side into a line of *its* MPB, where it polls them all at once;
//!   so the time of a level does not grow with the number of children, up to what a line holds. Pulled, each keeps its
//!   flag, and the parent polls them one after the other.
//! * The release is pushed, a flag for each child, one after the other, or pulled: one flag in the own MPB, which all
//!   children poll. Reads of one line meet nowhere but at its port.
//!
//! Per rank and barrier: one flag to the parent; pushed, one to each child; pulled, one in the own MPB if it has
//! children. With the maximum fan-in and all flags pushed this is the central barrier of the paper's section IV.A with
//! its flags in the master's memory and its phase in everybody's.

use super::{Release, schedule::Schedule};

/// The shape of a tree, and which way its flags come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tree {
    /// Children of a rank at most.
    pub(super) fan_in: usize,
    /// How arrivals come up.
    pub(super) gather: Release,
    /// How the release comes down.
    pub(super) release: Release,
}

impl Tree {
    /// The flags of children come first, or a rank's own.
    fn released(self) -> usize {
        match self.gather {
            Release::Push => self.fan_in,
            Release::Pull => 1,
        }
    }

    /// Flags in each MPB.
    pub(super) fn slots(self) -> usize {
        self.released() + 1
    }

    /// What the member at `position` of `len` does.
    pub(super) fn schedule(self, position: usize, len: usize) -> Schedule {
        let mut schedule = Schedule::default();
        let first_child = (position * self.fan_in + 1).min(len);
        let children = first_child..(first_child + self.fan_in).min(len);
        match self.gather {
            Release::Push => schedule.wait_for_all(position, (0..).zip(children.clone())),
            Release::Pull => children.clone().for_each(|child| schedule.wait_for(child, 0, child)),
        }
        if position > 0 {
            let parent = (position - 1) / self.fan_in;
            match self.gather {
                Release::Push => schedule.set(parent, (position - 1) % self.fan_in),
                Release::Pull => schedule.set(position, 0),
            }
            match self.release {
                Release::Push => schedule.wait_for(position, self.released(), parent),
                Release::Pull => schedule.wait_for(parent, self.released(), parent),
            }
        }
        match self.release {
            Release::Push => children.for_each(|child| schedule.set(child, self.released())),
            Release::Pull if !children.is_empty() => schedule.set(position, self.released()),
            Release::Pull => {}
        }
        schedule
    }
}
