//! Test-and-set registers, interrupts, and counters.

use alloc::format;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::{Core, CoreId, Deadline, Place, Reason, Shielded, TsrGuard, kind};

use super::{ARRIVES_S, Defect, Stage};

/// Times that each core takes the lock of all, and each of two that it has with another core.
const ROUNDS: u32 = 20;
const ROUNDS_OF_TWO: u32 = 5;

/// The words that are changed under a lock of all, and under one of two.
const WORD: usize = 600;
const WORD_OF_TWO: usize = 601;

/// The words in which a core says that it is about to wait, and that it has waited, and that which ends its wait if an interrupt
/// does not.
const IS_READY: usize = 604;
const HAS_WAITED: usize = 605;
const IS_FREED: usize = 606;

/// A moment is a second divided by this, and the time in which another core comes from one operation to the next.
const DWELLS: u64 = 50_000;
const COMES: u64 = 1000;

/// Cores of which each raises an interrupt while the others raise none.
const TURNS: usize = 4;

/// Interrupts after which one that is due will be so for ever.
const MOST_TAKEN: u32 = 100;

pub(super) fn check<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    if stage.core.layout().registers_reach_everywhere() {
        each_its_own(stage)?;
        // Nobody waits for a register that nobody gets, as whoever raises an interrupt does.
        if stage.nobody_found_anything()? && excludes(stage)? {
            stage.begin("interrupts");
            interrupts(stage)?;
        }
    }
    stage.begin("counters");
    counters(stage)
}

/// All cores hold a register each, and nobody gets one that another core holds.
fn each_its_own<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let (core, own, right) = (stage.core, stage.core.core(), stage.right());
    stage.expect(core.try_acquire_register(own), || {
        format!("registers: that of {own} is free and cannot be taken, while others take theirs: each core has its own")
    });
    stage.meet()?;
    stage.expect(!core.try_acquire_register(right), || {
        format!("registers: one that {right} holds is taken a second time")
    });
    stage.meet()?;
    // Two steps: who frees another one's register would have its own freed by that core.
    for step in 0..2 {
        if stage.me() % 2 == step {
            core.free_register(own);
            stage.expect(core.try_acquire_register(own), || {
                "registers: one that was freed cannot be taken again".into()
            });
            core.free_register(own);
        }
        stage.meet()?;
    }
    Ok(())
}

/// Whether only one core holds a register at a time, and none is taken for good.
fn excludes<C: Core>(stage: &Stage<'_, C>) -> Result<bool, Defect> {
    let core = stage.core;
    core.store_word(stage.page(core.core()), WORD, 0);
    core.store_word(stage.page(core.core()), WORD_OF_TWO, 0);
    stage.meet()?;
    let first = CoreId::new(0);
    for _ in 0..ROUNDS {
        let Some(guard) = in_time(stage, first) else { break };
        update(stage, first, WORD);
        drop(guard);
    }
    stage.meet()?;
    came_to(stage, first, WORD, ROUNDS * stage.cores() as u32);
    if !stage.nobody_found_anything()? {
        return Ok(false);
    }
    for of in [core.core(), stage.right()].into_iter().cycle().take(2 * ROUNDS_OF_TWO as usize) {
        let _guard = core.lock(of, "the register of a check");
        update(stage, of, WORD_OF_TWO);
    }
    stage.meet()?;
    came_to(stage, core.core(), WORD_OF_TWO, 2 * ROUNDS_OF_TWO);
    stage.nobody_found_anything()
}

/// The register of a core, once it is free. Nothing if that takes too long.
fn in_time<'c, C: Core>(stage: &Stage<'c, C>, of: CoreId) -> Option<TsrGuard<'c, C>> {
    let (core, late) = (stage.core, stage.after(ARRIVES_S));
    while core.now() < late {
        if let Some(guard) = core.try_lock(of) {
            return Some(guard);
        }
        dwell(stage, DWELLS);
    }
    stage.expect(false, || {
        format!(
            "registers: that of {of} is taken for {ARRIVES_S} s, though each core frees it after a moment: one is taken for good \
             that is read while it is freed, or `free` does not reach another core's register, or reaches this core's own"
        )
    });
    None
}

/// Lets a second divided by `parts` pass.
fn dwell<C: Core>(stage: &Stage<'_, C>, parts: u64) {
    let core = stage.core;
    let late = Deadline::At(core.now() + core.ticks_per_second() / parts);
    // Its end is the deadline.
    _ = core.wait_until(&[], late, Reason::new("a moment to pass"), |_| None::<()>);
}

/// Adds one to a word of a core's page, of which this core holds the register.
fn update<C: Core>(stage: &Stage<'_, C>, of: CoreId, word: usize) {
    let before = stage.core.load_word(stage.page(of), word);
    dwell(stage, DWELLS);
    stage.core.store_word(stage.page(of), word, before + 1);
}

/// Expects that a word has been updated `expected` times.
fn came_to<C: Core>(stage: &Stage<'_, C>, of: CoreId, word: usize, expected: u32) {
    let found = stage.core.load_word(stage.page(of), word);
    stage.expect(found == expected, || {
        format!(
            "registers: {expected} updates of an uncached word under the lock of {of} have come to {found}: cores were in it at \
             the same time, or a word is not current"
        )
    });
}

