//! The message channel: PSCW epochs made of packets.

use alloc::{rc::Rc, vec, vec::Vec};

use collectives::{
    Group, Placement,
    one_sided::message::{Channel, GRANULE_BYTES},
};
use hal::{Core, Deadline, Place, Reason, Region, kind};

use crate::{
    Context, broadcast, check,
    check::{Outcome, pattern},
    check_eq,
    memory::spare_line,
    messages,
};

/// Operations that the tests accumulate with, on words.
const SUM: u32 = 1;
const EXCHANGE: u32 = 2;

fn apply(code: u32, current: &mut [u8], operand: &[u8]) {
    for (current, operand) in current.chunks_exact_mut(4).zip(operand.chunks_exact(4)) {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        let result = if code == SUM { word(current).wrapping_add(word(operand)) } else { word(operand) };
        current.copy_from_slice(&result.to_le_bytes());
    }
}

/// A window of the channel, as far as the channel knows windows, and this rank's part.
pub struct Part {
    /// The channel.
    pub channel: Rc<Channel>,
    window: u32,
    memory: Region<kind::Cached>,
}

impl Part {
    /// Opens the channel and makes a part of zeros known. Collective.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn open<C: Core>(
        context: &mut Context<'_, '_, C>,
        window: u32,
        len_bytes: usize,
    ) -> Result<Self, crate::Failed> {
        let channel = context.comm.open_channel()?;
        let near = Placement::Near(context.hal().core());
        let memory = context.comm.allocator().allocate_zeroed::<kind::Cached>(len_bytes, near)?;
        context.hal().write_back_invalidate(context.caches, memory);
        channel.register(window, memory.mapped(), apply);
        Ok(Self { channel, window, memory })
    }

    /// Gives up what [`open`](Self::open) made. Collective.
    pub fn close<C: Core>(self, context: &mut Context<'_, '_, C>) -> Outcome {
        context.comm.barrier();
        self.channel.unregister(self.window);
        context.comm.allocator().free(self.memory)?;
        Ok(context.comm.close_channel()?)
    }

    /// Stores to the own part, and posts it.
    ///
    /// # Errors
    /// If the core has a view of it.
    pub fn post<C: Core>(
        &self,
        context: &mut Context<'_, '_, C>,
        first: usize,
        bytes: &[u8],
        origins: &Group,
    ) -> Outcome {
        let (hal, memory) = (context.hal(), self.memory);
        let mut view = hal.claim::<u8>(memory, memory.len_bytes())?;
        view.copy_from(first, bytes);
        drop(view);
        hal.write_back_invalidate(context.caches, memory);
        origins.iter().for_each(|origin| self.channel.post(context.comm, self.window, origin));
        Ok(())
    }

    /// Waits for the origins and shows the own part.
    ///
    /// # Errors
    /// If the core has a view of it.
    pub fn wait<C: Core>(&self, context: &mut Context<'_, '_, C>, origins: &Group) -> Result<Vec<u8>, crate::Failed> {
        self.channel.await_completions(context.comm, self.window, origins, Deadline::Never)?;
        self.look(context)
    }

    /// Shows the own part.
    ///
    /// # Errors
    /// If the core has a view of it.
    pub fn look<C: Core>(&self, context: &mut Context<'_, '_, C>) -> Result<Vec<u8>, crate::Failed> {
        let (hal, memory) = (context.hal(), self.memory);
        hal.write_back_invalidate(context.caches, memory);
        let mut bytes = vec![0; memory.len_bytes()];
        hal.claim::<u8>(memory, memory.len_bytes())?.copy_to(0, &mut bytes);
        Ok(bytes)
    }

    /// Puts bytes to `target`'s part.
    pub fn put<C: Core>(&self, context: &Context<'_, '_, C>, target: usize, offset: usize, bytes: &[u8]) {
        self.channel.put(context.comm, self.window, target, offset, bytes);
    }

    /// Gets bytes of `target`'s part.
    pub fn get<C: Core>(&self, context: &Context<'_, '_, C>, target: usize, offset: usize, len: usize) -> Vec<u8> {
        let mut bytes = vec![0xEE; len];
        self.channel.get(context.comm, self.window, target, offset, &mut bytes);
        bytes
    }

    /// Completes the access epoch.
    pub fn complete<C: Core>(&self, context: &Context<'_, '_, C>, targets: &Group) {
        self.channel.complete(context.comm, self.window, targets);
    }
}

