//! What a debugger is shown of epochs.

use alloc::{vec, vec::Vec};

use kernel::hal::{Core, Epoch, Ranks};

use super::{Window, epochs::Epochs};
use crate::families::mpi::state::Here;

/// An epoch: what it is, and the ranks of the world that it is with, as bits; nothing if with all of the window.
pub(super) type Shown = (&'static str, Option<Vec<u32>>);

/// Ranks as bits.
fn bits(ranks: &[usize]) -> Vec<u32> {
    let mut words = vec![0; ranks.iter().max().map_or(0, |last| last / 32 + 1)];
    ranks.iter().for_each(|rank| words[rank / 32] |= 1 << (rank % 32));
    words
}

impl Epochs {
    /// Those that are open.
    fn shown(&self) -> Vec<Shown> {
        let mut shown: Vec<Shown> = Vec::new();
        shown.extend(self.is_between_fences().then_some(("fence", None)));
        shown.extend(self.started().ok().map(|members| ("access", Some(bits(&members.ranks)))));
        shown.extend(self.exposed().ok().map(|members| ("exposure", Some(bits(&members.ranks)))));
        shown.extend(self.locked().map(|target| ("lock", Some(bits(&[target])))));
        shown.extend(self.has_locked_all().then_some(("lock all", None)));
        shown
    }
}

impl Window {
    /// The epochs that are open, if the program is debugged.
    pub(super) fn shown<C: Core>(&self, here: &Here<'_, '_, '_, C>) -> Vec<Shown> {
        if here.world.hal().is_debugged() { self.epochs.borrow().shown() } else { Vec::new() }
    }

    /// Shows what has changed since these were open.
    pub(super) fn show_changes<C: Core>(&self, here: &Here<'_, '_, '_, C>, before: &[Shown]) {
        let (hal, now) = (here.world.hal(), self.shown(here));
        let epoch = |(kind, ranks): &Shown, change: &dyn Fn(&Epoch<'_>)| {
            let with = ranks.as_ref().map_or(Ranks::All, |words| Ranks::These(words));
            change(&Epoch { window: self.ends.number, kind, with });
        };
        before.iter().filter(|shown| !now.contains(shown)).for_each(|over| epoch(over, &|over| hal.close_epoch(over)));
        now.iter().filter(|shown| !before.contains(shown)).for_each(|open| epoch(open, &|open| hal.open_epoch(open)));
    }
}

#[cfg(test)]
mod tests {
    use super::{super::epochs::Members, *};

    #[test]
    fn open_epochs_are_shown() {
        let mut epochs = Epochs::default();
        epochs.fence(false).unwrap();
        assert_eq!(epochs.shown(), [("fence", None)]);
        epochs.post(Members { ranks: [0, 33].into(), no_check: false }).unwrap();
        epochs.start(Members { ranks: [].into(), no_check: false }).unwrap();
        assert_eq!(epochs.shown(), [("access", Some(vec![])), ("exposure", Some(vec![1, 2]))]);
        epochs.complete();
        epochs.unexpose();
        epochs.lock(2, true).unwrap();
        assert_eq!(epochs.shown(), [("lock", Some(vec![4]))]);
    }
}
