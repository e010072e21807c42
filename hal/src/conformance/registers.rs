//! Test-and-set registers, interrupts, and counters.

use alloc::format;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::{Core, CoreId, Deadline, Reason, TsrGuard};

use super::{Defect, PATIENCE_S, Stage};

/// Times that each core takes the lock of all, and each of two that it has with another core.
const ROUNDS: u32 = 20;
const ROUNDS_OF_TWO: u32 = 5;

/// The words that are changed under a lock of all, and under one of two.
const WORD: usize = 600;
const WORD_OF_TWO: usize = 601;

/// A moment is one part in so many of a second.
const DWELLS: u64 = 50_000;

/// Cores of which each raises an interrupt while the others raise none.
const TURNS: usize = 4;

/// Interrupts after which one that is due will be so for ever.
const MOST_TAKEN: u32 = 100;

/// Seconds that an interrupt, or a register, may take: less than what others wait for a core to come to the next meeting.
const ARRIVES_S: u64 = PATIENCE_S / 2;

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
        dwell(stage);
    }
    stage.expect(false, || {
        format!(
            "registers: that of {of} is taken for {ARRIVES_S} s, though each core frees it after a moment: one is taken for good \
             that is read while it is freed"
        )
    });
    None
}

/// Lets a moment pass.
fn dwell<C: Core>(stage: &Stage<'_, C>) {
    let core = stage.core;
    let late = Deadline::At(core.now() + core.ticks_per_second() / DWELLS);
    // Its end is the deadline.
    _ = core.wait_until(&[], late, Reason::new("a moment to pass"), |_| None::<()>);
}

/// Adds one to a word of a core's page, of which this core holds the register.
fn update<C: Core>(stage: &Stage<'_, C>, of: CoreId, word: usize) {
    let before = stage.core.load_word(stage.page(of), word);
    dwell(stage);
    stage.core.store_word(stage.page(of), word, before + 1);
}

/// So many updates were made of a word.
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
    let count = || taken.with(|taken| taken.load(Relaxed));
    let mut before = count();
    stage.meet()?;
    let turns = stage.cores().min(TURNS);
    for turn in 0..turns {
        let comes = stage.left().index() % turns == turn;
        if stage.me() % turns == turn {
            core.raise_interrupt(stage.right());
        }
        if comes {
            let reason = Reason::new("an interrupt").from(stage.left());
            let came = core
                .wait_until(&[], Deadline::At(stage.after(ARRIVES_S)), reason, |_| (count() > before).then_some(()));
            stage.expect(came.is_ok(), || format!("interrupts: what {} has raised does not arrive", stage.left()));
        }
        stage.meet()?;
        let more = count() - before;
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
    drop(taken);
    stage.meet()
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
