//! In whose MPBs the pieces of a long message are.

use core::ops::Range;

use alloc::boxed::Box;
use core::cell::OnceCell;

use hal::{Layout, Mpb, Wait};
use heapless::Vec;

use super::tree::Tree;
use crate::Comm;

/// MPBs that hold the pieces of one reader group at most. Each has a part of the readers at a time, and more of them
/// are more room.
const MOST_HOSTS: usize = 8;

/// Ranks whose MPBs hold the pieces for a group of readers, one after the other.
#[derive(Debug)]
pub(super) struct Hosts(Vec<usize, MOST_HOSTS>);

impl Hosts {
    /// The hosts for the ranks at positions `readers` of a tree. MPBs of different groups of readers are different
    /// ones.
    ///
    /// Where there is only one group, its hosts are the ranks in the middle of the mesh, of whom nobody is far. That
    /// does not take any look at distances: the way to a tile is as long as the rows and columns between.
    pub(super) fn new(middle: Middle<'_>, tree: &Tree, readers: Range<usize>) -> Self {
        match middle {
            Middle::OfMesh(layout) if tree.is_flat() => return Self(central(layout).take(MOST_HOSTS).collect()),
            Middle::Ranks(ranks) if tree.is_flat() => return Self(ranks.iter().copied().collect()),
            _ => {}
        }
        let before = readers.len().saturating_sub(MOST_HOSTS) / 2;
        Self(readers.skip(before).take(MOST_HOSTS).map(|position| tree.rank_at(position)).collect())
    }

    /// How many there are; at least one if there are readers.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The host with this number.
    pub(super) fn rank(&self, number: usize) -> usize {
        self.0[number]
    }
}

/// The ranks of whom nobody is far.
#[derive(Clone, Copy)]
pub(super) enum Middle<'m> {
    /// Those in the middle of a mesh of ranks that are cores.
    OfMesh(&'m Layout),
    /// These, which have been looked for.
    Ranks(&'m [usize]),
}

/// The ranks of a communicator in the middle, if it is not that of all cores.
#[derive(Default)]
struct Found(OnceCell<Box<[usize]>>);

impl<'m> Middle<'m> {
    pub(super) fn of<C: Mpb + Wait>(comm: &'m Comm<'_, C>) -> Self {
        let layout = comm.hal().layout();
        if !comm.is_part() {
            return Self::OfMesh(layout);
        }
        Self::Ranks(comm.state::<Found>().0.get_or_init(|| {
            let distance = |one, other| layout.distance(comm.core_of(one), comm.core_of(other));
            let total = |rank: &usize| (0..comm.size()).map(|other| distance(*rank, other)).sum::<u32>();
            let mut ranks: alloc::vec::Vec<_> = (0..comm.size()).collect();
            ranks.sort_by_cached_key(total);
            ranks.truncate(MOST_HOSTS);
            ranks.into()
        }))
    }
}

/// The ranks on the one, two or four tiles in the middle of those that have ranks; at least one.
fn central(layout: &Layout) -> impl Iterator<Item = usize> + use<> {
    let (cores, on_a_tile) = (layout.cores(), layout.cores_per_tile());
    let tiles = cores.div_ceil(on_a_tile);
    let columns = layout.columns().min(tiles);
    let rows = tiles.div_ceil(layout.columns());
    let stride = layout.columns();
    let middle = |sides: usize| (sides - 1) / 2..sides / 2 + 1;
    let tiles = middle(rows).flat_map(move |row| middle(columns).map(move |column| row * stride + column));
    tiles
        .flat_map(move |tile| (0..on_a_tile).map(move |core| tile * on_a_tile + core))
        .filter(move |core| *core < cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(layout: Layout) -> std::vec::Vec<usize> {
        central(&layout).collect()
    }

    #[test]
    fn central_ranks_are_on_central_tiles() {
        assert_eq!(of(Layout::scc()), [16, 17, 18, 19, 28, 29, 30, 31]);
        assert_eq!(of(Layout::mesh(3, 3, 1)), [4]);
        assert_eq!(of(Layout::scc().with_cores(1)), [0]);
        assert_eq!(of(Layout::scc().with_cores(3)), [0, 1, 2]);
        assert_eq!(of(Layout::scc().with_cores(14)), [4, 5, 6, 7]);
        assert_eq!(of(Layout::scc().with_cores(12)), [4, 5, 6, 7]);
    }

    #[test]
    fn there_is_always_one() {
        for cores in 1..=4096 {
            let hosts = of(Layout::scc().with_cores(cores));
            assert!(!hosts.is_empty() && hosts.iter().all(|host| *host < cores), "{cores} cores");
        }
    }

    #[test]
    fn nobody_is_nearer_to_all() {
        let scc = Layout::scc();
        let total =
            |host| (0..48).map(|core| scc.distance(hal::CoreId::new(core), hal::CoreId::new(host))).sum::<u32>();
        let least = (0..48).map(total).min().unwrap();
        assert!(of(scc).into_iter().all(|host| total(host) == least));
    }
}
