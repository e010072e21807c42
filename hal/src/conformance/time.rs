//! The clock, and numbers of cores.

use alloc::format;

use crate::{Core, Deadline, Reason};

use super::{Defect, Stage};

/// Readings of the clock that are compared.
const READINGS: usize = 100;

pub(super) fn check<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let (core, cores) = (stage.core, stage.cores());
    stage.expect(stage.me() < cores, || format!("its number is {}, on a machine of {cores} cores", stage.me()));
    stage.expect(core.ticks_per_second() > 0, || "clock: no ticks in a second".into());
    let mut last = core.now();
    for _ in 0..READINGS {
        let now = core.now();
        stage.expect(now >= last, || format!("clock: {now} ticks follow {last}"));
        last = now;
    }
    let late = core.now() + core.ticks_per_second() / 1000;
    let waited = core.wait_until(&[], Deadline::At(late), Reason::new("a deadline"), |_| None::<()>);
    stage.expect(waited.is_err() && core.now() >= late, || {
        format!("waits: one with a deadline of {late} ticks has ended at {}", core.now())
    });
    // Without a clock, no check ends.
    if stage.found_nothing() { stage.meet() } else { stage.end() }
}
