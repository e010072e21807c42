//! What single accesses take on hardware, without any software.

use descriptions::Tile;

use crate::{Contention, Effect, Mesh, Target, Trip, WordCycles};

/// What a core accesses outside of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of this core's MPB, or a part of it.
    Mpb(u16),
    /// A line of the memory behind a controller.
    Line(u16),
    /// A word there, uncached, or what a store misses.
    Word(u16),
    /// A register of this core's tile.
    Register(u16),
    /// A register of the board.
    Board,
}

/// How an access gets to its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Where it may meet others.
    Shared(Trip),
    /// Where it meets nobody: picoseconds until it takes effect, and from then until its core goes on.
    Alone {
        /// Until it takes effect.
        effect_ps: u64,
        /// From then until its core goes on.
        answer_ps: u64,
    },
}

/// The prices of a mesh.
#[derive(Clone, Debug)]
pub struct Hardware {
    numbers: descriptions::Hardware,
    words: WordCycles,
    contention: Contention,
    mesh: Mesh,
    board: Tile,
}

impl Hardware {
    /// The prices of a mesh whose board's registers hang off tile `board`.
    pub fn new(numbers: descriptions::Hardware, contention: Contention, mesh: Mesh, board: Tile) -> Self {
        Self { words: WordCycles::of(&numbers.word_cycles), numbers, contention, mesh, board }
    }

    /// The numbers that these are made of.
    pub const fn numbers(&self) -> &descriptions::Hardware {
        &self.numbers
    }

    /// What accesses do to each other where they meet.
    pub const fn contention(&self) -> Contention {
        self.contention
    }

    /// Where cores and controllers are.
    pub const fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Cycles of a core in picoseconds.
    pub const fn cycles_ps(&self, cycles: u64) -> u64 {
        cycles * 1_000_000 / self.numbers.core_mhz
    }

    /// The first cycle of a core that begins at a time, or after it.
    pub const fn cycle_from(&self, time_ps: u64) -> u64 {
        (time_ps * self.numbers.core_mhz).div_ceil(1_000_000)
    }

    /// How an access of a core gets to its place.
    pub fn way(&self, core: u16, place: Place, effect: Effect) -> Way {
        let routers = self.routers(core, place);
        let complete_ps = self.complete_ps(place, effect, routers);
        let return_ps = routers * self.numbers.hop_ps;
        let target = match place {
            Place::Mpb(owner) => Target::Mpb(owner),
            Place::Line(controller) | Place::Word(controller) => Target::Controller(controller),
            Place::Register(_) | Place::Board => {
                let answer_ps = if effect == Effect::Write { return_ps } else { 0 };
                return Way::Alone { effect_ps: complete_ps - answer_ps, answer_ps };
            }
        };
        Way::Shared(Trip::new(&self.contention, target, effect, complete_ps, return_ps))
    }

    /// Routers between a core and a place, the one of its own tile included.
    fn routers(&self, core: u16, place: Place) -> u64 {
        let there = match place {
            Place::Mpb(other) | Place::Register(other) => self.mesh.tile(other),
            Place::Line(controller) | Place::Word(controller) => self.mesh.controllers[usize::from(controller)],
            Place::Board => self.board,
        };
        self.mesh.tile(core).routers_to(there).into()
    }

    /// What an access takes until its core goes on, if it meets no other.
    fn complete_ps(&self, place: Place, effect: Effect, routers: u64) -> u64 {
        let numbers = &self.numbers;
        let at_place_ps = match (place, effect) {
            (Place::Word(_), _) => return self.words.ps(routers, numbers.hop_ps, |cycles| self.cycles_ps(cycles)),
            (Place::Mpb(_), Effect::Write) => self.cycles_ps(numbers.mpb_write_cycles),
            (Place::Mpb(_) | Place::Register(_), _) => self.cycles_ps(numbers.mpb_read_cycles),
            (Place::Line(_), Effect::Write) => self.cycles_ps(numbers.dram_cycles) + numbers.dram_write_ps,
            (Place::Line(_), _) => self.cycles_ps(numbers.dram_cycles) + numbers.dram_read_ps,
            (Place::Board, _) => numbers.board_ps,
        };
        at_place_ps + 2 * routers * numbers.hop_ps
    }
}
