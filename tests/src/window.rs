//! Windows: making and freeing them, their views, and what is refused.

use alloc::{format, vec::Vec};

use collectives::{Class, Error, Group, Placement, Returned, Window, one_sided::window::ElementType};
use hal::{ClaimError, Core, LINE_BYTES, kind, topology::SHARED_BYTES_PER_CONTROLLER};

use crate::{
    Context, Failed,
    allocation::check_heaps_are_whole,
    check,
    check::Outcome,
    check_eq,
    epochs::{make, post, ring},
};

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
        let refused = Error::NotInEpoch { rank: outside, window: number, epoch: 1 };
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

/// A part that is exposed for as long as a closure runs: its view stays with the program, and shows what was put.
pub fn exposed_for_a_scope<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    let ((next, before), number) = (ring(context), 7_u32);
    let (window, mut view) = make::<_, u32>(context, 2)?;
    let (other, mut other_view) = make::<_, u32>(context, 2)?;
    let (origins, target) = (Group::of([before])?, Group::of([next])?);
    for step in 0..5 {
        let read = window.while_posted(&mut view, context.caches, &origins, |exposed| {
            let access = window.start(&target)?;
            access.put_value(next, 0, number + step + rank as u32)?;
            access.complete();
            let mut got = [0];
            if step % 2 == 0 {
                exposed.await_origins();
                exposed.read(0, &mut got)?;
            }
            Ok::<_, Error>(got[0])
        })??;
        let put = number + step + before as u32;
        check_eq!((view.load(0), read), (put, if step % 2 == 0 { put } else { 0 }), "what was put");
        view.store(1, put);
    }
    let foreign = window.while_posted(&mut other_view, context.caches, &origins, |_| ());
    check_eq!(foreign, Err(Error::ForeignView { window: window.number() }), "a foreign view");
    let nobody = Group::of([size])?;
    let refused = window.while_posted(&mut view, context.caches, &nobody, |_| ());
    check_eq!(refused, Err(Error::NoSuchRank { rank: size, size }), "an origin that does not exist");
    comm.barrier();
    window.free(view, context.caches)?;
    other.free(other_view, context.caches)?;
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

/// A window that is to be of different classes is refused on all ranks, and the next one can be made.
pub fn classes_differ<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let last = context.size() - 1;
    if last > 0 {
        let class = if context.rank() == last { Class::Message } else { Class::Default };
        let error = Window::<_, u32>::with_class(context.comm, context.caches, 4, class).err();
        check!(
            matches!(error, Some(Error::ClassesDiffer { rank, .. }) if rank == last),
            "it was refused for {error:?}"
        );
    }
    let (window, view) = make::<_, u32>(context, 4)?;
    window.free(view, context.caches)?;
    Ok(())
}

/// A window that is to be of different elements, whose lengths and offsets would be taken for each other's, is refused on
/// all ranks by an error that names both sides, be the elements of different sizes or not; and the next one can be made.
pub fn elements_differ<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (last, is_last) = (context.size() - 1, context.rank() == context.size() - 1);
    for other_size in [true, false] {
        let error = match (is_last, other_size) {
            _ if last == 0 => continue,
            (true, true) => Window::<_, u8>::create(context.comm, context.caches, 4).err(),
            (true, false) => Window::<_, f64>::create(context.comm, context.caches, 4).err(),
            (false, _) => Window::<_, u64>::create(context.comm, context.caches, 4).err(),
        };
        let Some(Error::ElementsDiffer { rank, element: named, first, .. }) = error else {
            return Err(Failed(format!("it was refused for {error:?}")));
        };
        let element = if other_size { ElementType::of::<u8>() } else { ElementType::of::<f64>() };
        check_eq!((rank, named, first), (last, element, ElementType::of::<u64>()), "the sides that are named");
    }
    let (window, view) = make::<_, u32>(context, 4)?;
    window.free(view, context.caches)?;
    if context.rank() == 0 {
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

/// The memory of a window is nobody else's before every rank has freed it, however late one is, and not written any
/// more afterwards.
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
        // Dirty lines that go to memory only when the window is freed, and memory that is taken when all others have
        // come to free it.
        // SAFETY: no other rank puts to this part.
        unsafe { view.as_mut_slice(context.caches) }.fill(u32::MAX);
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
