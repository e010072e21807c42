//! Private memory that others reach: what they see of it and when, and what it costs to map it.

use alloc::{vec, vec::Vec};

use hal::{
    ClaimError, Core, CoreId, ExposeError, Exposure, LINE_BYTES, Lines, Place, Reason, Region, SharedAddress,
    exposed::SLOT_BYTES, kind, topology::EXPOSED_BYTES_PER_CORE,
};

use crate::{
    Context, Failed, check,
    check::{Outcome, pattern},
    check_eq,
    memory::{free, shared},
};

/// What rank 0 exposes, and nothing on the others; with the region, which all ranks have mapped. Collective.
type OfRank0<'c> = (Option<Exposure<'c, Lines<u32>>>, Region<kind::Cached>);

/// Exposes these words on rank 0.
fn expose_on_rank_0<'c, C: Core>(context: &mut Context<'_, 'c, C>, words: &[u32]) -> Result<OfRank0<'c>, Failed> {
    let mut exposure = None;
    let mut told = [0u32; 3];
    if context.rank() == 0 {
        let exposed = context.hal().expose(context.caches, Lines::copy_of(words))?;
        told = exposed.region().to_words();
        exposure = Some(exposed);
    }
    context.comm.broadcast(bytemuck::bytes_of_mut(&mut told), 0)?;
    let region: Region<kind::Cached> = regions::of_a_test().from_words(told);
    context.hal().map(region.mapped())?;
    Ok((exposure, region))
}

/// Takes the memory back when all have let go of it, and what is in it. Nothing on other ranks than 0.
fn end<C: Core>(context: &mut Context<'_, '_, C>, (exposure, region): OfRank0<'_>) -> Vec<u32> {
    context.hal().let_go(region.mapped());
    context.comm.barrier();
    exposure.map_or(Vec::new(), |exposure| exposure.end(context.caches).to_vec())
}

/// Reads a word by the combined mapping, fresh.
fn read_fresh<C: Core>(hal: &C, region: Region<kind::Cached>, index: usize) -> u32 {
    let mut word = [0; 4];
    hal.invalidate_mpb();
    hal.read(region.mapped(), index * 4, &mut word);
    u32::from_ne_bytes(word)
}

/// What the owner stores stays in its caches until it flushes.
pub fn unflushed_store_of_the_owner_is_unseen<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let (exposure, region) = expose_on_rank_0(context, &[7; 20])?;
    if exposure.is_some() {
        let mut view = hal.claim::<u32>(region, 20)?;
        check_eq!(view.load(9), 7, "a word as it was before the exposure");
        view.store(9, 5);
        context.comm.barrier();
        check_eq!(read_fresh(hal, region, 9), 7, "a store that was not flushed, on the owner's other mapping");
        context.comm.barrier();
        hal.write_back_invalidate(context.caches, region);
        check_eq!(view.load(9), 5, "the owner's own store");
    } else {
        context.comm.barrier();
        check_eq!(read_fresh(hal, region, 9), 7, "a store that was not flushed");
        context.comm.barrier();
    }
    context.comm.barrier();
    check_eq!(read_fresh(hal, region, 9), 5, "a store that was flushed");
    let words = end(context, (exposure, region));
    check!(words.iter().enumerate().all(|(index, word)| *word == if index == 9 { 5 } else { 7 }), "{words:?}");
    Ok(())
}

/// What the owner has in its caches stays what it was until it invalidates, whatever others put there.
pub fn put_is_unseen_until_the_owner_invalidates<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, writer) = (context.hal(), context.size() - 1);
    let (exposure, region) = expose_on_rank_0(context, &[7; 20])?;
    let view = if exposure.is_some() { Some(hal.claim::<u32>(region, 20)?) } else { None };
    if let Some(view) = &view {
        check_eq!(view.load(3), 7, "a word as it was before the exposure");
    }
    context.comm.barrier();
    if context.rank() == writer {
        hal.write(region.mapped(), 12, &[5, 0, 0, 0]);
        hal.drain();
    }
    context.comm.barrier();
    if let Some(view) = &view {
        check_eq!(view.load(3), 7, "a word of a line that is cached");
        hal.write_back_invalidate(context.caches, region);
        check_eq!((view.load(2), view.load(3), view.load(4)), (7, 5, 7), "after the invalidation");
    }
    drop(view);
    let words = end(context, (exposure, region));
    if !words.is_empty() {
        check_eq!((words[2], words[3]), (7, 5), "the memory that came back");
    }
    Ok(())
}

