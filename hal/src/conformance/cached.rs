//! Memory that is reached through the caches, and private memory that is exposed.

use alloc::{format, string::String, vec::Vec};

use crate::{Caches, ClaimError, Core, CoreId, Exposure, LINE_BYTES, Lines, Region, SharedAddress, kind};

use super::{Defect, Stage};

/// Words of a view: whole lines, of which the last is as good as the first.
const WORDS: usize = 24;

/// Times that a core stores, flushes, and has another one flush and look; and in which of them it does so by a mutable slice,
/// flushes everything, and has the other one flush everything.
const STEPS: usize = 3;
const BY_SLICE: usize = 1;
const WRITES_ALL_BACK: usize = 1;
const FORGETS_ALL: usize = 2;

/// A word of a line, which is stored to alone.
const PART: usize = 3;

/// The word of each of two lines of a page that lie side by side, which two cores store to.
const SIDE_BY_SIDE: [usize; 2] = [768, 768 + LINE_BYTES / 4];

/// Words of a page's uncached memory in which a core says what it exposes, and what else.
const TOLD: usize = 512;
const TOLD_BESIDE: usize = 520;

pub(super) fn check<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    views(stage, caches)?;
    parts(stage, caches)?;
    neighbours(stage, caches)?;
    exposures(stage, caches)?;
    several(stage, caches)
}

fn value(from: usize, step: usize, index: usize) -> u32 {
    ((from + 1) * 1000 + step * 100 + index) as u32
}

/// What was stored and flushed is seen by who flushes afterwards.
fn views<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    let core = stage.core;
    let [own, left] =
        [core.core(), stage.left()].map(|of| stage.page::<kind::Cached>(of).lines_around(0, WORDS * size_of::<u32>()));
    let seen = || {
        let view = core.claim::<u32>(left, WORDS).map_err(|error| refused(stage, &error))?;
        Ok((0..WORDS).map(|index| view.load(index)).collect::<Vec<_>>())
    };
    // From now on a flush has something to forget.
    seen()?;
    stage.meet()?;
    for step in 0..STEPS {
        {
            let mut view = core.claim::<u32>(own, WORDS).map_err(|error| refused(stage, &error))?;
            let again = core.claim::<u32>(own, 1);
            stage.expect(matches!(again, Err(ClaimError::Claimed { .. })), || {
                "views: a second view of the same bytes is given out".into()
            });
            drop(again);
            if step == BY_SLICE {
                // SAFETY: between two meetings nobody but this core reaches the page, and this core by nothing else.
                let slice = unsafe { view.as_mut_slice(caches) };
                (0..WORDS).for_each(|index| slice[index] = value(stage.me(), step, index));
            } else {
                (0..WORDS).for_each(|index| view.store(index, value(stage.me(), step, index)));
            }
            let kept = (0..WORDS).all(|index| view.load(index) == value(stage.me(), step, index));
            stage.expect(kept, || "views: a load does not find what this core has stored before".into());
        }
        if step == WRITES_ALL_BACK {
            core.write_back_invalidate_all(caches);
        } else {
            core.write_back_invalidate(caches, own);
        }
        stage.meet()?;
        if stage.cores() > 1 {
            if step == FORGETS_ALL {
                core.write_back_invalidate_all(caches);
            } else {
                core.write_back_invalidate(caches, left);
            }
            let found = seen()?;
            let expected: Vec<_> = (0..WORDS).map(|index| value(stage.left().index(), step, index)).collect();
            stage.expect(found == expected, || {
                format!(
                    "cached memory: {} has stored {expected:?}{} and flushed {}, and this core, which has flushed {}, finds \
                     {found:?}: that flush does not write back, or this one leaves what was there before, or writes lines \
                     back that this core has not stored to",
                    stage.left(),
                    if step == BY_SLICE { " by a mutable slice" } else { "" },
                    if step == WRITES_ALL_BACK { "everything" } else { "the region" },
                    if step == FORGETS_ALL { "all its copies" } else { "its own copy" },
                )
            });
        }
        stage.meet()?;
    }
    Ok(())
}

