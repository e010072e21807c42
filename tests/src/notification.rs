//! Notifications.

use alloc::{vec, vec::Vec};

use collectives::{Delivery, Error, Group, Message, NotificationTree, Notifications, Subscription};
use hal::{Core, Deadline, LINE_BYTES};

use crate::{
    Context,
    barrier::cost_of_one,
    check,
    check::{Outcome, pattern as byte},
    check_eq,
    interrupts::{while_working, work},
};

fn subscribe<'c, C: Core>(
    context: &Context<'_, 'c, C>,
    subscription: Subscription,
) -> Result<Notifications<'c, C>, Error> {
    context.comm.subscribe(&context.comm.group(), subscription)
}

fn pattern(len: usize, salt: usize) -> Vec<u8> {
    (0..len).map(|index| byte(index, salt)).collect()
}

/// Whether a rank is among those that notify at once; on many cores not all are, for the emulator's sake.
fn is_root(rank: usize, size: usize) -> bool {
    size <= 48 || rank.is_multiple_of(size / 12)
}

/// How many of these there are, besides this rank.
fn other_roots(rank: usize, size: usize) -> usize {
    (0..size).filter(|root| *root != rank && is_root(*root, size)).count()
}

/// Ends a subscription of which everything was taken.
fn close<C: Core>(notifications: Notifications<'_, C>) -> Outcome {
    check_eq!(notifications.close().len(), 0, "messages that nobody took");
    Ok(())
}

/// The root has all acknowledgements while the others still compute.
pub fn reach_ranks_that_compute<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size, hal) = (context.rank(), context.size(), context.hal());
    let root = size / 2;
    let notifications = subscribe(context, Subscription::default())?;
    for len in [8, 700] {
        while_working(context.comm, |rounds| {
            let mut done = [0; 8];
            context.comm.barrier();
            let end = if rank == root {
                notifications.notify_all(&pattern(len, 5))?;
                done = hal.now().to_le_bytes();
                u64::MAX
            } else {
                work(hal, rounds);
                hal.now()
            };
            context.comm.broadcast(&mut done, root)?;
            let done = u64::from_le_bytes(done);
            if rank != root {
                let Message { from, bytes, arrived } = notifications.take(Deadline::Never)?;
                check!(arrived < done, "the message arrived at {arrived}, after the root was done at {done}");
                check_eq!((from, bytes), (root, pattern(len, 5)), "the message");
            }
            Ok(done < end)
        })?;
    }
    close(notifications)
}

fn one_after_another<C: Core>(context: &Context<'_, '_, C>, subscription: Subscription, lens: &[usize]) -> Outcome {
    let notifications = subscribe(context, subscription)?;
    for (turn, &len) in lens.iter().enumerate() {
        let root = turn * 7 % context.size();
        if context.rank() == root {
            notifications.notify_all(&pattern(len, turn))?;
        } else {
            let Message { from, bytes, .. } = notifications.take(Deadline::Never)?;
            check_eq!((from, bytes), (root, pattern(len, turn)), "message {turn} of {len} bytes");
        }
    }
    close(notifications)
}

/// Lengths around what fits a doorbell, lines and chunks.
pub fn all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let lens = [0, 1, 17, 18, 19, 28, 31, 32, 33, 511, 512, 513, 530, 531, 1024, 3072, 10_001, 0, 8];
    one_after_another(context, Subscription::default(), &lens)
}

/// Any shape of the tree, and any number of lines for payload.
pub fn all_trees<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for (degree, payload_lines) in [(1, 1), (2, 3), (7, 0), (300, 14)] {
        let tree = NotificationTree::Degree(degree);
        let subscription = Subscription { tree, payload_lines, mailbox_bytes: 500, ..Subscription::default() };
        one_after_another(context, subscription, &[500, 7, 100])?;
    }
    Ok(())
}