/// Why a line is exposed as a whole or not at all: the owner writes back all of it, over what others put there since
/// it cached it.
pub fn write_back_of_the_owner_wipes_out_a_put<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let (exposure, region) = expose_on_rank_0(context, &[7; 16])?;
    let mut view = if exposure.is_some() { Some(hal.claim::<u32>(region, 16)?) } else { None };
    if let Some(view) = &mut view {
        check_eq!(view.load(0) + view.load(8), 14, "words of two lines, as they were before the exposure");
        view.store(0, 6);
    }
    context.comm.barrier();
    if context.rank() == context.size() - 1 {
        hal.write(region.mapped(), 4, &[5, 0, 0, 0]);
        hal.write(region.mapped(), 36, &[5, 0, 0, 0]);
        hal.drain();
    }
    context.comm.barrier();
    drop(view);
    let words = end(context, (exposure, region));
    if !words.is_empty() {
        check_eq!((words[0], words[1]), (6, 7), "the owner's word and what was put next to it");
        check_eq!((words[8], words[9]), (7, 5), "a line that the owner only loaded");
    }
    Ok(())
}

/// A put goes to no more than its bytes: neither to the rest of its line nor to private memory next to what is exposed.
pub fn neighbours_are_unharmed<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let mut neighbours = [Lines::<u8>::zeroed(LINE_BYTES), Lines::zeroed(LINE_BYTES)];
    let (exposure, region) = expose_on_rank_0(context, &vec![0xEEEE_EEEE; size.div_ceil(3)])?;
    for round in 0..4 {
        neighbours.iter_mut().for_each(|neighbour| neighbour.fill(round));
        hal.write(region.mapped(), rank, &[rank as u8]);
        hal.drain();
    }
    let words = end(context, (exposure, region));
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    for (index, byte) in bytes.iter().enumerate() {
        check_eq!(*byte, if index < size { index as u8 } else { 0xEE }, "byte {index} of the exposed memory");
    }
    check!(neighbours.iter().all(|neighbour| neighbour.iter().all(|byte| *byte == 3)), "private memory has changed");
    Ok(())
}

/// Every rank exposes memory of its own, puts to its right neighbour, and copies from its left neighbour's to its own.
pub fn everybody_exposes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    // Three parts: what others put, what others copy, and copies. Several pages, and not whole ones.
    const PART: usize = 700;
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let table = shared::<_, kind::Uncached>(context, (size * 12).next_multiple_of(LINE_BYTES))?;
    let element = |rank: usize, index: usize| (rank * 10_000 + index) as f64;
    let own: Vec<f64> = (0..3 * PART).map(|index| element(rank, index)).collect();
    let exposure = hal.expose(context.caches, Lines::copy_of(&own))?;
    let own = exposure.region();
    for (word, value) in own.to_words().into_iter().enumerate() {
        hal.store_word(table, rank * 3 + word, value);
    }
    context.comm.barrier();
    let region_of = |rank: usize| -> Region<kind::Combined> {
        regions::of_a_test().from_words([0, 1, 2].map(|word| hal.load_word(table, rank * 3 + word)))
    };
    let (of_left, of_right) = (region_of(left), region_of(right));
    hal.map(of_left)?;
    hal.map(of_right)?;
    let put: Vec<f64> = (1..PART - 1).map(|index| -element(rank, index)).collect();
    hal.write(of_right, 8, bytemuck::cast_slice(&put));
    hal.copy(of_left, (PART + 1) * 8, own.mapped(), 2 * PART * 8, (PART - 1) * 8);
    hal.drain();
    context.comm.barrier();
    let mut got = vec![0f64; PART - 2];
    hal.invalidate_mpb();
    hal.read(of_right, 8, bytemuck::cast_slice_mut(&mut got));
    check!(got == put, "what rank {right} has is not what was put there");
    hal.let_go(of_left);
    hal.let_go(of_right);
    context.comm.barrier();
    let memory = exposure.end(context.caches);
    let wanted = |index: usize| match index {
        _ if (1..PART - 1).contains(&index) => -element(left, index),
        _ if (2 * PART..3 * PART - 1).contains(&index) => element(left, index - PART + 1),
        _ => element(rank, index),
    };
    let wrong = (0..3 * PART).find(|index| memory[*index] != wanted(*index));
    check_eq!(wrong, None, "first wrong element of the memory that came back");
    context.comm.barrier();
    free(context, table)
}

