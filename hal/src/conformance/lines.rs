//! Lines of MPBs, and combined memory.

use alloc::{format, vec, vec::Vec};

use crate::{Core, CoreId, LINE_BYTES, MpbLine, kind};

use super::{Defect, LINES, Stage};

/// Times that a line is written, as a whole while another core reads it, or in parts by several cores.
const ROUNDS: u8 = 100;

/// Bytes of copies: less than a line, lines, and lines and a part of one.
const LENGTHS: [usize; 4] = [5, 32, 96, 77];

/// Bytes that only this core writes in this step.
fn pattern(from: CoreId, step: usize, len: usize) -> Vec<u8> {
    (0..len).map(|index| (from.index() * 31 + step * 7 + index + 1) as u8).collect()
}

/// Returns whether lines can be relied on by what is checked after them.
pub(super) fn check<C: Core>(stage: &Stage<'_, C>) -> Result<bool, Defect> {
    visible_and_masked(stage)?;
    side_by_side(stage)?;
    whole(stage)?;
    copies(stage)?;
    combined(stage)?;
    distinct(stage)
}

/// What was stored and drained is seen after an invalidation, and nothing else in its line has changed.
fn visible_and_masked<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    pushed_out(stage)?;
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.line(of, 0));
    core.store(own, 0, &[0; LINE_BYTES]);
    core.drain();
    stage.meet()?;
    // Both lines may be in L1 from now on.
    core.load_line(own);
    core.load_line(right);
    stage.meet()?;
    core.store(own, 3, &pattern(core.core(), 0, 8));
    core.drain();
    stage.meet()?;
    core.store(right, 16, &pattern(core.core(), 1, 5));
    core.drain();
    stage.meet()?;
    core.invalidate_mpb();
    let found = core.load_line(own).0;
    stage.expect_bytes(&found[16..21], &pattern(stage.left(), 1, 5), 16, |which| {
        format!(
            "lines: {} has stored bytes 16..21 of {own} and drained, and this core, which had the line in L1 and has \
             invalidated, finds that {which}: the invalidation leaves lines in L1",
            stage.left()
        )
    });
    stage.expect_bytes(&found[3..11], &pattern(core.core(), 0, 8), 3, |which| {
        format!("lines: of {own}, of which bytes 16..21 were stored, {which}: stores have to be masked by bytes")
    });
    stage.meet()
}

/// What was stored and drained is in memory: who has not loaded the lines before finds it, whatever an invalidation does.
fn pushed_out<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    const LEN: usize = LINE_BYTES - 1;
    let (core, indices) = (stage.core, [1, 2]);
    core.invalidate_mpb();
    for index in indices {
        core.store(stage.line(stage.right(), index), 0, &pattern(core.core(), 3 + index, LEN));
    }
    core.drain();
    stage.meet()?;
    let found = indices.map(|index| core.load_line(stage.line(core.core(), index)).0);
    let expected = indices.map(|index| pattern(stage.left(), 3 + index, LEN));
    let arrived = [0, 1].map(|index| found[index][..LEN] == expected[index]);
    stage.expect(arrived == [true; 2], || {
        let missing = usize::from(arrived[0]);
        let own = pattern(core.core(), 3 + indices[missing], LEN);
        format!(
            "lines: {} has stored {:?} to bytes 0..{LEN} of {} and drained, and this core, which has not looked before, finds \
             {:?}: {}",
            stage.left(),
            expected[missing],
            stage.line(core.core(), indices[missing]),
            &found[missing][..LEN],
            match arrived {
                _ if found[missing][..LEN] == own => "that is what it has itself stored to another core's line: two MPBs are one",
                [false, true] => "a store to another line loses what is in the write-combine buffer",
                _ => "the drain pushes nothing out",
            }
        )
    });
    stage.meet()?;
    core.invalidate_mpb();
    Ok(())
}

/// Cores that store to different bytes of a line at the same time lose none of them.
fn side_by_side<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let byte = stage.me() % LINE_BYTES;
    let at = stage.line(CoreId::new(stage.me() - byte), 2);
    let expect = |stored: u8| {
        core.invalidate_mpb();
        let found = core.load_line(at).0[byte];
        stage.expect(found == stored, || {
            format!(
                "lines: this core has stored {stored} to byte {byte} of {at} and drained, while other cores store to other \
                 bytes, and finds {found}: of two stores to a line at once, one is lost"
            )
        });
    };
    stage.meet()?;
    for round in 1..=ROUNDS {
        core.store(at, byte, &[round]);
        core.drain();
        expect(round);
    }
    stage.meet()?;
    expect(ROUNDS);
    stage.meet()
}

/// A line that is stored as a whole is read as a whole.
fn whole<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.line(of, 0));
    core.store(own, 0, &[0; LINE_BYTES]);
    core.drain();
    stage.meet()?;
    for round in 1..=ROUNDS {
        core.put(&[round; LINE_BYTES], right);
        core.invalidate_mpb();
        let found = core.load_line(own).0;
        stage.expect(found.iter().all(|byte| *byte == found[0]), || {
            format!("lines: {own} is read in parts, as {found:?}, while another core writes it")
        });
        core.relax();
    }
    stage.meet()
}