/// Everybody notifies at once: nothing gets lost or mixed up, and all see the same order.
pub fn concurrent_roots<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let each = if size > 20 { 2 } else { 5 };
    let notifications = subscribe(context, Subscription::default())?;
    let len_of = |from: usize, turn: usize| 1 + (from * 5 + turn * 13) % 90;
    for turn in (0..each).filter(|_| is_root(rank, size)) {
        notifications.notify_all(&pattern(len_of(rank, turn), rank + turn))?;
    }
    let mut order = vec![0; other_roots(rank, size) * each];
    let mut turns = vec![0; size];
    for place in &mut order {
        let Message { from, bytes, .. } = notifications.take(Deadline::Never)?;
        check_eq!(bytes, pattern(len_of(from, turns[from]), from + turns[from]), "message {} of {from}", turns[from]);
        turns[from] += 1;
        *place = from as u8;
    }
    // What rank 0 has seen, without this rank's, is what this rank has seen, without those of rank 0.
    let mut of_first = order.clone();
    of_first.resize(other_roots(0, size) * each, 0);
    context.comm.broadcast(&mut of_first, 0)?;
    let others: Vec<_> = order.into_iter().filter(|from| *from != 0).collect();
    of_first.retain(|from| usize::from(*from) != rank);
    check!(rank == 0 || others == of_first, "the order is {others:?}, on rank 0 {of_first:?}");
    close(notifications)
}

/// Mailboxes that hold one message: roots wait for programs, and programs that notify make room for themselves.
pub fn full_mailboxes_hold_roots_up<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const LEN: usize = 40;
    let (rank, size, hal) = (context.rank(), context.size(), context.hal());
    let each = if size > 20 { 1 } else { 4 };
    let notifications = subscribe(context, Subscription { mailbox_bytes: LEN + 1, ..Subscription::default() })?;
    for turn in (0..each).filter(|_| is_root(rank, size)) {
        notifications.notify_all(&pattern(LEN, rank + turn))?;
        work(hal, 10);
    }
    let mut turns = vec![0; size];
    for _ in 0..other_roots(rank, size) * each {
        let Message { from, bytes, .. } = notifications.take(Deadline::Never)?;
        check_eq!(bytes, pattern(LEN, from + turns[from]), "message {} of {from}", turns[from]);
        turns[from] += 1;
    }
    close(notifications)
}

/// Ranks that are no members are not interrupted, and may not notify.
pub fn others_are_not_disturbed<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size, hal) = (context.rank(), context.size(), context.hal());
    let members = Group::of((0..size).step_by(2))?;
    let before = hal.counters();
    let notifications = context.comm.subscribe(&members, Subscription::default())?;
    if rank == 0 {
        notifications.notify_all(&[7; 300])?;
    } else if members.contains(rank) {
        check_eq!(notifications.take(Deadline::Never)?.bytes, [7; 300], "the message");
    } else {
        work(hal, 10);
        check_eq!(notifications.notify_all(&[1]), Err(Error::NotSubscribed { rank }), "a foreign notification");
        check_eq!(notifications.try_take(), Err(Error::NotSubscribed { rank }), "a foreign look");
    }
    close(notifications)?;
    let taken = (hal.counters() - before).interrupts_taken;
    check_eq!(taken, u64::from(rank != 0 && members.contains(rank)), "interrupts that this rank has taken");
    Ok(())
}

/// Without interrupts, members have to look.
pub fn polling_works_as_well<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let before = context.hal().counters();
    let polling = Subscription { delivery: Delivery::Polling, ..Subscription::default() };
    one_after_another(context, polling, &[0, 18, 19, 1000])?;
    let notifications = subscribe(context, polling)?;
    let (rank, size) = (context.rank(), context.size());
    if is_root(rank, size) {
        notifications.notify_all(&[rank as u8])?;
    }
    for _ in 0..other_roots(rank, size) {
        let Message { from, bytes, .. } = notifications.take(Deadline::Never)?;
        check_eq!(bytes, [from as u8], "the message of {from}");
    }
    context.comm.barrier();
    close(notifications)?;
    let did = context.hal().counters() - before;
    check_eq!((did.interrupts_raised, did.interrupts_taken), (0, 0), "interrupts");
    Ok(())
}

