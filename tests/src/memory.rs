//! What each kind of memory shows, and does not.

use alloc::{vec, vec::Vec};
use core::hint::black_box;

use collectives::Placement;
use hal::{
    ClaimError, Core, CoreId, Home, LINE_BYTES, Line, MpbCoherence, MpbLine, Place, Reason, Region, SharedAddress,
    kind, topology::MAX_CONTROLLERS,
};

use crate::{
    Context, check,
    check::{Outcome, pattern},
    check_eq,
};

/// Memory that all ranks share; the bytes are zero. To be given back with [`free`].
pub fn shared<C: Core, K: kind::Kind>(
    context: &Context<'_, '_, C>,
    len_bytes: usize,
) -> Result<Region<K>, crate::Failed> {
    Ok(context.comm.share_zeroed(len_bytes, Placement::Near(CoreId::new(0)))?)
}

/// Frees a region of [`shared`]; views of it have been dropped.
pub fn free<C: Core, K: kind::Kind>(context: &mut Context<'_, '_, C>, region: Region<K>) -> Outcome {
    context.hal().write_back_invalidate(context.caches, region.mapped());
    context.comm.barrier();
    if context.rank() == 0 {
        context.comm.allocator().free(region)?;
    }
    Ok(())
}

/// A line of the MPB that no protocol uses.
///
/// # Panics
/// If there are not as many.
pub fn spare_line<C: Core>(context: &Context<'_, '_, C>, core: usize, index: usize) -> MpbLine {
    let spare = context.comm.mpb_layout().spare();
    assert!(index < spare.len(), "the MPB has {} spare lines", spare.len());
    MpbLine::new(CoreId::new(core), spare.start + index)
}

/// Every core runs its own image: what one core stores to a static, no other sees.
pub fn statics_are_private<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    // In the simulator one address space holds all ranks, which is why programs may have no statics at all.
    #[cfg(target_os = "none")]
    {
        use core::sync::atomic::{AtomicU32, Ordering::SeqCst};
        static COUNTED: AtomicU32 = AtomicU32::new(7);
        for _ in 0..3 {
            COUNTED.fetch_add(1, SeqCst);
            context.comm.barrier();
        }
        check_eq!(COUNTED.load(SeqCst), 10, "a static that every core added 3 to");
    }
    context.comm.barrier();
    Ok(())
}

/// A store to a cached line stays private until it is flushed; the core's coherence domain sees it at once.
pub fn unflushed_store_is_unseen<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let region = shared::<_, kind::Cached>(context, LINE_BYTES)?;
    let mut view = context.hal().claim::<u32>(region, 8)?;
    check_eq!(view.load(3), 0, "fresh memory");
    // Where memory is coherent, nobody is to see the store before.
    context.comm.barrier();
    if context.rank() == 0 {
        view.store(3, 5);
    }
    context.comm.barrier();
    let is_near = context.is_near(0);
    context.hal().write_back_invalidate(context.caches, if is_near { region.lines_around(0, 0) } else { region });
    check_eq!(view.load(3), if is_near { 5 } else { 0 }, "a store that was not flushed");
    context.comm.barrier();
    context.hal().write_back_invalidate(context.caches, region);
    context.comm.barrier();
    context.hal().write_back_invalidate(context.caches, region);
    check_eq!(view.load(3), 5, "a store that was flushed");
    drop(view);
    free(context, region)
}

/// What a core has cached stays what it was until it invalidates.
pub fn cached_read_without_invalidate_is_stale<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let region = shared::<_, kind::Cached>(context, LINE_BYTES)?;
    let mut view = context.hal().claim::<u32>(region, 8)?;
    check_eq!(view.load(0), 0, "fresh memory");
    context.comm.barrier();
    if context.rank() == 0 {
        view.store(0, 9);
        context.hal().write_back_invalidate(context.caches, region);
    }
    context.comm.barrier();
    check_eq!(view.load(0), if context.is_near(0) { 9 } else { 0 }, "a line that is cached");
    // Whoever is in one coherence domain loses it together.
    context.comm.barrier();
    context.hal().write_back_invalidate(context.caches, region);
    check_eq!(view.load(0), 9, "after the invalidation");
    drop(view);
    free(context, region)
}