fn patterned(len: usize, salt: usize) -> Vec<u8> {
    (0..len).map(|index| pattern(index, salt)).collect()
}

fn neighbours<C: Core>(context: &Context<'_, '_, C>) -> Result<(usize, Group, usize, Group), crate::Failed> {
    let (rank, size) = (context.rank(), context.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    Ok((right, Group::of([right])?, left, Group::of([left])?))
}

/// All ranks as targets and as origins; where there are many, those at distances of powers of two, and oneself.
fn peers<C: Core>(context: &Context<'_, '_, C>) -> Result<(Group, Group), crate::Failed> {
    let (rank, size) = (context.rank(), context.size());
    if !context.has_many_ranks() {
        return Ok((context.comm.group(), context.comm.group()));
    }
    let distances = || (0..12).map(|power| 1 << power).filter(|distance| *distance < size).chain([0]);
    let targets = Group::of(distances().map(|distance| (rank + distance) % size))?;
    Ok((targets, Group::of(distances().map(|distance| (rank + size - distance) % size))?))
}

/// Everybody puts a word to everybody and gets one from everybody, several epochs in a row.
pub fn all_pairs<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (targets, origins) = peers(context)?;
    let part = Part::open(context, 0, 8 * size)?;
    let word = |epoch: u32, from: usize, to: usize| epoch << 24 | (from << 12 | to) as u32;
    let epochs = if context.has_many_ranks() { 2 } else { 3 };
    for epoch in 0..epochs {
        let shown: Vec<u8> = (0..size).flat_map(|peer| word(epoch, rank, peer).to_le_bytes()).collect();
        part.post(context, 4 * size, &shown, &origins)?;
        // Not everybody to the same target first.
        for peer in targets.iter().filter(|peer| *peer >= rank).chain(targets.iter().filter(|peer| *peer < rank)) {
            part.put(context, peer, 4 * rank, &word(epoch + 100, rank, peer).to_le_bytes());
            let got = part.get(context, peer, 4 * (size + rank), 4);
            check_eq!(got, word(epoch, peer, rank).to_le_bytes(), "word from rank {peer} in epoch {epoch}");
        }
        part.complete(context, &targets);
        let bytes = part.wait(context, &origins)?;
        for peer in origins.iter() {
            let wanted = word(epoch + 100, peer, rank).to_le_bytes();
            check_eq!(bytes[4 * peer..][..4], wanted, "word that rank {peer} put in epoch {epoch}");
        }
    }
    part.close(context)
}

/// Puts, gets and accumulates to the right neighbour: all lengths around lines and packets, at any offset.
pub fn all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let (right, to, left, from) = neighbours(context)?;
    let packet = context.comm.open_channel()?.packet_bytes();
    check!(packet >= GRANULE_BYTES && packet.is_multiple_of(GRANULE_BYTES), "packets of {packet} bytes");
    let part = Part::open(context, 5, 4 * packet + 100)?;
    for len in [0, 1, 15, 16, 17, 31, 48, packet - 1, packet, packet + 1, 2 * packet, 3 * packet + 60] {
        for offset in [0, 1, 13, 32, 40] {
            let before = patterned(part.memory.len_bytes(), rank + len);
            part.post(context, 0, &before, &from)?;
            let bytes = patterned(len, rank * 7 + offset);
            let got = part.get(context, right, offset, len);
            part.put(context, right, offset, &bytes);
            part.complete(context, &to);
            let theirs = patterned(part.memory.len_bytes(), right + len);
            check_eq!(got, theirs[offset..][..len], "{len} bytes got from {offset}");
            let mut wanted = before;
            wanted[offset..][..len].copy_from_slice(&patterned(len, left * 7 + offset));
            check_eq!(part.wait(context, &from)?, wanted, "the part after {len} bytes put to {offset}");
        }
    }
    context.comm.close_channel()?;
    part.close(context)
}