/// Memory is exposed and comes back again and again, in the same slot for others, who map it once.
pub fn exposed_and_ended_many_times<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    // Some of it is mapped from earlier on, perhaps.
    let (exposure, region) = expose_on_rank_0(context, &[0; 8])?;
    end(context, (exposure, region));
    hal.unmap(region.mapped());
    let before = hal.counters().mappings;
    for round in 1..=20 {
        let (exposure, again) = expose_on_rank_0(context, &vec![round; 8 * size])?;
        let slot = |region: Region<kind::Cached>| region.start().offset() / SLOT_BYTES;
        check_eq!(slot(again), slot(region), "the slot in round {round}");
        hal.write(again.mapped(), rank * LINE_BYTES + 4, &round.to_ne_bytes().map(|byte| byte ^ 0xFF));
        for (index, word) in end(context, (exposure, again)).into_iter().enumerate() {
            check_eq!(word, if index % 8 == 1 { !round } else { round }, "word {index} in round {round}");
        }
        context.comm.barrier();
    }
    check_eq!(hal.counters().mappings - before, u64::from(rank != 0), "mappings");
    Ok(())
}

/// Views and slices of exposed memory, more pages than a caching region holds, and the owner's flushes.
pub fn views_of_exposed_memory<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const WORDS: usize = 5 * 1024 + 24;
    let hal = context.hal();
    let last = context.size() - 1;
    let (exposure, region) = expose_on_rank_0(context, &[1; WORDS])?;
    if exposure.is_some() {
        let mut view = hal.claim::<u32>(region, WORDS)?;
        check_eq!(
            hal.claim::<u8>(region.lines_around(40, 41), 1).err(),
            Some(ClaimError::Claimed { start: region.start().plus(LINE_BYTES) }),
            "a second view"
        );
        // SAFETY: nobody else knows of the memory yet.
        for (index, word) in unsafe { view.as_mut_slice(context.caches) }.iter_mut().enumerate() {
            *word += pattern(index, 0) as u32;
        }
        let before = hal.counters();
        hal.write_back_invalidate(context.caches, region);
        let written = hal.counters() - before;
        check_eq!(written.flushes, 1, "flushes");
        context.comm.barrier();
        context.comm.barrier();
        hal.write_back_invalidate(context.caches, region);
        // SAFETY: the ranks that put have done so before the barrier.
        let slice = unsafe { view.as_slice(context.caches) };
        let added = 1 + u32::from(last != 0);
        let wrong = slice.iter().enumerate().find(|(index, word)| **word != added + pattern(*index, 0) as u32);
        check_eq!(wrong, None, "first wrong word of the owner's");
    } else {
        context.comm.barrier();
        if context.rank() == last {
            let mut words = vec![0u32; WORDS];
            hal.invalidate_mpb();
            hal.read(region.mapped(), 0, bytemuck::cast_slice_mut(&mut words));
            let wrong = words.iter().enumerate().find(|(index, word)| **word != 1 + pattern(*index, 0) as u32);
            check_eq!(wrong, None, "first wrong word of the other's");
            words.iter_mut().for_each(|word| *word += 1);
            hal.write(region.mapped(), 0, bytemuck::cast_slice(&words));
            hal.drain();
        }
        context.comm.barrier();
    }
    end(context, (exposure, region));
    Ok(())
}

/// Words of exposed memory are words: current, and good to wait for.
pub fn words_of_exposed_memory<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let (exposure, region) = expose_on_rank_0(context, &vec![0; size])?;
    let words = region.mapped::<kind::Uncached>();
    for round in 1..=3 {
        let reason = Reason::new("the rank before").number(round);
        if rank > 0 {
            hal.wait(&[Place::Word(words, rank - 1)], reason, |poll| (poll.word(0) == round).then_some(()));
        }
        hal.store_word(words, rank, round);
        hal.wait(&[Place::Word(words, size - 1)], reason, |poll| (poll.word(0) == round).then_some(()));
        context.comm.barrier();
    }
    let words = end(context, (exposure, region));
    check!(words.iter().all(|word| *word == 3), "{words:?}");
    Ok(())
}

