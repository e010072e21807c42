//! When stores leave a core, in which order, and whether a wait sees them.

use alloc::format;

use crate::{Core, CoreId, LINE_BYTES, MpbLine, Place, kind};

use super::{ARRIVES_S, Defect, Stage};

/// Handshakes: in each of them a store may pass another, or a wait miss one.
const ROUNDS: u32 = 300;

/// Where in a page the data of a handshake is: parts of lines, so that nothing but a drain has to push them out.
const PARTS: [usize; 2] = [1536, 1536 + 3 * LINE_BYTES + 7];

/// Words of a line that are stored as such, and the word of a line that is a flag.
const WORDS: [usize; 3] = [2, 3, 4];
const FLAG: usize = 3;

/// Returns whether what is checked afterwards can rely on it.
pub(super) fn check<C: Core>(stage: &Stage<'_, C>) -> Result<bool, Defect> {
    words(stage)?;
    same_bytes(stage)?;
    answers(stage)?;
    handshakes(stage)?;
    if stage.nobody_found_anything()? {
        whole_lines(stage)?;
    }
    stage.nobody_found_anything()
}

/// Clears lines of this core's MPB, before others store there.
fn clear<C: Core>(stage: &Stage<'_, C>, lines: &[MpbLine]) -> Result<(), Defect> {
    lines.iter().for_each(|line| stage.core.store(*line, 0, &[0; LINE_BYTES]));
    stage.core.drain();
    stage.meet()
}

/// Words that are stored are found by a poll that asks for words.
fn words<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.line(of, 0));
    clear(stage, &[own])?;
    for step in 1..=2 {
        let stored = |by: usize| WORDS.map(|word| (by * 100_000 + step * 1000 + word) as u32);
        core.store_words(right, WORDS[0], stored(stage.me()).into_iter());
        core.drain();
        stage.meet()?;
        let look = Place::Line(own);
        let found = stage.await_from(stage.left(), "a poll", look, |poll| Some(poll.line_words(0, WORDS[0])));
        let expected = stored(stage.left().index());
        stage.expect(found == Ok(expected), || {
            format!(
                "lines: {} has stored {expected:?} to words {WORDS:?} of {own} by `store_mpb_words` and drained, and a poll finds \
                 {:?}: `load_mpb_words` loads what `load_line` would, after each `invalidate_lines` anew",
                stage.left(),
                found.unwrap_or_default()
            )
        });
        stage.meet()?;
    }
    Ok(())
}

/// Of two stores to the same bytes the later one stays, though others come in between.
fn same_bytes<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.page::<kind::Combined>(of));
    let line = stage.line(core.core(), 0);
    for value in [1, 2] {
        core.store(stage.line(stage.right(), 0), 4, &[value; 4]);
        core.write(right, PARTS[0], &[value; 4]);
    }
    core.drain();
    stage.meet()?;
    core.invalidate_mpb();
    let mut in_memory = [0; 4];
    core.read(own, PARTS[0], &mut in_memory);
    for (place, found) in [("its MPB", &core.load_line(line).0[4..8]), ("memory", &in_memory)] {
        stage.expect_bytes(found, &[2; 4], 4, |which| {
            format!(
                "order: {} has stored 1 to four bytes of this core, in {place}, something else elsewhere, and then 2 to the same \
                 bytes, and {which}: stores leave in the order in which they were made",
                stage.left()
            )
        });
    }
    stage.meet()
}

/// Who waits for an answer sees it, though nothing follows it.
fn answers<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let (flag, is_first) = (stage.line(stage.core.core(), 0), stage.me().is_multiple_of(2));
    let other = if is_first { stage.right() } else { stage.left() };
    clear(stage, &[flag])?;
    // The last of an odd number of cores has nobody to ask.
    if stage.me() != stage.cores() - 1 || !is_first {
        for round in 1..=ROUNDS {
            if is_first {
                set(stage, stage.line(other, 0), round);
            }
            if !comes(stage, flag, other, round) {
                break;
            }
            if !is_first {
                set(stage, stage.line(other, 0), round);
            }
        }
    }
    stage.meet()
}

