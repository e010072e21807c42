//! Our own broadcasts: short messages in tagged lines, long ones through hosts.

use alloc::{vec, vec::Vec};

use collectives::{Broadcast, Class, Error, Group, OcBcast, Window};
use hal::{Core, LINE_BYTES};

use crate::{
    Context, check,
    check::{Outcome, pattern},
    check_eq,
};

/// Ours.
const ALL: [Broadcast; 3] = [Broadcast::Default, Broadcast::Short, Broadcast::Long];

/// Ranks from which on a test does less, because the time that it takes grows with them.
const MANY: usize = 64;

fn broadcast<C: Core>(
    context: &Context<'_, '_, C>,
    algorithm: Broadcast,
    root: usize,
    len: usize,
    salt: usize,
) -> Outcome {
    let expected: Vec<u8> = (0..len).map(|index| pattern(index, salt)).collect();
    // What is around the message stays.
    let mut memory = vec![0xEE; len + 2];
    if context.rank() == root {
        memory[1..=len].copy_from_slice(&expected);
    }
    context.comm.using(algorithm, |comm| comm.broadcast(&mut memory[1..=len], root))?;
    let wrong = memory[1..=len].iter().zip(&expected).position(|(got, wanted)| got != wanted);
    check_eq!(wrong, None, "first wrong byte of {len} from root {root} by {algorithm:?}");
    check_eq!([memory[0], memory[len + 1]], [0xEE; 2], "bytes around {len} from root {root} by {algorithm:?}");
    Ok(())
}

/// Lengths around tagged lines, lines, pieces and the ring of slots.
pub fn all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let many = context.size() >= MANY;
    // The first pieces have 2, 3 and 4 lines, the largest 24; with eight hosts, half of the ring is eight pieces.
    let mut sizes = vec![0, 1, 27, 28, 29, 31, 32, 33, 56, 57, 84, 85, 112, 113, 140, 141, 280];
    for lines in [2, 5, 9, 9 + 6 + 9 + 13 + 19 + 24] {
        sizes.extend([lines * LINE_BYTES - 1, lines * LINE_BYTES, lines * LINE_BYTES + 1]);
    }
    for algorithm in ALL {
        for (turn, len) in sizes.iter().copied().enumerate() {
            if !(many && turn % 4 > 0 || algorithm == Broadcast::Short && len > 300) {
                broadcast(context, algorithm, turn % context.size(), len, len)?;
            }
        }
    }
    let ring = 2 * 8 * 24 * LINE_BYTES;
    let long = if many { vec![ring + 1] } else { vec![ring - 1, ring, ring + 1, 3 * ring + 33] };
    for len in long {
        broadcast(context, Broadcast::Default, context.size() / 2, len, len)?;
    }
    Ok(())
}

/// Every rank is root once; where there are many, some of them.
pub fn all_roots<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let roots = if context.has_many_ranks() { 5 } else { MANY };
    for root in (0..context.size()).step_by(context.size().div_ceil(roots)) {
        broadcast(context, Broadcast::Default, root, 20, root)?;
        broadcast(context, Broadcast::Default, root, 500, root)?;
    }
    Ok(())
}

/// Many in a row without anything between: roots and sizes change, the cells come around, and the slots are used again.
pub fn back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let rounds = if context.size() >= MANY { 20 } else { 50 };
    for turn in 0..rounds {
        let len = [3, 28, 100, 700, 0, 2500, 29, 64, 1, 141][turn % 10] + turn;
        broadcast(context, Broadcast::Default, turn * 7 % context.size(), len, turn)?;
    }
    Ok(())
}

/// Every rank comes late at another time, by more than a broadcast takes.
pub fn ranks_come_late<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let rounds = if context.size() >= MANY { 6 } else { 30 };
    for turn in 0..rounds {
        if (context.rank() + turn).is_multiple_of(5) {
            context.hal().compute(60_000);
        }
        let len = [10, 5000, 130, 0, 20_000][turn % 5];
        broadcast(context, Broadcast::Default, turn * 3 % context.size(), len, turn)?;
    }
    Ok(())
}

/// Other operations that use the same lines of the MPBs come between.
pub fn mixed_with_other_operations<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    let rounds = if size >= MANY { 4 } else { 12 };
    for turn in 0..rounds {
        let root = turn * 5 % size;
        broadcast(context, Broadcast::Default, root, 100 * turn + 20, turn)?;
        match turn % 4 {
            0 => comm.barrier(),
            1 if size > 1 => {
                let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
                let (sent, mut received) = ([rank as u8; 40], [0; 40]);
                // Whoever is first in the ring sends first.
                if rank == 0 {
                    comm.send(&sent, right)?;
                }
                comm.receive(&mut received, left)?;
                if rank > 0 {
                    comm.send(&sent, right)?;
                }
                check_eq!(received, [left as u8; 40], "a message from rank {left} in round {turn}");
            }
            2 => broadcast(context, Broadcast::OcBcast(OcBcast::with_degree(3)), root, 7000, turn)?,
            _ => {}
        }
        broadcast(context, Broadcast::Default, (root + 1) % size, 3000, turn)?;
        broadcast(context, Broadcast::Default, (root + 2) % size, 17, turn)?;
    }
    Ok(())
}