/// Rank 0 reads memory with this home, rank 1 writes, rank 0 reads again. The two meet at a test-and-set register,
/// because the polls of a barrier would invalidate.
fn reads_stale<C: Core>(
    context: &mut Context<'_, '_, C>,
    home: Home,
    write: impl FnOnce(&C),
    read: impl Fn(&C) -> u8,
) -> Outcome {
    let hal = context.hal();
    let ready = shared::<_, kind::Uncached>(context, LINE_BYTES)?;
    let meeting = CoreId::new(context.size() - 1);
    let guard = (context.rank() == 1).then(|| hal.lock(meeting, "the writer to begin"));
    context.comm.barrier();
    match context.rank() {
        0 if context.size() > 1 => {
            check_eq!(read(hal), 0, "before the write");
            hal.store_word(ready, 0, 1);
            drop(hal.lock(meeting, "the writer"));
            check_eq!(read(hal), u8::from(context.is_coherent(home)), "a line that L1 holds");
            hal.invalidate_mpb();
            check_eq!(read(hal), 1, "after the invalidation");
        }
        1 => {
            hal.wait(&[Place::Word(ready, 0)], Reason::new("the reader"), |poll| (poll.word(0) == 1).then_some(()));
            write(hal);
        }
        _ => {}
    }
    drop(guard);
    context.comm.barrier();
    free(context, ready)
}

/// L1 keeps MPB lines.
pub fn mpb_read_without_invalidate_is_stale<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let line = spare_line(context, 0, 0);
    if context.rank() == 0 {
        context.hal().store(line, 0, &[0]);
        context.hal().drain();
    }
    let write = |hal: &C| {
        hal.store(line, 0, &[1]);
        hal.drain();
    };
    reads_stale(context, Home::Core(line.core), write, |hal| hal.load_line(line).0[0])
}

/// L1 keeps lines of combined memory.
pub fn combined_read_without_invalidate_is_stale<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let region = shared::<_, kind::Combined>(context, LINE_BYTES)?;
    let write = |hal: &C| {
        hal.write(region, 7, &[1]);
        hal.drain();
    };
    let read = |hal: &C| {
        let mut byte = [0];
        hal.read(region, 7, &mut byte);
        byte[0]
    };
    reads_stale(context, region.start().home(), write, read)?;
    free(context, region)
}

/// Rank 0 writes without draining, everybody looks, then it drains.
fn is_seen_after<C: Core>(
    context: &mut Context<'_, '_, C>,
    write: impl FnOnce(&C),
    read: impl Fn(&C) -> u8,
    push_out: impl FnOnce(&C),
) -> Outcome {
    let hal = context.hal();
    let told = shared::<_, kind::Uncached>(context, LINE_BYTES)?;
    let tell = |hal: &C, value| {
        // Uncached stores do not go through the write-combine buffer, so telling drains nothing.
        if context.rank() == 0 {
            hal.store_word(told, 0, value);
        }
        let reason = Reason::new("the writer's word").number(value);
        hal.wait(&[Place::Word(told, 0)], reason, |poll| (poll.word(0) >= value).then_some(()));
    };
    context.comm.barrier();
    if context.rank() == 0 {
        write(hal);
    }
    tell(hal, 1);
    hal.invalidate_mpb();
    check_eq!(read(hal), 0, "what sits in the write-combine buffer");
    // Everybody has looked before rank 0 goes on; signals would push the line out.
    let looked = shared_counter(context, told);
    if context.rank() == 0 {
        looked?;
        push_out(hal);
    }
    tell(hal, 2);
    hal.invalidate_mpb();
    check_eq!(read(hal), 1, "after the drain");
    context.comm.barrier();
    free(context, told)
}