/// A slot is mapped once until it is unmapped, or others have taken all slots; memory of controllers and one's own
/// needs none.
pub fn mappings_are_reused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, size) = (context.hal(), context.size());
    let per_core = EXPOSED_BYTES_PER_CORE / SLOT_BYTES;
    let others = || (0..size).map(CoreId::new).filter(|core| *core != hal.core());
    let regions = regions::of_a_test();
    let line = |core: CoreId, slot: usize| -> Region<kind::Combined> {
        regions.region(SharedAddress::exposed(core, slot * SLOT_BYTES), LINE_BYTES)
    };
    let slots: Vec<_> = others()
        .flat_map(|core| (0..per_core).map(move |slot| (core, slot)))
        .map(|(core, slot)| line(core, slot))
        .collect();
    slots.iter().for_each(|slot| hal.unmap(*slot));
    let mappings = |region| -> Result<u64, Failed> {
        let before = hal.counters().mappings;
        hal.map(region)?;
        Ok(hal.counters().mappings - before)
    };
    check_eq!(mappings(regions.region(SharedAddress::new(0, 0), 64))?, 0, "for memory of a controller");
    check_eq!(mappings(line(hal.core(), 0))?, 0, "for one's own memory");
    if let Some(other) = others().next() {
        check_eq!(mappings(regions.region(line(other, 1).start().plus(SLOT_BYTES - 32), 64))?, 2, "for two slots");
        check_eq!((mappings(line(other, 1))?, mappings(line(other, 2))?), (0, 0), "for slots that are mapped");
        hal.unmap(line(other, 2));
        check_eq!((mappings(line(other, 1))?, mappings(line(other, 2))?), (0, 1), "after one of them was unmapped");
        for slot in &slots {
            mappings(*slot)?;
        }
        check_eq!(mappings(slots[slots.len() - 1])?, 0, "for the last one again");
        check_eq!(mappings(slots[0])?, u64::from(slots.len() > hal.mapped_slots()), "for the first one again");
    }
    slots.iter().for_each(|slot| hal.unmap(*slot));
    check!(hal.map(line(CoreId::new(size), 0)).is_err(), "memory of a core that does not exist was mapped");
    context.comm.barrier();
    Ok(())
}

/// Only whole lines are exposed; what is refused comes back. Nobody claims what others expose, or what is exposed no
/// more.
pub fn refusals<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let partial = hal.expose(context.caches, vec![7u8; 33]).err();
    check!(
        matches!(&partial, Some(refused) if refused.taken == [7; 33]
            && matches!(refused.error, ExposeError::PartOfALine { len_bytes: 33, .. })),
        "33 bytes: {partial:?}"
    );
    let (exposure, region) = expose_on_rank_0(context, &[0; 8])?;
    let start = region.start();
    let claimed = hal.claim::<u32>(region, 8).map(drop);
    let refused = Err(ClaimError::NotExposed { start });
    check_eq!(claimed, if exposure.is_some() { Ok(()) } else { refused }, "a claim of exposed memory");
    end(context, (exposure, region));
    check_eq!(hal.claim::<u32>(region, 8).map(drop), refused, "a claim of memory that is exposed no more");
    context.comm.barrier();
    Ok(())
}

/// The last rank reads what rank 0 exposes, without having mapped it. Run by [`fatal`](crate::fatal).
pub fn reads_unmapped<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (exposure, region) = expose_on_rank_0(context, &[0; 8])?;
    if context.rank() == context.size() - 1 {
        context.hal().unmap(region.mapped());
        read_fresh(context.hal(), region, 0);
    }
    end(context, (exposure, region));
    Ok(())
}

/// The last rank puts to what rank 0 exposes no more. Run by [`fatal`](crate::fatal).
pub fn puts_too_late<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (exposure, region) = expose_on_rank_0(context, &[0; 8])?;
    end(context, (exposure, region));
    context.comm.barrier();
    if context.rank() == context.size() - 1 {
        context.hal().write(region.mapped(), 0, &[1; 4]);
        context.hal().drain();
    }
    context.comm.barrier();
    Ok(())
}

/// Rank 0 takes memory back that rank 1 has stored to and not let go of. Run by [`fatal`](crate::fatal).
pub fn keeps_hold<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (exposure, region) = expose_on_rank_0(context, &[0; 8])?;
    if context.rank() == 1 {
        context.hal().write(region.mapped(), 0, &[1; 4]);
        context.hal().drain();
    }
    context.comm.barrier();
    exposure.map(|exposure| exposure.end(context.caches));
    context.comm.barrier();
    Ok(())
}

/// Rank 0 takes memory back that it still has a view of. Run by [`fatal`](crate::fatal).
pub fn keeps_a_view<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (exposure, region) = expose_on_rank_0(context, &[0; 8])?;
    let view = if exposure.is_some() { Some(context.hal().claim::<u32>(region, 8)?) } else { None };
    end(context, (exposure, region));
    drop(view);
    Ok(())
}
