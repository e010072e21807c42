//! Coherence domains: what cores of one see of each other without any care, and others do not.
//!
//! Everything here holds on machines where each core is a domain of its own, too, and says less there.

use alloc::vec::Vec;

use hal::{Core, Home, LINE_BYTES, Region, kind};

use crate::{
    Context,
    check::Outcome,
    check_eq,
    memory::{free, shared, spare_line},
};

/// Ranks of this rank's coherence domain, in ascending order.
fn mates<C: Core>(context: &Context<'_, '_, C>) -> Vec<usize> {
    (0..context.size()).filter(|rank| context.is_near(*rank)).collect()
}

/// Every rank stores a word of its own to one line: its domain sees all of them at once, in whatever order the stores
/// came, and the other domains do not.
pub fn cached_stores_are_seen_inside<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank) = (context.hal(), context.rank());
    let region = shared::<_, kind::Cached>(context, (context.size() * 4).next_multiple_of(LINE_BYTES))?;
    let mut view = hal.claim::<u32>(region, context.size())?;
    for index in 0..view.len() {
        check_eq!(view.load(index), 0, "fresh memory");
    }
    context.comm.barrier();
    view.store(rank, rank as u32 + 1);
    context.comm.barrier();
    for peer in 0..context.size() {
        let expected = if context.is_near(peer) { peer as u32 + 1 } else { 0 };
        check_eq!(view.load(peer), expected, "the word of rank {peer}");
    }
    context.comm.barrier();
    drop(view);
    free(context, region)
}

/// Words of several cores in one line: one write-back of the domain takes all of its cores' words to memory, and none
/// of another domain's.
pub fn false_sharing_is_harmless_inside<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const WORDS: usize = LINE_BYTES / 4;
    let (hal, rank) = (context.hal(), context.rank());
    let region = shared::<_, kind::Cached>(context, LINE_BYTES)?;
    let mut view = hal.claim::<u32>(region, WORDS)?;
    check_eq!(view.load(0), 0, "fresh memory");
    context.comm.barrier();
    if rank < WORDS {
        view.store(rank, rank as u32 + 1);
    }
    context.comm.barrier();
    let writers: Vec<usize> = (0..context.size().min(WORDS)).collect();
    let last = context.size().min(WORDS) - 1;
    for turn in &writers {
        // The last core of each domain flushes for all of its domain.
        let is_last = mates(context).iter().rfind(|mate| **mate < WORDS) == Some(turn);
        if rank == *turn && is_last {
            hal.write_back_invalidate(context.caches, region);
        }
        context.comm.barrier();
    }
    // Whole lines went to memory, one domain's after the other's.
    let layout = hal.layout();
    let domain = |rank: usize| layout.domain(context.comm.core_of(rank));
    for word in 0..=last {
        let expected = if domain(word) == domain(last) { word as u32 + 1 } else { 0 };
        check_eq!(hal.load_word(region.mapped(), word), expected, "word {word} in memory");
    }
    context.comm.barrier();
    drop(view);
    free(context, region)
}

/// A flag that is pushed to an MPB of this domain is seen by loads without invalidation: local spinning ends.
pub fn pushed_flags_end_local_spinning<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, writer) = (context.hal(), context.size() - 1);
    let line = spare_line(context, 0, 0);
    if context.rank() == 0 {
        hal.store(line, 0, &[0; LINE_BYTES]);
        hal.drain();
    }
    context.comm.barrier();
    hal.invalidate_mpb();
    let before = hal.load_line(line).0[3];
    check_eq!(before, 0, "the flag");
    context.comm.barrier();
    if context.rank() == writer {
        hal.store(line, 3, &[7]);
        hal.drain();
    } else if context.is_coherent(Home::Core(line.core)) {
        while hal.load_line(line).0[3] == 0 {
            hal.relax();
        }
    }
    context.comm.barrier();
    hal.invalidate_mpb();
    check_eq!(hal.load_line(line).0[3], 7, "the flag");
    context.comm.barrier();
    Ok(())
}

/// A core spins on a cached word that another core of its domain stores.
pub fn cached_flags_end_local_spinning<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank) = (context.hal(), context.rank());
    let mates = mates(context);
    // A line for each rank: whom it tells.
    let region = shared::<_, kind::Cached>(context, context.size() * LINE_BYTES)?;
    let mut view = hal.claim::<u32>(region, context.size() * 8)?;
    for round in 1..=3 {
        // A token goes round the domain.
        let place = mates.iter().position(|mate| *mate == rank).unwrap_or(0);
        let before = mates[(place + mates.len() - 1) % mates.len()];
        if place == 0 {
            view.store(rank * 8, round);
        }
        while view.load(before * 8) < round {
            hal.relax();
        }
        if place > 0 {
            view.store(rank * 8, round);
        }
    }
    context.comm.barrier();
    drop(view);
    free(context, region)
}