/// A store to a part of a line leaves the rest of it, which others have stored since this core had it.
fn parts<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.page::<kind::Cached>(of));
    [own, right].into_iter().for_each(|page| core.write_back_invalidate(caches, page));
    stage.meet()?;
    (0..WORDS).for_each(|index| core.store_word(own.mapped(), index, value(stage.me(), STEPS, index)));
    stage.meet()?;
    let mut view = core.claim::<u32>(right, WORDS).map_err(|error| refused(stage, &error))?;
    view.store(PART, value(stage.me(), STEPS + 1, PART));
    drop(view);
    core.write_back_invalidate(caches, right);
    stage.meet()?;
    core.write_back_invalidate(caches, own);
    let view = core.claim::<u32>(own, WORDS).map_err(|error| refused(stage, &error))?;
    let found: Vec<_> = (0..WORDS).map(|index| view.load(index)).collect();
    drop(view);
    let mut expected: Vec<_> = (0..WORDS).map(|index| value(stage.me(), STEPS, index)).collect();
    expected[PART] = value(stage.left().index(), STEPS + 1, PART);
    stage.expect(found == expected, || {
        format!(
            "cached memory: {} has stored to word {PART} of memory that it had not in its cache, and flushed, and this core \
             finds {found:?} and not {expected:?}: a store has to fetch the rest of its line",
            stage.left()
        )
    });
    stage.meet()
}

/// Two cores have lines side by side in their caches, store to one each, and lose nothing.
fn neighbours<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    let core = stage.core;
    let pages = [core.core(), stage.left()].map(|of| stage.page::<kind::Cached>(of));
    let line = |which: usize| {
        let first = SIDE_BY_SIDE[which] * size_of::<u32>();
        pages[which].lines_around(first, first + LINE_BYTES)
    };
    for page in pages {
        core.write_back_invalidate(caches, page);
    }
    stage.meet()?;
    let stored = |by: CoreId| value(by.index(), STEPS + 2, 0);
    // The first line of its own page, and the second of the other core's.
    for which in [0, 1] {
        let mut view = core.claim::<u32>(line(which), 1).map_err(|error| refused(stage, &error))?;
        view.store(0, stored(core.core()));
    }
    stage.meet()?;
    for which in [0, 1] {
        core.write_back_invalidate(caches, line(which));
    }
    stage.meet()?;
    for (index, by) in SIDE_BY_SIDE.into_iter().zip([core.core(), stage.right()]) {
        let (found, expected) = (core.load_word(pages[0].mapped(), index), stored(by));
        stage.expect(found == expected, || {
            format!(
                "cached memory: {} and {} have stored to lines side by side and flushed them, and what {by} has stored is \
                 {found} and not {expected}: a write-back is of the dirty lines of {LINE_BYTES} bytes and of nothing beside them",
                core.core(),
                stage.right()
            )
        });
    }
    stage.meet()
}

fn refused<C: Core>(stage: &Stage<'_, C>, error: &ClaimError) -> Defect {
    defect(stage, || format!("views: a page of shared memory cannot be viewed: {error}"))
}

/// What was wrong first, which is this if nothing was before.
fn defect<C: Core>(stage: &Stage<'_, C>, what: impl FnOnce() -> String) -> Defect {
    stage.expect(false, what);
    stage.found.take().expect("it was just found")
}

/// How others reach what a core exposes, and how they let go of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    Unmapped,
    ByWords,
}

/// What a core exposes, others reach, and its owner gets it back; then it is other memory, though its name may be the same.
fn exposures<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    // On a machine that goes on reaching memory that is concealed, that is there until the end.
    let mut memory = Vec::new();
    for turn in [Turn::First, Turn::Unmapped, Turn::ByWords] {
        memory.push(exposed(stage, caches, turn)?);
    }
    Ok(())
}

/// Words of what is exposed: that which its owner has in it, and others reach; that which they store to; that which its owner
/// stores to by a view; that which others store to without a drain; that which they load, store to and load again.
const NUMBER: usize = 8;
const PUT: usize = 1;
const VIEWED: usize = 3;
const NOT_DRAINED: usize = 5;
const IN_L1: usize = 6;

