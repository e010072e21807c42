//! Two groups of ranks that name each other's.

use alloc::{vec, vec::Vec};

use collectives::{Comm, Error, Intercommunicator, Operation, Operator, Request, Root, Source, Tag};
use hal::Core;

use crate::{Context, check::Outcome, check_eq, random::Numbers};

/// The tag by which leaders find each other.
const TAG: u32 = 41;

/// An element of a rank of the world.
fn element(rank: usize, index: usize, salt: usize) -> u32 {
    (rank * 1013 + index * 17 + salt * 7 + 1) as u32
}

fn elements(rank: usize, len: usize, salt: usize) -> Vec<u32> {
    (0..len).map(|index| element(rank, index, salt)).collect()
}

/// What all ranks of a group make, where the order counts: of the first the low half, of the last the high one.
fn combined(group: &[usize], len: usize, salt: usize) -> Vec<u32> {
    let (first, last) = (group[0], group[group.len() - 1]);
    (0..len).map(|index| element(first, index, salt) & 0xFFFF | element(last, index, salt) << 16).collect()
}

/// Combines elements that say of themselves, in both halves, who they are from.
fn outermost() -> impl collectives::Combine<u32> {
    Operation::new(|left: u32, right: u32| left & 0xFFFF | right & 0xFFFF_0000)
}

fn both_halves(values: &[u32]) -> Vec<u32> {
    values.iter().map(|value| value & 0xFFFF | value << 16).collect()
}

/// The root of an operation as a rank sees it, if it is rank `root` of that group.
fn root_for(is_its_group: bool, root: usize, rank: usize) -> Root {
    match is_its_group {
        true if root == rank => Root::Here,
        true => Root::Beside,
        false => Root::At(root),
    }
}

/// All operations, each with roots in either group.
fn operate<C: Core>(
    inter: &Intercommunicator<'_, C>,
    me: usize,
    (ours, theirs, is_left): (&[usize], &[usize], bool),
    salt: usize,
) -> Outcome {
    for (turn, len) in [0, 1, 7, 300].into_iter().enumerate() {
        for left_has_root in [true, false] {
            let is_ours = left_has_root == is_left;
            let (of_root, others) = if is_ours { (ours, theirs) } else { (theirs, ours) };
            let root = (turn * 3 + salt) % of_root.len();
            let place = root_for(is_ours, root, inter.rank());
            let mut message = if place == Root::Here { elements(me, len, salt) } else { vec![0; len] };
            inter.broadcast(&mut message, place)?;
            if !is_ours {
                check_eq!(message == elements(of_root[root], len, salt), true, "{len} words from a root");
            }
            let mut all = vec![0; if place == Root::Here { len * others.len() } else { 0 }];
            inter.gather(&elements(me, len, salt), &mut all, place)?;
            if place == Root::Here {
                let wanted: Vec<_> = others.iter().flat_map(|rank| elements(*rank, len, salt)).collect();
                check_eq!(all == wanted, true, "{len} words gathered of each");
            }
            let all: Vec<_> = others.iter().flat_map(|rank| elements(*rank, len, salt + 1)).collect();
            let mut block = vec![0; if is_ours { 0 } else { len }];
            inter.scatter(if place == Root::Here { &all } else { &[] }, &mut block, place)?;
            check_eq!(is_ours || block == elements(me, len, salt + 1), true, "{len} words scattered to each");
            let mut result = vec![0; if place == Root::Here { len } else { 0 }];
            inter.reduce(&both_halves(&elements(me, len, salt)), &mut result, &outermost(), place)?;
            if place == Root::Here {
                check_eq!(result == combined(others, len, salt), true, "{len} words reduced");
            }
        }
        inter.barrier();
        let mut result = vec![0; len];
        inter.allreduce(&both_halves(&elements(me, len, salt)), &mut result, &outermost())?;
        check_eq!(result == combined(theirs, len, salt), true, "{len} words combined for all");
        let mut all = vec![0; len * theirs.len()];
        inter.allgather(&elements(me, len, salt), &mut all)?;
        let wanted: Vec<_> = theirs.iter().flat_map(|rank| elements(*rank, len, salt)).collect();
        check_eq!(all == wanted, true, "{len} words of each for all");
        let to_each: Vec<_> = theirs.iter().flat_map(|rank| elements(me * 64 + rank, len, salt)).collect();
        inter.alltoall(&to_each, &mut all)?;
        let wanted: Vec<_> = theirs.iter().flat_map(|rank| elements(rank * 64 + me, len, salt)).collect();
        check_eq!(all == wanted, true, "{len} words from each to each");
        // As many operands as both groups can divide.
        let operands = len * ours.len() * theirs.len();
        let mut part = vec![0; operands / ours.len()];
        inter.reduce_scatter(&elements(me, operands, salt), &mut part, &Operator::SUM)?;
        let first = inter.rank() * part.len();
        let sum = |index: usize| theirs.iter().map(|rank| element(*rank, index, salt)).fold(0, u32::wrapping_add);
        check_eq!(part == (first..first + part.len()).map(sum).collect::<Vec<_>>(), true, "parts of sums");
    }
    Ok(())
}

