//! Barriers as lists of what one rank does with flags.
//!
//! A flag is a byte in some rank's MPB that one rank stores and one or more poll. An algorithm is a function from the
//! number of ranks and a rank to its list; `FlagBarrier` carries it out. So what an algorithm costs can be counted, and
//! that it is a barrier can be proved, without running it.

use alloc::vec::Vec;
use core::ops::Range;

use hal::LINE_BYTES;

/// What a rank does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Sets a flag in the MPB of the member at `position`.
    Set { position: usize, slot: usize },
    /// Waits until all flags of a line of the member at `position` are set that `mask` has bits for.
    Await { position: usize, line: usize, mask: u32 },
}

/// What a rank does in a barrier, in this order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Schedule(Vec<Action>);

impl Schedule {
    /// What is done.
    pub(crate) fn actions(&self) -> &[Action] {
        &self.0
    }

    /// Sets flag `slot` of the member at `position`.
    pub(crate) fn set(&mut self, position: usize, slot: usize) {
        self.0.push(Action::Set { position, slot });
    }

    /// Waits for flags of the member at `position`, line by line.
    pub(crate) fn wait_for(&mut self, position: usize, slots: Range<usize>) {
        let mut slot = slots.start;
        while slot < slots.end {
            let line = slot / LINE_BYTES;
            let end = slots.end.min((line + 1) * LINE_BYTES);
            let mask = (slot..end).fold(0, |mask, slot| mask | 1 << (slot % LINE_BYTES));
            self.0.push(Action::Await { position, line, mask });
            slot = end;
        }
    }
}
