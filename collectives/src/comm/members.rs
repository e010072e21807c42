//! The ranks of a communicator, and where they are.

use alloc::{boxed::Box, vec::Vec};

use hal::{CoreId, Layout};

/// Which ranks there are: rank by rank the core that it runs on.
pub(crate) struct Members {
    rank: usize,
    cores: Box<[CoreId]>,
    shape: Shape,
}

/// How ranks lie in coherence domains and on tiles: what algorithms make use of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) ranks: usize,
    /// Coherence domains that have ranks.
    pub(crate) domains: usize,
    /// Ranks of each domain, which are neighbours; the last one may have fewer. 1 where domains have different numbers of
    /// ranks, or ranks of a domain have others between them: then nothing is gained by knowing of them.
    pub(crate) per_domain: usize,
    /// Ranks of each tile, under the same conditions as for domains.
    pub(crate) per_tile: usize,
}

impl Members {
    /// All cores of a machine: rank r is core r.
    pub(crate) fn all(own: CoreId, layout: &Layout) -> Self {
        let cores = (0..layout.cores()).map(CoreId::new).collect();
        let shape = Shape {
            ranks: layout.cores(),
            domains: layout.domains(),
            per_domain: layout.cores_per_domain().min(layout.cores()),
            per_tile: layout.cores_per_tile(),
        };
        Self { rank: own.index(), cores, shape }
    }

    /// These cores, in the order of their ranks; one of them is `own`, or else there are none.
    pub(crate) fn some(own: CoreId, cores: Box<[CoreId]>, layout: &Layout) -> Option<Self> {
        let rank = cores.iter().position(|core| *core == own)?;
        Some(Self::beside(rank, cores, layout))
    }

    /// These cores, as rank `rank` of other ones names them.
    pub(crate) fn beside(rank: usize, cores: Box<[CoreId]>, layout: &Layout) -> Self {
        let domains: Vec<_> = cores.iter().map(|core| layout.domain(*core)).collect();
        let tiles: Vec<_> = cores.iter().map(|core| core.index() / layout.cores_per_tile()).collect();
        let mut different = domains.clone();
        different.sort_unstable();
        different.dedup();
        let shape = Shape {
            ranks: cores.len(),
            domains: different.len(),
            per_domain: block_len(&domains),
            per_tile: block_len(&tiles),
        };
        Self { rank, cores, shape }
    }

    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.cores.len()
    }

    #[inline]
    pub(crate) fn core_of(&self, rank: usize) -> CoreId {
        self.cores[rank]
    }

    /// The rank on a core.
    pub(crate) fn rank_on(&self, core: CoreId) -> Option<usize> {
        match self.cores.get(core.index()) {
            Some(same) if *same == core => Some(core.index()),
            _ => self.cores.iter().position(|of| *of == core),
        }
    }

    pub(crate) fn cores(&self) -> &[CoreId] {
        &self.cores
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// The ranks in ascending order of their cores.
    pub(crate) fn by_core(&self) -> Vec<usize> {
        let mut ranks: Vec<_> = (0..self.size()).collect();
        ranks.sort_unstable_by_key(|rank| self.cores[*rank]);
        ranks
    }
}

/// The length of the blocks of equal numbers that make up `all`, if they are different numbers, equally long but for a last one
/// that may be shorter; otherwise 1.
fn block_len(all: &[usize]) -> usize {
    let blocks = || all.chunk_by(|one, next| one == next);
    let len = blocks().next().map_or(1, <[_]>::len);
    let (count, last) = (blocks().count(), blocks().next_back().map_or(0, <[_]>::len));
    let alike = blocks().take(count - usize::from(count > 0)).all(|block| block.len() == len) && last <= len;
    let mut numbers: Vec<_> = blocks().map(|block| block[0]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if alike && numbers.len() == count { len } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_where_they_are_alike() {
        for (numbers, len) in [
            (&[7][..], 1),
            (&[3, 3, 3], 3),
            (&[3, 3, 1, 1, 2], 2),
            (&[3, 3, 1, 1, 3, 3], 1),
            (&[3, 1, 1], 1),
            (&[4, 4, 4, 5, 5, 6, 6, 6], 1),
        ] {
            assert_eq!(block_len(numbers), len, "{numbers:?}");
        }
    }

    #[test]
    fn shapes_tell_where_ranks_are() {
        let layout = Layout::mesh(2, 2, 4).with_domains_of(4);
        let some = |cores: &[usize]| {
            let cores: Box<[_]> = cores.iter().map(|core| CoreId::new(*core)).collect();
            Members::some(cores[0], cores, &layout).expect("its own core").shape()
        };
        assert_eq!(some(&[4, 5, 8, 9, 12]), Shape { ranks: 5, domains: 3, per_domain: 2, per_tile: 2 });
        assert_eq!(some(&[0, 4, 1, 5]), Shape { ranks: 4, domains: 2, per_domain: 1, per_tile: 1 });
        assert_eq!(some(&[3]), Shape { ranks: 1, domains: 1, per_domain: 1, per_tile: 1 });
        let all = Members::all(CoreId::new(3), &layout);
        assert_eq!(all.shape(), Shape { ranks: 16, domains: 4, per_domain: 4, per_tile: 4 });
        assert!(Members::some(CoreId::new(3), Box::new([CoreId::new(1)]), &layout).is_none());
    }
}
