//! Test-and-set registers, interrupts, and counters.

use alloc::format;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::{Core, CoreId, Reason, kind};

use super::{Defect, Stage};

/// Times that each core takes the lock.
const ROUNDS: u32 = 20;

/// The word that is changed under a lock.
const WORD: usize = 600;

pub(super) fn check<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    if stage.core.layout().registers_reach_everywhere() {
        exclusion(stage)?;
        interrupts(stage)?;
    }
    counters(stage)
}

/// Only one core holds a register at a time.
fn exclusion<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let (core, first) = (stage.core, CoreId::new(0));
    let words = stage.page::<kind::Uncached>(first);
    if stage.me() == 0 {
        core.store_word(words, WORD, 0);
        stage.expect(core.try_acquire_register(first), || "registers: one that is free cannot be taken".into());
    }
    stage.meet()?;
    stage
        .expect(!core.try_acquire_register(first), || "registers: one that core 0 holds is taken a second time".into());
    stage.meet()?;
    if stage.me() == 0 {
        core.free_register(first);
        stage.expect(core.try_acquire_register(first), || "registers: one that was freed cannot be taken again".into());
        core.free_register(first);
        core.store_word(words, WORD + 1, stage.found_nothing().into());
    }
    stage.meet()?;
    if core.load_word(words, WORD + 1) == 0 {
        // Nobody waits for a register that nobody gets.
        stage.expect(false, || "registers: core 0 has found that something is wrong".into());
        return stage.end();
    }
    for _ in 0..ROUNDS {
        let _guard = core.lock(first, "the register of a check");
        let before = core.load_word(words, WORD);
        core.relax();
        core.store_word(words, WORD, before + 1);
    }
    stage.meet()?;
    let (found, expected) = (core.load_word(words, WORD), ROUNDS * stage.cores() as u32);
    stage.expect(found == expected, || {
        format!("registers: {expected} updates under a lock have come to {found}: cores were in it at the same time")
    });
    stage.meet()
}

/// An interrupt reaches its target once, and not while the target keeps it away.
fn interrupts<C: Core>(stage: &Stage<'_, C>) -> Result<(), Defect> {
    let core = stage.core;
    let Some(taken) = core.handle_interrupts(AtomicU32::new(0), |_, taken| _ = taken.fetch_add(1, Relaxed)) else {
        stage.expect(false, || "interrupts: no handler can be set".into());
        return stage.meet();
    };
    stage.meet()?;
    core.raise_interrupt(stage.right());
    let came = core.wait_until(&[], stage.deadline(), Reason::new("an interrupt").from(stage.left()), |_| {
        (taken.with(|taken| taken.load(Relaxed)) > 0).then_some(())
    });
    stage.expect(came.is_ok(), || format!("interrupts: what {} has raised does not arrive", stage.left()));
    stage.meet()?;
    let count = taken.with(|taken| taken.load(Relaxed));
    stage.expect(count <= 1, || format!("interrupts: one that was raised once was taken {count} times"));
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
