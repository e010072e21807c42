//! What accesses to memory do to each other where they meet: at the ports of MPBs, at memory controllers, and on the
//! links of the mesh.
//!
//! An access is on its way as the price list says, up to the port of the MPB or to the controller. Each serves one
//! access at a time. Who waits for a port and who comes next is decided in `port`; a controller has a queue, and who
//! comes first is served first. The packet that carries the data, of a read back to the core and of a write to the
//! memory, has each link of its X-Y route to itself for a while, see `links`. All that is *part* of the access's
//! price: the service is the last part of the way there, and an access that meets no other takes exactly as long as
//! without contention.
//!
//! To a controller go lines and words of shared memory, lines that are written back, and what is priced as an access to
//! private memory: the other end of a put or a get, computation that accounts for memory, and the lines that a flush
//! reads to displace others. Private memory is behind its core's own controller. What is inside `o_r^mem` and `o_w^mem`
//! of the OC-Bcast paper beside the service, a core's and a mesh interface's work, keeps nobody else waiting.
//!
//! Requests and acknowledgements carry no data and do not occupy links. A packet with a word occupies them as long as
//! one with a line. Registers, and the counters of the board, have no queues. The read of the flag's value in the own
//! MPB that a flag's price contains is priced and not simulated, so it does not occupy the own port.
//!
//! What takes no time is occupied for none: so each kind of contention is switched off by a 0, see [`Contention`].
//!
//! Polls are accesses like others, also those that are made without their cores; what that needs is in `polls`.

mod links;
mod polls;
mod port;

use descriptions::Tile;

pub use self::links::step_towards;
pub use descriptions::Contention;

use self::{
    links::Links,
    port::{Packet, Port},
};

use crate::{Agenda, Effect, Mesh};

/// How long what is accessed is busy with an access.
const fn service_ps(contention: &Contention, target: Target, effect: Effect) -> u64 {
    match (target, effect) {
        (Target::Controller(_), _) => contention.controller_ps,
        (Target::Mpb(_), Effect::Write) => contention.mpb_port_write_ps,
        (Target::Mpb(_), Effect::Read | Effect::TestAndSet) => contention.mpb_port_ps,
    }
}

/// Where accesses meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// At the port of this core's MPB.
    Mpb(u16),
    /// At this memory controller.
    Controller(u16),
}

impl Target {
    /// Whose MPB it is, if it is one.
    pub const fn port(self) -> Option<u16> {
        match self {
            Self::Mpb(owner) => Some(owner),
            Self::Controller(_) => None,
        }
    }
}

/// The way of one access, without others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trip {
    /// Where it goes.
    pub target: Target,
    /// From the start until it asks to be served.
    pub to_port_ps: u64,
    /// From the end of its service until it takes effect.
    pub from_port_ps: u64,
    /// From then until its core goes on.
    pub answer_ps: u64,
}

impl Trip {
    /// The way of an access that takes `complete_ps` picoseconds in all, of which `return_ps` are the way back.
    #[inline]
    pub const fn new(
        contention: &Contention,
        target: Target,
        effect: Effect,
        complete_ps: u64,
        return_ps: u64,
    ) -> Self {
        let to_port_ps = complete_ps.saturating_sub(return_ps + service_ps(contention, target, effect));
        let (from_port_ps, answer_ps) = match effect {
            Effect::Write => (0, return_ps),
            Effect::Read | Effect::TestAndSet => (return_ps, 0),
        };
        Self { target, to_port_ps, from_port_ps, answer_ps }
    }
}

/// What a core is about: accesses that go the same way, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Journey {
    /// Their way.
    pub trip: Trip,
    /// What each does.
    pub effect: Effect,
    /// Accesses that follow the one that is under way.
    pub more: u64,
}

/// An access that has been served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settled {
    /// Whose it is.
    pub core: u16,
    /// When it takes effect.
    pub time_ps: u64,
    /// What it does then.
    pub effect: Effect,
}

/// Something that happens to accesses on their way. At one time, all arrive before a port chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The packet of this core is at the last router; whether links have kept it waiting is yet to be seen.
    Arrives(u16),
    /// The access of this core asks to be served.
    Asks(u16),
    /// The port of this core's MPB has served one access, and others wait.
    Serves(u16),
    /// The access of this core, which meets nobody, takes effect.
    Passes(u16),
}

impl Step {
    /// Its place among those of one time.
    const fn rank(self) -> u32 {
        let (kind, of) = match self {
            Self::Arrives(core) => (0, core),
            Self::Asks(core) => (1, core),
            Self::Serves(port) => (2, port),
            Self::Passes(core) => (3, core),
        };
        kind << u16::BITS | of as u32
    }

    const fn of_rank(rank: u32) -> Self {
        let of = rank as u16;
        match rank >> u16::BITS {
            0 => Self::Arrives(of),
            1 => Self::Asks(of),
            2 => Self::Serves(of),
            _ => Self::Passes(of),
        }
    }
}

/// All accesses that are on their way.
pub struct Traffic {
    mesh: Mesh,
    /// Of each core.
    tiles: Vec<Tile>,
    contention: Contention,
    /// What happens next to the access of each core, and behind these at each port.
    steps: Agenda,
    /// The journey of each core that has an access under way.
    journeys: Vec<Journey>,
    ports: Vec<Port>,
    /// Until when each memory controller is busy with what has asked so far.
    controllers_ps: Vec<u64>,
    links: Links,
}

