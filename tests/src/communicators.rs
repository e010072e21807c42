//! Communicators of some ranks, and messages with tags.

use alloc::{vec, vec::Vec};

use collectives::{Comm, Error, Exchange, InPlace, Operator, Source, Tag};
use hal::Core;

use crate::{
    Context,
    check::{Outcome, pattern},
    check_eq,
};

/// Operations of all sizes on a communicator, whose ranks are these of the world.
fn operate<C: Core>(comm: &Comm<'_, C>, ranks: &[usize], salt: usize) -> Outcome {
    let (me, size) = (comm.rank(), comm.size());
    check_eq!((size, ranks.get(me)), (ranks.len(), Some(&comm.hal().core().index())), "ranks of the communicator");
    for (turn, len) in [1, 20, 100, 700, 5000].into_iter().enumerate() {
        let root = (turn + salt) % size;
        let bytes = |rank: usize| -> Vec<u8> { (0..len).map(|index| pattern(index, rank + salt)).collect() };
        let mut message = if me == root { bytes(ranks[root]) } else { vec![0; len] };
        comm.broadcast(&mut message, root)?;
        check_eq!(message == bytes(ranks[root]), true, "{len} bytes from {root} of {size}");
        let mut sums: Vec<u32> = bytes(ranks[me]).into_iter().map(u32::from).collect();
        comm.allreduce(InPlace, &mut sums, &Operator::SUM)?;
        let expected = |index| ranks.iter().map(|rank| u32::from(pattern(index, rank + salt))).sum::<u32>();
        check_eq!((0..len).all(|index| sums[index] == expected(index)), true, "sums of {len} numbers of {size}");
        let mut all = vec![0; size * len.min(700)];
        comm.using(Exchange::Default, |comm| comm.allgather(&bytes(ranks[me])[..len.min(700)], &mut all))?;
        for (rank, block) in all.chunks(len.min(700)).enumerate() {
            check_eq!(block == &bytes(ranks[rank])[..len.min(700)], true, "block of {rank} of {size}, {len} bytes");
        }
        comm.barrier();
    }
    Ok(())
}

/// Two that overlap, in turns, and all ranks in between.
pub fn rows_and_columns<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (world, me, size) = (context.comm, context.rank(), context.size());
    let columns = (1..=size).rfind(|columns| columns * columns <= size).unwrap_or(1);
    let row = world.split(Some((me / columns) as u32), 0)?;
    let column = world.split(Some((me % columns) as u32), -(me as i32))?;
    let (Some(row), Some(column)) = (row, column) else {
        return Err(crate::Failed("a rank without a communicator".into()));
    };
    let of_row: Vec<_> = (0..size).filter(|rank| rank / columns == me / columns).collect();
    let of_column: Vec<_> = (0..size).rev().filter(|rank| rank % columns == me % columns).collect();
    let all: Vec<_> = (0..size).collect();
    for salt in 0..2 {
        operate(&row, &of_row, salt)?;
        operate(&column, &of_column, salt)?;
        operate(world, &all, salt)?;
    }
    row.free()?;
    column.free()?;
    Ok(())
}

/// More than the MPBs have lines for; the last ones have their signals in memory.
pub fn more_than_there_are_lines<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let world = context.comm;
    let all: Vec<_> = (0..context.size()).collect();
    let made: Vec<_> = (0..6).map(|_| world.dup()).collect::<Result<_, _>>()?;
    for (salt, comm) in made.iter().enumerate().rev() {
        operate(comm, &all, salt)?;
    }
    made.into_iter().try_for_each(Comm::free)?;
    Ok(())
}

/// Messages of all lengths around a ring, on the world and on a communicator of the opposite order, and wildcards.
pub fn messages_with_tags<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (world, me, size) = (context.comm, context.rank(), context.size());
    let messages = world.open_messages()?;
    let other = world.create(&(0..size).rev().collect::<Vec<_>>())?;
    let Some(other) = other else { return Err(crate::Failed("a rank without a communicator".into())) };
    for (turn, len) in [0, 1, 16, 17, 240, 241, 1000, 10_000].into_iter().enumerate() {
        for comm in [world, &other] {
            let (rank, tag) = (comm.rank(), turn as u32);
            let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
            let bytes = |rank: usize| -> Vec<u8> { (0..len).map(|index| pattern(index, rank + turn)).collect() };
            let mut got = vec![0; len];
            let envelope = comm.exchange_tagged(
                (&bytes(rank), right, tag),
                (&mut got, if turn % 2 == 0 { Source::Any } else { Source::Rank(left) }, Tag::Is(tag)),
            )?;
            check_eq!((envelope.source, envelope.len_bytes), (left, len), "envelope of {len} bytes");
            check_eq!(got == bytes(left), true, "{len} bytes around a ring");
        }
    }
    if me == 0 {
        let mut sum = 0;
        for _ in 1..size {
            let mut word = [0_u32];
            let source = world.receive_tagged(&mut word, Source::Any, Tag::Is(77))?.source;
            check_eq!(word[0] as usize, source, "what a rank says of itself");
            sum += source;
        }
        check_eq!(sum, size * (size - 1) / 2, "all others");
    } else {
        world.send_tagged(&[me as u32], 0, 77)?;
    }
    if size > 1 && me < 2 {
        let mut short = [0_u8; 3];
        if me == 0 {
            world.send_tagged(&[1_u8; 300], 1, 5)?;
        } else {
            let refused = world.receive_tagged(&mut short, Source::Rank(0), Tag::Any).err();
            check_eq!(
                refused,
                Some(Error::Truncated { from: 0, tag: 5, sent: 300, room: 3 }),
                "a message that is too long"
            );
        }
    }
    messages.close()?;
    other.free()?;
    Ok(())
}
