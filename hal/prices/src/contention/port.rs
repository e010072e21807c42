//! Who waits for the port of an MPB, and who is next.
//!
//! Not who came first. A packet that cannot go on stays in the router where it is, and each router on the way takes
//! from its inputs in turn (round robin): the cores of its tile, and the neighbours whose routes lead over it. Routes
//! are X-Y, so around a port they are a tree: its column, with a branch in each row. Cores that share a far arm share
//! that arm's turn, and the many of a large arm get less each than the few of a small one. That is where the
//! unfairness of figure 4 of the OC-Bcast paper comes from.
//!
//! An input from a neighbour holds [`Contention::input_flits`](super::Contention), first in, first out; what does not
//! fit waits in the routers behind. Requests to read are a flit each, so quite a few get past the turns of the routers
//! behind; lines to be written are larger, do not, and are treated less fairly, as in the paper. An input of an SCC
//! holds two of them: virtual cut-through, which the SCC has, takes a packet only where there is room for all of it,
//! and has to have room for the next while one leaves, or links would idle.

use std::collections::VecDeque;

use descriptions::Tile;

use super::links::{Direction, horizontal, vertical};
use crate::{Effect, Mesh};

/// Flits of a request to read, and of a packet with a line of 32 bytes: one, and two of data.
const REQUEST_FLITS: usize = 1;
const LINE_FLITS: usize = 3;

/// An access that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packet {
    pub(super) core: u16,
    pub(super) effect: Effect,
}

impl Packet {
    fn flits(self) -> usize {
        match self.effect {
            Effect::Write => LINE_FLITS,
            Effect::Read | Effect::TestAndSet => REQUEST_FLITS,
        }
    }
}

/// The port of one MPB.
pub(super) struct Port {
    columns: usize,
    /// Flits that wait at an input of a router before its neighbour has to keep more.
    input_flits: usize,
    pub(super) busy_until_ps: u64,
    /// The core whose polls of it sleep as long as nobody else asks for it.
    pub(super) sleeper: Option<u16>,
    waiting: usize,
    /// Those of tiles where somebody has ever waited.
    routers: Vec<Router>,
    /// Of each tile, row by row, the place of its router among these, from 1 on; 0 if it has none. Empty until somebody waits.
    places: Vec<u32>,
}

/// What waits in one router for one port.
struct Router {
    /// The input that is asked first.
    turn: usize,
    waiting: usize,
    /// Flits at the inputs from neighbours.
    flits: [usize; NEIGHBOURS.len()],
    /// Neighbours in the order of [`Direction`], then the cores of the tile.
    inputs: Vec<VecDeque<Packet>>,
}

const NEIGHBOURS: [Direction; 4] = [Direction::West, Direction::East, Direction::South, Direction::North];

