//! Barriers as coherency points.

use core::ops::Range;

use collectives::{Barrier, Group, Scope};
use hal::{Core, LINE_BYTES, LocalView, Region, kind};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    memory::{free, shared},
};

/// Words of a rank's line.
const WORDS: usize = LINE_BYTES / 4;

/// A line for each rank, which it writes and all read.
struct Lines<'c> {
    region: Region<kind::Cached>,
    view: LocalView<'c, u32>,
}

impl<'c> Lines<'c> {
    fn new<C: Core>(context: &Context<'_, 'c, C>) -> Result<Self, crate::Failed> {
        let region = shared::<_, kind::Cached>(context, context.size() * LINE_BYTES)?;
        Ok(Self { region, view: context.hal().claim(region, context.size() * WORDS)? })
    }

    fn line(&self, rank: usize) -> Region<kind::Cached> {
        self.of(rank..rank + 1)
    }

    fn of(&self, ranks: Range<usize>) -> Region<kind::Cached> {
        self.region.lines_around(ranks.start * LINE_BYTES, ranks.end * LINE_BYTES)
    }

    fn write<C: Core>(&mut self, context: &Context<'_, 'c, C>, round: u32) {
        (0..WORDS).for_each(|word| self.view.store(context.rank() * WORDS + word, round * 100 + word as u32));
    }

    fn check(&self, ranks: impl Iterator<Item = usize>, round: u32) -> Outcome {
        for rank in ranks {
            let found = self.view.load(rank * WORDS + 3);
            check_eq!(found, round * 100 + 3, "what rank {rank} stored in round {round}");
        }
        Ok(())
    }

    fn free<C: Core>(self, context: &mut Context<'_, 'c, C>) -> Outcome {
        drop(self.view);
        free(context, self.region)
    }
}

/// Whatever the scope, all see afterwards what all have stored, round by round. Two sets of lines take turns, so that one
/// barrier separates rounds.
pub fn barriers_publish<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let mut sets = [Lines::new(context)?, Lines::new(context)?];
    for round in 1..=6u32 {
        let lines = &mut sets[round as usize % 2];
        lines.write(context, round);
        let (all, own) = ([lines.region], [lines.line(rank)]);
        let others = [lines.of(0..rank), lines.of(rank + 1..size)];
        let scope = match round % 3 {
            0 => Scope::Whole,
            1 => Scope::Ranges(&all),
            _ => Scope::Declared { written: &own, read: &others },
        };
        if rank == round as usize % size {
            context.hal().compute(20_000);
        }
        context.comm.coherent_barrier(context.caches, scope);
        lines.check(0..size, round)?;
    }
    sets.into_iter().try_for_each(|lines| lines.free(context))
}

/// What a rank looks at between arrival and release, it sees anew afterwards.
pub fn split_phase_barriers_publish<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    let mut sets = [Lines::new(context)?, Lines::new(context)?];
    let mut barrier = context.comm.barrier_of(&context.comm.group(), Barrier::Default)?;
    for round in 1..=4u32 {
        let lines = &mut sets[round as usize % 2];
        if context.rank() == round as usize % size {
            context.hal().compute(20_000);
        }
        lines.write(context, round);
        let ranges = [lines.region];
        let scope = if round % 2 == 0 { Scope::Whole } else { Scope::Ranges(&ranges) };
        let mut arrived = barrier.coherent_arrive(context.caches, scope);
        for peer in 0..size {
            // Old or new, and cached from now on.
            lines.view.load(peer * WORDS);
        }
        let _ = arrived.test();
        arrived.wait(context.caches);
        lines.check(0..size, round)?;
    }
    drop(barrier);
    sets.into_iter().try_for_each(|lines| lines.free(context))
}

/// Two groups have coherent barriers of their own.
pub fn groups_publish<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let group = Group::of((0..size).filter(|peer| peer % 2 == rank % 2))?;
    let mut sets = [Lines::new(context)?, Lines::new(context)?];
    let mut barrier = context.comm.barrier_of(&group, Barrier::Default)?;
    // The odd ones have more of them.
    for round in 1..=2 + rank as u32 % 2 {
        let lines = &mut sets[round as usize % 2];
        lines.write(context, round);
        barrier.coherent_wait(context.caches, Scope::Ranges(&[lines.region]));
        lines.check(group.iter(), round)?;
    }
    drop(barrier);
    sets.into_iter().try_for_each(|lines| lines.free(context))
}

/// Two flushes for each range, and as many lines written back as were written.
pub fn costs_what_it_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (hal, rank) = (context.hal(), context.rank());
    let mut lines = Lines::new(context)?;
    lines.write(context, 1);
    let (all, own) = ([lines.region], [lines.line(rank)]);
    for (scope, written) in [(Scope::Declared { written: &own, read: &all }, 1), (Scope::Ranges(&all), 0)] {
        let before = hal.counters();
        context.comm.coherent_barrier(context.caches, scope);
        let done = hal.counters() - before;
        check_eq!(done.flushes, 2, "flushes of a coherent barrier");
        // Whatever was evicted before is not written back; what others of the domain have stored may be.
        let most = if hal.layout().domains() == context.size() { written } else { context.size() as u64 };
        let back = done.lines_written_back + done.lines_evicted;
        check!(back <= most, "{back} lines were written back, not {most} at most");
    }
    lines.check(0..context.size(), 1)?;
    lines.free(context)
}
