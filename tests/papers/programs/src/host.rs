//! `bench-host`: what MPI programs time, on a machine whose time is the host's. `host.c`, which the laboratory builds by the
//! compilers of MPICH and Open MPI, does the same by the same steps.
//!
//! A sample is the mean of a batch of calls, since a call may be as short as reading a clock. No rank runs ahead within a
//! batch: roots of broadcasts go round, so that each waits for the call before its own, and puts go to and fro.

use alloc::{vec, vec::Vec};

use collectives::{Class, Comm, Group, Operator, Window};
use hal::Core;

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::measure::{Of, need_cores, repetitions, throughput, turns};

/// Batches that do not count.
const WARM_UP: u32 = 1;

/// Calls of a batch, and of one whose calls move much.
const CALLS: usize = 20;
const LONG_CALLS: usize = 2;

/// Nanoseconds after which no more batches are begun, and how many there are all the same: on a host that does other things, too,
/// ranks may lose their processors in each call.
const BUDGET_NS: u64 = 200_000_000;
const LEAST_BATCHES: usize = 3;

/// Bytes from which on a call moves much.
const LONG_BYTES: usize = 16_384;

/// Bytes of broadcasts, reductions and single puts.
const SIZES: [usize; 3] = [8, 1024, 65_536];

/// Puts of an epoch whose throughput is measured, and the bytes of each.
const BURST: usize = 16;
const BURST_SIZES: [usize; 2] = [4096, 32_768];

/// Measures what `host.c` measures.
pub struct Host;

impl Program for Host {
    const NAME: &'static str = "bench-host";
    const ABOUT: &'static str =
        "measures barriers, broadcasts, reductions, epochs and puts, as MPI programs on the host do";
    const OPTIONS: &'static [KnownOption] = &[(
        "repetitions",
        "batches of calls of which each gives a sample, 100 if not given, and fewer where they take long",
    )];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        need_cores(rank.comm, 2)?;
        let batches = repetitions(rank, 100)?;
        rank.phase("barriers");
        let times = time(rank.comm, batches, CALLS, |_| {
            rank.comm.barrier();
            Ok(())
        })?;
        tell(rank, "barrier", 0, &times);
        for bytes in SIZES {
            rank.phase("broadcasts and reductions");
            broadcasts(rank, batches, bytes)?;
            reductions(rank, batches, bytes)?;
        }
        rank.phase("epochs");
        epochs(rank, batches)?;
        rank.phase("puts");
        SIZES.into_iter().try_for_each(|bytes| puts(rank, batches, bytes))?;
        BURST_SIZES.into_iter().try_for_each(|bytes| bursts(rank, batches, bytes))
    }
}

/// Calls of a batch that move `bytes` bytes.
fn calls(bytes: usize) -> usize {
    if bytes >= LONG_BYTES { LONG_CALLS } else { CALLS }
}

/// What a call took in each batch, in ticks, after a barrier. Calls have numbers, from 0 on.
fn time<C: Core>(
    comm: &Comm<'_, C>,
    batches: u32,
    calls: usize,
    mut call: impl FnMut(usize) -> Result<(), Failure>,
) -> Result<Vec<u64>, Failure> {
    let (mut times, mut number) = (Vec::new(), 0);
    let limit = comm.hal().now() + BUDGET_NS * comm.hal().ticks_per_second() / 1_000_000_000;
    for counts in turns(WARM_UP, batches) {
        // One rank says for all, which also makes them begin together.
        let mut goes_on = [u32::from(times.len() < LEAST_BATCHES || comm.hal().now() < limit)];
        comm.broadcast(&mut goes_on, 0)?;
        comm.barrier();
        if goes_on == [0] {
            break;
        }
        let begin = comm.hal().now();
        for _ in 0..calls {
            call(number)?;
            number += 1;
        }
        let ticks = comm.hal().now() - begin;
        times.extend(counts.then_some(ticks / calls as u64));
    }
    Ok(times)
}

/// Demands that what was moved is right: what moves something else has no speed.
fn insist(is_right: bool, what: &str) -> Result<(), Failure> {
    if is_right { Ok(()) } else { Err(Failure::new(what)) }
}

/// Sends what rank 0 has timed.
fn tell<C: Core>(rank: &Rank<'_, C>, operation: &str, bytes: usize, ticks: &[u64]) {
    if rank.comm.rank() == 0 {
        Of(operation, 0, bytes).send(rank, "latency", Unit::Ticks, ticks.iter().copied());
    }
}

fn broadcasts<C: Core>(rank: &Rank<'_, C>, batches: u32, bytes: usize) -> Result<(), Failure> {
    let comm = rank.comm;
    let mut words = vec![0_u64; bytes / 8];
    let times = time(comm, batches, calls(bytes), |number| {
        let root = number % comm.size();
        if comm.rank() == root {
            words.fill(number as u64);
        }
        comm.broadcast(&mut words, root)?;
        insist(words[0] == number as u64 && words[words.len() - 1] == number as u64, "a broadcast is wrong")
    })?;
    tell(rank, "broadcast", bytes, &times);
    Ok(())
}

