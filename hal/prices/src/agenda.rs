//! What comes first of what each of some places does next.
//!
//! A place does one thing at a time, so that what it does next has a leaf of its own in a tree, each of whose nodes has what comes first
//! of the two below it. Machines do this several times for each access, so that nothing is moved but numbers, and no comparison of
//! times decides where the processor goes on, which it could not foresee.

use std::hint::select_unpredictable;

/// What places do next.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Places that there is room for, a power of two.
    room: usize,
    /// The nodes of the tree: the root at 1, and the leaves, in the order of places, at the end.
    nodes: Vec<Node>,
}

/// What comes first below a node.
#[derive(Clone, Copy, Debug)]
struct Node {
    time_ps: u64,
    rank: u32,
}

const NOTHING: Node = Node { time_ps: u64::MAX, rank: u32::MAX };

impl Agenda {
    /// That of this many places, none of which does anything.
    pub fn new(places: usize) -> Self {
        let room = places.next_power_of_two();
        Self { room, nodes: vec![NOTHING; 2 * room] }
    }

    /// A place does something at a time, instead of what it was to do. Of what is done at one time, the lowest rank comes first; no two
    /// have the same, and none has the highest.
    ///
    /// # Panics
    /// If there is no room for such a place: there is for a power of two.
    pub fn enter(&mut self, place: usize, time_ps: u64, rank: u32) {
        let nodes = &mut self.nodes[..];
        let mut at = self.room + place;
        let (mut time_ps, mut rank) = (time_ps, rank);
        nodes[at] = Node { time_ps, rank };
        while at > 1 {
            let beside = nodes[at ^ 1];
            // Nobody can foretell which it is.
            let is_beside = (beside.time_ps < time_ps) | ((beside.time_ps == time_ps) & (beside.rank < rank));
            time_ps = select_unpredictable(is_beside, beside.time_ps, time_ps);
            rank = select_unpredictable(is_beside, beside.rank, rank);
            at /= 2;
            if nodes[at].rank == rank && nodes[at].time_ps == time_ps {
                // What comes late changes nothing further up.
                return;
            }
            nodes[at] = Node { time_ps, rank };
        }
    }

    /// A place does nothing more.
    ///
    /// # Panics
    /// If there is no room for such a place: there is for a power of two.
    pub fn strike(&mut self, place: usize) {
        self.enter(place, NOTHING.time_ps, NOTHING.rank);
    }

    /// The time and the rank of what comes first.
    #[inline]
    pub fn first(&self) -> Option<(u64, u32)> {
        let Node { time_ps, rank } = self.nodes[1];
        (rank != NOTHING.rank).then_some((time_ps, rank))
    }

    /// The time of what comes first; that of nothing never comes.
    #[inline]
    pub fn first_ps(&self) -> u64 {
        self.nodes[1].time_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_is_found_whoever_comes_and_goes() {
        for places in [1, 2, 3, 48, 64] {
            let mut agenda = Agenda::new(places);
            let mut expected = vec![None; places];
            // Numbers without an order.
            let mut number = 1_u64;
            for _ in 0..1_000 {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let place = (number >> 33) as usize % places;
                let entry = ((number >> 40) % 5, ((number >> 20) as u32 % 3) << 16 | place as u32);
                if expected[place].take().is_some() {
                    agenda.strike(place);
                } else {
                    agenda.enter(place, entry.0, entry.1);
                    expected[place] = Some(entry);
                }
                assert_eq!(agenda.first(), expected.iter().flatten().min().copied(), "of {places}");
            }
        }
        assert_eq!((Agenda::new(3).first(), Agenda::new(3).first_ps()), (None, u64::MAX));
    }
}