/// An interrupt reaches its target, nobody else, and once.
fn interrupts<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let handler = core.handle_interrupts(AtomicU32::new(0), |core, taken| {
        if taken.fetch_add(1, Relaxed) + 1 >= MOST_TAKEN {
            core.ignore_interrupts();
        }
    });
    let Some(taken) = handler else {
        stage.expect(false, || "interrupts: no handler can be set".into());
        return stage.meet();
    };
    let mut before = count(&taken);
    stage.meet()?;
    let turns = stage.cores().min(TURNS);
    for turn in 0..turns {
        let comes = stage.left().index() % turns == turn;
        if stage.me() % turns == turn {
            core.raise_interrupt(stage.right());
        }
        if comes {
            stage.expect(arrives(stage, &taken, before), || {
                format!("interrupts: what {} has raised does not arrive", stage.left())
            });
        }
        stage.meet()?;
        let more = count(&taken) - before;
        before += more;
        stage.expect(more < MOST_TAKEN, || {
            format!("interrupts: one is due still after it was taken {more} times: `take_interrupt` does not take it")
        });
        stage.expect(more <= 1, || format!("interrupts: one that was raised once was taken {more} times"));
        stage.expect(comes || more == 0, || {
            "interrupts: one has come that was raised on another core: it goes to its target alone".into()
        });
        stage.meet()?;
    }
    if stage.nobody_found_anything()? {
        to_itself(stage, &taken)?;
        twice(stage, &taken)?;
        without_deadline(stage, &taken)?;
    }
    drop(taken);
    stage.meet()
}

/// What counts the interrupts that a core has taken.
type Taken<'c, C> = Shielded<'c, C, AtomicU32>;

/// How many a core has taken.
fn count<C: Core>(taken: &Taken<'_, C>) -> u32 {
    taken.with(|taken| taken.load(Relaxed))
}

/// Whether this core comes to take more than `before` interrupts.
fn arrives<C: Core>(stage: &Stage<'_, C>, taken: &Taken<'_, C>, before: u32) -> bool {
    let late = Deadline::At(stage.after(ARRIVES_S));
    stage.core.wait_until(&[], late, Reason::new("an interrupt"), |_| (count(taken) > before).then_some(())).is_ok()
}

/// A core can interrupt itself.
fn to_itself<C: Core>(stage: &Stage<'_, C>, taken: &Taken<'_, C>) -> Result<(), Defect> {
    let before = count(taken);
    stage.core.raise_interrupt(stage.core.core());
    stage.expect(arrives(stage, taken, before), || {
        "interrupts: one that a core raises on itself does not arrive".into()
    });
    stage.meet()
}

/// What was raised stays, though it is raised again before it was taken.
fn twice<C: Core>(stage: &Stage<'_, C>, taken: &Taken<'_, C>) -> Result<(), Defect> {
    let before = count(taken);
    stage.core.defer_interrupts(|| {
        stage.meet()?;
        (0..2).for_each(|_| stage.core.raise_interrupt(stage.right()));
        stage.meet()
    })?;
    stage.expect(arrives(stage, taken, before), || {
        format!(
            "interrupts: what {} has raised twice, before this core took it, does not arrive: it is due until it was taken, \
             however often it is raised",
            stage.left()
        )
    });
    stage.meet()
}

/// An interrupt comes in the middle of a wait that has no deadline, though nothing of what is waited for was stored.
fn without_deadline<C: Core>(stage: &Stage<'_, C>, taken: &Taken<'_, C>) -> Result<(), Defect> {
    let (core, turns) = (stage.core, stage.cores().min(TURNS));
    let [own, right] = [core.core(), stage.right()].map(|of| stage.page::<kind::Uncached>(of));
    if stage.cores() == 1 {
        return Ok(());
    }
    [IS_READY, HAS_WAITED, IS_FREED].into_iter().for_each(|word| core.store_word(own, word, 0));
    stage.meet()?;
    let says = |word| {
        let place = Place::Word(right, word);
        stage.await_from(stage.right(), "what a core says", place, |poll| (poll.word(0) == 1).then_some(())).is_ok()
    };
    for turn in 0..turns {
        let raises = stage.me() % turns == turn;
        if stage.left().index() % turns == turn {
            let before = count(taken);
            core.store_word(own, IS_READY, 1);
            core.wait(&[Place::Word(own, IS_FREED)], Reason::new("an interrupt").from(stage.left()), |poll| {
                (count(taken) > before || poll.word(0) == 1).then_some(())
            });
            core.store_word(own, HAS_WAITED, 1);
        }
        if raises && says(IS_READY) {
            // Now it waits, unless it is slow.
            dwell(stage, COMES);
            core.raise_interrupt(stage.right());
            stage.expect(says(HAS_WAITED), || {
                format!(
                    "interrupts: {} waits without a deadline, and what this core has raised does not come within {ARRIVES_S} s: \
                     `park` comes back when an interrupt is due, or others have written, and looks for both",
                    stage.right()
                )
            });
            core.store_word(right, IS_FREED, 1);
        }
        stage.meet()?;
    }
    Ok(())
}

/// What a core does is counted.
fn counters<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let before = core.counters();
    let own = stage.line(core.core(), 0);
    core.store(own, 0, &[1]);
    core.store(own, 1, &[1]);
    core.drain();
    core.invalidate_mpb();
    core.load_line(own);
    let counted = core.counters() - before;
    let found = (counted.mpb_lines_written, counted.drains, counted.mpb_invalidations, counted.mpb_lines_read);
    stage.expect(found == (1, 1, 1, 1), || {
        format!("counters: lines written, drains, invalidations and lines read are {found:?}, and should be 1 each")
    });
    stage.meet()
}
