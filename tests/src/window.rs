//! Windows and PSCW epochs.

use alloc::{vec, vec::Vec};

use collectives::{Error, ExposureEpoch, Group, Placement, Returned, Window};
use hal::{ClaimError, Core, LINE_BYTES, LocalView, Pod, kind, topology::SHARED_BYTES_PER_CONTROLLER};

use crate::{Context, Failed, allocation::check_heaps_are_whole, check, check::Outcome, check_eq};

/// A rank's part of a window, and the window.
type Made<'c, C, T> = (Window<'c, C, T>, LocalView<'c, T>);

fn make<'c, C: Core, T: Pod>(context: &mut Context<'_, 'c, C>, len: usize) -> Result<Made<'c, C, T>, Failed> {
    Ok(Window::with_class(context.comm, context.caches, len, class())?)
}

fn class() -> collectives::Class {
    #[cfg(not(target_os = "none"))]
    if let Ok(name) = std::env::var("CLASS") {
        return name.parse().unwrap();
    }
    Default::default()
}

/// Posts, or says why not.
fn post<'w, 'c, C: Core, T: Pod>(
    context: &mut Context<'_, 'c, C>,
    window: &'w Window<'c, C, T>,
    view: LocalView<'c, T>,
    origins: &Group,
) -> Result<ExposureEpoch<'w, 'c, C, T>, Failed> {
    window.post(view, context.caches, origins).map_err(Failed::from)
}

/// An access epoch in which one element is put to rank 0.
fn put_to_rank_0<C: Core, T: Pod>(window: &Window<'_, C, T>, index: usize, value: T) -> Outcome {
    let access = window.start(&Group::of([0])?)?;
    access.put_value(0, index, value)?;
    access.complete();
    Ok(())
}

