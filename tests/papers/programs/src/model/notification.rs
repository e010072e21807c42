//! How a parent's children learn of a chunk: the notification tree of section 4.1.

use alloc::vec;

use super::{Setting, Time};

/// How long it takes until the last of `children` children has seen its flag, if whoever is notified sets the flags
/// of up to `degree` others, one after the other.
///
/// The tree is a heap, as in OC-Bcast: its member 0 is the parent, and member i notifies members i·degree + 1 and up.
/// With `degree` at least `children` the parent sets all flags itself. Degree 0 is taken as 1. The children begin to
/// poll when the parent begins to notify.
///
/// The paper says in 4.1 that "a binary tree provides the lowest notification latency, when compared to trees of
/// higher output degrees". By the model that depends on what a poll costs, and on the number of children:
///
/// * [`Flags::SIGNALS`](super::Flags::SIGNALS): true up to 61 children. 7 children take 1.38 µs (degree 3: 1.52), 47
///   take 3.17 µs (degree 3: 3.31).
/// * Polls of one line read, which see a flag at once: true for 7 children (1.63 µs, as with degree 3), not for 47
///   (3.72 µs, degree 4: 3.46).
/// * [`Flags::PAPER`](super::Flags::PAPER): from 3 children on, degree 3 is never slower. 7 children take 2.41 µs
///   (degree 5: 2.17), 47 take 5.37 µs (degree 3: 4.45).
///
/// The dearer a poll, the more a flat tree pays, since each level costs one. So the sentence fits cheap polls, not
/// those of Table 2.
pub fn notification_latency(setting: &Setting, children: usize, degree: usize) -> Time {
    let degree = degree.max(1);
    // When each member was notified.
    let mut visible = vec![Time::ZERO; children + 1];
    let mut last = Time::ZERO;
    for member in 0..=children {
        let mut now = match member {
            0 => Time::ZERO,
            _ => setting.seen(Time::ZERO, visible[member]),
        };
        last = last.max(now);
        let first = member.saturating_mul(degree).saturating_add(1);
        for below in visible.iter_mut().skip(first).take(degree) {
            *below = now + setting.set_flag_latency();
            now += setting.set_flag();
        }
    }
    last
}
