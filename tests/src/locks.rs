//! Locks, and mutexes on cached memory.

use collectives::{Error, Mutex, lock::Lock};
use hal::{Core, LINE_BYTES, MpbLine, Region, kind};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    memory::{free, shared},
};

/// Words that a mutex protects: more than a line.
const WORDS: usize = 12;

/// How often each of `size` ranks takes a lock.
fn rounds(size: usize) -> u32 {
    match size {
        ..16 => 5,
        16..64 => 2,
        _ => 1,
    }
}

/// Every rank raises all words of a mutex, and finds them equal.
fn count<C: Core, L: Lock>(
    context: &mut Context<'_, '_, C>,
    lock: L,
    region: Region<kind::Cached>,
) -> Result<L, crate::Failed> {
    let (size, rounds) = (context.size(), rounds(context.size()));
    let mut mutex = Mutex::<u32, _, _>::new(context.comm, lock, region, WORDS)?;
    for _ in 0..rounds {
        let mut words = mutex.lock(context.caches);
        let mut seen = [0; WORDS];
        words.copy_to(0, &mut seen);
        check!(seen.iter().all(|word| *word == seen[0]), "words under the mutex differ: {seen:?}");
        words.copy_from(0, &seen.map(|word| word + 1));
    }
    context.comm.barrier();
    let mut seen = [0; WORDS];
    mutex.lock(context.caches).copy_to(0, &mut seen);
    check_eq!(seen, [rounds * size as u32; WORDS], "what all ranks have counted together");
    context.comm.barrier();
    Ok(mutex.into_lock())
}

/// No round is lost on a mutex, whatever its lock and wherever that is.
pub fn mutexes_exclude<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for home in [0, context.size() - 1] {
        let region = shared::<_, kind::Cached>(context, WORDS * 4)?;
        let lock = context.comm.register_lock(home)?;
        count(context, lock, region)?;
        free(context, region)?;
        let region = shared::<_, kind::Cached>(context, WORDS * 4)?;
        let lock = context.comm.queue_lock(home)?;
        drop(count(context, lock, region)?);
        free(context, region)?;
    }
    Ok(())
}

/// Raises a byte of combined memory, which no flush concerns.
fn raise<C: Core>(context: &Context<'_, '_, C>, lock: &mut impl Lock, bytes: Region<kind::Combined>) {
    let mut byte = [0];
    let _guard = lock.lock();
    context.hal().read(bytes, 5, &mut byte);
    context.hal().write(bytes, 5, &[byte[0].wrapping_add(1)]);
}

/// What was stored to combined memory under a lock is seen by whoever gets it next.
pub fn pass_on_what_was_stored<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let bytes = shared::<_, kind::Combined>(context, 32)?;
    let rounds = rounds(context.size());
    let mut register = context.comm.register_lock(context.size() / 2)?;
    (0..rounds).for_each(|_| raise(context, &mut register, bytes));
    context.comm.barrier();
    let mut queue = context.comm.queue_lock(context.size() / 2)?;
    (0..rounds).for_each(|_| raise(context, &mut queue, bytes));
    context.comm.barrier();
    let mut byte = [0];
    context.hal().invalidate_mpb();
    context.hal().read(bytes, 5, &mut byte);
    check_eq!(u32::from(byte[0]), 2 * rounds * context.size() as u32 % 256, "what was counted under both locks");
    drop(queue);
    free(context, bytes)
}

/// Two locks at a time are two.
pub fn several_locks<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let bytes = [shared::<_, kind::Combined>(context, 32)?, shared::<_, kind::Combined>(context, 32)?];
    let mut first = context.comm.queue_lock(0)?;
    let mut second = context.comm.queue_lock(0)?;
    for round in 0..2 {
        if (rank + round) % 2 == 0 {
            raise(context, &mut first, bytes[0]);
        } else {
            let _guard = first.lock();
            raise(context, &mut second, bytes[1]);
        }
    }
    context.comm.barrier();
    for region in bytes {
        let mut byte = [0];
        context.hal().invalidate_mpb();
        context.hal().read(region, 5, &mut byte);
        check_eq!(usize::from(byte[0]), size % 256, "what was counted under a lock");
    }
    drop((first, second));
    bytes.into_iter().try_for_each(|region| free(context, region))
}