/// Messages that nobody has taken are not lost, though the mailbox has no room for all.
pub fn what_is_left_comes_at_the_end<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let notifications = subscribe(context, Subscription { mailbox_bytes: 64, ..Subscription::default() })?;
    if context.rank() == 0 {
        (0..5).try_for_each(|turn| notifications.notify_all(&pattern(30, turn)))?;
    }
    let left: Vec<_> = notifications.close().into_iter().map(|message| message.bytes).collect();
    let expected: Vec<_> = (0..5).filter(|_| context.rank() != 0).map(|turn| pattern(30, turn)).collect();
    check_eq!(left, expected, "what is left");
    Ok(())
}

/// What cannot be is refused on all ranks alike, and leaves nothing behind.
pub fn misuse_is_refused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    let default = Subscription::default();
    let refused = |subscription| subscribe(context, subscription).err();
    let tree = NotificationTree::Degree(0);
    check_eq!(refused(Subscription { tree, ..default }), Some(Error::NoDegree), "a tree of degree 0");
    let wanted = 3 + size.div_ceil(LINE_BYTES) + 250;
    let much = Subscription { payload_lines: 250, ..default };
    check_eq!(refused(much), Some(Error::NoSpareLines { wanted }), "more lines than there are");
    let foreign = comm.subscribe(&Group::of([size])?, default).err();
    check_eq!(foreign, Some(Error::NoSuchRank { rank: size, size }), "a member that does not exist");
    let handled = (context.rank() == size - 1).then(|| context.hal().handle_interrupts((), |_, ()| {}));
    check_eq!(refused(default), Some(Error::Subscribed { rank: size - 1 }), "a rank that handles interrupts");
    drop(handled);
    let notifications = subscribe(context, default)?;
    check_eq!(refused(default), Some(Error::Subscribed { rank: 0 }), "a second subscription");
    let limit_bytes = default.mailbox_bytes;
    let long = notifications.notify_all(&vec![0; limit_bytes + 1]);
    check_eq!(long, Err(Error::MessageTooLong { len_bytes: limit_bytes + 1, limit_bytes }), "a long message");
    let late = notifications.take(Deadline::At(0)).err();
    check!(matches!(late, Some(Error::TimedOut { .. })), "{late:?} instead of a message");
    close(notifications)
}

/// The remote accesses of one message: the module's table.
pub fn costs_what_it_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (rank, size, hal) = (context.rank(), context.size(), context.hal());
    let degree = 3;
    let tree = NotificationTree::Degree(degree);
    let notifications = subscribe(context, Subscription { tree, ..Subscription::default() })?;
    let children = (1..size).filter(|child| (child - 1) / degree == rank).count() as u64;
    for (len, lines) in [(8, 0), (300, 10)] {
        // The message may come within the barrier.
        let barrier = cost_of_one(context).mpb_lines_written;
        let before = hal.counters();
        context.comm.barrier();
        if rank == 0 {
            notifications.notify_all(&pattern(len, 0))?;
        } else {
            notifications.take(Deadline::Never)?;
        }
        let did = hal.counters() - before;
        check_eq!(did.interrupts_raised, children, "interrupts raised for {len} bytes");
        let (read, written) = match (rank, children) {
            _ if size == 1 => (0, 0),
            // The turn: a ticket read and written, and the next one's turn written.
            (0, _) => (1, lines + children + 2),
            // The doorbell is read again as data if they are in it.
            (_, 0) => (if lines == 0 { 2 } else { 1 + lines }, 1),
            _ => (if lines == 0 { 2 } else { 1 + 2 * lines }, lines + children + 1),
        };
        check_eq!(
            (did.mpb_lines_read, did.mpb_lines_written),
            (read, written + barrier),
            "lines for {len} bytes, and a barrier"
        );
    }
    close(notifications)
}