impl Port {
    /// An idle one. Inputs have room for a line at least.
    pub(super) fn new(mesh: &Mesh, input_flits: usize) -> Self {
        Self {
            columns: mesh.columns,
            input_flits: input_flits.max(LINE_FLITS),
            busy_until_ps: 0,
            sleeper: None,
            waiting: 0,
            routers: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Whether an access that asks now is served at once.
    pub(super) fn is_idle(&self, now_ps: u64) -> bool {
        self.waiting == 0 && self.busy_until_ps <= now_ps
    }

    pub(super) fn is_waited_for(&self) -> bool {
        self.waiting > 0
    }

    /// Lets a core's access wait for this port at tile `owner`. Returns whether it is the only one.
    pub(super) fn wait(&mut self, mesh: &Mesh, owner: Tile, packet: Packet) -> bool {
        let tile = mesh.tile(packet.core);
        let mut at = owner;
        loop {
            let router = self.make_router(mesh, at);
            let neighbour = if at.y != tile.y {
                vertical(at, tile)
            } else if at.x != tile.x {
                horizontal(at, tile)
            } else {
                let place = usize::from(packet.core) % mesh.cores_per_tile;
                let router = &mut self.routers[router];
                router.inputs[NEIGHBOURS.len() + place].push_back(packet);
                router.waiting += 1;
                break;
            };
            let behind = neighbour.from(at);
            // Not past those who wait behind: small packets would slip into any room before a large one gets enough.
            if packet.flits() <= self.room(router, neighbour) && self.is_empty(behind) {
                self.routers[router].push(neighbour, packet);
                break;
            }
            at = behind;
        }
        self.waiting += 1;
        self.waiting == 1
    }

    /// Takes the next access that waits for this port at tile `owner`.
    pub(super) fn choose(&mut self, owner: Tile) -> Option<Packet> {
        let packet = self.take(owner, LINE_FLITS)?;
        self.waiting -= 1;
        Some(packet)
    }

    /// What the router of a tile passes on next, if there is room for it where it goes to; the routers behind move up.
    fn take(&mut self, at: Tile, room_flits: usize) -> Option<Packet> {
        let index = self.router(at)?;
        let router = &mut self.routers[index];
        if router.waiting == 0 {
            return None;
        }
        let after = |input: usize| if input + 1 == router.inputs.len() { 0 } else { input + 1 };
        let mut input = router.turn;
        while router.inputs[input].is_empty() {
            input = after(input);
        }
        let turn = after(input);
        let packet = router.inputs[input].pop_front_if(|packet| packet.flits() <= room_flits)?;
        router.turn = turn;
        router.waiting -= 1;
        if let Some(neighbour) = NEIGHBOURS.get(input) {
            router.flits[input] -= packet.flits();
            self.move_up(index, at, *neighbour);
        }
        Some(packet)
    }

    /// Fills the input of a router from its neighbour.
    fn move_up(&mut self, router: usize, at: Tile, neighbour: Direction) {
        let is_edge = match neighbour {
            Direction::West => at.x == 0,
            Direction::South => at.y == 0,
            Direction::East | Direction::North => false,
        };
        if is_edge {
            return;
        }
        while let Some(next) = self.take(neighbour.from(at), self.room(router, neighbour)) {
            self.routers[router].push(neighbour, next);
        }
    }

    /// Flits for which there is room at an input of a router.
    fn room(&self, router: usize, neighbour: Direction) -> usize {
        self.input_flits - self.routers[router].flits[neighbour as usize]
    }

    /// Whether nothing waits in the router of a tile, and so nothing behind it.
    fn is_empty(&self, at: Tile) -> bool {
        self.router(at).is_none_or(|router| self.routers[router].waiting == 0)
    }

    /// The router of a tile, if it has one and the mesh has such a tile.
    fn router(&self, at: Tile) -> Option<usize> {
        let (x, y) = (usize::from(at.x), usize::from(at.y));
        let place = if x < self.columns { self.places.get(y * self.columns + x)? } else { &0 };
        (*place as usize).checked_sub(1)
    }

    /// The router of a tile of the mesh.
    fn make_router(&mut self, mesh: &Mesh, at: Tile) -> usize {
        self.places.resize(mesh.columns * mesh.rows, 0);
        self.router(at).unwrap_or_else(|| {
            self.routers.push(Router::new(mesh.cores_per_tile));
            self.places[usize::from(at.y) * self.columns + usize::from(at.x)] = self.routers.len() as u32;
            self.routers.len() - 1
        })
    }
}

impl Router {
    fn new(cores_per_tile: usize) -> Self {
        let inputs = vec![VecDeque::new(); NEIGHBOURS.len() + cores_per_tile];
        Self { turn: 0, waiting: 0, flits: [0; NEIGHBOURS.len()], inputs }
    }

    /// A packet comes from a neighbour.
    fn push(&mut self, neighbour: Direction, packet: Packet) {
        self.inputs[neighbour as usize].push_back(packet);
        self.flits[neighbour as usize] += packet.flits();
        self.waiting += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: Tile = Tile { x: 0, y: 0 };

    /// The cores in the order in which they are served that wait in this order.
    fn served(waiting: &[(u16, Effect)]) -> Vec<u16> {
        let mesh = crate::tests::scc();
        let mut port = Port::new(&mesh, 6);
        for (index, (core, effect)) in waiting.iter().enumerate() {
            assert_eq!(port.wait(&mesh, PORT, Packet { core: *core, effect: *effect }), index == 0);
        }
        let served = std::iter::from_fn(|| port.choose(PORT).map(|packet| packet.core)).collect();
        assert!(!port.is_waited_for());
        served
    }

    #[test]
    fn a_router_takes_from_its_inputs_in_turn() {
        // East of the port, north of it, and on its tile, whatever came first.
        let waiting = [2, 4, 6, 12, 24, 0, 1].map(|core| (core, Effect::Read));
        assert_eq!(served(&waiting), [2, 12, 0, 1, 4, 24, 6]);
    }

    #[test]
    fn who_shares_a_far_arm_shares_its_turn() {
        // Three lines to be written from beyond tile (1, 0), whose own core comes last: two are in front, and the third
        // takes turns with it.
        let waiting = [6, 7, 8, 9, 2].map(|core| (core, Effect::Write));
        assert_eq!(served(&waiting), [6, 7, 8, 2, 9]);
    }

    #[test]
    fn small_packets_do_not_slip_past_a_large_one() {
        let reads = [4, 5, 6, 7].map(|core| (core, Effect::Read));
        let waiting: Vec<_> =
            reads.into_iter().chain([(8, Effect::Write), (9, Effect::Read), (10, Effect::Read)]).collect();
        let served = served(&waiting);
        assert_eq!(served.iter().position(|core| *core == 8), Some(4), "{served:?}");
    }
}
