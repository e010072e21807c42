//! The clock, numbers of cores, and what cores agree on.

use alloc::format;

use crate::{Core, Deadline, Reason, kind};

use super::{Defect, Stage};

/// Readings of the clock that are compared.
const READINGS: usize = 100;

/// A core waits without a place for a second divided by this.
const WAITS: u64 = 500;

/// Polls of such a wait after which its clock stands still, or is too slow: each takes two nanoseconds, where it costs least.
const MOST_POLLS: u32 = 3_000_000;

/// Polls that may come after a deadline: some machines look at their clock now and then.
const MOST_LATE: u32 = 10_000;

/// Words of a page in which a core says what its clock shows, and which machine it is a core of: two each.
const SAID: usize = 700;

/// Seconds that clocks of two cores may differ by: where a board has no clock for all, they begin when the cores do.
const MOST_APART_S: u64 = 1;

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
    deadline(stage);
    // Without a clock, no check ends.
    if stage.found_nothing() { stage.meet() } else { stage.end() }
}

/// A wait ends at its deadline, and the clock gets there. It is the polls that end this check on a machine without either.
fn deadline<C: Core>(stage: &Stage<'_, C>) {
    let core = stage.core;
    let begin = core.now();
    let late = begin + (core.ticks_per_second() / WAITS).max(1);
    let (mut polls, mut late_polls, mut last, mut back) = (0, 0, begin, None);
    let waited = core.wait_until(&[], Deadline::At(late), Reason::new("a deadline"), |_| {
        let before = core::mem::replace(&mut last, core.now());
        back = (last < before).then_some(before);
        polls += 1;
        late_polls += u32::from(last >= late);
        (back.is_some() || polls == MOST_POLLS || late_polls == MOST_LATE).then_some(())
    });
    let end = core.now();
    stage.expect(waited.is_err() && end >= late, || match back {
        _ if waited.is_err() => format!("waits: one with a deadline of {late} ticks has ended at {end}"),
        Some(before) => format!("clock: {last} ticks follow {before}"),
        None if late_polls > 0 => {
            format!("waits: one with a deadline of {late} ticks goes on at {end}: `park` does not say `TimedOut`")
        }
        None => format!(
            "clock: it has come from {begin} to {end} ticks in {polls} polls of a wait, and {late} are 1/{WAITS} s: it stands \
             still, or is far slower than `ticks_per_second`"
        ),
    });
}

/// All cores read one clock, and are cores of one machine.
pub(super) fn agreement<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let [own, left] = [core.core(), stage.left()].map(|of| stage.page::<kind::Uncached>(of));
    let said = [core.now(), core.machine()];
    for (index, word) in said.into_iter().flat_map(|said| [said as u32, (said >> 32) as u32]).enumerate() {
        core.store_word(own, SAID + index, word);
    }
    stage.meet()?;
    let half = |index| u64::from(core.load_word(left, SAID + index));
    let [time, machine] = [0, 2].map(|index| half(index) | half(index + 1) << 32);
    let now = core.now();
    stage.expect(now + MOST_APART_S * core.ticks_per_second() >= time, || {
        format!(
            "clock: {} has stored its time, {time} ticks, and this core, which has seen that, is at {now}: ticks begin at \
             the same moment for all cores",
            stage.left()
        )
    });
    stage.expect(machine == core.machine(), || {
        format!(
            "machine: {} says {machine}, and this core {}: all cores of a machine say the same",
            stage.left(),
            core.machine()
        )
    });
    stage.meet()
}
