//! A match vector in uncached memory (`uncached`), against one in cached memory whose line is flushed after each
//! access (`cached-line`), or
//! with it everything that is cached (`cached-all`), as on cores that have no other instruction.
//!
//! One rank after the other sets its bit in rank 0's vector, under rank 0's register, and rank 0 polls and has to
//! find it. A flush after each access does for both directions: it writes the update back, and lets the next access
//! read memory.

use collectives::Placement;
use hal::{Cached, Caches, Core, LocalView, Region, Uncached, kind};

use kernel::{Failure, Rank};

use super::{allocate_for_all, free_for_all};
use crate::measure::{Of, Splits};

/// How the vector is reached.
enum Mapping<'c> {
    Uncached(Region<kind::Uncached>),
    CachedLine(LocalView<'c, u32>),
    CachedAll(LocalView<'c, u32>),
}

impl Mapping<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Uncached(_) => "uncached",
            Self::CachedLine(_) => "cached-line",
            Self::CachedAll(_) => "cached-all",
        }
    }

    fn poll<C: Uncached + Cached>(&self, hal: &C, caches: &mut Caches, word: usize) -> u32 {
        let value = match self {
            Self::Uncached(words) => hal.load_word(*words, word),
            Self::CachedLine(view) | Self::CachedAll(view) => view.load(word),
        };
        self.flush(hal, caches);
        value
    }

    /// Sets bits. The register is held.
    fn update<C: Uncached + Cached>(&mut self, hal: &C, caches: &mut Caches, word: usize, bits: u32) {
        match self {
            Self::Uncached(words) => {
                let value = hal.load_word(*words, word);
                hal.store_word(*words, word, value | bits);
            }
            Self::CachedLine(view) | Self::CachedAll(view) => {
                let value = view.load(word);
                view.store(word, value | bits);
            }
        }
        self.flush(hal, caches);
    }

    fn flush<C: Cached>(&self, hal: &C, caches: &mut Caches) {
        match self {
            Self::Uncached(_) => {}
            Self::CachedLine(view) => hal.write_back_invalidate(caches, view.region()),
            Self::CachedAll(_) => hal.write_back_invalidate_all(caches),
        }
    }
}

pub(super) fn measure<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
    let (comm, hal) = (rank.comm, rank.hal());
    let len = comm.size().div_ceil(32);
    let bytes = (len * 4).next_multiple_of(hal::LINE_BYTES);
    let vectors = allocate_for_all(comm, bytes, [Placement::Near(comm.core_of(0)); 3].into_iter())?;
    measure_with(rank, Mapping::Uncached(vectors[0]))?;
    measure_with(rank, Mapping::CachedLine(hal.claim(vectors[1].mapped(), len)?))?;
    measure_with(rank, Mapping::CachedAll(hal.claim(vectors[2].mapped(), len)?))?;
    free_for_all(comm, vectors)
}

fn measure_with<C: Core>(rank: &mut Rank<'_, C>, mut mapping: Mapping<'_>) -> Result<(), Failure> {
    let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
    let [mut polls, mut updates] = ["poll", "update"].map(Splits::new);
    // Whatever was cached with a neighbour.
    mapping.flush(hal, &mut rank.caches);
    for poster in 1..comm.size() {
        let (word, bit) = (poster / 32, 1 << (poster % 32));
        if me == poster {
            updates.take(hal, true, || {
                let _guard = hal.lock(comm.core_of(0), "the match vector");
                mapping.update(hal, &mut rank.caches, word, bit);
            });
        }
        comm.barrier();
        if me == 0 {
            let value = polls.take(hal, true, || mapping.poll(hal, &mut rank.caches, word));
            // All that were set before, too.
            if value & bit == 0 || poster % 32 > 1 && value & bit >> 1 == 0 {
                return Err(Failure::new(format_args!(
                    "{}: {value:#x} lacks the bit of rank {poster}",
                    mapping.name()
                )));
            }
        }
        comm.barrier();
    }
    for splits in [polls, updates] {
        let counters = ["words_read", "words_written", "lines_fetched", "lines_written_back", "flushes"];
        splits.send(rank, Of(mapping.name(), 0, 4), &counters);
    }
    Ok(())
}
