//! Barriers as lists of what one rank does with flags.
//!
//! A flag is a byte in some rank's MPB that one rank stores and one or more poll. An algorithm is a function from the
//! members and a position among them to a list; `FlagBarrier` carries it out. So what an algorithm costs can be
//! counted, and that it is a barrier can be proved, without running it.

use alloc::vec::Vec;

use hal::LINE_BYTES;

/// What a rank does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Sets a flag in the MPB of the member at `position`.
    Set { position: usize, slot: usize },
    /// Waits until all flags of a line of the member at `position` are set that `mask` has bits for. Who sets them is
    /// in [`Schedule::writers`] from `writers` on, in the order of the bits.
    Await { position: usize, line: usize, mask: u32, writers: usize },
}

/// What a rank does in a barrier, in this order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Schedule {
    actions: Vec<Action>,
    writers: Vec<u16>,
}

impl Schedule {
    /// What is done.
    pub(crate) fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The positions of those who set the flags that are awaited.
    pub(crate) fn writers(&self) -> &[u16] {
        &self.writers
    }

    /// A schedule with the same flags and other actions.
    #[cfg(test)]
    pub(super) fn with_actions(&self, actions: Vec<Action>) -> Self {
        Self { actions, writers: self.writers.clone() }
    }

    /// Sets flag `slot` of the member at `position`.
    pub(super) fn set(&mut self, position: usize, slot: usize) {
        self.actions.push(Action::Set { position, slot });
    }

    /// Waits for flag `slot` of the member at `position`, which `writer` sets.
    pub(super) fn wait_for(&mut self, position: usize, slot: usize, writer: usize) {
        self.wait_for_all(position, [(slot, writer)]);
    }

    /// Waits for flags of the member at `position`, line by line: slots, which ascend, and who sets them.
    pub(super) fn wait_for_all(&mut self, position: usize, flags: impl IntoIterator<Item = (usize, usize)>) {
        let mut waited_for = None;
        for (slot, writer) in flags {
            let (line, bit) = (slot / LINE_BYTES, 1 << (slot % LINE_BYTES));
            match self.actions.last_mut() {
                Some(Action::Await { mask, .. }) if waited_for == Some(line) => *mask |= bit,
                _ => self.actions.push(Action::Await { position, line, mask: bit, writers: self.writers.len() }),
            }
            waited_for = Some(line);
            self.writers.push(writer as u16);
        }
    }
}
