//! The lock of a part: one rank alone, or several together, in the order of arrival.
//!
//! A rank that has other locks joins those that share this one without regard to the order, when it comes or when they get it: whoever
//! waits to be alone here may wait for a rank that in turn waits for a lock that this one has. So who wants to be alone may wait as long
//! as such ranks take turns; those that have no other lock do not overtake it.

use alloc::{collections::VecDeque, vec::Vec};

/// Who has a lock, and who waits for it. Ranks are those of all ranks.
#[derive(Default)]
pub(super) struct Lock {
    holders: Vec<usize>,
    is_exclusive: bool,
    waiting: VecDeque<Waiting>,
}

/// A rank that waits, and what it wants.
#[derive(Clone, Copy)]
struct Waiting {
    rank: usize,
    is_exclusive: bool,
    joins: bool,
}

impl Lock {
    /// Takes it for a rank, now or later; returns who has got it by that. `joins` says that the rank has others.
    pub(super) fn acquire(&mut self, rank: usize, is_exclusive: bool, joins: bool) -> Vec<usize> {
        if joins && !is_exclusive && !self.holders.is_empty() && !self.is_exclusive {
            self.holders.push(rank);
            return [rank].into();
        }
        self.waiting.push_back(Waiting { rank, is_exclusive, joins });
        self.hand_out()
    }

    /// A rank gives it back; returns who has got it by that.
    pub(super) fn release(&mut self, rank: usize) -> Vec<usize> {
        self.holders.retain(|holder| *holder != rank);
        self.hand_out()
    }

    fn hand_out(&mut self) -> Vec<usize> {
        let before = self.holders.len();
        while let Some(Waiting { rank, is_exclusive, .. }) = self.waiting.front().copied() {
            if !self.holders.is_empty() && (is_exclusive || self.is_exclusive) {
                break;
            }
            self.waiting.pop_front();
            self.is_exclusive = is_exclusive;
            self.holders.push(rank);
        }
        if !self.holders.is_empty() && !self.is_exclusive {
            let holders = &mut self.holders;
            self.waiting.retain(|other| {
                let joins = other.joins && !other.is_exclusive;
                if joins {
                    holders.push(other.rank);
                }
                !joins
            });
        }
        self.holders[before..].to_vec()
    }

    #[cfg(test)]
    fn is_free(&self) -> bool {
        self.holders.is_empty() && self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_come_first_get_it_first() {
        let mut lock = Lock::default();
        assert_eq!(lock.acquire(1, false, false), [1]);
        assert_eq!(lock.acquire(2, false, false), [2]);
        assert_eq!(lock.acquire(3, true, false), [0; 0]);
        // Behind one that wants it alone.
        assert_eq!(lock.acquire(4, false, false), [0; 0]);
        assert_eq!(lock.acquire(5, false, false), [0; 0]);
        assert_eq!(lock.release(2), [0; 0]);
        assert_eq!(lock.release(1), [3]);
        assert_eq!(lock.release(3), [4, 5]);
        assert!(!lock.is_free());
        assert_eq!((lock.release(5), lock.release(4)), (Vec::new(), Vec::new()));
        assert!(lock.is_free());
        assert_eq!(lock.acquire(6, true, false), [6]);
    }

    /// Two ranks that have locked all of a window get the parts that the other one has, though others wait there.
    #[test]
    fn who_has_locked_all_does_not_wait_behind_others() {
        let mut lock = Lock::default();
        assert_eq!(lock.acquire(1, false, true), [1]);
        assert_eq!(lock.acquire(2, true, false), [0; 0]);
        assert_eq!(lock.acquire(3, false, true), [3]);
        // Alone is alone, and who has it alone is not joined.
        assert_eq!(lock.acquire(4, true, true), [0; 0]);
        assert_eq!((lock.release(1), lock.release(3)), (Vec::new(), [2].into()));
        assert_eq!(lock.acquire(5, false, true), [0; 0]);
        assert_eq!((lock.release(2), lock.release(4), lock.release(5)), ([4].into(), [5].into(), Vec::new()));
        assert!(lock.is_free());
    }

    /// One that came while somebody was alone joins those that share it afterwards, not behind one that wants to be alone.
    #[test]
    fn who_has_others_joins_those_that_come_to_share_it() {
        let mut lock = Lock::default();
        assert_eq!(lock.acquire(1, true, false), [1]);
        assert_eq!(lock.acquire(2, false, false), [0; 0]);
        assert_eq!(lock.acquire(3, true, true), [0; 0]);
        assert_eq!(lock.acquire(4, false, true), [0; 0]);
        assert_eq!(lock.acquire(5, false, false), [0; 0]);
        assert_eq!(lock.release(1), [2, 4]);
        assert_eq!((lock.release(2), lock.release(4)), (Vec::new(), [3].into()));
        assert_eq!((lock.release(3), lock.release(5)), ([5].into(), Vec::new()));
        assert!(lock.is_free());
    }
}