/// Puts and gets of all kinds move the bytes that they are asked to.
fn copies<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.line(of, 0));
    for (step, len) in LENGTHS.into_iter().enumerate() {
        core.put(&pattern(core.core(), step, len), right);
        core.drain();
        stage.meet()?;
        let (expected, mut found) = (pattern(stage.left(), step, len), vec![0; len]);
        core.invalidate_mpb();
        core.get(own, &mut found);
        stage.expect_bytes(&found, &expected, 0, |which| {
            format!(
                "MPB copies: of a put of {len} bytes and a get of them, {which}: stores leave in the order in which they were \
                 made, those to one line, too"
            )
        });
        let lines = len.div_ceil(LINE_BYTES);
        core.put_from_own_mpb(own.line.into(), own.plus(3), lines);
        core.drain();
        core.invalidate_mpb();
        core.get_to_own_mpb(own.plus(3), own.plus(6).line.into(), lines);
        core.drain();
        core.invalidate_mpb();
        core.get(own.plus(6), &mut found);
        stage.expect_bytes(&found, &expected, 0, |which| {
            format!("MPB copies: of {lines} lines from MPB to MPB, {which}")
        });
        made(stage, step, len)?;
    }
    Ok(())
}

/// What is made on the way to an MPB is what is used on the way from it.
fn made<C: Core>(stage: &Stage<'_, C>, step: usize, len: usize) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.line(of, 0));
    stage.meet()?;
    let source = pattern(core.core(), step + 1, len);
    let piece = |index: usize, len: usize| index * LINE_BYTES..index * LINE_BYTES + len;
    core.put_made(len, right, |index, bytes| bytes.copy_from_slice(&source[piece(index, bytes.len())]));
    core.drain();
    stage.meet()?;
    let mut found = vec![0; len];
    core.invalidate_mpb();
    core.get_used(own, len, |index, bytes| found[piece(index, bytes.len())].copy_from_slice(bytes));
    stage.expect_bytes(&found, &pattern(stage.left(), step + 1, len), 0, |which| {
        format!("MPB copies: of {len} bytes that `store_lines` has stored and `load_lines` loads, {which}")
    });
    stage.meet()
}

/// Combined memory takes bytes at any offset.
fn combined<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.page::<kind::Combined>(of));
    let mut found = [0; 128];
    core.write(own, 0, &[0; 128]);
    core.drain();
    stage.meet()?;
    core.read(own, 0, &mut found);
    stage.meet()?;
    core.write(right, 29, &pattern(core.core(), 2, 70));
    core.drain();
    stage.meet()?;
    core.invalidate_mpb();
    core.read(own, 0, &mut found);
    let is_stale = found[29..99].contains(&0);
    stage.expect_bytes(&found[29..99], &pattern(stage.left(), 2, 70), 29, |which| {
        let cause = if is_stale {
            "`invalidate_lines` has to forget all lines, those of memory, too, or the drain pushes out those of MPBs only"
        } else {
            "bytes beside a store have changed, which is masked by bytes"
        };
        format!(
            "combined memory: {} has written bytes 29..99 and drained, and this core, which had read them before and has \
             invalidated, finds that {which}: {cause}",
            stage.left()
        )
    });
    let mut expected = [0; 128];
    expected[29..99].copy_from_slice(&found[29..99]);
    stage.expect_bytes(&found, &expected, 0, |which| {
        format!("combined memory: beside bytes 29..99, which were written, {which}: stores have to be masked by bytes")
    });
    core.copy(own, 29, own, 1024 + 3, 70);
    core.drain();
    core.invalidate_mpb();
    core.read(own, 1024 + 3, &mut found[..70]);
    stage.expect_bytes(&found[..70], &pattern(stage.left(), 2, 70), 0, |which| {
        format!(
            "combined memory: of a copy of 70 bytes to another alignment, {which}: bytes beside a store have changed, or stores \
             to one line do not leave in order"
        )
    });
    stage.meet()
}

/// There are as many lines as the machine says, and each is another one.
fn distinct<C: Core>(stage: &Stage<'_, C>) -> Result<bool, Defect> {
    let core = stage.core;
    let lines = 1..core.mpb_lines();
    let first = usize::from(stage.line(core.core(), 0).line);
    let room = first..first + LINES;
    stage.expect(room.end <= lines.end, || {
        format!("lines: there are {} in each MPB, and a check needs {} to {}", lines.end, room.start, room.end - 1)
    });
    if !stage.nobody_found_anything()? {
        return Ok(false);
    }
    // Nothing else has stored this before: it was not this time before.
    let time = core.now().to_le_bytes();
    let stored = |line: usize| {
        let mut bytes = [line as u8; LINE_BYTES];
        bytes[..time.len()].copy_from_slice(&time);
        bytes
    };
    let own = |line| MpbLine::new(core.core(), line);
    for line in room.clone() {
        core.store(own(line), 0, &stored(line));
    }
    core.drain();
    core.invalidate_mpb();
    for line in room.clone() {
        let found = core.load_line(own(line)).0;
        stage.expect(found == stored(line), || {
            format!(
                "lines: this core has stored {:?} to {} and then to others, and drained, and finds {found:?}: two lines are \
                 one",
                stored(line),
                own(line)
            )
        });
    }
    for line in lines.clone().filter(|line| !room.contains(line)) {
        let found = core.load_line(own(line)).0;
        let same = room.clone().find(|stored_to| found == stored(*stored_to));
        stage.expect(same.is_none(), || {
            format!(
                "lines: {} shows what was stored to line {}: two lines are one, or `mpb_lines` says {}, and there are fewer",
                own(line),
                same.unwrap_or_default(),
                lines.end
            )
        });
    }
    // The last line of another MPB is there.
    core.load_line(MpbLine::new(stage.right(), lines.end - 1));
    stage.nobody_found_anything()
}
