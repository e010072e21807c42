//! Uncached words, and atomic counters.

use alloc::format;

use crate::{Core, kind};

use super::{Defect, Stage};

/// Words that are stored.
const WORDS: usize = 24;

/// What a core stores to a word of another one's page.
fn value(from: usize, index: usize) -> u32 {
    (from as u32 + 1) << 16 | index as u32
}

pub(super) fn check<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.page::<kind::Uncached>(of));
    (0..WORDS).for_each(|index| core.store_word(right, index, value(stage.me(), index)));
    stage.meet()?;
    for index in 0..WORDS {
        let (found, expected) = (core.load_word(own, index), value(stage.left().index(), index));
        stage.expect(found == expected, || {
            format!("uncached words: {} has stored {expected:#x} to word {index}, which is {found:#x}", stage.left())
        });
    }
    let counters = core.layout().atomic_counters();
    if counters > 0 {
        let counter = counters - 1;
        let before = core.read_counter(counter);
        stage.meet()?;
        if stage.me() == 0 {
            core.set_counter(counter, 7);
        }
        stage.meet()?;
        core.increment_counter(counter);
        core.increment_counter(counter);
        core.decrement_counter(counter);
        stage.meet()?;
        let (found, expected) = (core.read_counter(counter), 7 + stage.cores() as u32);
        stage.expect(found == expected, || format!("atomic counters: {counter} is {found} and should be {expected}"));
        stage.meet()?;
        if stage.me() == 0 {
            core.set_counter(counter, before);
        }
    }
    stage.meet()
}