/// A lock that nobody else wants, and the tail of a queue.
pub fn cost_what_they_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let hal = context.hal();
    let mut register = context.comm.register_lock(0)?;
    let mut queue = context.comm.queue_lock(0)?;
    for rank in 0..context.size().min(4) {
        if context.rank() == rank {
            let before = hal.counters();
            drop(register.lock());
            let done = hal.counters() - before;
            check_eq!(
                (done.tsr_acquired, done.words_read, done.words_written),
                (1, 0, 0),
                "accesses of a register lock"
            );
            let before = hal.counters();
            drop(queue.lock());
            let done = hal.counters() - before;
            let expected = (2, 2, 2, 0, 0);
            let lines = (done.mpb_lines_written, done.words_polled);
            check_eq!(
                (done.tsr_acquired, done.words_read, done.words_written, lines.0, lines.1),
                expected,
                "accesses of a queue lock that nobody else wants"
            );
        }
        context.comm.barrier();
    }
    let before = hal.counters();
    for _ in 0..2 {
        drop(queue.lock());
    }
    let done = hal.counters() - before;
    check!(
        done.tsr_acquired <= 4 && done.words_read <= 4 && done.words_written <= 4,
        "two changes of the tail for each lock: {done:?}"
    );
    check!(done.mpb_lines_written <= 6, "three lines for each lock: {done:?}");
    check_eq!(done.words_polled, 0, "words that are polled");
    drop(queue);
    Ok(())
}

/// Ranks that do not exist, and memory that is viewed.
pub fn misuse_is_refused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    let refused = Error::NoSuchRank { rank: size, size };
    check_eq!(context.comm.register_lock(size).map(drop), Err(refused), "the register of nobody");
    check_eq!(context.comm.queue_lock(size).map(drop), Err(refused), "a lock at nobody");
    let region = shared::<_, kind::Cached>(context, WORDS * 4)?;
    let mutex = |len| Mutex::<u32, _, _>::new(context.comm, context.comm.register_lock(0)?, region, len);
    check!(matches!(mutex(WORDS * 4), Err(Error::Claim(_))), "a mutex of more than its memory");
    let first = mutex(WORDS)?;
    check!(matches!(mutex(WORDS), Err(Error::Claim(_))), "a second mutex of the same memory");
    drop(first);
    drop(mutex(WORDS)?);
    free(context, region)
}

/// A rank that cannot have a mutex keeps the queue lock that it has lent, and takes part with it.
pub fn refused_mutexes_leave_locks<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    let region = shared::<_, kind::Cached>(context, WORDS * 4)?;
    let bytes = shared::<_, kind::Combined>(context, 32)?;
    let mut lock = context.comm.queue_lock(0)?;
    let view = (context.rank() == 0).then(|| context.hal().claim::<u32>(region, WORDS)).transpose()?;
    let mutex = Mutex::<u32, _, _>::new(context.comm, &mut lock, region, WORDS);
    check_eq!(mutex.is_ok(), view.is_none(), "whether this rank has a mutex");
    if let Ok(mut mutex) = mutex {
        let mut words = mutex.lock(context.caches);
        let counted = words.load(0) + 1;
        words.store(0, counted);
    }
    drop(view);
    raise(context, &mut lock, bytes);
    context.comm.barrier();
    let (mut byte, mut mutex) = ([0], Mutex::<u32, _, _>::new(context.comm, &mut lock, region, WORDS)?);
    context.hal().read(bytes, 5, &mut byte);
    check_eq!(usize::from(byte[0]), size % 256, "what was counted under the lock");
    check_eq!(mutex.lock(context.caches).load(0) as usize, size - 1, "what was counted under the mutex");
    drop(mutex);
    drop(lock);
    free(context, bytes)?;
    free(context, region)
}

/// What a rank has looked at before it got a lock that nobody has, it sees anew.
pub fn what_was_seen_before_is_forgotten<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank) = (context.hal(), context.rank());
    let bytes = shared::<_, kind::Combined>(context, 32)?;
    let word = shared::<_, kind::Uncached>(context, 32)?;
    let mut lock = context.comm.queue_lock(0)?;
    let mut byte = [0];
    if rank == 0 && context.size() > 1 {
        hal.read(bytes, 5, &mut byte);
        // No wait invalidates before the lock is got.
        while hal.load_word(word, 0) == 0 {
            hal.relax();
        }
        let _guard = lock.lock();
        hal.read(bytes, 5, &mut byte);
        check_eq!(byte, [9], "what another rank has stored under the lock");
    }
    if rank == 1 {
        let guard = lock.lock();
        hal.write(bytes, 5, &[9]);
        drop(guard);
        hal.store_word(word, 0, 1);
    }
    drop(lock);
    free(context, word)?;
    free(context, bytes)
}

/// Queue locks begin clean, in lines that hold anything; nobody's ends before all have come to that; and what they had
/// comes back.
pub fn queue_locks_come_and_go<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    for line in context.comm.mpb_layout().spare().take(4) {
        hal.store(MpbLine::new(hal.core(), line), 0, &[0xFF; LINE_BYTES]);
    }
    hal.drain();
    context.comm.barrier();
    // More than there are lines.
    let rounds = if size < 16 { 40 } else { 2 };
    for round in 1..=rounds {
        let mut lock = context.comm.queue_lock(size / 2)?;
        if rank == round as usize % size {
            hal.compute(30_000);
        }
        drop(lock.lock());
        hal.store_word(words, rank, round);
        drop(lock);
        let missing = (0..size).find(|peer| hal.load_word(words, *peer) < round);
        check_eq!(missing, None, "a rank that had not come to the end of the lock");
        context.comm.barrier();
    }
    free(context, words)
}