/// Counts all ranks in word 1, under a register, and waits for all; touches no line.
fn shared_counter<C: Core>(context: &Context<'_, '_, C>, words: Region<kind::Uncached>) -> Outcome {
    let hal = context.hal();
    {
        let _guard = hal.lock(CoreId::new(0), "the counter");
        hal.store_word(words, 1, hal.load_word(words, 1) + 1);
    }
    let all = context.size() as u32;
    hal.wait(&[Place::Word(words, 1)], Reason::new("all to look"), |poll| (poll.word(0) == all).then_some(()));
    Ok(())
}

/// A flag that was stored and not drained stays in the write-combine buffer.
pub fn undrained_mpb_store_is_unseen<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let line = spare_line(context, context.size() - 1, 1);
    if context.rank() == 0 {
        context.hal().store(line, 5, &[0]);
        context.hal().drain();
    }
    is_seen_after(context, |hal| hal.store(line, 5, &[1]), |hal| hal.load_line(line).0[5], MpbCoherence::drain)
}

/// The last, partial line of a put stays there too.
pub fn undrained_put_is_unseen<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let region = shared::<_, kind::Combined>(context, 2 * LINE_BYTES)?;
    let read = |hal: &C| {
        let mut byte = [0];
        hal.read(region, LINE_BYTES + 3, &mut byte);
        byte[0]
    };
    is_seen_after(context, |hal| hal.write(region, 20, &[1; 20]), read, MpbCoherence::drain)?;
    free(context, region)
}

/// Releasing a register does not push the write-combine buffer out; a store to another line does.
pub fn register_does_not_drain<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let line = spare_line(context, 0, 2);
    if context.rank() == 0 {
        context.hal().store(line, 0, &[0]);
        context.hal().drain();
    }
    let write = |hal: &C| {
        let _guard = hal.lock(CoreId::new(0), "a lock that proves nothing");
        hal.store(line, 0, &[1]);
    };
    let other = line.plus(1);
    is_seen_after(context, write, |hal| hal.load_line(line).0[0], |hal| hal.store(other, 0, &[1]))
}

/// Two cores store to one cached line; the second write-back writes the whole line, and the first core's store is gone,
/// unless both are in one coherence domain.
pub fn false_sharing_loses_an_update<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let region = shared::<_, kind::Cached>(context, LINE_BYTES)?;
    let mut view = context.hal().claim::<u32>(region, 8)?;
    check_eq!(view.load(0), 0, "fresh memory");
    context.comm.barrier();
    if context.rank() < 2 {
        view.store(context.rank(), 1);
    }
    context.comm.barrier();
    for turn in 0..2 {
        if context.rank() == turn {
            context.hal().write_back_invalidate(context.caches, region);
        }
        context.comm.barrier();
    }
    context.hal().write_back_invalidate(context.caches, region);
    if context.size() > 1 {
        let layout = context.hal().layout();
        let together = layout.domain(context.comm.core_of(0)) == layout.domain(context.comm.core_of(1));
        check_eq!((view.load(0), view.load(1)), (u32::from(together), 1), "the words of ranks 0 and 1");
    }
    drop(view);
    free(context, region)
}

/// Combined memory and MPB lines are written byte by byte: neighbours in a line do not harm each other.
pub fn masked_writes_do_not_lose_updates<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let region = shared::<_, kind::Combined>(context, size.next_multiple_of(LINE_BYTES))?;
    let line = spare_line(context, 0, 4);
    hal.write(region, rank, &[rank as u8 + 1]);
    if rank < LINE_BYTES {
        hal.store(line, rank, &[rank as u8 + 1]);
    }
    hal.drain();
    context.comm.barrier();
    let mut bytes = vec![0; size];
    hal.read(region, 0, &mut bytes);
    let flags = hal.load_line(line).0;
    for peer in 0..size {
        check_eq!(bytes[peer], peer as u8 + 1, "combined byte of rank {peer}");
        check!(peer >= LINE_BYTES || flags[peer] == peer as u8 + 1, "MPB byte of rank {peer} is {}", flags[peer]);
    }
    context.comm.barrier();
    free(context, region)
}