/// Everybody accumulates to rank 0, some of it fetching: nothing gets lost, and each sum is fetched once.
pub fn accumulates<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (all, zero) = (context.comm.group(), Group::of([0])?);
    let words = 70;
    let part = Part::open(context, 1, 4 * words + 4 * size)?;
    let bytes_of = |value: u32| value.to_le_bytes().repeat(words);
    for round in 0..3 {
        if rank == 0 {
            part.post(context, 0, &vec![0; 4 * (words + size)], &all)?;
        }
        let (channel, comm) = (&part.channel, context.comm);
        channel.accumulate(comm, 1, 0, 0, SUM, &bytes_of(rank as u32 + 1), None);
        let mut ticket = vec![0; 4];
        channel.accumulate(comm, 1, 0, 0, SUM, &1u32.to_le_bytes(), Some(&mut ticket));
        let (zeros, mut taken) = (bytes_of(0), bytes_of(9));
        channel.accumulate(comm, 1, 0, 4, EXCHANGE, &zeros[4..], Some(&mut taken[4..]));
        channel.accumulate(comm, 1, 0, 4, SUM, &taken[4..], None);
        // Where the fetched sum says, if it is less than the sum of all: a slot for each rank's own number.
        part.put(context, 0, 4 * (words + rank), &ticket);
        part.complete(context, &zero);
        if rank == 0 {
            let bytes = part.wait(context, &all)?;
            let word = |index: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[4 * index + byte]));
            let sum = (size * (size + 1) / 2) as u32;
            check_eq!(word(0), sum + size as u32, "the sum of all ranks in round {round}");
            for index in 1..words {
                check_eq!(word(index), sum, "sum {index} of all ranks in round {round}");
            }
            let mut fetched: Vec<u32> = (0..size).map(|rank| word(words + rank)).collect();
            fetched.sort_unstable();
            fetched.dedup();
            check_eq!(fetched.len(), size, "different sums fetched in round {round}");
        }
    }
    part.close(context)
}

/// Requests to many targets are open together, and the last packet of each epoch may be one.
pub fn requests_together<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let (targets, origins) = peers(context)?;
    let packet = context.comm.open_channel()?.packet_bytes();
    let len = 2 * packet + 5;
    let part = Part::open(context, 9, 2 * len)?;
    part.post(context, 0, &patterned(2 * len, rank), &origins)?;
    let mut tickets = Vec::new();
    for target in targets.iter() {
        for (offset, len) in [(3, len), (0, 0), (len, 7)] {
            tickets.push((target, offset, len, part.channel.request(context.comm, 9, target, offset, len)));
        }
    }
    part.complete(context, &targets);
    for (target, offset, len, ticket) in tickets.into_iter().rev() {
        let mut got = vec![0; len];
        part.channel.finish(context.comm, ticket, &mut got);
        check_eq!(got, patterned(offset + len, target)[offset..], "{len} bytes of rank {target} from {offset}");
    }
    let own = part.wait(context, &origins)?;
    check_eq!(own[..2 * len], patterned(2 * len, rank), "the own part");
    context.comm.close_channel()?;
    part.close(context)
}

/// Ranks post that the origin will access later, before the one does that it accesses first: a count of posts,
/// whoever they come from, would take theirs for that one's.
pub fn early_post_of_a_later_group<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let zero = Group::of([0])?;
    let part = Part::open(context, 2, 32)?;
    if rank == 0 {
        for target in 2..size {
            part.channel.await_post(context.comm, 2, target, Deadline::Never)?;
        }
        check!(
            size == 1 || !part.channel.post_is_there(context.comm, 2, 1),
            "another rank's post is taken for rank 1's"
        );
        context.comm.barrier();
        for round in 0..2 {
            for target in 1..size {
                check_eq!(part.get(context, target, 9, 1), [7], "what rank {target} stored before it posted");
                part.put(context, target, round, &[target as u8]);
                part.complete(context, &Group::of([target])?);
            }
        }
        check!(!part.channel.post_is_there(context.comm, 2, size - 1), "a post is there twice");
    } else {
        if rank == 1 {
            context.comm.barrier();
            for _ in 0..20 {
                hal.compute(2000);
                hal.relax();
                part.channel.progress(context.comm);
            }
        }
        part.post(context, 9, &[7], &zero)?;
        if rank > 1 {
            context.comm.barrier();
        }
        for round in 0..2 {
            let bytes = part.wait(context, &zero)?;
            check_eq!(bytes[round], rank as u8, "the put of round {round}");
            if round == 0 {
                // The moment the first epoch is over, and long before the origin asks for it.
                part.post(context, 0, &bytes, &zero)?;
            }
        }
    }
    part.close(context)
}

