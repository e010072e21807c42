//! How many lines broadcasts read and write, as the OC-Bcast paper counts them (section 5).

use collectives::{Broadcast, RcceProfile};
use hal::{Core, LINE_BYTES};

use crate::{Context, check::Outcome, check_eq};

/// Lines that this rank reads from MPBs and data lines that it writes there in a broadcast of `lines` lines from rank
/// 0. Flags are what drains follow.
fn lines_moved<C: Core>(
    context: &Context<'_, '_, C>,
    algorithm: &str,
    lines: usize,
) -> Result<(u64, u64), crate::Failed> {
    let algorithm: Broadcast = algorithm.parse()?;
    let mut message = alloc::vec![3_u8; lines * LINE_BYTES];
    // Once before, so that nothing of what is counted prepares for it.
    context.comm.using(algorithm, |comm| comm.broadcast(&mut message, 0))?;
    context.comm.barrier();
    let before = context.hal().counters();
    context.comm.using(algorithm, |comm| comm.broadcast(&mut message, 0))?;
    let done = context.hal().counters() - before;
    Ok((done.mpb_lines_read, done.mpb_lines_written - done.drains))
}

/// Children in a k-ary tree of all ranks.
fn children(rank: usize, size: usize, k: usize) -> usize {
    (rank * k + 1..=rank * k + k).filter(|child| *child < size).count()
}

/// The root writes each line once; all others read it, write it and read it again; straight leaves read it once.
pub fn oc_bcast<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (rank, size) = (context.rank(), context.size());
    for lines in [1, 96, 97, 300] {
        let m = lines as u64;
        let root = if size > 1 { (0, m) } else { (0, 0) };
        let inner = (2 * m, m);
        let expected = if rank == 0 { root } else { inner };
        for algorithm in ["oc-k7", "oc-k2", "oc-k7+single", "oc-k7+notify3"] {
            check_eq!(lines_moved(context, algorithm, lines)?, expected, "{lines} lines by {algorithm}");
        }
        let expected = if rank != 0 && children(rank, size, 7) == 0 { (m, 0) } else { expected };
        check_eq!(lines_moved(context, "oc-k7+leaves", lines)?, expected, "{lines} lines with straight leaves");
        let mate = !rank.is_multiple_of(context.hal().layout().cores_per_tile());
        let expected = match (rank, mate) {
            (0, _) => root,
            (_, true) => (m, 0),
            (_, false) => inner,
        };
        check_eq!(lines_moved(context, "oc-k7+tiles", lines)?, expected, "{lines} lines with shared tiles");
    }
    Ok(())
}

/// Notifications and done flags of a chunk: everybody is notified once, and says once that it is done.
pub fn oc_bcast_flags<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (rank, size) = (context.rank(), context.size());
    let algorithm: Broadcast = "oc-k7".parse()?;
    let before = context.hal().counters();
    context.comm.using(algorithm, |comm| comm.broadcast(&mut [0_u8; 32], 0))?;
    let flags = (context.hal().counters() - before).drains as usize;
    let own = children(rank, size, 7).min(2);
    let (done, passed_on) = match rank.checked_sub(1) {
        None => (0, 0),
        Some(below) => {
            let (parent, member) = (below / 7, below % 7 + 1);
            let siblings = children(parent, size, 7);
            (1, [2 * member + 1, 2 * member + 2].into_iter().filter(|member| *member <= siblings).count())
        }
    };
    check_eq!(flags, done + passed_on + own, "flags of one chunk");
    Ok(())
}

/// Whoever sends writes the whole message, and whoever receives reads it.
pub fn binomial<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (rank, size) = (context.rank(), context.size());
    let (mut first, mut end, mut sends) = (0, size, 0);
    while end - first > 1 {
        let middle = end - (end - first) / 2;
        sends += u64::from(rank == first);
        (first, end) = if rank < middle { (first, middle) } else { (middle, end) };
    }
    for lines in [1, 96, 252] {
        let m = lines as u64;
        let received = if rank == 0 { 0 } else { m };
        for profile in [false, true] {
            let profile: Option<RcceProfile<'_, '_, C>> = profile.then(|| context.comm.rcce_profile()).transpose()?;
            check_eq!(lines_moved(context, "binomial", lines)?, (received, sends * m), "{lines} lines");
            drop(profile);
        }
    }
    Ok(())
}

/// The allgather moves P − 1 slices in and out of each rank. The root sends as many in the scatter, and the last rank
/// receives its own.
pub fn scatter_allgather<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (rank, size) = (context.rank(), context.size() as u64);
    let slice = 3;
    for algorithm in ["scatter-allgather", "scatter-allgather-overlapped"] {
        let moved = lines_moved(context, algorithm, slice * context.size())?;
        let round = (size - 1) * slice as u64;
        if rank == 0 {
            check_eq!(moved, (round, 2 * round), "lines of the root by {algorithm}");
        } else if rank == context.size() - 1 {
            check_eq!(moved, (round + slice as u64, round), "lines of the last rank by {algorithm}");
        }
    }
    Ok(())
}

/// One-sided, the root writes each line once, and a cell for each slice; all others read each line once.
pub fn one_sided_scatter_allgather<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let size = context.size();
    for lines in [1, size, 3 * size + 1] {
        let (m, slices) = (lines as u64, lines.min(size) as u64);
        let expected = match (size, context.rank()) {
            (1, _) => (0, 0),
            (_, 0) => (0, m + slices),
            _ => (m, 0),
        };
        check_eq!(lines_moved(context, "scatter-allgather-one-sided", lines)?, expected, "{lines} lines");
    }
    Ok(())
}
