//! Copy engines: cores that put and get for others.

use alloc::{vec, vec::Vec};

use collectives::{Class, CopyEngines, Error, Group, SharedBuffer, Window};
use hal::Core;

use crate::{Context, allocation::check_heaps_are_whole, check, check::Outcome, check::pattern, check_eq};

/// Bytes of a part.
const LEN: usize = 3000;

/// Each client puts to the next and gets from it, through engines, at all alignments; more copies than a ring holds.
pub fn clients_put_and_get<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    // Every third rank copies for the others.
    let engines = Group::of((0..size).filter(|rank| rank % 3 == 1))?;
    if engines.is_empty() {
        return refusals(context);
    }
    for class in [Class::Default, Class::TriggerOnly] {
        let engines = CopyEngines::assign(context.comm, &engines)?;
        exchange(context.comm, context, &engines, class)?;
        engines.free();
    }
    // Buffers are freed by their ranks; whoever comes last finds everything free.
    context.comm.barrier();
    if context.rank() == size - 1 {
        check_heaps_are_whole(context)?;
    }
    context.comm.barrier();
    Ok(())
}

fn exchange<'e, C: Core>(
    comm: &'e collectives::Comm<'e, C>,
    context: &mut Context<'_, '_, C>,
    engines: &'e CopyEngines<'e, C>,
    class: Class,
) -> Outcome {
    let (rank, clients) = (comm.rank(), engines.clients());
    let (window, mut view) = Window::<C, u8>::with_engines(comm, context.caches, LEN, class, engines)?;
    if engines.is_engine() {
        engines.serve();
    } else {
        let position = clients.position_of(rank).unwrap_or(0);
        let neighbour = |steps: usize| clients.rank_at((position + steps) % clients.len()).unwrap_or(rank);
        let (right, left) = (neighbour(1), neighbour(clients.len() - 1));
        let mut buffer = SharedBuffer::new(comm, LEN)?;
        let mut got = SharedBuffer::new(comm, LEN)?;
        for epoch in 0..2 {
            let salt = |rank: usize| rank + 100 * epoch;
            let bytes: Vec<u8> = (0..LEN).map(|index| pattern(index, salt(rank))).collect();
            buffer.write(0, &bytes)?;
            // The upper half is for gets.
            view.copy_from(LEN / 2, &bytes[..LEN / 2]);
            let exposure = window.post(view, context.caches, &Group::of([left])?)?;
            let access = window.start(&Group::of([right])?)?;
            let cuts =
                [0, 1, 32, 33, 95, 96, 97, 160, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 310, 900, 1490];
            for pair in cuts.windows(2) {
                access.put_shared(right, pair[0], &buffer, pair[0] + 3..pair[1] + 3)?;
            }
            access.get_shared(right, LEN / 2 + 7, &mut got, 5..1405)?;
            access.complete();
            view = exposure.wait(context.caches);
            for index in 0..1490 {
                check_eq!(view.load(index), pattern(index + 3, salt(left)), "{class}: byte {index} in epoch {epoch}");
            }
            let mut bytes = vec![0; 1400];
            got.read(5, &mut bytes)?;
            let wrong = (0..1400).find(|index| bytes[*index] != pattern(index + 7, salt(right)));
            check_eq!(wrong, None, "{class}: first byte that was not got in epoch {epoch}");
        }
        engines.dismiss();
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// What cannot be is refused, on all ranks alike.
fn refusals<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    let all = CopyEngines::assign(context.comm, &context.comm.group()).err();
    check_eq!(all, Some(Error::Engines { engines: size, size }), "all ranks as engines");
    let none = CopyEngines::assign(context.comm, &Group::empty()).err();
    check_eq!(none, Some(Error::Engines { engines: 0, size }), "no engines");
    Ok(())
}

/// The origin computes while its engine copies: it is done long before the copies would have let it.
pub fn engines_copy_meanwhile<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const LEN: usize = 20_000;
    let (comm, rank) = (context.comm, context.rank());
    if context.size() < 3 {
        return refusals(context);
    }
    let engines = CopyEngines::assign(comm, &Group::of([1])?)?;
    {
        let counters = || comm.hal().counters();
        let (window, view) = make(comm, context, &engines, LEN)?;
        match rank {
            0 => {
                let mut buffer = SharedBuffer::new(comm, LEN)?;
                buffer.write(0, &vec![7; LEN])?;
                let access = window.start(&Group::of([2])?)?;
                let before = counters();
                access.put_shared(2, 0, &buffer, 0..LEN)?;
                access.complete();
                let did = counters() - before;
                check_eq!((did.combined_lines_read, did.combined_lines_written), (0, 0), "lines that the origin moved");
                engines.dismiss();
                window.free(view, context.caches)?;
            }
            2 => {
                let view = window.post(view, context.caches, &Group::of([0])?)?.wait(context.caches);
                check!((0..LEN).all(|index| view.load(index) == 7), "not all was put");
                engines.dismiss();
                window.free(view, context.caches)?;
            }
            _ => {
                if rank == 1 {
                    engines.serve();
                } else {
                    engines.dismiss();
                }
                window.free(view, context.caches)?;
            }
        }
    }
    engines.free();
    Ok(())
}

fn make<'e, C: Core>(
    comm: &'e collectives::Comm<'e, C>,
    context: &mut Context<'_, '_, C>,
    engines: &'e CopyEngines<'e, C>,
    len: usize,
) -> Result<collectives::one_sided::window::Made<'e, C, u8>, crate::Failed> {
    Ok(Window::with_engines(comm, context.caches, len, Class::Default, engines)?)
}