/// Epochs of two windows overlap in all ways.
pub fn two_windows_interleaved<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let (right, to, left, from) = neighbours(context)?;
    let (a, b) = (Part::open(context, 10, 64)?, Part::open(context, 11, 64)?);
    for round in 0..4u8 {
        b.post(context, 0, &[round; 64], &from)?;
        a.post(context, 0, &[round; 64], &from)?;
        let ticket = a.channel.request(context.comm, 10, right, 40, 3);
        b.put(context, right, 2, &[round, rank as u8]);
        let got = b.get(context, right, 60, 4);
        check_eq!(got, [round; 4], "window b in round {round}");
        a.put(context, right, 8, &[rank as u8; 5]);
        b.complete(context, &to);
        check_eq!(b.wait(context, &from)?[2..4], [round, left as u8], "what was put to window b in round {round}");
        a.complete(context, &to);
        let mut got = [0; 3];
        a.channel.finish(context.comm, ticket, &mut got);
        check_eq!(got, [round; 3], "window a in round {round}");
        check_eq!(a.wait(context, &from)?[8..13], [left as u8; 5], "what was put to window a in round {round}");
    }
    a.close(context)?;
    b.close(context)
}

/// A rank that does not progress holds up those that send to it, but nothing that these send to others.
pub fn queues_to_a_busy_rank<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    if size < 3 {
        return Ok(());
    }
    let [origin, busy, other] = [[1], [0], [2]].map(Group::of);
    let (origin, busy, other) = (origin?, busy?, other?);
    let len = 40 * context.comm.open_channel()?.packet_bytes();
    let (a, b) = (Part::open(context, 20, len)?, Part::open(context, 21, 32)?);
    // So that it is 0 before the others write there.
    let line = spare_line(context, 0, 0);
    if rank == 0 {
        hal.store(line, 0, &[0; 4]);
        hal.drain();
    }
    context.comm.barrier();
    match rank {
        0 => {
            a.post(context, 0, &[], &origin)?;
            // Not a wait of the communicator's, which would drive the engine.
            hal.wait(&[Place::Line(line)], Reason::new("rank 2"), |poll| (poll.line(0).word(0) == 77).then_some(()));
            check_eq!(a.wait(context, &origin)?[..len], patterned(len, 5), "what was queued for rank 0");
        }
        1 => {
            a.put(context, 0, 0, &patterned(len, 5));
            for index in 0..8 {
                b.put(context, 2, index, &[index as u8 + 1]);
            }
            b.complete(context, &other);
            a.complete(context, &busy);
        }
        2 => {
            b.post(context, 0, &[], &origin)?;
            check_eq!(b.wait(context, &origin)?[..8], [1, 2, 3, 4, 5, 6, 7, 8], "what overtook the queue for rank 0");
            hal.store(line, 0, &77u32.to_le_bytes());
            hal.drain();
        }
        _ => {}
    }
    context.comm.barrier();
    if rank == 0 {
        hal.store(line, 0, &[0; 4]);
        hal.drain();
    }
    context.comm.close_channel()?;
    a.close(context)?;
    b.close(context)
}

/// A target that has posted and waits for something else drives the engine: its origins get through.
pub fn all_waits_drive_the_engine<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let (right, to, left, from) = neighbours(context)?;
    let len = 5 * context.comm.open_channel()?.packet_bytes();
    let part = Part::open(context, 3, len)?;
    for round in 0..3 {
        if rank % 2 == 1 {
            part.post(context, 0, &patterned(len, rank), &from)?;
        }
        if right % 2 == 1 {
            check_eq!(part.get(context, right, 0, len), patterned(len, right), "the neighbour's part");
            part.put(context, right, 0, &patterned(len, rank + round));
            part.complete(context, &to);
        }
        match round {
            0 => context.comm.barrier(),
            1 => context.comm.broadcast(&mut [0_u8; 40], context.size() - 1)?,
            _ => messages::ring_of_all_sizes(context)?,
        }
        if rank % 2 == 1 {
            check_eq!(part.wait(context, &from)?[..len], patterned(len, left + round), "the part in round {round}");
        }
    }
    context.comm.close_channel()?;
    part.close(context)
}