/// Windows of packets take most of the staging lines, and give them back.
pub fn next_to_windows<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    let right = (context.rank() + 1) % size;
    let left = (context.rank() + size - 1) % size;
    let own = [context.rank() as u32];
    for class in [Class::Message, Class::Default] {
        broadcast(context, Broadcast::Default, 0, 2000, 1)?;
        let (window, view) = Window::<_, u32>::with_class(context.comm, context.caches, 4, class)?;
        let exposure = window.post(view, context.caches, &Group::of([left])?)?;
        let access = window.start(&Group::of([right])?)?;
        access.put(right, 0, &own)?;
        for (turn, len) in [10, 100, 3000, 12_000].into_iter().enumerate() {
            broadcast(context, Broadcast::Default, turn % size, len, len)?;
        }
        access.complete();
        let view = exposure.wait(context.caches);
        check_eq!(view.load(0), left as u32, "what rank {left} put, by class {class}");
        window.free(view, context.caches)?;
        broadcast(context, Broadcast::Default, size - 1, 2000, 2)?;
    }
    Ok(())
}

/// A short message is written once, and nobody reads anything but in polls.
pub fn short_ones_cost_a_line<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    context.comm.barrier();
    let (comm, size) = (context.comm, context.size());
    let mut message = [context.rank() as u8; 28];
    let before = context.hal().counters();
    comm.broadcast(&mut message, 0)?;
    let cost = context.hal().counters() - before;
    check_eq!(message, [0; 28], "the message of rank 0");
    let children = context.rank() == 0 && size > 1;
    if size <= 49 {
        check_eq!(cost.mpb_lines_written, u64::from(children), "lines written by rank {}", context.rank());
    }
    check!(cost.mpb_lines_written <= 1, "{} lines written", cost.mpb_lines_written);
    check_eq!(cost.mpb_lines_read, 0, "lines read besides polls");
    check_eq!(cost.lines_polled, u64::from(context.rank() != 0), "lines of polls that found something");
    check_eq!(cost.drains, 0, "drains, which whole lines do not need");
    Ok(())
}

/// Of a long message, the root alone writes lines, and all others read each once.
pub fn long_ones_are_read_once<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    if context.size() > 49 {
        return Ok(());
    }
    const LINES: u64 = 1000;
    // 2, 3, 4, 6, 9, 13 and 19 lines, and 24 each.
    const PIECES: u64 = 7 + (LINES - 56).div_ceil(24);
    let mut message = vec![context.rank() as u8; LINES as usize * LINE_BYTES];
    context.comm.barrier();
    let before = context.hal().counters();
    context.comm.broadcast(&mut message, 0)?;
    let cost = context.hal().counters() - before;
    check!(message.iter().all(|byte| *byte == 0), "the message of rank 0");
    if context.size() == 1 {
        check_eq!(cost.mpb_lines_written + cost.mpb_lines_read, 0, "lines that nobody needs");
    } else if context.rank() == 0 {
        check_eq!(
            (cost.mpb_lines_written, cost.mpb_lines_read),
            (LINES + PIECES, 0),
            "lines that the root wrote and read"
        );
        check_eq!(cost.drains, 0, "drains of the root");
    } else {
        check_eq!(cost.mpb_lines_read, LINES, "lines that rank {} read", context.rank());
        // A signal for each half of the ring that is used again.
        check_eq!(cost.mpb_lines_written, cost.drains, "lines besides signals that rank {} wrote", context.rank());
        check!(cost.drains < PIECES, "{} signals", cost.drains);
        check!(cost.lines_polled <= PIECES, "{} polls that found something", cost.lines_polled);
    }
    Ok(())
}

/// A bad root gets an error value on every rank.
pub fn refuses_bad_roots<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    for algorithm in ALL {
        for root in [size, usize::MAX] {
            let refused = context.comm.using(algorithm, |comm| comm.broadcast(&mut [0_u8; 100], root));
            check_eq!(refused, Err(Error::NoSuchRank { rank: root, size }), "a root beyond the end");
        }
        broadcast(context, algorithm, size - 1, 100, 0)?;
    }
    Ok(())
}
