//! What this core tells whoever debugs it, who sees statics, and no types: which epochs are open, what the lines of its MPB
//! are, and what it waits for. Only images for a debugger have it.

use core::ops::Range;

use heapless::Vec;

use super::{cpu, private::Private};
use crate::{
    Reason,
    trace::{Epoch, Ranks},
};

/// Open epochs that are remembered.
const EPOCHS: usize = 32;
/// Areas of an MPB that are remembered.
const AREAS: usize = 64;
/// Words of the ranks of a machine of one node.
const RANK_WORDS: usize = 8;

/// An epoch that is open.
#[derive(PartialEq, Eq)]
struct Open {
    window: u32,
    kind: &'static str,
    /// Whether it is with all ranks; those that it is with otherwise, as bits.
    with_all: bool,
    with: [u32; RANK_WORDS],
}

impl Open {
    fn new(epoch: &Epoch<'_>) -> Self {
        let mut with = [0; RANK_WORDS];
        match epoch.with {
            Ranks::All => {}
            Ranks::One(rank) => with.get_mut(rank / 32).into_iter().for_each(|word| *word = 1 << (rank % 32)),
            Ranks::These(words) => with.iter_mut().zip(words).for_each(|(word, ranks)| *word = *ranks),
        }
        Self { window: epoch.window, kind: epoch.kind, with_all: matches!(epoch.with, Ranks::All), with }
    }
}

/// Lines of the core's own MPB, and of that of each other core.
struct Area {
    first: usize,
    end: usize,
    what: &'static str,
}

/// All of it. Debuggers know the names of the fields.
struct Notebook {
    /// Epochs, and since when they are open.
    epochs: Vec<(Open, u64), EPOCHS>,
    areas: Vec<Area, AREAS>,
    wait: Option<Reason>,
    ticks_per_second: u64,
}

#[used]
static NOTEBOOK: Private<Notebook> =
    Private::new(Notebook { epochs: Vec::new(), areas: Vec::new(), wait: None, ticks_per_second: 0 });

fn with<R>(change: impl FnOnce(&mut Notebook) -> R) -> R {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: 1. only this core reaches the value; 2. with interrupts off only this function does, and what it calls does not
    // call it.
    change(unsafe { &mut *NOTEBOOK.get() })
}

/// An epoch is open from this moment on, in ticks of the clock. Those are left out for which there is no room.
pub(crate) fn open(epoch: &Epoch<'_>, since: u64, ticks_per_second: u64) {
    with(|notebook| {
        notebook.ticks_per_second = ticks_per_second;
        let _ = notebook.epochs.push((Open::new(epoch), since));
    });
}

/// The epoch is over.
pub(crate) fn close(epoch: &Epoch<'_>) {
    let over = Open::new(epoch);
    with(|Notebook { epochs, .. }| {
        if let Some(place) = epochs.iter().rposition(|(open, _)| *open == over) {
            epochs.remove(place);
        }
    });
}

/// Says what lines of every MPB are, instead of what they were. Areas are left out for which there is no room.
pub(crate) fn name_lines(lines: Range<usize>, what: &'static str) {
    with(|Notebook { areas, .. }| {
        let others = areas.iter().flat_map(|area| {
            let before = area.first..area.end.min(lines.start);
            let after = area.first.max(lines.end)..area.end;
            [before, after].map(|rest| Area { first: rest.start, end: rest.end, what: area.what })
        });
        let named = Area { first: lines.start, end: lines.end, what };
        let all = others.chain([named]).filter(|area| area.first < area.end);
        let mut changed: Vec<Area, AREAS> = Vec::new();
        all.for_each(|area| drop(changed.push(area)));
        *areas = changed;
    });
}

/// Says what this core waits for, if it does.
pub(crate) fn wait(reason: Option<Reason>) {
    with(|notebook| notebook.wait = reason);
}