/// A rank posts to itself, puts, gets and accumulates there.
pub fn self_in_the_group<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let me = Group::of([rank])?;
    let len = 3 * context.comm.open_channel()?.packet_bytes();
    let part = Part::open(context, 4, len)?;
    part.post(context, 0, &patterned(len, rank), &me)?;
    check_eq!(part.get(context, rank, 1, len - 1), patterned(len, rank)[1..], "what was got from itself");
    part.put(context, rank, 0, &[1, 0, 0, 0]);
    let mut before = [0; 4];
    part.channel.accumulate(context.comm, 4, rank, 0, SUM, &[2, 0, 0, 0], Some(&mut before));
    check_eq!(before, [1, 0, 0, 0], "what was put to itself");
    part.complete(context, &me);
    check_eq!(part.wait(context, &me)?[..4], [3, 0, 0, 0], "the sum");
    context.comm.close_channel()?;
    part.close(context)
}

/// A target that looks in a loop posts again the moment it succeeds; notifications tell of what was put before.
pub fn tests_and_notifications<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (zero, others) = (Group::of([0])?, Group::of(1..size)?);
    let part = Part::open(context, 6, 8 * size)?;
    for round in 1..=5u8 {
        if rank == 0 {
            part.post(context, 0, &vec![0; 8 * size], &others)?;
            let count = u32::from(round) * others.len() as u32;
            while part.channel.notifications(context.comm, 6, 3) < count {
                part.channel.progress(context.comm);
                context.hal().relax();
            }
            let notified = part.look(context)?;
            while part.channel.await_completions(context.comm, 6, &others, Deadline::At(0)).is_err() {}
            let bytes = part.look(context)?;
            for origin in 1..size {
                check_eq!(notified[8 * origin], round, "what rank {origin} put and notified of");
                check_eq!(bytes[8 * origin..][..2], [round, round + 1], "what rank {origin} put");
            }
        } else {
            part.put(context, 0, 8 * rank, &[round]);
            part.channel.notify(context.comm, 6, 0, 3);
            part.put(context, 0, 8 * rank + 1, &[round + 1]);
            part.complete(context, &zero);
        }
    }
    part.close(context)
}

/// Staging is smaller while the channel is open, and as before when its last user has gone; spare lines stay where
/// they are.
pub fn staging_shrinks_and_comes_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let before = context.comm.mpb_layout();
    let (first, second) = (Part::open(context, 7, 32)?, Part::open(context, 8, 32)?);
    let open = context.comm.mpb_layout();
    check_eq!(open.spare(), before.spare(), "spare lines");
    check!(context.size() > 150 || open.buffer_lines() < before.buffer_lines(), "staging is as large as before");
    messages::ring_of_all_sizes(context)?;
    broadcast::all_sizes(context)?;
    second.close(context)?;
    check_eq!(context.comm.mpb_layout(), open, "the layout with one user less");
    broadcast::back_to_back(context)?;
    first.close(context)?;
    check_eq!(context.comm.mpb_layout(), before, "the layout afterwards");
    if !context.has_many_ranks() {
        broadcast::all_sizes(context)?;
    }
    all_pairs(context)
}

/// Packets cost what the channel's documentation says, and an epoch has no more of them than it needs.
pub fn costs_what_it_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    if !(2..=48).contains(&size) {
        return Ok(());
    }
    let [origin, target] = [[0], [1]].map(Group::of);
    let (origin, target) = (origin?, target?);
    let part = Part::open(context, 12, 64)?;
    if rank == 0 {
        part.channel.await_post(context.comm, 12, 1, Deadline::Never)?;
    }
    let before = hal.counters();
    if rank == 0 {
        part.put(context, 1, 0, &[1; 8]);
        part.put(context, 1, 8, &[2; 24]);
        part.complete(context, &target);
        let epoch = hal.counters() - before;
        // Two packets of two lines, and a doorbell for each.
        check_eq!((epoch.mpb_lines_written, epoch.drains), (6, 2), "writes and drains of an access epoch");
    }
    if rank == 1 {
        part.channel.post(context.comm, 12, 0);
        part.channel.await_completions(context.comm, 12, &origin, Deadline::Never)?;
        let epoch = hal.counters() - before;
        // The post and its doorbell, then two acknowledgements; what was put has a drain of its own.
        check_eq!((epoch.mpb_lines_written, epoch.drains), (5, 4), "writes and drains of an exposure epoch");
        check_eq!(epoch.combined_lines_written, 2, "lines of the part that the packets wrote");
        check_eq!(part.look(context)?[..32], [vec![1; 8], vec![2; 24]].concat(), "what was put");
    }
    part.close(context)
}