/// Memory is copied to memory however the two lie in their lines: each line is read once and written once, and its
/// other bytes stay.
pub fn copies_of_all_alignments<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const LINES: usize = 5;
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let own_bytes = 2 * LINES * LINE_BYTES;
    let region = shared::<_, kind::Combined>(context, size * own_bytes)?;
    let part = |half: usize| {
        let start = rank * own_bytes + half * LINES * LINE_BYTES;
        region.lines_around(start, start + LINES * LINE_BYTES)
    };
    let (from, to) = (part(0), part(1));
    let source: Vec<u8> = (0..LINES * LINE_BYTES).map(|index| pattern(index, rank)).collect();
    hal.write(from, 0, &source);
    let lines =
        |offset: usize, len: usize| if len == 0 { 0 } else { ((offset + len - 1) / 32 - offset / 32 + 1) as u64 };
    for from_offset in (0..LINE_BYTES).chain([40]) {
        for to_offset in [0, 1, 17, 43] {
            for len in [0, 1, 32, 100] {
                hal.write(to, 0, &[0xEE; LINES * LINE_BYTES]);
                hal.drain();
                hal.invalidate_mpb();
                let before = hal.counters();
                hal.copy(from, from_offset, to, to_offset, len);
                let done = hal.counters() - before;
                hal.drain();
                check_eq!(
                    (done.combined_lines_read, done.combined_lines_written),
                    (lines(from_offset, len), lines(to_offset, len)),
                    "lines of {len} bytes from {from_offset} to {to_offset}"
                );
                let mut copied = [0; LINES * LINE_BYTES];
                hal.invalidate_mpb();
                hal.read(to, 0, &mut copied);
                let wanted = |index: usize| match index.checked_sub(to_offset) {
                    Some(index) if index < len => source[from_offset + index],
                    _ => 0xEE,
                };
                let wrong = (0..copied.len()).find(|index| copied[*index] != wanted(*index));
                check_eq!(wrong, None, "first wrong byte of {len} from {from_offset} to {to_offset}");
            }
        }
    }
    context.comm.barrier();
    free(context, region)
}

/// An uncached store is in memory when it returns.
pub fn uncached_words_are_current<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let region = shared::<_, kind::Uncached>(context, (size * 4).next_multiple_of(LINE_BYTES))?;
    for round in 1..=3 {
        hal.store_word(region, rank, round);
        context.comm.barrier();
        for peer in 0..size {
            check_eq!(hal.load_word(region, peer), round, "word of rank {peer}");
        }
        context.comm.barrier();
    }
    free(context, region)
}

/// Many cores touch the same pages for the first time at once, and all find zeros.
pub fn first_touches_coincide<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const BYTES: usize = 1 << 20;
    let (hal, rank) = (context.hal(), context.rank());
    // The end of a controller's memory, which nothing has touched yet.
    let region: Region<kind::Uncached> = context.comm.share(14 << 20, Placement::Striped(3))?;
    for page in 0..BYTES / 4096 {
        let word = (region.len_bytes() - BYTES + page * 4096) / 4 + rank * 128 % 1024;
        check_eq!(hal.load_word(region, word), 0, "word {word}");
    }
    context.comm.barrier();
    if rank == 0 {
        context.comm.allocator().free(region)?;
    }
    Ok(())
}

/// There are addresses behind more controllers than the machine has; nothing is viewed there, whoever made the region.
pub fn memory_that_does_not_exist<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    for controller in hal.layout().controllers()..MAX_CONTROLLERS {
        let start = SharedAddress::new(controller, 0);
        let claimed = hal.claim::<u32>(regions::of_a_test().region(start, LINE_BYTES), 8).map(drop);
        check_eq!(claimed, Err(ClaimError::NoSuchMemory { start }), "a view of memory that does not exist");
    }
    Ok(())
}

