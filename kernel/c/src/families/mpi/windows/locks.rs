//! The lock of a part: one rank alone, or several together, in the order of arrival.

use alloc::{collections::VecDeque, vec::Vec};

/// Who has a lock, and who waits for it. Ranks are those of all ranks.
#[derive(Default)]
pub(super) struct Lock {
    holders: Vec<usize>,
    is_exclusive: bool,
    waiting: VecDeque<(usize, bool)>,
}

impl Lock {
    /// Takes it for a rank, now or later; returns who has got it by that.
    pub(super) fn acquire(&mut self, rank: usize, is_exclusive: bool) -> Vec<usize> {
        self.waiting.push_back((rank, is_exclusive));
        self.hand_out()
    }

    /// A rank gives it back; returns who has got it by that.
    pub(super) fn release(&mut self, rank: usize) -> Vec<usize> {
        self.holders.retain(|holder| *holder != rank);
        self.hand_out()
    }

    fn hand_out(&mut self) -> Vec<usize> {
        let before = self.holders.len();
        while let Some((rank, is_exclusive)) = self.waiting.front().copied() {
            if !self.holders.is_empty() && (is_exclusive || self.is_exclusive) {
                break;
            }
            self.waiting.pop_front();
            self.is_exclusive = is_exclusive;
            self.holders.push(rank);
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
        assert_eq!(lock.acquire(1, false), [1]);
        assert_eq!(lock.acquire(2, false), [2]);
        assert_eq!(lock.acquire(3, true), [0; 0]);
        // Behind one that wants it alone.
        assert_eq!(lock.acquire(4, false), [0; 0]);
        assert_eq!(lock.acquire(5, false), [0; 0]);
        assert_eq!(lock.release(2), [0; 0]);
        assert_eq!(lock.release(1), [3]);
        assert_eq!(lock.release(3), [4, 5]);
        assert!(!lock.is_free());
        assert_eq!((lock.release(5), lock.release(4)), (Vec::new(), Vec::new()));
        assert!(lock.is_free());
        assert_eq!(lock.acquire(6, true), [6]);
    }
}
