//! A tree that goes by distances on the mesh.
//!
//! As seen from a parent, the nodes below it are divided into k sectors that differ by one node at most, each running
//! from near to far. Of each sector the node becomes a child that is not far from either end, so that both the way
//! from the parent and those to the rest of its sector are short; and so on from there. The tree is as flat as any of
//! its degree, and no copy goes all across the mesh as long as there is somebody in between.
//!
//! Each rank finds its own place: it divides its own branch only, O(n log n) for all n nodes and then for ever fewer.

use alloc::vec::Vec;

use hal::{CoreId, Layout, Tile};

use super::nodes::{Family, Nodes};

/// Core cycles of a step of sorting: a call, two loads and a comparison of directions, and a swap every other time.
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
    let mut head = site(nodes.leader_at(0));
    let (mut parent, mut siblings) = (None, Vec::new());
    loop {
        below.sort_unstable_by_key(|site| {
            (direction(head.tile, site.tile), head.tile.routers_to(site.tile), site.leader)
        });
        let sectors: Vec<_> = sectors(&below, k).collect();
        steps += (below.len() * (1 + below.len().max(1).ilog2() as usize)) as u64;
        let chosen: Vec<_> = sectors.iter().map(|sector| between(head, sector)).collect();
        let children: Vec<_> = chosen.iter().map(|child| child.leader).collect();
        if head.leader == leader {
            return (Family { parent, siblings, children }, steps);
        }
        let own = sectors.iter().position(|sector| sector.iter().any(|site| site.leader == leader));
        let own = own.unwrap_or_else(|| unreachable!("every leader is in some sector"));
        let rest = sectors[own].iter().filter(|site| **site != chosen[own]).copied().collect();
        (parent, siblings, head, below) = (Some(head.leader), children, chosen[own], rest);
    }
}

/// Divides sites into `count` parts in a row, or one for each if there are fewer.
fn sectors(sites: &[Site], count: usize) -> impl Iterator<Item = &[Site]> {
    let count = count.min(sites.len());
    (0..count).map(move |index| &sites[sites.len() * index / count..sites.len() * (index + 1) / count])
}

/// The direction from one tile to another, counter-clockwise from east in parts of a full circle of 4096, along a
/// diamond.
fn direction(from: Tile, to: Tile) -> i32 {
    const QUADRANT: i32 = 1024;
    let (dx, dy) = (i32::from(to.x) - i32::from(from.x), i32::from(to.y) - i32::from(from.y));
    let along = |part: i32| part.abs() * QUADRANT / (dx.abs() + dy.abs()).max(1);
    match (dx > 0, dy >= 0) {
        (true, true) => along(dy),
        (false, true) => QUADRANT + along(dx),
        (false, false) => 2 * QUADRANT + along(dy),
        (true, false) => 3 * QUADRANT + along(dx),
    }
}

/// The site of a sector whose longest way, from the parent or to one of the sector, is shortest; of these, that with
/// the shortest way to the farthest through it.
fn between(parent: Site, sector: &[Site]) -> Site {
    // Along the diagonals, the farthest of the sector is at an end.
    let ends = [1, -1].map(|sign| {
        let along = sector.iter().map(|site| diagonal(site.tile, sign));
        (sign, along.clone().min().unwrap_or(0), along.max().unwrap_or(0))
    });
    let ways = |site: &Site| {
        let hops = ends.map(|(sign, first, last)| {
            let at = diagonal(site.tile, sign);
            (at - first).max(last - at)
        });
        let down = hops[0].max(hops[1]).unsigned_abs() + 1;
        let up = parent.tile.routers_to(site.tile);
        (up.max(down), up + down, site.leader)
    };
    sector.iter().copied().min_by_key(ways).unwrap_or(parent)
}

/// Where a tile is along one of the diagonals: the hops between two tiles are what they are apart along the one where
/// they are farther apart.
fn diagonal(tile: Tile, sign: i32) -> i32 {
    i32::from(tile.x) + sign * i32::from(tile.y)
}