fn reductions<C: Core>(rank: &Rank<'_, C>, batches: u32, bytes: usize) -> Result<(), Failure> {
    let (comm, size) = (rank.comm, rank.comm.size() as u64);
    let (mut words, mut sums) = (vec![0_u64; bytes / 8], vec![0_u64; bytes / 8]);
    let times = time(comm, batches, calls(bytes), |number| {
        words.fill((number + comm.rank()) as u64);
        comm.allreduce(&words, &mut sums, &Operator::<u64>::SUM)?;
        let expected = number as u64 * size + size * (size - 1) / 2;
        insist(sums[0] == expected && sums[sums.len() - 1] == expected, "a reduction is wrong")
    })?;
    tell(rank, "allreduce", bytes, &times);
    Ok(())
}

/// Epochs of rank 0 with all others, in which nothing is put.
fn epochs<C: Core>(rank: &mut Rank<'_, C>, batches: u32) -> Result<(), Failure> {
    let comm = rank.comm;
    let (origin, targets) = (Group::of([0])?, Group::of(1..comm.size())?);
    let (window, mut view) = Window::<C, u64>::with_class(comm, &mut rank.caches, 1, Class::default())?;
    let times = time(comm, batches, CALLS, |_| {
        if comm.rank() == 0 {
            window.start(&targets)?.complete();
        } else {
            window.while_posted(&mut view, &mut rank.caches, &origin, |_| ())?;
        }
        Ok(())
    })?;
    window.free(view, &mut rank.caches)?;
    tell(rank, "pscw", 0, &times);
    Ok(())
}

/// Puts of rank 0 to rank 1 and back, each in an epoch of its own: half of what both take.
fn puts<C: Core>(rank: &mut Rank<'_, C>, batches: u32, bytes: usize) -> Result<(), Failure> {
    let (comm, me) = (rank.comm, rank.comm.rank());
    let (window, mut view) = Window::<C, u64>::with_class(comm, &mut rank.caches, bytes / 8, Class::default())?;
    let mut words = vec![0_u64; bytes / 8];
    let mut last = 0;
    let mut times = time(comm, batches, calls(bytes), |number| {
        last = number as u64;
        if me > 1 {
            return Ok(());
        }
        let peer = Group::of([1 - me])?;
        for turn in 0..2 {
            if turn == me {
                words.fill(number as u64);
                let access = window.start(&peer)?;
                access.put(1 - me, 0, &words)?;
                access.complete();
            } else {
                window.while_posted(&mut view, &mut rank.caches, &peer, |_| ())?;
            }
        }
        Ok(())
    })?;
    if me < 2 {
        insist(view.load(0) == last && view.load(view.len() - 1) == last, "a put is wrong")?;
    }
    window.free(view, &mut rank.caches)?;
    times.iter_mut().for_each(|ticks| *ticks /= 2);
    tell(rank, "put", bytes, &times);
    Ok(())
}

/// Bursts of puts of rank 0 to rank 1, in an epoch each.
fn bursts<C: Core>(rank: &mut Rank<'_, C>, batches: u32, bytes: usize) -> Result<(), Failure> {
    let (comm, me) = (rank.comm, rank.comm.rank());
    let (origin, target) = (Group::of([0])?, Group::of([1])?);
    let part = if me == 1 { BURST * bytes / 8 } else { 0 };
    let (window, mut view) = Window::<C, u64>::with_class(comm, &mut rank.caches, part, Class::default())?;
    let words = vec![bytes as u64; bytes / 8];
    let times = time(comm, batches, LONG_CALLS, |_| {
        if me == 0 {
            let access = window.start(&target)?;
            (0..BURST).try_for_each(|place| access.put(1, place * bytes / 8, &words))?;
            access.complete();
        } else if me == 1 {
            window.while_posted(&mut view, &mut rank.caches, &origin, |_| ())?;
        }
        Ok(())
    })?;
    if me == 1 {
        insist(view.load(0) == bytes as u64 && view.load(view.len() - 1) == bytes as u64, "a burst is wrong")?;
    }
    window.free(view, &mut rank.caches)?;
    if me == 0 {
        let rates = times.iter().map(|ticks| throughput(comm.hal(), BURST * bytes, *ticks));
        Of("put", 0, bytes).send(rank, "throughput", Unit::Rate, rates);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refused, run};

    #[test]
    fn all_is_measured_on_any_number_of_ranks() {
        for cores in [2, 3, 5] {
            let printed = run::<Host>(&std::format!("cores={cores} repetitions=2"));
            for (operation, bytes) in
                [("barrier", &[0][..]), ("broadcast", &SIZES), ("allreduce", &SIZES), ("pscw", &[0])]
            {
                for bytes in bytes {
                    let times = printed.at(operation, "latency", (0, *bytes as u64));
                    assert!(
                        times.len() == 2 && times.iter().all(|time| *time > 0),
                        "{operation} of {bytes} on {cores}"
                    );
                }
            }
            assert_eq!(printed.samples("put", "latency").len(), SIZES.len());
            assert_eq!(printed.samples("put", "throughput").len(), BURST_SIZES.len());
        }
    }

    #[test]
    fn one_rank_has_nobody_to_put_to() {
        refused::<Host>(&[("cores=1", "this takes 2 cores or more")]);
    }
}
