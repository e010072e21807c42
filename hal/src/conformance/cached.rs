//! Memory that is reached through the caches, and private memory that is exposed.

use alloc::{format, string::String, vec::Vec};

use crate::{Caches, ClaimError, Core, Exposure, Lines, Region, SharedAddress, kind};

use super::{Defect, Stage};

/// Words of a view.
const WORDS: usize = 24;

/// Words of a page's uncached memory in which a core says what it exposes.
const TOLD: usize = 512;

pub(super) fn check<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    views(stage, caches)?;
    exposures(stage, caches)
}

fn value(from: usize, step: usize, index: usize) -> u32 {
    ((from + 1) * 1000 + step * 100 + index) as u32
}

/// What was stored and flushed is seen by who flushes afterwards.
fn views<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    let core = stage.core;
    let [own, left] = [core.core(), stage.left()].map(|of| stage.page::<kind::Cached>(of));
    for step in 0..2 {
        {
            let mut view = core.claim::<u32>(own, WORDS).map_err(|error| refused(stage, &error))?;
            let again = core.claim::<u32>(own, 1);
            stage.expect(matches!(again, Err(ClaimError::Claimed { .. })), || {
                "views: a second view of the same bytes is given out".into()
            });
            drop(again);
            (0..WORDS).for_each(|index| view.store(index, value(stage.me(), step, index)));
            let kept = (0..WORDS).all(|index| view.load(index) == value(stage.me(), step, index));
            stage.expect(kept, || "views: a load does not find what this core has stored before".into());
        }
        if step == 0 {
            core.write_back_invalidate(caches, own);
        } else {
            core.write_back_invalidate_all(caches);
        }
        stage.meet()?;
        if stage.cores() > 1 {
            core.write_back_invalidate(caches, left);
            let view = core.claim::<u32>(left, WORDS).map_err(|error| refused(stage, &error))?;
            let found: Vec<_> = (0..WORDS).map(|index| view.load(index)).collect();
            let expected: Vec<_> = (0..WORDS).map(|index| value(stage.left().index(), step, index)).collect();
            stage.expect(found == expected, || {
                format!(
                    "cached memory: {} has stored {expected:?} and flushed {}, and this core, which has flushed its own copy, \
                     finds {found:?}: that flush does not write back, or this one leaves what was there before",
                    stage.left(),
                    if step == 0 { "the region" } else { "everything" }
                )
            });
        }
        stage.meet()?;
    }
    Ok(())
}

fn refused<C: Core>(stage: &Stage<'_, C>, error: &ClaimError) -> Defect {
    defect(stage, || format!("views: a page of shared memory cannot be viewed: {error}"))
}

/// What was wrong first, which is this if nothing was before.
fn defect<C: Core>(stage: &Stage<'_, C>, what: impl FnOnce() -> String) -> Defect {
    stage.expect(false, what);
    stage.found.take().expect("it was just found")
}

/// What a core exposes, others reach, and its owner gets it back; then it is other memory, though its name may be the same.
fn exposures<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches) -> Result<(), Defect> {
    // On a machine that goes on reaching the first memory, that is there until the end.
    let _first = exposed(stage, caches, 0)?;
    exposed(stage, caches, 1).map(drop)
}

/// Exposes memory in which this core's number is, beside that of the `turn`, and returns it after others have reached it.
fn exposed<C: Core>(stage: &Stage<'_, C>, caches: &mut Caches, turn: u32) -> Result<Lines<u32>, Defect> {
    let core = stage.core;
    let [own, right] = [core.core(), stage.right()].map(|of| stage.page::<kind::Uncached>(of));
    let number = |of: usize| of as u32 + 1000 * turn;
    let memory = Lines::copy_of(&[number(stage.me()); 16]);
    let exposure = core.expose(caches, memory).map_err(|refused| {
        defect(stage, || format!("exposed memory: 64 bytes of whole lines cannot be exposed: {}", refused.error))
    })?;
    let told = exposure.region().to_words();
    (0..told.len()).for_each(|index| core.store_word(own, TOLD + index, told[index]));
    stage.meet()?;
    let words = [0, 1, 2].map(|index| core.load_word(right, TOLD + index));
    let there: Region<kind::Combined> =
        stage.regions.region(SharedAddress::from_words([words[0], words[1]]), words[2] as usize);
    stage.expect(core.map(there).is_ok(), || format!("exposed memory: {} cannot be mapped", there.start()));
    let mut found = [0; 4];
    core.invalidate_mpb();
    core.read(there, 32, &mut found);
    let found = u32::from_le_bytes(found);
    let expected = number(stage.right().index());
    stage.expect(found == expected, || {
        let again = if turn > 0 { " after other memory, which it has concealed" } else { "" };
        format!("exposed memory: {} has exposed {expected}{again}, and this core finds {found}", stage.right())
    });
    core.write(there, 4, &(number(stage.me()) + 100).to_le_bytes());
    stage.meet()?;
    let kept =
        if turn == 0 || stage.cores() == 1 { Err(exposure) } else { refused_while_reached(stage, caches, exposure) };
    stage.meet()?;
    core.let_go(there);
    stage.meet()?;
    let memory = match kept {
        Ok(memory) => memory,
        Err(exposure) => exposure.try_end(caches).map_err(|(by, exposure)| {
            let start = exposure.region().start();
            defect(stage, || {
                format!("exposed memory: {by} has said that it lets go of {start}, and `conceal` says that it has it")
            })
        })?,
    };
    let expected = number(stage.left().index()) + 100;
    stage.expect(memory[1] == expected && memory[2] == number(stage.me()), || {
        format!(
            "exposed memory: {} has written {expected} behind a word that is {}, and its owner gets back {:?}",
            stage.left(),
            number(stage.me()),
            &memory[..3]
        )
    });
    stage.meet()?;
    Ok(memory)
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