/// A line that is stored as a whole leaves without a drain, and so does what was stored before.
fn whole_lines<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    const PART: core::ops::Range<usize> = 5..8;
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| [0, 1].map(|index| stage.line(of, index)));
    clear(stage, &own)?;
    core.store(right[1], PART.start, &[1; PART.end - PART.start]);
    core.store(right[0], 0, &[1; LINE_BYTES]);
    let arrived = stage.await_from(stage.left(), "a whole line", Place::Line(own[0]), |poll| {
        (poll.line(0).0 == [1; LINE_BYTES]).then_some(())
    });
    stage.expect(arrived.is_ok(), || {
        format!(
            "lines: {} has stored all {LINE_BYTES} bytes of {} as one, without a drain, and they have not come within {ARRIVES_S} \
             s: a line that is stored as a whole leaves by itself",
            stage.left(),
            own[0]
        )
    });
    if arrived.is_ok() {
        stage.expect_bytes(&core.load_line(own[1]).0[PART], &[1; 3], PART.start, |which| {
            format!(
                "lines: {} has stored bytes {PART:?} of {} and then all of {}, which is there, but of the former {which}: stores \
                 leave in the order in which they were made",
                stage.left(),
                own[1],
                own[0]
            )
        });
    }
    core.drain();
    stage.meet()
}

/// Who sees a flag finds what was stored before it, whatever kind of memory that is in, and each flag is seen.
fn handshakes<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.page::<kind::Combined>(of));
    let [flag, data, taken] = [0, 1, 2].map(|index| stage.line(core.core(), index));
    clear(stage, &[flag, data, taken])?;
    for round in 1..=ROUNDS {
        let bytes = round.to_le_bytes();
        PARTS.into_iter().for_each(|at| core.write(right, at, &bytes));
        core.store(stage.line(stage.right(), 1), 9, &bytes);
        set(stage, stage.line(stage.right(), 0), round);
        if !comes(stage, flag, stage.left(), round) {
            break;
        }
        let mut found = [[0; 4]; PARTS.len() + 1];
        PARTS.iter().zip(&mut found).for_each(|(at, found)| core.read(own, *at, found));
        found[PARTS.len()].copy_from_slice(&core.load_line(data).0[9..13]);
        stage.expect(found.iter().all(|found| *found == bytes), || {
            format!(
                "order: {} has stored {round} to memory, to {data} and then to the flag in {flag}, and drained, and this core, \
                 which has seen the flag, finds {:?} in memory and in {data}: stores leave in the order in which they were made, to \
                 MPBs and memory alike",
                stage.left(),
                found.map(u32::from_le_bytes)
            )
        });
        // Now it may be stored to again.
        set(stage, stage.line(stage.left(), 2), round);
        if !comes(stage, taken, stage.right(), round) {
            break;
        }
    }
    stage.meet()
}

fn set<C: Core>(stage: &Stage<'_, C>, at: MpbLine, value: u32) {
    stage.core.store_words(at, FLAG, [value].into_iter());
    stage.core.drain();
}

/// Whether a flag of this core comes to have a value, which another core stores.
fn comes<C: Core>(stage: &Stage<'_, C>, at: MpbLine, from: CoreId, value: u32) -> bool {
    let late = stage.after(ARRIVES_S);
    let seen =
        stage.await_from(from, "a flag", Place::Line(at), |poll| (poll.line_word(0, FLAG) == value).then_some(()));
    // What has come in time may have been seen when the deadline had the machine look again.
    let is_seen = seen.is_ok() && stage.core.now() < late;
    stage.expect(is_seen, || {
        stage.core.invalidate_mpb();
        let found = stage.core.load_line(at).word(FLAG);
        let cause = if found == value {
            "`park` has not come back, though something was stored since `before_poll`"
        } else {
            "a store is lost, or the other core waits for good"
        };
        format!(
            "waits: {from} stores {value} to word {FLAG} of {at} and drains, and a wait has not seen that within {ARRIVES_S} s, after \
             which the word is {found}: {cause}"
        )
    });
    is_seen
}
