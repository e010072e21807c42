//! What single accesses to memory cost on a mesh of tiles, and what they do to each other where they meet.
//!
//! Two machines price by it: the simulator (`hal::sim`), whose operations are made of accesses, and the board's emulator,
//! which executes instructions. [`contention`] is the same for both. What an access takes that meets no other differs:
//! the simulator's operations have the prices of a paper that measured them with their software; the emulator executes
//! the software, and has the prices of the [`Hardware`] alone. Both are numbers of the files in `descriptions`.

mod agenda;
pub mod contention;
mod hardware;
mod mesh;
mod uncached;

pub use self::{
    agenda::Agenda,
    contention::{Contention, Journey, Settled, Target, Traffic, Trip},
    hardware::{Hardware, Place, Way},
    mesh::Mesh,
    uncached::WordCycles,
};

/// What an access does to memory. At one time, writes come first: what is written at a time can be read at that time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// It stores.
    Write,
    /// It loads.
    Read,
    /// It loads from a register that this changes.
    TestAndSet,
}

#[cfg(test)]
mod tests {
    use descriptions::{Tile, boards::Board};

    use super::*;

    /// Where the cores and controllers of an SCC are.
    pub(crate) fn scc() -> Mesh {
        let controllers = [(0, 0), (5, 0), (0, 2), (5, 2)].map(|(x, y)| Tile { x, y });
        Mesh { columns: 6, rows: 4, cores_per_tile: 2, controllers: controllers.into() }
    }

    /// Cycles of a core of the SCC that an access of core 0 takes, rounded.
    fn cycles(place: Place, effect: Effect) -> u64 {
        let board = Board::built_in("scc").unwrap();
        let mesh = board.mesh().unwrap();
        let hardware = Hardware::new(mesh.hardware, mesh.contention, scc(), Tile { x: 3, y: 0 });
        let (effect_ps, answer_ps) = match hardware.way(0, place, effect) {
            Way::Alone { effect_ps, answer_ps } => (effect_ps, answer_ps),
            Way::Shared(trip) => {
                let mut traffic = Traffic::new(scc(), mesh.hardware.hop_ps, mesh.contention);
                traffic.depart(0, 0, Journey { trip, effect, more: 0 });
                let settled = std::iter::from_fn(|| Some(traffic.step())).flatten().next().unwrap();
                assert_eq!((settled.time_ps, settled.core), (traffic.alone_ps(effect, trip), 0));
                (settled.time_ps, trip.answer_ps)
            }
        };
        ((effect_ps + answer_ps) * 533 + 500_000) / 1_000_000
    }

    /// By how much later the second of two accesses takes effect that are alike but for their cores and places.
    fn later_ps(effect: Effect, accesses: [(u16, Place); 2]) -> u64 {
        let board = Board::built_in("scc").unwrap();
        let mesh = board.mesh().unwrap();
        let hardware = Hardware::new(mesh.hardware, mesh.contention, scc(), Tile { x: 3, y: 0 });
        let mut traffic = Traffic::new(scc(), mesh.hardware.hop_ps, mesh.contention);
        for (core, place) in accesses {
            let Way::Shared(trip) = hardware.way(core, place, effect) else { panic!("{place:?} meets nobody") };
            traffic.depart(core.into(), 0, Journey { trip, effect, more: 0 });
        }
        let mut times = Vec::new();
        while let Some(next_ps) = traffic.next_ps() {
            assert!(times.len() < 3, "{next_ps}");
            times.extend(traffic.step().map(|settled| settled.time_ps));
        }
        times[1] - times[0]
    }

    /// Ports, controllers and links serve one access at a time, each in its time: 9.5, 12, 10 and 3.75 ns.
    #[test]
    fn who_comes_second_waits_for_the_first() {
        // From tiles (1, 0) and (0, 1), over different links, to tile (0, 0).
        let at = |place, effect| later_ps(effect, [(2, place), (12, place)]);
        assert_eq!(at(Place::Mpb(0), Effect::Read), 9_500);
        assert_eq!(at(Place::Mpb(0), Effect::Write), 12_000);
        assert_eq!([Place::Line(0), Place::Word(0)].map(|place| at(place, Effect::Read)), [10_000; 2]);
        assert_eq!([Place::Line(0), Place::Word(0)].map(|place| at(place, Effect::Write)), [10_000; 2]);
        // Both cores of a tile to both MPBs of another one: lines come, and go, over one link.
        let over_a_link = |effect| later_ps(effect, [(2, Place::Mpb(0)), (3, Place::Mpb(1))]);
        assert_eq!([Effect::Read, Effect::Write].map(over_a_link), [3_750; 2]);
    }