impl Traffic {
    /// An idle machine, on which a packet takes `hop_ps` picoseconds from router to router.
    pub fn new(mesh: Mesh, hop_ps: u64, contention: Contention) -> Self {
        let nowhere = Trip { target: Target::Controller(0), to_port_ps: 0, from_port_ps: 0, answer_ps: 0 };
        let cores = mesh.cores();
        Self {
            contention,
            steps: Agenda::new(2 * cores),
            journeys: vec![Journey { trip: nowhere, effect: Effect::Read, more: 0 }; cores],
            ports: (0..cores).map(|_| Port::new(&mesh, contention.input_flits)).collect(),
            controllers_ps: vec![0; mesh.controllers.len()],
            links: Links::new(&mesh, hop_ps, contention),
            tiles: (0..cores).map(|core| mesh.tile(core as u16)).collect(),
            mesh,
        }
    }

    /// `core` begins a journey at `start_ps`.
    #[inline(always)]
    pub fn depart(&mut self, core: usize, start_ps: u64, journey: Journey) {
        self.journeys[core] = journey;
        let step = match journey.effect {
            Effect::Write => Step::Arrives(core as u16),
            Effect::Read | Effect::TestAndSet => Step::Asks(core as u16),
        };
        self.steps.enter(core, start_ps.saturating_add(journey.trip.to_port_ps), step.rank());
    }

    /// When the next step is.
    #[inline]
    pub fn next_ps(&self) -> Option<u64> {
        self.steps.first().map(|(time_ps, _)| time_ps)
    }

    /// Makes the next step. Returns the access that it has settled.
    pub fn step(&mut self) -> Option<Settled> {
        let (now_ps, rank) = self.steps.first()?;
        match Step::of_rank(rank) {
            Step::Arrives(core) => {
                let (there, tile) = self.ends(core);
                let wait = self.links.reserve_towards(tile, there, now_ps);
                self.steps.enter(core.into(), now_ps + wait, Step::Asks(core).rank());
                None
            }
            Step::Passes(core) => {
                self.steps.strike(core.into());
                let effect = self.journeys[usize::from(core)].effect;
                Some(Settled { core, time_ps: now_ps, effect })
            }
            Step::Asks(core) => {
                self.steps.strike(core.into());
                let Journey { trip, effect, .. } = self.journeys[usize::from(core)];
                let owner = match trip.target {
                    Target::Mpb(owner) => owner,
                    Target::Controller(controller) => return self.queue(controller, core, now_ps),
                };
                let (tile, _) = self.ends(core);
                let index = usize::from(owner);
                let port = &mut self.ports[index];
                if port.is_idle(now_ps) {
                    return self.serve(index, core, now_ps);
                }
                if port.wait(&self.mesh, tile, Packet { core, effect }) {
                    self.serve_next(owner);
                }
                None
            }
            Step::Serves(owner) => {
                let index = usize::from(owner);
                let settled = self.ports[index]
                    .choose(self.tiles[index])
                    .and_then(|packet| self.serve(index, packet.core, now_ps));
                if self.ports[index].is_waited_for() {
                    self.serve_next(owner);
                } else {
                    self.steps.strike(self.place_of_port(owner));
                }
                settled
            }
        }
    }

    /// Where a port is among those that do something.
    fn place_of_port(&self, owner: u16) -> usize {
        self.tiles.len() + usize::from(owner)
    }

    /// A port serves another access as soon as it is idle.
    fn serve_next(&mut self, owner: u16) {
        let (place, time_ps) = (self.place_of_port(owner), self.ports[usize::from(owner)].busy_until_ps);
        self.steps.enter(place, time_ps, Step::Serves(owner).rank());
    }

    /// The port of an MPB serves the access of `core` now.
    fn serve(&mut self, port: usize, core: u16, now_ps: u64) -> Option<Settled> {
        let Journey { trip, effect, .. } = self.journeys[usize::from(core)];
        let served_ps = now_ps + service_ps(&self.contention, trip.target, effect);
        self.ports[port].busy_until_ps = served_ps;
        self.settle(core, served_ps, now_ps)
    }

    /// The access of `core` enters the queue of a memory controller, behind which nothing changes its place.
    fn queue(&mut self, controller: u16, core: u16, now_ps: u64) -> Option<Settled> {
        let Journey { trip, effect, .. } = self.journeys[usize::from(core)];
        let busy_until_ps = &mut self.controllers_ps[usize::from(controller)];
        *busy_until_ps = now_ps.max(*busy_until_ps) + service_ps(&self.contention, trip.target, effect);
        let served_ps = *busy_until_ps;
        self.settle(core, served_ps, now_ps)
    }

    /// The access of `core` is served at `served_ps`, as is known now. The next one of its journey begins, or it is
    /// over.
    fn settle(&mut self, core: u16, served_ps: u64, now_ps: u64) -> Option<Settled> {
        let Journey { trip, effect, more } = self.journeys[usize::from(core)];
        let (there, tile) = self.ends(core);
        let wait = if effect == Effect::Write { 0 } else { self.links.reserve_from(there, tile, served_ps, now_ps) };
        let time_ps = served_ps + trip.from_port_ps + wait;
        if more == 0 {
            return Some(Settled { core, time_ps, effect });
        }
        self.depart(core.into(), time_ps + trip.answer_ps, Journey { trip, effect, more: more - 1 });
        None
    }

    /// The tiles of what the core accesses and of the core.
    fn ends(&self, core: u16) -> (Tile, Tile) {
        let there = match self.journeys[usize::from(core)].trip.target {
            Target::Mpb(owner) => self.tiles[usize::from(owner)],
            Target::Controller(controller) => self.mesh.controllers[usize::from(controller)],
        };
        (there, self.tiles[usize::from(core)])
    }
}
