//! The allocator of shared memory.

use alloc::{vec, vec::Vec};

use collectives::{Error, Placement};
use hal::{Core, CoreId, kind, topology::SHARED_BYTES_PER_CONTROLLER};

use crate::{Context, check, check::Outcome, check_eq};

/// All ranks allocate at once; each writes its memory full and finds nobody else's bytes in it.
pub fn allocations_do_not_overlap<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, allocator) = (context.hal(), context.rank(), context.comm.allocator());
    let mut regions = Vec::new();
    for turn in 0..4 {
        let region = allocator.allocate::<kind::Uncached>(40 + 100 * turn, Placement::Striped(rank + turn))?;
        for word in 0..region.len_bytes() / 4 {
            hal.store_word(region, word, (rank * 10 + turn) as u32);
        }
        regions.push(region);
    }
    context.comm.barrier();
    for (turn, region) in regions.into_iter().enumerate() {
        for word in 0..region.len_bytes() / 4 {
            check_eq!(hal.load_word(region, word), (rank * 10 + turn) as u32, "word {word} of allocation {turn}");
        }
        allocator.free(region)?;
    }
    context.comm.barrier();
    Ok(())
}

/// What was freed in any order can be allocated again in one piece.
pub fn freed_memory_merges<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const PIECE: usize = 1 << 20;
    if context.rank() == 0 {
        let allocator = context.comm.allocator();
        let near = Placement::Near(CoreId::new(0));
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let pieces =
                (0..4).map(|_| allocator.allocate::<kind::Combined>(PIECE, near)).collect::<Result<Vec<_>, _>>()?;
            for index in order {
                allocator.free(pieces[index])?;
            }
            let whole = allocator.allocate::<kind::Combined>(12 * PIECE, near)?;
            check_eq!(
                whole.start().controller(),
                pieces[0].start().controller(),
                "controller after freeing in order {order:?}"
            );
            allocator.free(whole)?;
        }
    }
    context.comm.barrier();
    Ok(())
}

/// Where the rest of a free block is too small for a block of its own, the allocation gets it, and gives it back.
pub fn blocks_with_a_spare_line<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    if context.rank() == 0 {
        let allocator = context.comm.allocator();
        let near = Placement::Near(CoreId::new(0));
        let hole = allocator.allocate::<kind::Cached>(96, near)?;
        let fence = allocator.allocate::<kind::Cached>(64, near)?;
        allocator.free(hole)?;
        let smaller = allocator.allocate::<kind::Cached>(64, near)?;
        check_eq!(smaller.start(), hole.start(), "where the smaller allocation is");
        allocator.free(smaller)?;
        let again = allocator.allocate::<kind::Cached>(96, near)?;
        check_eq!(again.start(), hole.start(), "where the whole hole is again");
        allocator.free(again)?;
        allocator.free(fence)?;
    }
    context.comm.barrier();
    Ok(())
}

/// The heaps consist of one free block each, as at the beginning. On one rank.
pub fn check_heaps_are_whole<C: Core>(context: &Context<'_, '_, C>) -> Outcome {
    let allocator = context.comm.allocator();
    for controller in 0..context.hal().layout().controllers() {
        let all = SHARED_BYTES_PER_CONTROLLER;
        let Err(Error::PartTooLarge { limit_bytes, .. }) =
            allocator.allocate::<kind::Cached>(all, Placement::Striped(controller))
        else {
            return Err(crate::Failed("all of a controller was allocated".into()));
        };
        let most = allocator.allocate::<kind::Cached>(limit_bytes, Placement::Striped(controller))?;
        check_eq!(most.start().controller(), Some(controller), "the controller whose heap is not whole");
        allocator.free(most)?;
    }
    Ok(())
}

