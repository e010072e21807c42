//! `bench-rma-private`: windows over private memory against windows in shared memory (sections 4.3 and 4.4 of the paper).
//!
//! An origin reaches private memory of a target by mapping it, which the first put pays for and later ones, also to
//! other windows of the same
//! target, do not. So each size begins with a put whose mapping may be new, and goes on with one for which it is
//! there. For both kinds of memory
//! the lines are counted that the owner fetches when it reads its part afterwards, and those that it writes back when
//! it posts a part that it has
//! written to.

use alloc::{format, vec};

use collectives::{Class, Comm, Error, Group, Window, one_sided::window::Made};
use hal::{Core, Exposure, Lines};

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::{Pair, pairs};
use crate::measure::{Of, need_cores, sizes};

/// Compares windows over private memory with those in shared memory.
pub struct Private;

impl Program for Private {
    const NAME: &'static str = "bench-rma-private";
    const ABOUT: &'static str = "measures puts and gets to windows over private memory and in shared memory";
    const OPTIONS: &'static [KnownOption] =
        &[("most", "bytes of the largest operation, 65536 if not given; powers of four up to it are measured")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let most = rank.args.get("most", 1 << 16)?;
        need_cores(rank.comm, 2)?;
        for pair in pairs(rank.comm) {
            for bytes in sizes(1, 4, most) {
                rank.phase(&format!("{bytes} bytes, {} routers", pair.routers));
                in_shared_memory(rank, pair, bytes)?;
                in_private_memory(rank, pair, bytes)?;
            }
        }
        Ok(())
    }
}

fn in_shared_memory<C: Core>(rank: &mut Rank<'_, C>, pair: Pair, bytes: usize) -> Result<(), Failure> {
    let len = part_bytes(rank.comm, pair, bytes);
    let made = Window::with_class(rank.comm, &mut rank.caches, len, Class::default())?;
    measure(rank, made, "shared", pair, bytes)
}

fn in_private_memory<C: Core>(rank: &mut Rank<'_, C>, pair: Pair, bytes: usize) -> Result<(), Failure> {
    let (comm, memory) = (rank.comm, Lines::<u8>::zeroed(part_bytes(rank.comm, pair, bytes)));
    let exposure = rank.hal().expose(&mut rank.caches, memory).map_err(|refused| refused.error)?;
    over(rank, comm, &exposure, pair, bytes)?;
    drop(exposure.end(&mut rank.caches));
    Ok(())
}

fn over<'e, C: Core>(
    rank: &mut Rank<'_, C>,
    comm: &'e Comm<'e, C>,
    exposure: &'e Exposure<'e, Lines<u8>>,
    pair: Pair,
    bytes: usize,
) -> Result<(), Failure> {
    let made = Window::over(comm, &mut rank.caches, exposure, part_bytes(comm, pair, bytes), Class::default())?;
    measure(rank, made, "private", pair, bytes)
}

/// Bytes of this rank's part: the second of the pair is the target, and the only one that has one.
fn part_bytes<C: Core>(comm: &Comm<'_, C>, pair: Pair, bytes: usize) -> usize {
    if comm.rank() == pair.ranks[1] { bytes } else { 0 }
}

fn measure<'e, C: Core>(
    rank: &mut Rank<'_, C>,
    (window, mut view): Made<'e, C, u8>,
    algorithm: &str,
    pair: Pair,
    bytes: usize,
) -> Result<(), Failure> {
    let (comm, hal, [origin, target]) = (rank.comm, rank.hal(), pair.ranks);
    let of = Of(algorithm, pair.routers, bytes);
    if comm.rank() == target {
        let mut read = vec![0; bytes];
        view.copy_from(0, &vec![1; bytes]);
        let before = hal.counters();
        let exposure = window.post(view, &mut rank.caches, &Group::of([origin])?)?;
        let posted = hal.counters() - before;
        // The post is there when the others pass the barrier.
        comm.barrier();
        exposure.await_origins();
        let begin = hal.now();
        view = exposure.wait(&mut rank.caches);
        let before = hal.counters();
        view.copy_to(0, &mut read);
        let used = hal.now() - begin;
        let fetched = (hal.counters() - before).lines_fetched;
        if read.iter().any(|byte| *byte != 2) {
            return Err(Failure::new("what came is not what the origin has put"));
        }
        of.send(rank, "owner.use", Unit::Ticks, [used]);
        of.send(rank, "owner.lines_fetched", Unit::Count, [fetched]);
        of.send(rank, "owner.lines_written_back", Unit::Count, [posted.lines_written_back]);
    } else {
        comm.barrier();
    }
    if comm.rank() == origin {
        let (source, mut into) = (vec![2; bytes], vec![0; bytes]);
        let access = window.start(&Group::of([target])?)?;
        let before = hal.counters();
        let begin = hal.now();
        access.put(target, 0, &source)?;
        let first = hal.now();
        access.put(target, 0, &source)?;
        let second = hal.now();
        access.get(target, 0, &mut into)?;
        let got = hal.now();
        let did = hal.counters() - before;
        access.complete();
        of.send(rank, "put.first", Unit::Ticks, [first - begin]);
        of.send(rank, "put", Unit::Ticks, [second - first]);
        of.send(rank, "get", Unit::Ticks, [got - second]);
        of.send(rank, "mappings", Unit::Count, [did.mappings]);
        of.send(rank, "combined_lines_read", Unit::Count, [did.combined_lines_read]);
        of.send(rank, "combined_lines_written", Unit::Count, [did.combined_lines_written]);
    }
    window.free(view, &mut rank.caches).map_err(Error::from)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;

    #[test]
    fn a_mapping_is_made_once() {
        let printed = run::<Private>("cores=4 most=256");
        let mappings = |algorithm| printed.samples(algorithm, "mappings").into_values().flatten().sum::<u64>();
        // One for the near and one for the far target, whatever the number of windows.
        assert_eq!((mappings("private"), mappings("shared")), (2, 0));
    }
}
