//! SCOSCo's synchronisation data: a match vector and a completion counter per rank, in uncached memory, changed under
//! registers.
//!
//! Where we differ from the paper: its Algorithm 2 clears the match-vector bit without the lock, which can erase the
//! post of another target in the same word; we clear it under the origin's register. Its unit is a byte, ours the
//! 32-bit word, which uncached memory moves at the same price.
//!
//! | call | remote accesses |
//! |---|---|
//! | START | none |
//! | POST | a locked update of a match vector for each origin |
//! | COMPLETE | a locked reset of the own match vector and a locked decrement for each target |
//! | WAIT | polls of the own completion counter |

use hal::{Core, Deadline, Place, Reason, TimedOut};

use crate::Group;

use super::{
    peers::{Peers, Seen},
    reasons::{COMPLETION, POST},
};

/// Words of a rank's data: its match vector, then its completion counter.
pub(super) const fn words(ranks: usize) -> usize {
    ranks.div_ceil(32) + 1
}

/// Word of the completion counter.
const fn completion_counter(ranks: usize) -> usize {
    ranks.div_ceil(32)
}

/// Word and bit of `target` in a match vector.
const fn match_bit(target: usize) -> (usize, u32) {
    (target / 32, 1 << (target % 32))
}

/// Clears the data of this rank.
pub(super) fn clear<C: Core>(at: &Peers<'_, C>) {
    let own = at.class_words(at.comm.rank());
    (0..words(at.comm.size())).for_each(|word| at.comm.hal().store_word(own, word, 0));
}

/// POST (Algorithm 1).
#[inline(never)]
pub(super) fn post<C: Core>(at: &Peers<'_, C>, origins: &Group) {
    let (hal, rank) = (at.comm.hal(), at.comm.rank());
    hal.store_word(at.own_words(), completion_counter(at.comm.size()), origins.len() as u32);
    let (word, bit) = match_bit(rank);
    for origin in origins.iter() {
        let match_vector = at.class_words(origin);
        let _guard = hal.lock(at.comm.core_of(origin), "a match vector");
        let posts = hal.load_word(match_vector, word);
        hal.store_word(match_vector, word, posts | bit);
    }
}

/// Waits until `target` has posted to this rank, unless this epoch knows it already.
///
/// Only the target's own bit enters the copy (IV.B.2), although the word shows those of 31 others: as each look
/// invalidates, what is got afterwards is never older than the post.
pub(super) fn await_post<C: Core>(at: &Peers<'_, C>, seen: &Seen, target: usize, deadline: Deadline) {
    if !seen.contains(target) && look_for_post(at, target, deadline).is_ok() {
        seen.insert(target);
    }
}

#[inline]
fn look_for_post<C: Core>(at: &Peers<'_, C>, target: usize, deadline: Deadline) -> Result<(), TimedOut> {
    let (word, bit) = match_bit(target);
    let own = [Place::Word(at.own_words(), word)];
    let reason = Reason::new(POST).number(at.number).from(at.comm.core_of(target));
    at.comm.wait_until(&own, deadline, reason, move |poll| (poll.word(0) & bit != 0).then_some(()))
}

/// COMPLETE (Algorithm 2): waits for the posts that are missing and consumes them, then counts the targets' counters
/// down.
#[inline(never)]
pub(super) fn complete<C: Core>(at: &Peers<'_, C>, seen: &Seen, targets: &Group) {
    for target in targets.iter() {
        if !seen.contains(target) {
            // It fails on a dying machine only.
            let _ = look_for_post(at, target, Deadline::Never);
        }
        reset_post(at, target);
    }
    // The last line of the last put may still be in the write-combine buffer, and registers do not push it out.
    at.comm.hal().drain();
    targets.iter().for_each(|target| notify_completion(at, target));
}

/// Forgets the post of `target`.
fn reset_post<C: Core>(at: &Peers<'_, C>, target: usize) {
    let (hal, own) = (at.comm.hal(), at.own_words());
    let (word, bit) = match_bit(target);
    // Under the register: another target may be posting in the same word (where Algorithm 2 has no lock).
    let _guard = hal.lock(hal.core(), "the own match vector");
    let posts = hal.load_word(own, word);
    hal.store_word(own, word, posts & !bit);
}

/// Counts the completion counter of `target` down.
fn notify_completion<C: Core>(at: &Peers<'_, C>, target: usize) {
    let (hal, words) = (at.comm.hal(), at.class_words(target));
    let counter = completion_counter(at.comm.size());
    let _guard = hal.lock(at.comm.core_of(target), "a completion counter");
    let open = hal.load_word(words, counter);
    hal.store_word(words, counter, open - 1);
}

/// WAIT: until all origins have completed.
#[inline(never)]
pub(super) fn await_completion<C: Core>(at: &Peers<'_, C>, deadline: Deadline) -> Result<(), TimedOut> {
    let reason = Reason::new(COMPLETION).number(at.number);
    let counter = Place::Word(at.own_words(), completion_counter(at.comm.size()));
    at.comm.wait_until(&[counter], deadline, reason, |poll| (poll.word(0) == 0).then_some(()))
}
