//! What a mark tells, and half a mark.

use hal::Reason;

use crate::one_sided::window::reasons::{COMPLETION, POST};

/// What a mark tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::one_sided::window) enum Told {
    /// The writer's part is exposed.
    Posted,
    /// The writer's accesses are complete.
    Completed,
}

impl Told {
    pub(super) const fn shift(self) -> u8 {
        match self {
            Self::Posted => 0,
            Self::Completed => 4,
        }
    }

    /// The bits of a mark that tell it.
    pub(super) const fn half(self) -> u8 {
        0xF << self.shift()
    }

    /// What is waited for, on a window with this number.
    #[inline(always)]
    pub(super) fn awaited(self, window: u32) -> Reason {
        let what = match self {
            Self::Posted => POST,
            Self::Completed => COMPLETION,
        };
        Reason::new(what).number(window)
    }

    /// What the peer tells in return, and waits for together with the rest of its group.
    pub(super) const fn answer(self) -> Self {
        match self {
            Self::Posted => Self::Completed,
            Self::Completed => Self::Posted,
        }
    }
}

/// Half a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Half(u8);

impl Half {
    const NUMBERS: u8 = 4;
    #[cfg(test)]
    const KEPT: u8 = 4;
    #[cfg(test)]
    const MANY: u8 = 8;

    #[cfg(test)]
    pub(super) fn new(number: u8, next_is_kept: bool, many: bool) -> Self {
        Self((number % Self::NUMBERS) | (u8::from(next_is_kept) * Self::KEPT) | (u8::from(many) * Self::MANY))
    }

    pub(super) fn of(mark: u8, told: Told) -> Self {
        Self(mark >> told.shift() & 0xF)
    }

    /// The mark with this half put in.
    #[cfg(test)]
    pub(super) fn into(self, mark: u8, told: Told) -> u8 {
        mark & !(0xF << told.shift()) | self.0 << told.shift()
    }

    pub(super) fn number(self) -> u8 {
        self.0 % Self::NUMBERS
    }

    #[cfg(test)]
    pub(super) fn next_is_kept(self) -> bool {
        self.0 & Self::KEPT != 0
    }

    #[cfg(test)]
    pub(super) fn many(self) -> bool {
        self.0 & Self::MANY != 0
    }

    /// Whether this has the number of `next`. If not, it has the one before.
    pub(super) fn reaches(self, next: Self) -> bool {
        let behind = next.number().wrapping_sub(self.number()) % Self::NUMBERS;
        let epochs = 1u8.wrapping_sub(behind) % Self::NUMBERS;
        assert!(epochs <= 1, "a peer is {epochs} epochs ahead: a protocol is broken");
        behind == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_do_not_touch_each_other() {
        let posted = Half::new(3, true, false).into(0, Told::Posted);
        let both = Half::new(6, false, true).into(posted, Told::Completed);
        assert_eq!(Half::of(both, Told::Posted), Half::new(3, true, false));
        let completed = Half::of(both, Told::Completed);
        assert_eq!((completed.number(), completed.next_is_kept(), completed.many()), (2, false, true));
    }

    #[test]
    fn numbers_wrap_around() {
        for number in 0..9 {
            let (now, next) = (Half::new(number, false, false), Half::new(number + 1, true, true));
            assert!(next.reaches(next) && !now.reaches(next));
        }
    }

    #[test]
    #[should_panic(expected = "2 epochs ahead")]
    fn a_peer_that_is_too_far_ahead_is_noticed() {
        Half::new(2, false, false).reaches(Half::new(1, false, false));
    }
}
