//! Where the data of all processes is, copied by each of them when a window is made (`exchanged`: n entries on each
//! of n ranks), against a table in shared memory that is read when an access needs it (`shared`), which the paper
//! proposes where n² entries are too many.
//!
//! The first k ranks make a window. An entry has three words, as in our windows: where a part is, its length, and
//! where its synchronisation data is. `creation` is what a rank spends on its own entry and its copy of the others',
//! without the barrier that both ways need; `access` is what it takes to get at one entry. A copy is in the
//! processor's cache then, which costs an instruction for each word.

use alloc::{vec, vec::Vec};

use collectives::Placement;
use hal::{Core, Region, kind, p54c};

use kernel::{Failure, Rank, Unit};

use super::{allocate_for_all, free_for_all};
use crate::measure::{Of, Splits};

/// Words of an entry.
const WORDS: usize = 3;

/// Entry of a rank.
type Entry = [u32; WORDS];

/// Numbers of ranks, besides all.
const RANKS: [usize; 5] = [2, 4, 8, 16, 32];

/// Accesses that are measured on each rank.
const ACCESSES: usize = 8;

/// How a rank finds an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keeping {
    Exchanged,
    Shared,
}

impl Keeping {
    fn name(self) -> &'static str {
        match self {
            Self::Exchanged => "exchanged",
            Self::Shared => "shared",
        }
    }

    /// Entries of which a rank keeps account: copies, or its own in the table.
    fn entries(self, ranks: usize) -> usize {
        match self {
            Self::Exchanged => ranks,
            Self::Shared => 1,
        }
    }
}

pub(super) fn measure<C: Core>(rank: &Rank<'_, C>) -> Result<(), Failure> {
    let comm = rank.comm;
    let place = Placement::Near(comm.core_of(0));
    let tables = allocate_for_all(comm, comm.size() * WORDS * 4, [place].into_iter())?;
    let counts = RANKS.into_iter().filter(|count| *count < comm.size()).chain([comm.size()]);
    for count in counts {
        for keeping in [Keeping::Exchanged, Keeping::Shared] {
            measure_with(rank, tables[0], count, keeping)?;
        }
    }
    free_for_all(comm, tables)
}

fn measure_with<C: Core>(
    rank: &Rank<'_, C>,
    table: Region<kind::Uncached>,
    count: usize,
    keeping: Keeping,
) -> Result<(), Failure> {
    let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
    let takes_part = me < count;
    let entry_of = |rank| [rank as u32 + 1; WORDS];
    let load = |rank: usize| core::array::from_fn(|word| hal.load_word(table, rank * WORDS + word));
    comm.barrier();
    let begin = hal.now();
    if takes_part {
        for (word, value) in entry_of(me).into_iter().enumerate() {
            hal.store_word(table, me * WORDS + word, value);
        }
    }
    let stored = hal.now();
    comm.barrier();
    let mut copy: Vec<Entry> = vec![[0; WORDS]; keeping.entries(count)];
    let exchanging = hal.now();
    if takes_part && keeping == Keeping::Exchanged {
        copy.iter_mut().enumerate().for_each(|(rank, entry)| *entry = load(rank));
    }
    let creation = hal.now() - exchanging + stored - begin;
    let mut accesses = Splits::new("access");
    for turn in (0..ACCESSES).take_while(|_| takes_part) {
        let target = (me + 1 + turn) % count;
        let entry = accesses.take(hal, true, || match keeping {
            Keeping::Exchanged => {
                hal.compute(WORDS as u64 * p54c::INTEGER);
                copy[target]
            }
            Keeping::Shared => load(target),
        });
        if entry != entry_of(target) {
            return Err(Failure::new(format_args!("the entry of rank {target} is {entry:?}")));
        }
    }
    comm.barrier();
    if takes_part {
        let of = Of(keeping.name(), count as u64, 0);
        of.send(rank, "creation", Unit::Ticks, [creation]);
        accesses.send(rank, of, &["words_read"]);
        of.send(rank, "memory.bytes", Unit::Count, [(keeping.entries(count) * WORDS * 4) as u64]);
    }
    Ok(())
}
