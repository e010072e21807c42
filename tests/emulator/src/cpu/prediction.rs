//! Which branches a P54C foretells: a buffer of 256 branches in four ways, each with a counter of two bits.
//!
//! A branch that is not in the buffer is expected not to be taken. One that is taken enters the buffer, as strongly taken.

const SETS: usize = 64;
const WAYS: usize = 4;

/// Cycles that a wrong guess costs, if the branch is conditional, and so in V behind what it depends on, or not.
const CONDITIONAL: u32 = 4;
const OTHERS: u32 = 3;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Entry {
    /// Where the branch is, plus 1.
    branch: u64,
    target: u32,
    counter: u8,
}

/// The branch target buffer of a core.
pub(super) struct Predictor {
    entries: Box<[[Entry; WAYS]; SETS]>,
    next: [u8; SETS],
    /// Grows with each change of the buffer.
    pub(super) changes: u64,
}

impl Predictor {
    pub(super) fn new() -> Self {
        Self { entries: Box::new([[Entry::default(); WAYS]; SETS]), next: [0; SETS], changes: 0 }
    }

    /// A branch leads to `target`, or is not taken. Returns the cycles that this costs beyond the branch itself.
    #[inline]
    pub(super) fn branches(&mut self, branch: u32, target: Option<u32>, conditional: bool) -> u32 {
        let (tag, set) = (u64::from(branch) + 1, (branch as usize >> 2) % SETS);
        let penalty = if conditional { CONDITIONAL } else { OTHERS };
        let Some(entry) = self.entries[set].iter_mut().find(|entry| entry.branch == tag) else {
            let Some(target) = target else { return 0 };
            let way = usize::from(self.next[set]);
            self.next[set] = ((way + 1) % WAYS) as u8;
            self.entries[set][way] = Entry { branch: tag, target, counter: 3 };
            self.changes += 1;
            return penalty;
        };
        let before = *entry;
        let expected = (entry.counter >= 2).then_some(entry.target);
        match target {
            Some(target) => {
                entry.target = target;
                entry.counter = (entry.counter + 1).min(3);
            }
            None => entry.counter = entry.counter.saturating_sub(1),
        }
        self.changes += u64::from(*entry != before);
        if expected == target { 0 } else { penalty }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_foretold_when_they_were_taken() {
        let mut predictor = Predictor::new();
        let taken = |predictor: &mut Predictor| predictor.branches(0x1000, Some(0x900), true);
        assert_eq!([taken(&mut predictor), taken(&mut predictor), taken(&mut predictor)], [4, 0, 0]);
        assert_eq!([predictor.branches(0x1000, None, true), taken(&mut predictor)], [4, 0]);
        assert_eq!(predictor.branches(0x2000, None, true), 0);
        // A return goes elsewhere.
        assert_eq!([0x10, 0x10, 0x20].map(|to| predictor.branches(0x3004, Some(to), false)), [3, 0, 3]);
        // Four of a set stay, and a fifth takes the place of the first.
        assert_eq!(
            [0, 1, 2, 3, 0, 4, 0].map(|number| predictor.branches(0x8000 + 0x400 * number, Some(1), true)),
            [4, 4, 4, 4, 0, 4, 4]
        );
    }
}
