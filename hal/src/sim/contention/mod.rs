//! What accesses to memory do to each other where they meet: at the ports of MPBs, at memory controllers, and on the
//! links of the mesh.
//!
//! An access is on its way as the price list says, up to the port of the MPB or to the controller. Each serves one
//! access at a time. Who waits for a port and who comes next is decided in [`port`]; a controller has a queue, and who
//! comes first is served first. The packet that carries the data, of a read back to the core and of a write to the
//! memory, has each link of its X-Y route to itself for a while, see [`links`]. All that is *part* of the access's
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
//! Polls are accesses like others. Those that would meet nobody are skipped; how that is found out is in [`polls`].

mod links;
mod polls;
mod port;

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{CoreId, Layout, Tile};

pub(super) use self::links::step_towards;

use self::{
    links::Links,
    port::{Packet, Port},
};

use super::{Contention, Parameters, access::Effect};

impl Contention {
    /// How long what is accessed is busy with it.
    pub(super) fn service_ps(&self, target: Target, effect: Effect) -> u64 {
        match (target, effect) {
            (Target::Controller(_), _) => self.controller_ps,
            (Target::Mpb(_), Effect::Write) => self.mpb_port_write_ps,
            (Target::Mpb(_), Effect::Read | Effect::TestAndSet) => self.mpb_port_ps,
        }
    }
}

/// Where accesses meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// At the port of this core's MPB.
    Mpb(CoreId),
    /// At this memory controller.
    Controller(u16),
}

impl Target {
    /// Whose MPB it is, if it is one.
    pub(super) fn port(self) -> Option<CoreId> {
        match self {
            Self::Mpb(owner) => Some(owner),
            Self::Controller(_) => None,
        }
    }
}

/// The way of one access, without others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Trip {
    pub(super) target: Target,
    /// From the start until it asks to be served.
    pub(super) to_port_ps: u64,
    /// From the end of its service until it takes effect.
    pub(super) from_port_ps: u64,
    /// From then until its core goes on.
    pub(super) answer_ps: u64,
}

/// What a core is about: accesses that go the same way, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Journey {
    pub(super) trip: Trip,
    pub(super) effect: Effect,
    /// Accesses that follow the one that is under way.
    pub(super) more: u64,
}

/// An access that has been served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Settled {
    pub(super) core: u16,
    /// When it takes effect.
    pub(super) time_ps: u64,
    pub(super) effect: Effect,
}

/// Something that happens to accesses on their way. At one time, all arrive before a port chooses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    /// The packet of this core is at the last router; whether links have kept it waiting is yet to be seen.
    Arrives(u16),
    /// The access of this core asks to be served.
    Asks(u16),
    /// The port of this core's MPB has served one access, and others wait.
    Serves(u16),
}

/// All accesses that are on their way.
pub(super) struct Traffic {
    layout: Layout,
    contention: Contention,
    steps: BinaryHeap<Reverse<(u64, Step)>>,
    /// The journey of each core that has an access under way.
    journeys: Vec<Journey>,
    ports: Vec<Port>,
    /// Until when each memory controller is busy with what has asked so far.
    controllers_ps: Vec<u64>,
    links: Links,
}

impl Traffic {
    /// An idle machine; nothing if its parameters have no contention.
    pub(super) fn new(layout: &Layout, parameters: &Parameters) -> Option<Self> {
        let contention = parameters.contention?;
        let nowhere = Trip { target: Target::Controller(0), to_port_ps: 0, from_port_ps: 0, answer_ps: 0 };
        Some(Self {
            layout: *layout,
            contention,
            steps: BinaryHeap::with_capacity(2 * layout.cores()),
            journeys: vec![Journey { trip: nowhere, effect: Effect::Read, more: 0 }; layout.cores()],
            ports: (0..layout.cores()).map(|_| Port::new(contention.input_flits)).collect(),
            controllers_ps: vec![0; layout.controllers()],
            links: Links::new(layout, parameters, contention),
        })
    }

    /// `core` begins a journey at `start_ps`.
    pub(super) fn depart(&mut self, core: usize, start_ps: u64, journey: Journey) {
        self.journeys[core] = journey;
        let step = match journey.effect {
            Effect::Write => Step::Arrives(core as u16),
            Effect::Read | Effect::TestAndSet => Step::Asks(core as u16),
        };
        self.steps.push(Reverse((start_ps.saturating_add(journey.trip.to_port_ps), step)));
    }

    /// When the next step is.
    pub(super) fn next_ps(&self) -> Option<u64> {
        self.steps.peek().map(|Reverse((time, _))| *time)
    }

    /// Makes the next step. Returns the access that it has settled.
    pub(super) fn step(&mut self) -> Option<Settled> {
        let Reverse((now_ps, step)) = self.steps.pop()?;
        match step {
            Step::Arrives(core) => {
                let (there, tile) = self.ends(core);
                let wait = self.links.reserve_towards(tile, there, now_ps);
                self.steps.push(Reverse((now_ps + wait, Step::Asks(core))));
                None
            }
            Step::Asks(core) => {
                let Journey { trip, effect, .. } = self.journeys[usize::from(core)];
                let owner = match trip.target {
                    Target::Mpb(owner) => owner,
                    Target::Controller(controller) => return self.queue(controller, core, now_ps),
                };
                let (tile, _) = self.ends(core);
                let index = owner.index();
                let port = &mut self.ports[index];
                if port.is_idle(now_ps) {
                    return self.serve(index, core, now_ps);
                }
                if port.wait(&self.layout, tile, Packet { core, effect }) {
                    self.steps.push(Reverse((port.busy_until_ps, Step::Serves(index as u16))));
                }
                None
            }
            Step::Serves(index) => {
                let index = usize::from(index);
                let owner = self.layout.tile(CoreId::new(index));
                let core = self.ports[index].choose(owner)?.core;
                let settled = self.serve(index, core, now_ps);
                let port = &self.ports[index];
                if port.is_waited_for() {
                    self.steps.push(Reverse((port.busy_until_ps, Step::Serves(index as u16))));
                }
                settled
            }
        }
    }

    /// The port of an MPB serves the access of `core` now.
    fn serve(&mut self, port: usize, core: u16, now_ps: u64) -> Option<Settled> {
        let Journey { trip, effect, .. } = self.journeys[usize::from(core)];
        let served_ps = now_ps + self.contention.service_ps(trip.target, effect);
        self.ports[port].busy_until_ps = served_ps;
        self.settle(core, served_ps, now_ps)
    }

    /// The access of `core` enters the queue of a memory controller, behind which nothing changes its place.
    fn queue(&mut self, controller: u16, core: u16, now_ps: u64) -> Option<Settled> {
        let Journey { trip, effect, .. } = self.journeys[usize::from(core)];
        let busy_until_ps = &mut self.controllers_ps[usize::from(controller)];
        *busy_until_ps = now_ps.max(*busy_until_ps) + self.contention.service_ps(trip.target, effect);
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
            Target::Mpb(owner) => self.layout.tile(owner),
            Target::Controller(controller) => self.layout.controller_tile(controller.into()),
        };
        (there, self.layout.tile(CoreId::new(core.into())))
    }
}