/// Placement decides the controller, and a full one is passed over.
pub fn placements<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let allocator = context.comm.allocator();
    if context.rank() == 0 {
        for core in (0..context.size()).map(CoreId::new) {
            let region = allocator.allocate::<kind::Cached>(64, Placement::Near(core))?;
            check_eq!(
                region.start().controller(),
                Some(context.hal().layout().nearest_controller(core)),
                "near {core}"
            );
            allocator.free(region)?;
        }
        let controllers = context.hal().layout().controllers();
        let mut hit = vec![false; controllers];
        for turn in 0..64 {
            let region = allocator.allocate::<kind::Cached>(64, Placement::Random(turn))?;
            if let Some(controller) = region.start().controller() {
                hit[controller] = true;
            }
            allocator.free(region)?;
        }
        check_eq!(hit, vec![true; controllers], "controllers that 64 random allocations went to");
        let (most, full) = (SHARED_BYTES_PER_CONTROLLER * 3 / 4, controllers / 2);
        let first = allocator.allocate::<kind::Cached>(most, Placement::Striped(full))?;
        if controllers > 1 {
            let second = allocator.allocate::<kind::Cached>(most, Placement::Striped(full))?;
            check_eq!(
                (first.start().controller(), second.start().controller()),
                (Some(full), Some((full + 1) % controllers)),
                "a full controller's successor"
            );
            allocator.free(second)?;
        }
        allocator.free(first)?;
    }
    context.comm.barrier();
    Ok(())
}

/// A rank that names another length than rank 0 gets an error, and no region that ends where its neighbour's data is. While
/// calls are compared, all ranks get one.
pub fn lengths_that_differ<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (last, placement) = (context.size() - 1, Placement::Striped(0));
    let is_other = context.rank() == last && last > 0;
    let shared = context.comm.share::<kind::Cached>(if is_other { 100 } else { 64 }, placement);
    match shared {
        Err(error) => check_eq!((is_other, error), (true, Error::Length { len: 64, wanted: 128 }), "the refusal"),
        Ok(region) => check_eq!((is_other, region.len_bytes()), (false, 64), "the bytes"),
    }
    context.comm.barrier();
    if context.rank() == 0 {
        context.comm.allocator().free(shared?)?;
    }
    context.comm.barrier();
    Ok(())
}

/// What cannot be had, or is not there to be freed, gets an error value.
pub fn refusals<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let allocator = context.comm.allocator();
    if context.rank() == 0 {
        let too_large = allocator.allocate::<kind::Cached>(SHARED_BYTES_PER_CONTROLLER, Placement::Striped(0));
        check!(matches!(too_large, Err(Error::PartTooLarge { .. })), "all of a controller: {too_large:?}");
        let mut all = Vec::new();
        let last = loop {
            match allocator.allocate::<kind::Cached>(4 << 20, Placement::Striped(0)) {
                Ok(region) => all.push(region),
                Err(error) => break error,
            }
        };
        check_eq!(last, Error::OutOfSharedMemory { len_bytes: 4 << 20 }, "the allocation after the last");
        check!(all.len() >= 11, "only {} pieces of 4 MiB fit 64 MiB", all.len());
        for region in &all {
            allocator.free(*region)?;
        }
        let twice = allocator.free(all[0]);
        check!(matches!(twice, Err(Error::NotAllocated { .. })), "freed twice: {twice:?}");
        let region = allocator.allocate::<kind::Cached>(1024, Placement::Striped(0))?;
        let part = allocator.free(region.lines_around(0, 512));
        check!(matches!(part, Err(Error::NotAllocated { .. })), "freed in part: {part:?}");
        allocator.free(region)?;
    }
    context.comm.barrier();
    Ok(())
}

/// Zeroed memory is zero, whatever was there before.
pub fn zeroed<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, allocator) = (context.hal(), context.comm.allocator());
    let place = Placement::Striped(context.rank());
    for _ in 0..2 {
        let region = allocator.allocate_zeroed::<kind::Uncached>(200, place)?;
        for word in 0..region.len_bytes() / 4 {
            check_eq!(hal.load_word(region, word), 0, "word {word}");
            hal.store_word(region, word, u32::MAX);
        }
        allocator.free(region)?;
    }
    context.comm.barrier();
    Ok(())
}