/// Everybody puts a word to everybody and gets one from everybody, several epochs in a row.
pub fn put_and_get_all_pairs<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let all = context.comm.group();
    let (window, mut view) = make::<_, u32>(context, 2 * size)?;
    for epoch in 0..3u32 {
        for peer in 0..size {
            view.store(size + peer, epoch << 16 | (rank * size + peer) as u32);
        }
        let exposure = post(context, &window, view, &all)?;
        let mut got = vec![0; size];
        let access = window.start(&all)?;
        for (turn, got) in got.chunks_mut(1).enumerate() {
            let peer = (rank + turn) % size;
            access.put_value(peer, rank, epoch << 16 | (rank << 8 | peer) as u32)?;
            access.get(peer, size + rank, got)?;
        }
        access.complete();
        for (turn, got) in got.iter().enumerate() {
            let peer = (rank + turn) % size;
            check_eq!(*got, epoch << 16 | (peer * size + rank) as u32, "word from rank {peer} in epoch {epoch}");
        }
        view = exposure.wait(context.caches);
        for peer in 0..size {
            check_eq!(
                view.load(peer),
                epoch << 16 | (peer << 8 | rank) as u32,
                "word that rank {peer} put in epoch {epoch}"
            );
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Each rank puts to its right neighbour only, through slices, without any other synchronisation.
pub fn neighbours_ring<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const LEN: usize = 100;
    let (rank, size) = (context.rank(), context.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (window, mut view) = make::<_, f64>(context, LEN)?;
    for round in 0..10 {
        let value = f64::from(round * 1000 + rank as u32);
        let exposure = post(context, &window, view, &Group::of([left])?)?;
        let values = [value; LEN];
        let access = window.start(&Group::of([right])?)?;
        access.put(right, 0, &values)?;
        access.complete();
        view = exposure.wait(context.caches);
        let wanted = f64::from(round * 1000 + left as u32);
        check!(view.as_slice(context.caches).iter().all(|got| *got == wanted), "round {round} from rank {left}");
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// The same ring, in which nobody takes the view back between epochs: what comes is read past the caches.
pub fn parts_are_posted_again<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const LEN: usize = 100;
    const ROUNDS: u32 = 6;
    let (rank, size) = (context.rank(), context.size());
    let (right, left) = (Group::of([(rank + 1) % size])?, (rank + size - 1) % size);
    let (window, mut view) = make::<_, u32>(context, LEN)?;
    // Stays where no put comes, since it was written back by the first post.
    view.store(LEN - 1, 7);
    let mut exposure = post(context, &window, view, &Group::of([left])?)?;
    for round in 0..ROUNDS {
        let values = [round << 16 | rank as u32; LEN - 1];
        let access = window.start(&right)?;
        access.put((rank + 1) % size, 0, &values)?;
        access.complete();
        exposure.await_origins();
        let mut got = [0; LEN];
        exposure.read(0, &mut got)?;
        check!(got[..LEN - 1].iter().all(|got| *got == round << 16 | left as u32), "round {round} from rank {left}");
        check_eq!(got[LEN - 1], 7, "what nobody has put in round {round}");
        if round + 1 < ROUNDS {
            exposure = exposure.post_again();
        }
    }
    let view = exposure.wait(context.caches);
    check_eq!(view.load(0), (ROUNDS - 1) << 16 | left as u32, "the view after the last round");
    window.free(view, context.caches)?;
    Ok(())
}

/// START touches no memory; POST is |Gp| locked updates; COMPLETE |Gs| locked resets and |Gs| locked decrements.
pub fn counters_are_the_papers<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make::<_, u32>(context, 8)?;
    // Rank 0 is the origin, as in Algorithm 3, and all others are targets.
    let (origins, targets) = (Group::of([0])?, Group::of(1..size)?);
    for _ in 0..3 {
        let before = hal.counters();
        if rank == 0 {
            let access = window.start(&targets)?;
            let started = hal.counters() - before;
            check_eq!(started, hal::Counters::default(), "operations of START");
            access.complete();
            let completed = hal.counters() - before;
            let k = targets.len() as u64;
            check_eq!(completed.tsr_acquired, 2 * k, "locks of COMPLETE");
            check_eq!(completed.words_written, 2 * k, "resets and decrements of COMPLETE");
            // Each update reads its word, and each target's bit is found once.
            check_eq!((completed.words_read, completed.words_polled), (2 * k, k), "words read by COMPLETE");
        } else {
            let exposure = post(context, &window, view, &origins)?;
            let posted = hal.counters() - before;
            check_eq!((posted.tsr_acquired, posted.words_read, posted.words_written), (1, 1, 2), "updates of POST");
            view = exposure.wait(context.caches);
            let waited = hal.counters() - before - posted;
            check_eq!(
                (waited.tsr_acquired, waited.words_read, waited.words_polled, waited.words_written),
                (0, 0, 1, 0),
                "accesses of WAIT"
            );
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Empty groups are legal on both sides.
pub fn empty_groups<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (window, view) = make::<_, u32>(context, 1)?;
    let exposure = post(context, &window, view, &Group::empty())?;
    let access = window.start(&Group::empty())?;
    check!(access.put(0, 0, &[1]).is_err(), "a put to a rank outside an empty group");
    access.complete();
    let view = exposure.wait(context.caches);
    check_eq!(view.load(0), 0, "a part that nobody may access");
    window.free(view, context.caches)?;
    Ok(())
}

/// A rank may put to itself.
pub fn self_in_the_group<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let me = Group::of([rank])?;
    let (window, mut view) = make::<_, u16>(context, 40)?;
    view.store(39, 4);
    let exposure = post(context, &window, view, &me)?;
    let mut got = [0; 2];
    let access = window.start(&me)?;
    access.put(rank, 3, &[7; 20])?;
    access.get(rank, 38, &mut got)?;
    access.complete();
    view = exposure.wait(context.caches);
    check_eq!((view.load(2), view.load(3), view.load(22), view.load(23)), (0, 7, 7, 0), "what was put to itself");
    check_eq!(got, [0, 4], "what was got from itself");
    window.free(view, context.caches)?;
    Ok(())
}

/// Rank 0 accesses one half of the ranks, then the other, with no other synchronisation (MPICH 4.0.2
/// deadlocks here: it counts posts, whoever they come from).
pub fn disjoint_groups_in_adjacent_epochs<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make::<_, u32>(context, 4)?;
    let halves = [Group::of((1..size).filter(|r| r % 2 == 1))?, Group::of((1..size).filter(|r| r % 2 == 0))?];
    for round in 0..5u32 {
        if rank == 0 {
            for half in &halves {
                let access = window.start(half)?;
                for target in half.iter() {
                    access.put_value(target, 1, round * 100 + target as u32)?;
                }
                access.complete();
            }
        } else {
            view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
            check_eq!(view.load(1), round * 100 + rank as u32, "the put of round {round}");
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// All ranks have posted before the origin starts with only one of them: the others' posts must neither be taken for
/// that one's nor get lost (in MPICH 4.0.2 another
/// rank's post lets START return early).
pub fn early_post_of_a_later_group<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (window, view) = make::<_, u32>(context, 1)?;
    if rank == 0 {
        context.comm.barrier();
        for target in (1..size).rev() {
            let access = window.start(&Group::of([target])?)?;
            access.put_value(target, 0, target as u32)?;
            access.complete();
        }
        context.comm.barrier();
        window.free(view, context.caches)?;
    } else {
        let exposure = post(context, &window, view, &Group::of([0])?)?;
        context.comm.barrier();
        let view = exposure.wait(context.caches);
        check_eq!(view.load(0), rank as u32, "the put");
        context.comm.barrier();
        window.free(view, context.caches)?;
    }
    Ok(())
}

/// A target that tests in a loop posts again the moment it succeeds.
pub fn test_loop_reposts_at_once<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make::<_, u32>(context, size)?;
    let others = Group::of((0..size).filter(|r| *r != rank))?;
    for round in 1..=5u32 {
        if rank == 0 {
            let mut exposure = post(context, &window, view, &others)?;
            view = loop {
                match exposure.test(context.caches) {
                    Ok(view) => break view,
                    Err(open) => exposure = open,
                }
            };
            for origin in 1..size {
                check_eq!(view.load(origin), round, "what rank {origin} put");
            }
        } else {
            put_to_rank_0(&window, rank, round)?;
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Epochs of two windows overlap in all ways.
pub fn two_windows_interleaved<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (to, from) = (Group::of([right])?, Group::of([left])?);
    let (a, mut view_a) = make::<_, u32>(context, 3)?;
    let (b, mut view_b) = make::<_, u64>(context, 5)?;
    check!(a.number() != b.number(), "both windows have number {}", a.number());
    for round in 0..4u32 {
        let exposure_b = post(context, &b, view_b, &from)?;
        let words = [round, rank as u32, 3];
        let access_a = a.start(&to)?;
        let exposure_a = post(context, &a, view_a, &from)?;
        let access_b = b.start(&to)?;
        access_b.put_value(right, 4, u64::from(round) << 40 | rank as u64)?;
        access_a.put(right, 0, &words)?;
        access_b.complete();
        view_b = exposure_b.wait(context.caches);
        access_a.complete();
        view_a = exposure_a.wait(context.caches);
        check_eq!(view_b.load(4), u64::from(round) << 40 | left as u64, "window b in round {round}");
        check_eq!((view_a.load(0), view_a.load(1)), (round, left as u32), "window a in round {round}");
    }
    b.free(view_b, context.caches)?;
    a.free(view_a, context.caches)?;
    Ok(())
}

/// Half the ranks start before they post, half after.
pub fn start_before_and_after_post<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (to, from) = (Group::of([right])?, Group::of([left])?);
    let (window, mut view) = make::<_, u32>(context, 1)?;
    for round in 0..6u32 {
        let (access, exposure) = if (rank + round as usize).is_multiple_of(2) {
            let access = window.start(&to)?;
            (access, post(context, &window, view, &from)?)
        } else {
            let exposure = post(context, &window, view, &from)?;
            (window.start(&to)?, exposure)
        };
        access.put_value(right, 0, round * 1000 + rank as u32)?;
        access.complete();
        view = exposure.wait(context.caches);
        check_eq!(view.load(0), round * 1000 + left as u32, "round {round}");
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Parts of different lengths, some empty; accesses of any offset and length.
pub fn uneven_parts<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let len_of = |rank: usize| rank % 5 * 37;
    let (window, view) = make::<_, u8>(context, len_of(rank))?;
    let all = context.comm.group();
    check_eq!(view.len(), len_of(rank), "elements of the view");
    let exposure = post(context, &window, view, &all)?;
    let access = window.start(&all)?;
    for target in 0..size {
        check_eq!(window.len_of(target)?, len_of(target), "elements of rank {target}");
        // Byte i of a part is written by rank i modulo the number of ranks.
        for first in (rank..len_of(target)).step_by(size) {
            access.put_value(target, first, (first + target) as u8)?;
        }
        let end = len_of(target) + 1;
        let beyond = access.put(target, len_of(target), &[0]);
        check!(matches!(beyond, Err(Error::OutOfRange { end: e, .. }) if e == end), "a put beyond the end: {beyond:?}");
    }
    access.complete();
    let view = exposure.wait(context.caches);
    for index in 0..view.len() {
        check_eq!(view.load(index), (index + rank) as u8, "byte {index}");
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Origins put single bytes side by side in one line: no update may get lost to a whole-line write.
pub fn neighbouring_bytes_of_many_origins<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let all = context.comm.group();
    let (window, mut view) = make::<_, u8>(context, size)?;
    for round in 0..4u8 {
        if rank == 0 {
            view.as_mut_slice(context.caches).fill(0xFF);
            let exposure = post(context, &window, view, &all)?;
            put_to_rank_0(&window, 0, round)?;
            view = exposure.wait(context.caches);
            let wrong = view.as_slice(context.caches).iter().position(|byte| *byte != round);
            check_eq!(wrong, None, "first byte that was lost in round {round}");
        } else {
            put_to_rank_0(&window, rank, round)?;
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Misuse that types cannot stop gets an error value that names rank, window and epoch.
pub fn misuse_is_refused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let me = Group::of([rank])?;
    let (window, view) = make::<_, u32>(context, 2)?;
    let number = window.number();
    let (other, other_view) = make::<_, u32>(context, 2)?;

    let nobody = Group::of([size])?;
    check_eq!(window.start(&nobody).err(), Some(Error::NoSuchRank { rank: size, size }), "a start to nobody");
    let Err(Returned { error, taken: view }) = window.post(view, context.caches, &nobody) else {
        return Err(Failed("a post to nobody succeeded".into()));
    };
    check_eq!(error, Error::NoSuchRank { rank: size, size }, "a post to nobody");
    let Err(Returned { error, taken: other_view }) = window.post(other_view, context.caches, &me) else {
        return Err(Failed("another window's view was posted".into()));
    };
    check_eq!(error, Error::ForeignView { window: number }, "a foreign view");

    let exposure = post(context, &window, view, &me)?;
    let mut beyond = [0, 0];
    let access = window.start(&me)?;
    check_eq!(window.start(&me).err(), Some(Error::AccessEpochOpen { window: number }), "a second start");
    let outside = (rank + 1) % size;
    if size > 1 {
        let refused = Error::NotInGroup { rank: outside, window: number, epoch: 1 };
        check_eq!(access.put(outside, 0, &[1]), Err(refused), "a put outside the group");
    }
    check_eq!(
        access.get(rank, 1, &mut beyond),
        Err(Error::OutOfRange { rank, window: number, epoch: 1, end: 3, len: 2 }),
        "a get beyond the end"
    );
    // Dropped, not completed: it is completed all the same, or the wait would not end.
    drop(access);
    let view = exposure.wait(context.caches);
    other.free(other_view, context.caches)?;
    window.free(view, context.caches)?;
    Ok(())
}

/// Windows come and go, with one that stays; their memory and their database entries come back.
pub fn made_and_freed_many_times<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (stays, its_view) = make::<_, u32>(context, 3)?;
    for turn in 0..4 {
        let mut made = Vec::new();
        for _ in 0..3 {
            made.push(make::<_, u32>(context, 10 + turn)?);
        }
        // Not in the order in which they were made.
        made.swap(0, 1);
        for (window, view) in made {
            check_eq!(view.load(0), 0, "fresh window memory");
            window.free(view, context.caches)?;
        }
    }
    stays.free(its_view, context.caches)?;
    // Rank 0 frees for all; whoever comes back from it finds everything free.
    if context.rank() == context.size() - 1 {
        check_heaps_are_whole(context)?;
    }
    context.comm.barrier();
    Ok(())
}

/// If a window cannot be made on one rank, no rank hangs, nothing stays allocated, and the next one can be made.
pub fn failures_are_collective<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let last = size - 1;
    let failed_at = |window| if rank == last { None } else { Some(Error::WindowFailed { window, rank: last }) };

    // The last rank asks for more than there is.
    let len = if rank == last { SHARED_BYTES_PER_CONTROLLER } else { 5 };
    let Err(error) = make::<_, u8>(context, len) else {
        return Err(Failed("a window with a part that is too large was made".into()));
    };
    check!(rank != last || error.0.contains("do not fit behind one memory controller"), "its reason is {}", error.0);
    check!(rank == last || error.0.contains("because rank"), "another's reason is {}", error.0);

    // The last rank holds as many views as it can.
    let hal = context.hal();
    let held = context.comm.allocator().allocate::<kind::Cached>(100 * LINE_BYTES, Placement::Near(hal.core()))?;
    let views: Vec<_> = (0..if rank == last { 100 } else { 0 })
        .map_while(|index| hal.claim::<u8>(held.lines_around(index * LINE_BYTES, (index + 1) * LINE_BYTES), 1).ok())
        .collect();
    check!(rank != last || views.len() < 100, "there is no limit to the views of a core");
    let created = Window::<_, u32>::create(context.comm, context.caches, 4);
    let error = created.map(drop).err();
    check!(rank != last || matches!(error, Some(Error::Claim(ClaimError::TooMany { .. }))), "its reason is {error:?}");
    let number = match error {
        Some(Error::WindowFailed { window, .. }) => window,
        _ => 0,
    };
    check!(rank == last || error == failed_at(number), "another's reason is {error:?}");
    drop(views);
    context.comm.barrier();
    context.comm.allocator().free(held)?;
    context.comm.barrier();

    let (window, view) = make::<_, u32>(context, 4)?;
    check_eq!(window.len_of(size), Err(Error::NoSuchRank { rank: size, size }), "the length of nobody's part");
    window.free(view, context.caches)?;
    if rank == 0 {
        check_heaps_are_whole(context)?;
    }
    context.comm.barrier();
    Ok(())
}

/// A window database is finite; when it is full, that is said, and freed windows make room.
pub fn full_database_is_refused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    if context.size() > 1 {
        // One rank fills its database with thousands of windows; for many that would only take long.
        return Ok(());
    }
    let mut most = 0;
    for round in 0..2 {
        let mut windows = Vec::new();
        let error = loop {
            match Window::<_, u32>::create(context.comm, context.caches, 0) {
                Ok((window, _)) => windows.push(window),
                Err(error) => break error,
            }
        };
        check_eq!(error, Error::DatabaseFull { controller: 0 }, "the window after {}", windows.len());
        check!(round == 0 || windows.len() == most, "{} windows fit, after {most} before", windows.len());
        most = windows.len();
        for window in windows {
            let view = window.view(context.caches)?;
            window.free(view, context.caches)?;
        }
    }
    Ok(())
}

/// A part is fresh even if a page of it was cached before, along with a neighbour.
pub fn fresh_part_on_a_cached_page<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, allocator) = (context.hal(), context.comm.allocator());
    let near = Placement::Near(hal.core());
    context.comm.barrier();
    // One after the other, so that each finds its holes next to each other.
    for turn in 0..context.size() {
        if context.rank() == turn {
            let old = allocator.allocate::<kind::Uncached>(2048, near)?;
            let neighbour = allocator.allocate::<kind::Cached>(LINE_BYTES, near)?;
            (0..512).for_each(|word| hal.store_word(old, word, u32::MAX));
            let neighbours_view = hal.claim::<u32>(neighbour, 8)?;
            let _ = neighbours_view.load(0);
            allocator.free(old)?;
            drop(neighbours_view);
            allocator.free(neighbour)?;
        }
        context.comm.barrier();
    }
    let (window, view) = make::<_, u32>(context, 500)?;
    check!((0..500).all(|index| view.load(index) == 0), "the part shows what was there before");
    window.free(view, context.caches)?;
    Ok(())
}

/// The memory of a window is nobody else's before every rank has freed it, however late one is, and not written any more
/// afterwards.
pub fn freed_memory_is_not_written_any_more<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const WORDS: usize = 64;
    let (hal, allocator) = (context.hal(), context.comm.allocator());
    let (window, mut view) = make::<_, u32>(context, WORDS)?;
    let take = || {
        let taken: Vec<_> = (0..hal.layout().controllers())
            .map(|controller| allocator.allocate::<kind::Uncached>(WORDS * 4, Placement::Striped(controller)))
            .collect::<Result<_, _>>()?;
        taken.iter().for_each(|region| (0..WORDS).for_each(|word| hal.store_word(*region, word, 5)));
        Ok::<_, Failed>(taken)
    };
    let mut taken = Vec::new();
    if context.rank() == context.size() - 1 {
        // Dirty lines that go to memory only when the window is freed, and memory that is taken when all others have come to
        // free it.
        view.as_mut_slice(context.caches).fill(u32::MAX);
        hal.compute(3_000_000);
        (0..500).for_each(|_| hal.relax());
        taken = take()?;
    }
    window.free(view, context.caches)?;
    if context.rank() == 0 {
        taken.extend(take()?);
    }
    context.comm.barrier();
    for region in taken {
        check!((0..WORDS).all(|word| hal.load_word(region, word) == 5), "somebody wrote to {}", region.start());
        allocator.free(region)?;
    }
    context.comm.barrier();
    Ok(())
}

/// The view that an epoch took along when it was dropped can be had again, but not while the part is exposed.
pub fn views_come_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let me = Group::of([context.rank()])?;
    let (window, view) = make::<_, u32>(context, 2)?;
    let (other, other_view) = make::<_, u32>(context, 2)?;
    let number = window.number();
    let exposure = post(context, &window, view, &me)?;
    let open = Error::ExposureEpochOpen { window: number };
    check_eq!(window.view(context.caches).map(drop), Err(open), "a view of an exposed part");
    let access = window.start(&me)?;
    access.put(context.rank(), 1, &[9])?;
    access.complete();
    drop(exposure);
    let view = window.view(context.caches)?;
    check_eq!(view.load(1), 9, "what was put in the epoch that was dropped");
    check!(matches!(window.view(context.caches), Err(Error::Claim(_))), "a second view was given out");

    // A foreign view comes back with the window.
    let Err(Returned { error, taken }) = window.free(other_view, context.caches) else {
        return Err(Failed("a window was freed with a foreign view".into()));
    };
    check_eq!(error, Error::ForeignView { window: number }, "freeing with a foreign view");
    let (window, other_view) = *taken;
    window.free(view, context.caches)?;
    other.free(other_view, context.caches)?;
    Ok(())
}

/// What a target changes between epochs is what origins get in the next, with no word in between from anyone else: the
/// post of the next epoch is often seen early, together with another target's.
pub fn all_epochs_are_fresh<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make::<_, u32>(context, 8)?;
    for round in 1..=8u32 {
        if rank == 0 {
            for target in 1..size {
                let mut got = vec![0; 8];
                let access = window.start(&Group::of([target])?)?;
                access.get(target, 0, &mut got)?;
                access.complete();
                check!(
                    got.iter().all(|word| *word == round * 1000 + target as u32),
                    "round {round} from {target}: {got:?}"
                );
            }
        } else {
            view.as_mut_slice(context.caches).fill(round * 1000 + rank as u32);
            view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}
