//! The butterfly barrier, for any number of ranks.
//!
//! Source: Brooks 1986. In round r, member i and member i xor 2^r set each other's flag and wait for their own.
//!
//! That needs a power of two. Members beyond the largest one in their number are folded: each tells the member that
//! many below it before the first round, and is released by it after the last.
//!
//! Per rank and barrier: ⌊log₂ P⌋ flags, one more for those who have somebody folded onto them; who is folded sets one.
//! All polls are in the own MPB.

use super::schedule::Schedule;

/// Flags in each MPB: of the rounds, and one for folding, which is an arrival at one end and a release at the other.
pub(super) fn slots(len: usize) -> usize {
    rounds(len) + 1
}

fn rounds(len: usize) -> usize {
    len.max(1).ilog2() as usize
}

/// What the member at `position` of `len` does.
pub(super) fn schedule(position: usize, len: usize) -> Schedule {
    let mut schedule = Schedule::default();
    let rounds = rounds(len);
    let (core, fold) = (1 << rounds, rounds);
    if position >= core {
        schedule.set(position - core, fold);
        schedule.wait_for(position, fold, position - core);
        return schedule;
    }
    let folded = Some(position + core).filter(|folded| *folded < len);
    folded.into_iter().for_each(|folded| schedule.wait_for(position, fold, folded));
    for round in 0..rounds {
        let partner = position ^ 1 << round;
        schedule.set(partner, round);
        schedule.wait_for(position, round, partner);
    }
    folded.into_iter().for_each(|folded| schedule.set(folded, fold));
    schedule
}
