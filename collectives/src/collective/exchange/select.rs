//! Which algorithm is the fastest for blocks whose length all ranks know, by what each takes until the last rank is
//! through.

use hal::{LINE_BYTES, Mpb, Wait};

use crate::{
    Comm,
    collective::goes::Goes,
    comm::choices::{Operation, Terms},
};

/// Blocks of an exchange, in lines: of each, and of all together.
struct Lines {
    block: u64,
    all: u64,
}

impl Lines {
    fn of(len: usize, ranks: u64) -> Self {
        Self { block: len.div_ceil(LINE_BYTES) as u64, all: (len as u64 * ranks).div_ceil(LINE_BYTES as u64) }
    }
}

/// Lines that are put to the own MPB from memory.
fn staged(terms: &Terms, lines: u64) -> u64 {
    terms.put() + lines * (terms.memory_read() + terms.own())
}

/// A signal, until it has been seen, and a block that is got from an MPB to memory.
fn got(terms: &Terms, lines: u64, line_ns: u64) -> u64 {
    terms.signal() + terms.seen() + terms.get() + lines * (line_ns + terms.memory_write())
}

/// Whether a scatter puts all blocks of `len` bytes, which fit there at once or in these goes, into the root's own MPB, instead of
/// each into that of its rank.
pub(super) fn scatters_together<C: Mpb + Wait>(comm: &Comm<'_, C>, len: usize, goes: Option<&Goes>) -> bool {
    let answer = comm.choices().fastest(Operation::Scatter, (len, 1), |terms| {
        let (Lines { block, all }, others) = (Lines::of(len, terms.ranks), terms.ranks - 1);
        let line_ns = terms.line_for(others);
        let announced = terms.put() + terms.own() + line_ns * 3 / 2;
        let waits = goes.map_or(0, |goes| goes.barriers() as u64 * (terms.barrier() + announced));
        let together =
            waits + staged(terms, all) + announced + terms.get() + (block + 1) * line_ns + block * terms.memory_write();
        let each = terms.put() + block * (terms.memory_read() + terms.write()) + terms.signal_done();
        let received = terms.members * (block + 1) * terms.receive();
        let pushed = (others * each).max(received) + got(terms, block, terms.own());
        [Some(together), Some(pushed)]
    });
    answer == 0
}

/// Whether an all-to-all of blocks of `len` bytes, which fit there, goes through the MPBs all at once, instead of in
/// meetings.
pub(super) fn meets_at_once<C: Mpb + Wait>(comm: &Comm<'_, C>, len: usize) -> bool {
    let staging = comm.shared_staging_lines() as u64;
    let answer = comm.choices().fastest(Operation::Alltoall, (len, 1), |terms| {
        let (Lines { block, all }, others) = (Lines::of(len, terms.ranks), terms.ranks - 1);
        let at_once = staged(terms, all)
            + terms.barrier()
            + others * terms.get()
            + terms.lines_of_all(block + 1)
            + all * terms.memory_write();
        let each = staged(terms, block) + terms.get() + block * terms.memory_write();
        let meetings = if goes_in_groups(block as usize, staging as usize, comm.size()) {
            (others * block).div_ceil(staging / 2) * terms.barrier()
        } else {
            others * (terms.signal_done() + terms.signal() + terms.seen())
        };
        [Some(at_once), Some(others * each + terms.lines_of_all(block) + meetings)]
    });
    answer == 0
}

/// Whether blocks of `lines` lines are short enough for several of them in half of the staging.
pub(super) fn goes_in_groups(lines: usize, staging: usize, size: usize) -> bool {
    2 * lines <= staging / 2 && size > 2
}

/// Whether an allgather of long blocks, of `len` bytes each, goes from neighbour to neighbour around a ring, instead of
/// everybody getting all blocks from everybody: the domains between which all reads would meet are few then.
pub(super) fn gathers_around<C: Mpb + Wait>(comm: &Comm<'_, C>, len: usize) -> bool {
    let staging = comm.shared_staging_lines() as u64;
    let answer = comm.choices().fastest(Operation::Allgather, (len, 1), |terms| {
        let (Lines { block, .. }, others) = (Lines::of(len, terms.ranks), terms.ranks - 1);
        let rounds = if block <= staging { 1 } else { block.div_ceil(staging / 2) };
        let kept = others * (rounds * terms.get() + block * terms.memory_write());
        let staged_by_all = staged(terms, block) + rounds * terms.barrier() + terms.lines_of_all(block) + kept;
        let step = staged(terms, block) + got(terms, block, terms.line()) + terms.signal_done();
        // Ranks send before they receive, or the other way around.
        [Some(staged_by_all), Some(2 * others * step - others * block * terms.line())]
    });
    answer == 1
}