/// Messages to ranks of the other group, which go by the numbers of that one, and beside those of the communicators they were made of.
fn send_across<C: Core>(inter: &Intercommunicator<'_, C>, world: &Comm<'_, C>, theirs: &[usize]) -> Outcome {
    for len in [0, 3, 240, 5000] {
        // Others may be at the next length.
        let tag = len as u32;
        let to_each: Vec<_> =
            (0..theirs.len()).map(|to| inter.start_send_tagged(&vec![inter.rank() as u8; len], to, tag)).collect();
        let mut senders = vec![false; theirs.len()];
        for _ in theirs {
            let found = inter.probe(Source::Any, Tag::Is(tag))?;
            let mut message = vec![0; found.len_bytes];
            let envelope = inter.receive_tagged(&mut message, Source::Rank(found.source), Tag::Any)?;
            check_eq!(envelope, found, "what was probed and what was received");
            check_eq!(message == vec![found.source as u8; len], true, "{len} bytes from rank {}", found.source);
            senders[found.source] = true;
        }
        check_eq!(senders.iter().all(|has_sent| *has_sent), true, "one message of each rank of the other group");
        for send in to_each {
            send?.wait()?;
        }
    }
    let refused = inter.send_tagged(&[0_u8], theirs.len(), 6).err();
    check_eq!(refused, Some(Error::NoSuchRank { rank: theirs.len(), size: theirs.len() }), "no such rank over there");
    check_eq!(inter.try_probe(Source::Any, Tag::Any)?, None, "messages that nobody has sent");
    check_eq!(world.try_probe(Source::Any, Tag::Any)?, None, "messages on another communicator");
    Ok(())
}

/// Groups by chance, in any order of their ranks and with any leaders.
pub fn against_an_oracle<C: Core>(context: &Context<'_, '_, C>, seed: usize, rounds: usize) -> Outcome {
    let (world, me, size) = (context.comm, context.rank(), context.size());
    if size < 2 {
        return Ok(());
    }
    let messages = world.open_messages()?;
    let mut numbers = Numbers::new(&[seed, size]);
    for round in 0..rounds {
        let mut order: Vec<_> = (0..size).collect();
        (1..size).for_each(|at| order.swap(at, numbers.below(at + 1)));
        // Some ranks are in neither.
        let count = 2 + numbers.below(size - 1);
        let (left, right) = order[..count].split_at(1 + numbers.below(count - 1));
        let (left_leader, right_leader) = (numbers.below(left.len()), numbers.below(right.len()));
        let (is_left, is_right) = (left.contains(&me), right.contains(&me));
        let own = world.create(if is_left { left } else { right })?;
        if let Some(own) = own.filter(|_| is_left || is_right) {
            let (ours, theirs) = if is_left { (left, right) } else { (right, left) };
            let (leader, other) =
                if is_left { (left_leader, right[right_leader]) } else { (right_leader, left[left_leader]) };
            let inter = own.create_intercommunicator(leader, world, other, TAG)?;
            check_eq!(
                (inter.rank(), inter.size(), inter.remote_size()),
                (own.rank(), ours.len(), theirs.len()),
                "sizes"
            );
            check_eq!(
                inter.remote_cores().iter().map(|core| core.index()).collect::<Vec<_>>(),
                theirs.to_vec(),
                "the other group"
            );
            operate(&inter, me, (ours, theirs, is_left), round)?;
            send_across(&inter, world, theirs)?;
            for [left_is_high, right_is_high] in [[false, true], [true, false], [false, false], [true, true]] {
                let all = inter.merge(if is_left { left_is_high } else { right_is_high })?;
                let left_is_first = if left_is_high == right_is_high { left[0] < right[0] } else { right_is_high };
                let wanted = if left_is_first { [left, right].concat() } else { [right, left].concat() };
                let mut ranks = vec![0; all.size()];
                all.allgather(&[me as u32], &mut ranks)?;
                let found: Vec<_> = ranks.into_iter().map(|rank| rank as usize).collect();
                check_eq!(found, wanted, "the ranks of both groups");
                all.free()?;
            }
            inter.free()?;
            own.free()?;
        }
    }
    world.barrier();
    Ok(messages.close()?)
}

/// A few, by chance.
pub fn operations_and_messages_cross<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    against_an_oracle(context, 5, if context.size() > 16 { 1 } else { 2 })
}

