//! The hazard of SCOSCo IV.B.2: why a match vector must not be cached.
//!
//! An origin that keeps its match vector in cached memory holds a copy of the line. A target of a *later* epoch posts: its bit
//! goes to memory. Then the origin's cache evicts the line, for whatever reason, and as the origin has changed it, the whole
//! line goes to memory, over the bit. The origin would wait for that post for ever.

use hal::{Core, LINE_BYTES, kind};

use crate::{
    Context,
    check::Outcome,
    check_eq,
    memory::{free, shared},
};

/// Word of the line that holds the match vector; another word of it belongs to the origin.
const MATCH_VECTOR: usize = 0;
const OWN_WORD: usize = 5;

/// With the match vector in cached memory, the post gets lost.
pub fn cached_match_vector_loses_a_post<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank) = (context.hal(), context.rank());
    let line = shared::<_, kind::Cached>(context, LINE_BYTES)?;
    if rank == 0 {
        let mut view = hal.claim::<u32>(line, 8)?;
        // The current epoch: the origin looks at its vector, and resets what it has consumed.
        check_eq!(view.load(MATCH_VECTOR), 0, "the match vector before the post");
        view.store(OWN_WORD, 1);
        context.comm.barrier();
        // The target of a later epoch posts.
        context.comm.barrier();
        // The line is evicted.
        hal.write_back_invalidate(context.caches, line);
    } else {
        context.comm.barrier();
        if rank == 1 {
            hal.store_word(line.mapped(), MATCH_VECTOR, 1 << 1);
        }
        context.comm.barrier();
    }
    context.comm.barrier();
    if context.size() > 1 {
        check_eq!(hal.load_word(line.mapped(), MATCH_VECTOR), 0, "the match vector after the eviction");
    }
    free(context, line)
}

/// The real protocol keeps vector and counter in uncached memory: the same eviction harms nothing.
pub fn real_protocol_keeps_the_post<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    use collectives::{Group, Window};
    let (rank, size) = (context.rank(), context.size());
    let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    if rank == 0 {
        let mut view = view;
        context.comm.barrier();
        // Every target of the later epochs has posted, and now everything that is cached goes to memory.
        view.store(OWN_WORD, 1);
        context.hal().write_back_invalidate_all(context.caches);
        for target in 1..size {
            let access = window.start(&Group::of([target])?)?;
            access.put(target, 0, &[target as u32])?;
            access.complete();
        }
        window.free(view, context.caches)?;
    } else {
        let exposure = window.post(view, context.caches, &Group::of([0])?).map_err(|(error, _)| error)?;
        context.comm.barrier();
        let view = exposure.wait(context.caches);
        check_eq!(view.load(0), rank as u32, "the put of the later epoch");
        window.free(view, context.caches)?;
    }
    Ok(())
}