/// Exposes memory in which this core's number is, beside that of the `turn`, and returns it after others have reached it.
fn exposed<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches, turn: Turn) -> Result<Lines<u32>, Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.page::<kind::Uncached>(of));
    let number = |of: CoreId| of.index() as u32 + 1000 * turn as u32;
    let (me, from) = (number(core.core()), number(stage.left()));
    let memory = Lines::copy_of(&[me; 16]);
    let exposure = core.expose(caches, memory).map_err(|refused| {
        defect(stage, || format!("exposed memory: 64 bytes of whole lines cannot be exposed: {}", refused.error))
    })?;
    let region = exposure.region();
    {
        let mut view = core.claim::<u32>(region, 16).map_err(|error| refused(stage, &error))?;
        view.store(VIEWED, me + 200);
    }
    let flush = |caches: &mut _| match turn {
        Turn::ByWords => core.write_back_invalidate_all(caches),
        _ => core.write_back_invalidate(caches, region),
    };
    flush(caches);
    tell(stage, region, TOLD);
    stage.meet()?;
    let there = told(stage, TOLD);
    let reached = |index: usize| {
        if turn == Turn::ByWords {
            return core.load_word(there.mapped(), index);
        }
        let mut found = [0; 4];
        core.invalidate_mpb();
        core.read(there, 4 * index, &mut found);
        u32::from_le_bytes(found)
    };
    let (found, expected) = (reached(NUMBER), number(stage.right()));
    stage.expect(found == expected, || {
        let (again, cause) = match turn {
            Turn::First => ("", ""),
            _ => (
                " after other memory, which it has concealed",
                ": `conceal` leaves that to be found, or `invalidate_lines` leaves lines of it in L1",
            ),
        };
        format!("exposed memory: {} has exposed {expected}{again}, and this core finds {found}{cause}", stage.right())
    });
    let (found, expected) = (reached(VIEWED), expected + 200);
    stage.expect(found == expected, || {
        format!(
            "exposed memory: {} has stored {expected} by a view of what it exposes, and flushed{}, and this core finds {found}: \
             a flush writes that back, too",
            stage.right(),
            if turn == Turn::ByWords { " everything" } else { "" }
        )
    });
    if turn == Turn::ByWords {
        core.store_word(there.mapped(), PUT, me + 100);
    } else {
        core.write(there, 4 * PUT, &(me + 100).to_le_bytes());
        core.drain();
    }
    stage.meet()?;
    flush(caches);
    let found = {
        let view = core.claim::<u32>(region, 16).map_err(|error| refused(stage, &error))?;
        [view.load(PUT), view.load(NUMBER)]
    };
    let expected = [from + 100, me];
    stage.expect(found == expected, || {
        format!(
            "exposed memory: {} has written {} to what this core exposes, beside {me}, and this core, which has flushed, finds \
             {found:?} by a view and not {expected:?}",
            stage.left(),
            expected[0]
        )
    });
    let kept = if turn == Turn::First || stage.cores() == 1 {
        Err(exposure)
    } else {
        refused_while_reached(stage, caches, exposure)
    };
    core.store_word(own, TOLD + 3, kept.is_err().into());
    stage.meet()?;
    if core.load_word(right, TOLD + 3) == 1 && turn != Turn::ByWords {
        core.write(there, 4 * NOT_DRAINED, &(me + 300).to_le_bytes());
        if turn == Turn::Unmapped && stage.cores() > 1 {
            forgets_slots(stage, there);
        }
    }
    match turn {
        // A part of what is exposed stands for all of it.
        Turn::First => core.let_go(there.lines_around(LINE_BYTES, 2 * LINE_BYTES)),
        Turn::Unmapped => core.unmap(there),
        Turn::ByWords => core.let_go(there),
    }
    stage.meet()?;
    let memory = match kept {
        Ok(memory) => memory,
        Err(exposure) => exposure.try_end(caches).map_err(|(by, exposure)| {
            let start = exposure.region().start();
            defect(stage, || {
                let part = if turn == Turn::First { "a part of what is exposed at " } else { "" };
                format!(
                    "exposed memory: {by} has said that it lets go of {part}{start}, and `conceal` says that it has it"
                )
            })
        })?,
    };
    let not_drained = if turn == Turn::ByWords { me } else { from + 300 };
    let (found, expected) = (&memory[..6], [me, from + 100, me, me + 200, me, not_drained]);
    stage.expect(found == expected, || {
        format!(
            "exposed memory: its owner gets back {found:?} and not {expected:?}, of which {} has stored word {PUT}, and word \
             {NOT_DRAINED}, if that is another, before it has let go, which drains; or a store of the owner did not fetch \
             the rest of its line",
            stage.left()
        )
    });
    stage.meet()?;
    Ok(memory)
}