    /// Also to the picosecond the order does not depend on who set out first.
    #[test]
    fn of_two_that_ask_at_one_time_the_lower_core_is_served_first() {
        let board = Board::built_in("scc").unwrap();
        let mesh = board.mesh().unwrap();
        let hardware = Hardware::new(mesh.hardware, mesh.contention, scc(), Tile { x: 3, y: 0 });
        for place in [Place::Mpb(0), Place::Line(0)] {
            for cores in [[2, 12], [12, 2]] {
                let mut traffic = Traffic::new(scc(), mesh.hardware.hop_ps, mesh.contention);
                for core in cores {
                    let Way::Shared(trip) = hardware.way(core, place, Effect::Read) else {
                        panic!("{place:?} meets nobody")
                    };
                    traffic.depart(core.into(), 0, Journey { trip, effect: Effect::Read, more: 0 });
                }
                let mut settled = Vec::new();
                while traffic.next_ps().is_some() && settled.len() < 3 {
                    settled.extend(traffic.step().map(|settled| settled.core));
                }
                assert_eq!(settled, [2, 12], "{place:?}, {cores:?}");
            }
        }
    }

    /// Barrelfish TN-005 measured loads and stores in loops on tile (0, 0): what its instructions take is on top of this,
    /// and what is on top is alike at all distances.
    #[test]
    fn accesses_take_what_was_measured() {
        let on_top = |measured: [u64; 3], place: fn(u16) -> Place, effect, cores: [u16; 3]| {
            let extra: Vec<_> =
                cores.iter().zip(measured).map(|(core, all)| all - cycles(place(*core), effect)).collect();
            (*extra.iter().min().unwrap(), *extra.iter().max().unwrap())
        };
        // One hop away, and in tiles (5, 0) and (5, 3).
        assert_eq!(on_top([63, 84, 102], Place::Mpb, Effect::Read, [2, 10, 46]), (7, 9));
        assert_eq!(on_top([84, 101, 119], Place::Mpb, Effect::Write, [2, 10, 46]), (9, 13));
        // Behind the controllers: a word, and a combined line.
        let memory = |place: fn(u16) -> Place, effect| [0, 1, 2, 3].map(|controller| cycles(place(controller), effect));
        assert_eq!(memory(Place::Word, Effect::Read), [97, 121, 105, 134]);
        assert_eq!(memory(Place::Word, Effect::Write), [97, 121, 105, 134]);
        assert_eq!(memory(Place::Line, Effect::Write), [114, 141, 125, 151], "122, 146, 134 and 158 with eight stores");
        assert_eq!(memory(Place::Line, Effect::Read), [100, 127, 111, 137]);
        assert_eq!(
            [cycles(Place::Register(0), Effect::TestAndSet), cycles(Place::Register(0), Effect::Write)],
            [50, 50]
        );
        assert_eq!(cycles(Place::Board, Effect::Read), 666);
    }

    /// What a read finds is on its way back after it was found; a write is there before it is answered.
    #[test]
    fn answers_take_the_way_back() {
        let board = Board::built_in("scc").unwrap();
        let mesh = board.mesh().unwrap();
        let hardware = Hardware::new(mesh.hardware, mesh.contention, scc(), Tile { x: 3, y: 0 });
        let hops_ps = 9 * mesh.hardware.hop_ps;
        let back = |place, effect| match hardware.way(46, place, effect) {
            Way::Alone { answer_ps, .. } => (0, answer_ps),
            Way::Shared(trip) => (trip.from_port_ps, trip.answer_ps),
        };
        assert_eq!(back(Place::Mpb(0), Effect::Read), (hops_ps, 0));
        assert_eq!(back(Place::Mpb(0), Effect::Write), (0, hops_ps));
        assert_eq!(back(Place::Line(0), Effect::Write), (0, hops_ps));
        assert_eq!(back(Place::Register(0), Effect::Write), (0, hops_ps));
    }

    #[test]
    fn cycles_begin_at_whole_numbers_of_them() {
        let board = Board::built_in("scc").unwrap();
        let mesh = board.mesh().unwrap();
        let hardware = Hardware::new(mesh.hardware, mesh.contention, scc(), Tile { x: 3, y: 0 });
        for cycle in [0, 1, 532, 533, 1_000_000_007] {
            assert_eq!(hardware.cycle_from(hardware.cycles_ps(cycle)), cycle);
            assert_eq!(hardware.cycle_from(hardware.cycles_ps(cycle) + 1), cycle + 1);
        }
    }
}
