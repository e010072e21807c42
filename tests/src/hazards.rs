//! The hazard of SCOSCo IV.B.2: why a match vector must not be cached.
//!
//! An origin that keeps its match vector in cached memory holds a copy of the line. A target of a *later* epoch
//! posts: its bit goes to memory. Then the origin's cache evicts the line, for whatever reason, and as the origin has
//! changed it, the whole line goes to memory, over the bit. The origin waits for that post for ever.

use hal::{Core, LINE_BYTES, Place, Reason, Region, kind};

use crate::{
    Context,
    check::Outcome,
    check_eq,
    memory::{free, shared},
};

/// The word of the line that holds the match vector.
const MATCH_VECTOR: usize = 0;

/// PSCW of one origin and two targets with a cached match vector; ends in a deadlock. Rank 0 is the origin, rank 1 the
/// target of its
/// first epoch, rank 2 that of its second. Run by [`fatal`](crate::fatal).
pub fn cached_match_vector<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank) = (context.hal(), context.rank());
    let line = shared::<_, kind::Cached>(context, LINE_BYTES)?;
    let posted = |target: usize| 1 << target;
    // POST: under the origin's register, in uncached memory, as in Algorithm 1.
    let post = || {
        let _guard = hal.lock(context.comm.core_of(0), "the match vector");
        let posts = hal.load_word(line.mapped(), MATCH_VECTOR);
        hal.store_word(line.mapped(), MATCH_VECTOR, posts | posted(rank));
    };
    if rank == 1 {
        post();
    }
    context.comm.barrier();
    if rank == 0 {
        let mut view = hal.claim::<u32>(line, 8)?;
        // START and COMPLETE of the first epoch: the post is seen, and reset, in the cached copy of the line.
        hal.write_back_invalidate(context.caches, line);
        check_eq!(view.load(MATCH_VECTOR), posted(1), "the post of the first target");
        view.store(MATCH_VECTOR, 0);
        // The second target posts, and the origin computes.
        context.comm.barrier();
        context.comm.barrier();
        check_eq!(hal.load_word(line.mapped(), MATCH_VECTOR), posted(1) | posted(2), "the posts in memory");
        touch_more_than_fits(context)?;
        // COMPLETE of the second epoch waits for its target.
        let reason = Reason::new("a post that an eviction has wiped out").from(context.comm.core_of(2));
        hal.wait(&[Place::Word(line.mapped(), MATCH_VECTOR)], reason, |poll| {
            (poll.word(0) & posted(2) != 0).then_some(())
        });
    } else {
        context.comm.barrier();
        if rank == 2 {
            post();
        }
        context.comm.barrier();
    }
    context.comm.barrier();
    free(context, line)
}

/// Reads so much cached memory that everything that was cached before is evicted.
fn touch_more_than_fits<C: Core>(context: &Context<'_, '_, C>) -> Outcome {
    const PAGES: usize = 1200;
    const PAGE_WORDS: usize = 1024;
    let region: Region<kind::Cached> =
        context.comm.allocator().allocate(PAGES * PAGE_WORDS * 4, collectives::Placement::Striped(1))?;
    let view = context.hal().claim::<u32>(region, PAGES * PAGE_WORDS)?;
    for page in 0..PAGES {
        let _ = view.load(page * PAGE_WORDS);
    }
    drop(view);
    context.comm.allocator().free(region)?;
    Ok(())
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
        view.store(5, 1);
        touch_more_than_fits(context)?;
        context.hal().write_back_invalidate_all(context.caches);
        for target in 1..size {
            let access = window.start(&Group::of([target])?)?;
            access.put_value(target, 0, target as u32)?;
            access.complete();
        }
        window.free(view, context.caches)?;
    } else {
        let exposure = window.post(view, context.caches, &Group::of([0])?)?;
        context.comm.barrier();
        let view = exposure.wait(context.caches);
        check_eq!(view.load(0), rank as u32, "the put of the later epoch");
        window.free(view, context.caches)?;
    }
    Ok(())
}
