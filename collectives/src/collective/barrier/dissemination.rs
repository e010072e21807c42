//! The dissemination barrier, with any number of partners.
//!
//! Sources: Hensgen, Finkel and Manber 1988; *n-way*: Hoefler et al. 2006, which *Highly Scalable Barriers* compares
//! itself with. In round r every member tells the `n` that are 1, 2, … n times (n + 1)^r above it, modulo their number,
//! and waits for those as far below it. A member that has come through r rounds has heard, directly or not, from the
//! (n + 1)^r below it, itself included; after ⌈log P⌉ rounds to the base n + 1, from all. The last round leaves out
//! partners that have been heard. Works for any number; nobody is special.
//!
//! Pushed, a flag is stored to each partner, and all of a round are polled together in the own MPB. Pulled, one flag
//! of each round is stored to the own MPB, where all partners poll it. That is more polls for fewer stores, and the
//! fastest there is for three or four ranks of an SCC.
//!
//! Per rank and barrier: pushed, n flags a round, n ⌈log P⌉ at most; pulled, one a round, and n remote lines polled.

use core::iter;

use super::{Release, schedule::Schedule};

/// Who tells whom, and which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dissemination {
    /// Partners in a round.
    pub(super) partners: usize,
    /// How their flags come.
    pub(super) flags: Release,
}

impl Dissemination {
    /// The distances of the partners of each round.
    fn rounds(self, len: usize) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone> {
        let next = move |distance: &usize| distance.checked_mul(self.partners + 1);
        let firsts = iter::successors(Some(1), next).take_while(move |distance| *distance < len);
        firsts.map(move |first| (1..=self.partners).map(move |nth| nth * first).take_while(move |at| *at < len))
    }

    /// How many partners a member of `len` has in each round.
    pub(super) fn partners_of_rounds(self, len: usize) -> impl Iterator<Item = usize> {
        self.rounds(len).map(Iterator::count)
    }

    /// Flags in each MPB.
    pub(super) fn slots(self, len: usize) -> usize {
        match self.flags {
            Release::Push => self.partners_of_rounds(len).sum(),
            Release::Pull => self.partners_of_rounds(len).count(),
        }
    }

    /// What the member at `position` of `len` does.
    pub(super) fn schedule(self, position: usize, len: usize) -> Schedule {
        let mut schedule = Schedule::default();
        let above = |distance: usize| (position + distance) % len;
        let below = |distance: usize| (position + len - distance) % len;
        let mut slot = 0;
        for (round, partners) in self.rounds(len).enumerate() {
            match self.flags {
                Release::Push => {
                    let flags = (slot..).zip(partners);
                    flags.clone().for_each(|(slot, distance)| schedule.set(above(distance), slot));
                    schedule.wait_for_all(position, flags.clone().map(|(slot, distance)| (slot, below(distance))));
                    slot += flags.count();
                }
                Release::Pull => {
                    schedule.set(position, round);
                    partners.for_each(|distance| schedule.wait_for(below(distance), round, below(distance)));
                }
            }
        }
        schedule
    }
}
