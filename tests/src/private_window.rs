//! Windows over private memory of the ranks.

use alloc::vec::Vec;

use collectives::{Class, Comm, Error, Group, Operator, Window};
use hal::{Core, Exposure, Lines};

use crate::{Context, Failed, check, check::Outcome, check_eq};

/// Elements of a part; not whole lines.
const LEN: usize = 1003;

/// Each rank puts to, gets from and accumulates to its right neighbour's private memory, which keeps what it held
/// before, and is its owner's
/// again afterwards.
pub fn neighbours_reach_it<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for class in Class::ALL {
        let own = Lines::copy_of(&(0..LEN as u32).map(|index| own_value(context.rank(), index)).collect::<Vec<_>>());
        let exposure = context.hal().expose(context.caches, own).map_err(|refused| refused.error)?;
        exchange(context, context.comm, &exposure, class)?;
        let own = exposure.end(context.caches);
        check_eq!(own[7], 5, "{class}: what was accumulated, in the memory that came back");
        check_eq!(own[LEN - 1], own_value(context.rank(), LEN as u32 - 1), "{class}: what nobody wrote to");
    }
    Ok(())
}

fn own_value(rank: usize, index: u32) -> u32 {
    (rank as u32) << 16 | index
}

fn exchange<'e, C: Core>(
    context: &mut Context<'_, '_, C>,
    comm: &'e Comm<'e, C>,
    exposure: &'e Exposure<'e, Lines<u32>>,
    class: Class,
) -> Outcome {
    let (rank, size) = (comm.rank(), comm.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (window, mut view) = Window::<C, u32>::over(comm, context.caches, exposure, LEN, class)?;
    check_eq!(view.load(3), own_value(rank, 3), "{class}: the memory's contents");
    let before = comm.hal().counters().mappings;
    for epoch in 0..3u32 {
        view.store(900, epoch);
        view.store(7, 2);
        let mut got = [0; 2];
        let values = [rank as u32 + epoch; 500];
        let exposed = window.post(view, context.caches, &Group::of([left])?)?;
        let access = window.start(&Group::of([right])?)?;
        access.put(right, 101, &values)?;
        access.get(right, 899, &mut got)?;
        access.accumulate(right, 7, &[3], Operator::SUM)?;
        access.complete();
        view = exposed.wait(context.caches);
        check_eq!(got, [own_value(right, 899), epoch], "{class}: what was got in epoch {epoch}");
        check!(
            (101..601).all(|index| view.load(index) == left as u32 + epoch),
            "{class}: what was put in epoch {epoch}"
        );
        check_eq!(view.load(7), 5, "{class}: what was accumulated in epoch {epoch}");
        check_eq!(view.load(601), own_value(rank, 601), "{class}: the element after what was put");
    }
    let mapped = comm.hal().counters().mappings - before;
    check!(mapped <= 1, "{class}: {mapped} mappings of one neighbour's memory");
    window.free(view, context.caches)?;
    Ok(())
}

/// A window that is longer than what one rank has exposed is refused on all ranks.
pub fn less_than_the_part_is_refused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, last) = (context.rank(), context.size() - 1);
    let memory = Lines::<u64>::zeroed(if rank == last { 4 } else { 8 });
    let exposure = context.hal().expose(context.caches, memory).map_err(|refused| refused.error)?;
    let error = refused(context, context.comm, &exposure)?;
    exposure.end(context.caches);
    match error {
        Error::Length { len: 4, wanted: 8 } if rank == last => Ok(()),
        Error::WindowFailed { rank: named, .. } if rank != last && named == last => Ok(()),
        other => Err(Failed(alloc::format!("refused for another reason: {other}"))),
    }
}

fn refused<'e, C: Core>(
    context: &mut Context<'_, '_, C>,
    comm: &'e Comm<'e, C>,
    exposure: &'e Exposure<'e, Lines<u64>>,
) -> Result<Error, Failed> {
    let made = Window::<C, u64>::over(comm, context.caches, exposure, 8, Class::default());
    made.err().ok_or_else(|| Failed("a window was made over memory that is too short".into()))
}