/// Who lets go of a region lets go of all that is exposed in it.
fn several<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    let core = stage.core;
    let mut exposures = Vec::new();
    for told in [TOLD, TOLD_BESIDE] {
        let exposure = core.expose(caches, Lines::copy_of(&[stage.me() as u32; 8])).map_err(|refused| {
            defect(stage, || format!("exposed memory: two pieces cannot be exposed: {}", refused.error))
        })?;
        tell(stage, exposure.region(), told);
        exposures.push(exposure);
    }
    stage.meet()?;
    let there = [TOLD, TOLD_BESIDE].map(|word| told(stage, word));
    for region in there {
        let found = core.load_word(region.mapped(), 0);
        stage.expect(found == stage.right().index() as u32, || {
            format!("exposed memory: {} has exposed its number twice, and this core finds {found}", stage.right())
        });
    }
    let [from, to] = there.map(|region| [region.start().offset(), region.start().offset() + region.len_bytes()]);
    let (first, end) = (from[0].min(to[0]), from[1].max(to[1]));
    core.let_go(stage.regions.region(SharedAddress::exposed(stage.right(), first), end - first));
    stage.meet()?;
    for exposure in exposures {
        if let Err((by, exposure)) = exposure.try_end(caches) {
            stage.expect(false, || {
                format!(
                    "exposed memory: {by} has let go of a region in which two pieces are exposed, and `conceal` says that it has \
                     that at {}",
                    exposure.region().start()
                )
            });
        }
    }
    stage.meet()
}

/// Tells others what this core exposes.
fn tell<C: Core>(stage: &Stage<'_, C>, region: Region<kind::Cached>, at: usize) {
    let (own, words) = (stage.page(stage.core.core()), region.to_words());
    (0..words.len()).for_each(|index| stage.core.store_word(own, at + index, words[index]));
}

/// What the next core has told that it exposes, mapped.
fn told<C: Core>(stage: &Stage<'_, C>, at: usize) -> Region<kind::Combined> {
    let words = [0, 1, 2].map(|index| stage.core.load_word(stage.page(stage.right()), at + index));
    let there = stage.regions.from_words(words);
    stage.expect(stage.core.map(there).is_ok(), || format!("exposed memory: {} cannot be mapped", there.start()));
    there
}

/// A slot that is unmapped, and mapped again, shows what is there.
fn forgets_slots<C: Core>(stage: &Stage<'_, C>, there: Region<kind::Combined>) {
    let core = stage.core;
    let read = || {
        let mut found = [0; 4];
        core.read(there, 4 * IN_L1, &mut found);
        u32::from_le_bytes(found)
    };
    let stored = read() + 1;
    core.store_word(there.mapped(), IN_L1, stored);
    core.unmap(there);
    stage.expect(core.map(there).is_ok(), || format!("exposed memory: {} cannot be mapped again", there.start()));
    let found = read();
    stage.expect(found == stored, || {
        format!(
            "exposed memory: this core has loaded a line of {}, stored {stored} to a word of it, unmapped and mapped it, and \
             finds {found}: `forget_slot` has to leave no line in L1",
            there.start()
        )
    });
}

/// An exposure that goes on, as it has to while another core has the memory; the memory, on a machine that gives it back.
fn refused_while_reached<'c, C: Core>(
    stage: &Stage<'_, C>,
    caches: &mut Caches,
    exposure: Exposure<'c, Lines<u32>>,
) -> Result<Lines<u32>, Exposure<'c, Lines<u32>>> {
    let start = exposure.region().start();
    match exposure.try_end(caches) {
        Ok(memory) => {
            stage.expect(false, || {
                format!(
                    "exposed memory: {} has reached {start} and not let go of it, and its owner gets it back: `conceal` has \
                     to refuse that",
                    stage.left()
                )
            });
            Ok(memory)
        }
        Err((by, exposure)) => {
            stage.expect(by == stage.left(), || {
                format!("exposed memory: {} has reached {start}, and `conceal` says that {by} has", stage.left())
            });
            Err(exposure)
        }
    }
}