/// A line is written and read in one piece: readers never see parts of two writes.
pub fn lines_are_atomic<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank) = (context.hal(), context.rank());
    let line = spare_line(context, 0, 6);
    let region = shared::<_, kind::Combined>(context, LINE_BYTES)?;
    if rank == 0 {
        hal.store(line, 0, &[0; LINE_BYTES]);
    }
    context.comm.barrier();
    for round in 0..20 {
        if rank % 2 == 0 {
            let bytes = [(rank + round) as u8; LINE_BYTES];
            hal.store(line, 0, &bytes);
            hal.write(region, 0, &bytes);
        } else {
            hal.invalidate_mpb();
            let mpb = hal.load_line(line).0;
            check!(mpb.iter().all(|byte| *byte == mpb[0]), "an MPB line is torn: {mpb:?}");
            let mut combined = Line::default().0;
            hal.read(region, 0, &mut combined);
            check!(combined.iter().all(|byte| *byte == combined[0]), "a combined line is torn: {combined:?}");
        }
    }
    context.comm.barrier();
    free(context, region)
}

/// A caching region is finite: more is touched than it holds, and nothing gets lost.
pub fn more_pages_than_frames<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const BYTES: usize = 300 * 4096;
    const STEP: usize = 4096 / 4;
    // One rank at a time: the point is one core's capacity, and all at once would only be slow.
    let worker = context.size() - 1;
    let region = shared::<_, kind::Cached>(context, BYTES)?;
    if context.rank() == worker {
        let mut view = context.hal().claim::<u32>(region, BYTES / 4)?;
        for round in 1..=2 {
            for index in (0..BYTES / 4).step_by(STEP) {
                check_eq!(view.load(index), (round - 1) * index as u32, "word {index} before round {round}");
                view.store(index, round * index as u32);
            }
        }
    }
    free(context, region)
}

/// A core has at most one view of a byte.
pub fn views_do_not_overlap<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let region = shared::<_, kind::Cached>(context, 4 * LINE_BYTES)?;
    let hal = context.hal();
    {
        let view = hal.claim::<u32>(region, 32)?;
        check!(hal.claim::<u8>(region.lines_around(40, 41), 1).is_err(), "a second view of a part was given out");
        drop(view);
        let parts =
            [hal.claim::<u8>(region.lines_around(0, 64), 64)?, hal.claim::<u8>(region.lines_around(64, 128), 64)?];
        check_eq!(parts.len(), 2, "views of different lines");
    }
    check!(hal.claim::<u32>(region, 33).is_err(), "a view larger than its region was given out");
    free(context, region)
}

/// Private memory is copied and filled as a whole and nothing beside it is, whatever its length and alignment: by the functions that
/// compilers call for it, some of which take a KiB at a time.
pub fn copies_and_fills<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const MOST: usize = 2100;
    const OTHER: u8 = 0xA5;
    if context.rank() > 0 {
        return Ok(());
    }
    let source: Vec<u8> = (0..MOST + 8).map(|index| (index * 7 + index / 251) as u8).collect();
    let mut target = vec![OTHER; MOST + 8];
    for len in [0, 1, 3, 4, 31, 33, 1023, 1024, 1025, MOST] {
        for (from, to) in [(0, 0), (1, 3), (6, 5)] {
            // The compiler is not to know the length, or it would copy without a call.
            let (len, end) = (black_box(len), black_box(to + len));
            target.fill(OTHER);
            target[to..end].copy_from_slice(&source[from..][..len]);
            check!(target[to..end] == source[from..][..len], "{len} bytes from {from} to {to}");
            target[to..end].fill(0x11);
            check!(target[to..end].iter().all(|byte| *byte == 0x11), "{len} bytes at {to}");
            check!(target[..to].iter().chain(&target[end..]).all(|byte| *byte == OTHER), "beside {len} bytes at {to}");
        }
    }
    Ok(())
}
