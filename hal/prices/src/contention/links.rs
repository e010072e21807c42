//! The links of the mesh, in both directions.
//!
//! A packet with a line takes the X-Y route and occupies each link on it for a while, one hop after the one before. A
//! link carries one packet at a time, whoever finds a gap first: packets are entered one after the other, in the
//! order in which a port has served them (reads) or would be reached (writes), and that differs from the order at a
//! link by some hops. So a packet may slip into a gap that was left before one that was entered earlier; it never
//! moves one.

use descriptions::Tile;

use super::Contention;
use crate::Mesh;

const DIRECTIONS: usize = 4;

/// When the links are occupied.
pub(super) struct Links {
    columns: usize,
    link_ps: u64,
    hop_ps: u64,
    /// How far before the time at which a packet is entered it can have been on a link.
    past_ps: u64,
    /// The times at which packets that may still matter enter each link, ascending.
    entered_ps: Vec<Vec<u64>>,
}

impl Links {
    pub(super) fn new(mesh: &Mesh, hop_ps: u64, contention: Contention) -> Self {
        let (columns, rows) = (mesh.columns, mesh.rows);
        Self {
            columns,
            link_ps: contention.link_ps,
            hop_ps,
            past_ps: (columns + rows) as u64 * hop_ps,
            entered_ps: vec![Vec::new(); columns * rows * DIRECTIONS],
        }
    }

    /// Takes the links of a packet that leaves `from` at `start_ps`, which is `now_ps` or later; returns how long it is
    /// kept waiting in all.
    pub(super) fn reserve_from(&mut self, from: Tile, to: Tile, start_ps: u64, now_ps: u64) -> u64 {
        if self.link_ps == 0 {
            return 0;
        }
        let (mut at, mut time_ps, mut waited_ps) = (from, start_ps, 0);
        let oldest_ps = now_ps.saturating_sub(self.past_ps + self.link_ps);
        while at != to {
            let direction = direction(at, to);
            let link = (usize::from(at.y) * self.columns + usize::from(at.x)) * DIRECTIONS + direction as usize;
            let entered = enter(&mut self.entered_ps[link], time_ps, self.link_ps, oldest_ps);
            waited_ps += entered - time_ps;
            time_ps = entered + self.hop_ps;
            at = direction.from(at);
        }
        waited_ps
    }

    /// Takes the links of a packet that would be at `to` at `end_ps`; returns how long it is kept waiting in all.
    pub(super) fn reserve_towards(&mut self, from: Tile, to: Tile, end_ps: u64) -> u64 {
        let hops = u64::from(from.routers_to(to) - 1);
        self.reserve_from(from, to, end_ps.saturating_sub(hops * self.hop_ps), end_ps)
    }
}

/// Enters a link in the first gap from `time_ps` on, which is no earlier than those that have left when the one at `oldest_ps` has.
#[inline]
fn enter(entered_ps: &mut Vec<u64>, time_ps: u64, link_ps: u64, oldest_ps: u64) -> u64 {
    // No room is made while those that say nothing any more take it.
    if entered_ps.len() == entered_ps.capacity() {
        let old = entered_ps.partition_point(|entered| *entered < oldest_ps);
        entered_ps.drain(..old);
    }
    // Most packets come after all others.
    if entered_ps.last().is_none_or(|entered| entered + link_ps <= time_ps) {
        entered_ps.push(time_ps);
        return time_ps;
    }
    enter_gap(entered_ps, time_ps, link_ps)
}

fn enter_gap(entered_ps: &mut Vec<u64>, mut time_ps: u64, link_ps: u64) -> u64 {
    let mut place = entered_ps.len();
    while place > 0 && entered_ps[place - 1] + link_ps > time_ps {
        place -= 1;
    }
    while let Some(entered) = entered_ps.get(place).filter(|entered| time_ps + link_ps > **entered) {
        time_ps = time_ps.max(entered + link_ps);
        place += 1;
    }
    entered_ps.insert(place, time_ps);
    time_ps
}

/// Where a link or an input of a router is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    West,
    East,
    South,
    North,
}

impl Direction {
    /// The neighbour on this side.
    pub(super) fn from(self, tile: Tile) -> Tile {
        let Tile { x, y } = tile;
        match self {
            Self::West => Tile { x: x - 1, y },
            Self::East => Tile { x: x + 1, y },
            Self::South => Tile { x, y: y - 1 },
            Self::North => Tile { x, y: y + 1 },
        }
    }
}

/// The next link from `at` to another tile: first along the row, then along the column.
fn direction(at: Tile, to: Tile) -> Direction {
    if at.x == to.x { vertical(at, to) } else { horizontal(at, to) }
}

/// The next link from `at` to another tile, in the order west, east, south, north, and the tile at its end.
pub fn step_towards(at: Tile, to: Tile) -> (usize, Tile) {
    let direction = direction(at, to);
    (direction as usize, direction.from(at))
}

/// Where `to` is from `at`, in another row.
pub(super) fn vertical(at: Tile, to: Tile) -> Direction {
    if to.y < at.y { Direction::South } else { Direction::North }
}

/// Where `to` is from `at`, in another column.
pub(super) fn horizontal(at: Tile, to: Tile) -> Direction {
    if to.x < at.x { Direction::West } else { Direction::East }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: u64 = 5_000;
    const LINK: u64 = 4_000;

    fn links() -> Links {
        let contention = Contention { link_ps: LINK, ..Contention::scc() };
        Links::new(&crate::tests::scc(), HOP, contention)
    }

    #[test]
    fn packets_on_one_link_wait_and_others_do_not() {
        let mut links = links();
        let [a, b, c] = [(0, 0), (1, 0), (1, 1)].map(|(x, y)| Tile { x, y });
        assert_eq!(links.reserve_from(a, c, 0, 0), 0);
        // The link from a to b is taken until 4 ns, the next one from 5 to 9 ns.
        assert_eq!(links.reserve_from(a, c, 1_000, 0), 3_000);
        assert_eq!(links.reserve_from(b, c, 1_000, 0), 0);
        assert_eq!(links.reserve_from(c, a, 0, 0), 0);
        // The other way round: first from c to the west, so not the same links as from a.
        assert_eq!(links.reserve_from(b, a, 1_000, 0), 0);
        assert_eq!(links.reserve_towards(a, c, 1_000 + 2 * HOP), 3_000 + LINK);
    }

    #[test]
    fn a_gap_that_is_too_narrow_stays_empty() {
        let mut entered = Vec::new();
        let mut enter = |time| super::enter(&mut entered, time, LINK, 0);
        assert_eq!([enter(0), enter(11_000), enter(3_000), enter(7_500), enter(0)], [0, 11_000, 4_000, 15_000, 19_000]);
    }
}
