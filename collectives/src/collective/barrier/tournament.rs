//! The tournament barrier.
//!
//! Source: Hensgen, Finkel and Manber 1988, with the release down the same tree of Mellor-Crummey and Scott 1991, since
//! a single flag that all spin on is far from most. In round r, of two members that are 2^r apart and still in the
//! game, the upper one loses, which is decided beforehand: it tells the winner, and waits until that releases it. The
//! champion, member 0, releases those whom it has beaten, the last one first; and so does everybody who was released.
//!
//! Per rank and barrier: one flag to the winner, and one for each round that was won, ⌈log₂ P⌉ at most. All polls are
//! in the own MPB.

use super::schedule::Schedule;

/// Flags in each MPB: of those who lost, by round, and the release.
pub(super) fn slots(len: usize) -> usize {
    rounds(len) + 1
}

fn rounds(len: usize) -> usize {
    len.max(1).next_power_of_two().ilog2() as usize
}

/// What the member at `position` of `len` does.
pub(super) fn schedule(position: usize, len: usize) -> Schedule {
    let mut schedule = Schedule::default();
    let released = rounds(len);
    // The round that is lost: that of the lowest bit.
    let lost = if position == 0 { released } else { position.trailing_zeros() as usize };
    let beaten = (0..lost).map(|round| (round, position + (1 << round))).filter(|(_, loser)| *loser < len);
    beaten.clone().for_each(|(round, loser)| schedule.wait_for(position, round, loser));
    if position > 0 {
        let winner = position - (1 << lost);
        schedule.set(winner, lost);
        schedule.wait_for(position, released, winner);
    }
    beaten.rev().for_each(|(_, loser)| schedule.set(loser, released));
    schedule
}