/// Cores of a domain store to lines of their own on the same pages, while others flush these pages all the time:
/// nothing is lost.
pub fn stores_survive_flushes_of_others<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const LINES: usize = 9;
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let rounds = if size > 64 { 2 } else { 12 };
    let region = shared::<_, kind::Cached>(context, size * LINES * LINE_BYTES)?;
    let mut view = hal.claim::<u32>(region, size * LINES * 8)?;
    // Lines of one rank are not next to each other.
    let word = |line: usize, rank: usize| (line * size + rank) * 8 + line % 8;
    for round in 1..=rounds {
        for line in 0..LINES {
            let index = word(line, rank);
            check_eq!(view.load(index), round - 1, "line {line} before round {round}");
            view.store(index, round);
            hal.relax();
        }
        match (rank + round as usize) % 4 {
            0 => hal.write_back_invalidate(context.caches, region),
            1 => hal.write_back_invalidate_all(context.caches),
            _ => {}
        }
    }
    context.comm.barrier();
    hal.write_back_invalidate(context.caches, region);
    context.comm.barrier();
    hal.write_back_invalidate(context.caches, region);
    let wrong = (0..size * LINES).map(|place| word(place / size, place % size)).find(|word| view.load(*word) != rounds);
    check_eq!(wrong, None, "the first wrong word");
    context.comm.barrier();
    drop(view);
    free(context, region)
}

/// The same through slices, which some cores hold while others flush the pages under them.
pub fn slices_survive_flushes_of_others<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const WORDS: usize = 3 * 8;
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let rounds = if size > 64 { 1 } else { 5 };
    let region = shared::<_, kind::Cached>(context, size * WORDS * 4)?;
    let own = region.lines_around(rank * WORDS * 4, (rank + 1) * WORDS * 4);
    let mut view = hal.claim::<u32>(own, WORDS)?;
    for round in 1..=rounds {
        if (rank + round as usize).is_multiple_of(2) {
            for _ in 0..3 {
                hal.write_back_invalidate(context.caches, region);
                hal.relax();
            }
        } else {
            // SAFETY: nobody else stores to these lines; the others flush them.
            let slice = unsafe { view.as_mut_slice(context.caches) };
            for word in slice {
                *word += round;
                hal.relax();
                // Its own register is a place where others go on.
                drop(hal.try_lock(hal.core()));
            }
        }
        context.comm.barrier();
    }
    hal.write_back_invalidate(context.caches, own);
    let expected: u32 = (1..=rounds).filter(|round| !(rank + *round as usize).is_multiple_of(2)).sum();
    let wrong = (0..WORDS).find(|word| hal.load_word(own.mapped(), *word) != expected);
    check_eq!(wrong, None, "the first word in memory that is not {expected}");
    drop(view);
    free(context, region)
}

/// All cores of a domain together touch more pages than it has room for.
pub fn domains_have_finite_caches<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const PAGE: usize = 4096;
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let pages = (400 / size).max(3);
    let region: Region<kind::Cached> = shared(context, size * pages * PAGE)?;
    let mut view = hal.claim::<u32>(region, size * pages * PAGE / 4)?;
    for round in 0..2 {
        for page in 0..pages {
            // Pages of the ranks alternate.
            let word = (page * size + rank) * PAGE / 4 + rank;
            check_eq!(view.load(word), round * (page as u32 + 1), "page {page} in round {round}");
            view.store(word, (round + 1) * (page as u32 + 1));
        }
    }
    drop(view);
    free(context, region)
}

/// Rank 0 hands a word to everybody, through caches: a flush after the store, and one before the load. Inside a domain
/// neither is needed, so without them this fails for ranks of other domains only.
pub fn flushes_hand_data_over<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let region = shared::<_, kind::Cached>(context, LINE_BYTES)?;
    let mut view = hal.claim::<u32>(region, 8)?;
    check_eq!(view.load(5), 0, "fresh memory");
    context.comm.barrier();
    if context.rank() == 0 {
        view.store(5, 77);
        hal.write_back_invalidate(context.caches, region);
    }
    context.comm.barrier();
    hal.write_back_invalidate(context.caches, region);
    check_eq!(view.load(5), 77, "the word that was handed over");
    drop(view);
    free(context, region)
}