/// Operations of both groups, of all kinds of ways that messages go, which are begun together; this rank completes them in an order of its own.
fn begin_together<C: Core>(
    inter: &Intercommunicator<'_, C>,
    me: usize,
    (ours, theirs): (&[usize], &[usize]),
    len: usize,
) -> Outcome {
    let is_even = me.is_multiple_of(2);
    let odd = if is_even { theirs } else { ours };
    let first = root_for(is_even, 0, inter.rank());
    let last = root_for(!is_even, odd.len() - 1, inter.rank());
    let mut message = if first == Root::Here { elements(me, len, 0) } else { vec![0; len] };
    let mut gathered = vec![0; if last == Root::Here { len * theirs.len() } else { 0 }];
    let (mut all, mut from_each) = (vec![0; len * theirs.len()], vec![0; len * theirs.len()]);
    let (mut result, mut sum) = (vec![0; len], [0]);
    let to_each: Vec<_> = theirs.iter().flat_map(|rank| elements(me * 64 + rank, len, 4)).collect();
    let mut requests = vec![
        inter.start_allgather(&elements(me, len, 1), &mut all)?,
        inter.start_broadcast(&mut message, first)?,
        inter.start_gather(&elements(me, len, 2), &mut gathered, last)?,
        inter.start_allreduce(&both_halves(&elements(me, len, 3)), &mut result, outermost())?,
        inter.start_barrier()?,
        inter.start_alltoall(&to_each, &mut from_each)?,
    ];
    inter.allreduce(&[me as u32], &mut sum, &Operator::SUM)?;
    let count = requests.len();
    requests.rotate_left(me % count);
    Request::wait_all(&mut requests).into_iter().try_for_each(|done| done.map(drop))?;
    drop(requests);
    let of_each = |salt| theirs.iter().flat_map(|rank| elements(*rank, len, salt)).collect::<Vec<_>>();
    check_eq!(sum[0] as usize, theirs.iter().sum::<usize>(), "a sum while others are under way");
    check_eq!(all == of_each(1), true, "{len} words of each for all");
    if first == Root::Here || !is_even {
        check_eq!(message == elements(0, len, 0), true, "{len} words from a root");
    }
    if last == Root::Here {
        check_eq!(gathered == of_each(2), true, "{len} words gathered of each");
    }
    check_eq!(result == combined(theirs, len, 3), true, "{len} words combined for all");
    let wanted: Vec<_> = theirs.iter().flat_map(|rank| elements(rank * 64 + me, len, 4)).collect();
    check_eq!(from_each == wanted, true, "{len} words from each to each");
    Ok(())
}

/// Ranks with even and with odd numbers.
pub fn operations_are_completed_later<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (world, me, size) = (context.comm, context.rank(), context.size());
    if size < 2 {
        return Ok(());
    }
    let messages = world.open_messages()?;
    let own = world.split(Some((me % 2) as u32), 0)?.ok_or_else(|| crate::Failed("no colour".into()))?;
    let inter = own.create_intercommunicator(0, world, 1 - me % 2, TAG)?;
    let [ours, theirs] = [me % 2, 1 - me % 2].map(|first| (first..size).step_by(2).collect::<Vec<_>>());
    for len in [0, 7, 300] {
        begin_together(&inter, me, (&ours, &theirs), len)?;
    }
    inter.free()?;
    own.free()?;
    Ok(messages.close()?)
}

/// What makes no sense is refused, on all ranks of a group alike.
pub fn refuses_what_makes_no_sense<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (world, me, size) = (context.comm, context.rank(), context.size());
    let own = world.split(Some((me % 2) as u32), 0)?.ok_or_else(|| crate::Failed("no colour".into()))?;
    let closed = own.create_intercommunicator(0, world, 0, TAG).err();
    check_eq!(closed, Some(Error::MessagesClosed), "while messages are closed");
    let messages = world.open_messages()?;
    let no_leader = own.create_intercommunicator(own.size(), world, 0, TAG).err();
    check_eq!(no_leader, Some(Error::NoSuchRank { rank: own.size(), size: own.size() }), "no such leader");
    let no_other = own.create_intercommunicator(0, world, size, TAG).err();
    check_eq!(no_other, Some(Error::NoSuchRank { rank: size, size }), "no such leader of the other group");
    // Alone, a rank reaches itself as the leader of the other group.
    let alone = world.split(Some(me as u32), 0)?.ok_or_else(|| crate::Failed("no colour".into()))?;
    check_eq!(
        alone.create_intercommunicator(0, world, me, TAG).err(),
        Some(Error::RankTwice { rank: 0 }),
        "a rank in both groups"
    );
    alone.free()?;
    own.free()?;
    Ok(messages.close()?)
}
