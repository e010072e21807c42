//! A tree whose subtrees stay together on the mesh.
//!
//! The nodes below a parent are divided into k groups that differ by one node at most, by cutting the mesh across its longer side again
//! and again; the node in the middle of each group becomes a child, and so on. The tree is as flat as any of its degree. Only the copies near the
//! root go far; below, parents and children are neighbours.
//!
//! Each rank finds its own place: it divides its own branch only, O(n log n) for all n nodes and then for ever fewer.

use alloc::vec::Vec;

use hal::{CoreId, Layout, Tile};

use super::tree::{Family, Nodes};

/// Core cycles of a step of sorting: a call, two loads and a comparison of tiles, and a swap every other time.
pub(super) const STEP_CYCLES: u64 = 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Site {
    leader: usize,
    tile: Tile,
}

/// The family of the node of `leader`, and how many steps it took to find it.
pub(super) fn family(layout: &Layout, nodes: &Nodes, leader: usize, k: usize) -> (Family, u64) {
    let site = |leader: usize| Site { leader, tile: layout.tile(CoreId::new(leader)) };
    let mut below: Vec<_> = (1..nodes.count()).map(|position| site(nodes.leader_at(position))).collect();
    let mut steps = 0;
    let mut head = nodes.leader_at(0);
    let (mut parent, mut siblings) = (None, Vec::new());
    loop {
        let mut groups = Vec::new();
        divide(&mut below, k, &mut groups, &mut steps);
        let children: Vec<usize> = groups.iter().map(|group| group[0].leader).collect();
        if head == leader {
            return (Family { parent, siblings, children }, steps);
        }
        let own = groups.iter().find(|group| group.iter().any(|site| site.leader == leader));
        let own = own.map(|group| group.to_vec()).unwrap_or_default();
        let (first, rest) = own.split_first().unwrap_or_else(|| unreachable!("every leader is in some group"));
        (parent, head) = (Some(head), first.leader);
        siblings = children;
        below = rest.to_vec();
    }
}

/// Divides `sites` into `parts` groups, or as many as there are sites, and puts the one in the middle of each first.
fn divide<'s>(sites: &'s mut [Site], parts: usize, groups: &mut Vec<&'s [Site]>, steps: &mut u64) {
    let parts = parts.min(sites.len());
    *steps += sites.len() as u64;
    if parts <= 1 {
        if !sites.is_empty() {
            let middle = middle(sites);
            sites.swap(0, middle);
            groups.push(sites);
        }
        return;
    }
    *steps += (sites.len() * sites.len().ilog2() as usize) as u64;
    if spread(sites, |tile| tile.x) >= spread(sites, |tile| tile.y) {
        sites.sort_unstable_by_key(|site| (site.tile.x, site.tile.y, site.leader));
    } else {
        sites.sort_unstable_by_key(|site| (site.tile.y, site.tile.x, site.leader));
    }
    let half = parts / 2;
    let (near, far) = sites.split_at_mut(sites.len() * half / parts);
    divide(near, half, groups, steps);
    divide(far, parts - half, groups, steps);
}

fn spread(sites: &[Site], coordinate: impl Fn(Tile) -> u16) -> u16 {
    let all = || sites.iter().map(|site| coordinate(site.tile));
    all().max().unwrap_or(0) - all().min().unwrap_or(0)
}

/// The index of the site that is nearest to the mean of all, the first of them in rank order.
fn middle(sites: &[Site]) -> usize {
    let count = sites.len();
    let sum = |coordinate: fn(Tile) -> u16| sites.iter().map(|site| usize::from(coordinate(site.tile))).sum::<usize>();
    let (x, y) = (sum(|tile| tile.x), sum(|tile| tile.y));
    let off =
        |site: &Site| (usize::from(site.tile.x) * count).abs_diff(x) + (usize::from(site.tile.y) * count).abs_diff(y);
    (0..count).min_by_key(|index| (off(&sites[*index]), sites[*index].leader)).unwrap_or(0)
}
