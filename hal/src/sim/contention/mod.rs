//! What accesses to MPB lines do to each other where they meet: at the ports of MPBs and on the links of the mesh.
//!
//! An access is on its way as the price list says, up to the port of the MPB. The port serves one access at a time;
//! who waits for it and who comes next is decided in [`port`]. The packet that carries the line, of a read back to
//! the core and of a write to the port, has each link of its X-Y route to itself for a while, see [`links`]. All that
//! is *part* of the access's price: the service is the last part of the way to the port, and an access that meets no
//! other takes exactly as long as without contention.
//!
//! Requests and acknowledgements carry no line and do not occupy links. Nor do memory controllers' packets, and
//! controllers and registers have no queues yet. The read of the flag's value in the own MPB that a flag's price
//! contains is priced and not simulated, so it does not occupy the own port.
//!
//! Polls are accesses like others: on a machine with contention no poll is skipped.

mod links;
mod port;

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{CoreId, Layout, Tile};

use self::{
    links::Links,
    port::{Packet, Port},
};

use super::{Contention, Parameters, waiting::Effect};

impl Contention {
    /// How long the port of an MPB is busy with an access.
    pub(super) fn service_ps(&self, effect: Effect) -> u64 {
        match effect {
            Effect::Write => self.mpb_port_write_ps,
            Effect::Read | Effect::TestAndSet => self.mpb_port_ps,
        }
    }
}

/// The way of one access to an MPB line, without others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Trip {
    /// Whose MPB it is.
    pub(super) owner: CoreId,
    /// From the start until it asks for the port.
    pub(super) to_port_ps: u64,
    /// From the end of its service until it takes effect.
    pub(super) from_port_ps: u64,
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
    /// The access of this core asks for the port.
    Asks(u16),
    /// The port of this core's MPB has served one access, and others wait.
    Serves(u16),
}

/// All accesses that are on their way.
pub(super) struct Traffic {
    layout: Layout,
    contention: Contention,
    steps: BinaryHeap<Reverse<(u64, Step)>>,
    /// The access of each core that has one under way.
    trips: Vec<(Trip, Effect)>,
    ports: Vec<Port>,
    links: Links,
}

impl Traffic {
    /// An idle machine; nothing if its parameters have no contention.
    pub(super) fn new(layout: &Layout, parameters: &Parameters) -> Option<Self> {
        let contention = parameters.contention?;
        let nowhere = Trip { owner: CoreId::new(0), to_port_ps: 0, from_port_ps: 0 };
        Some(Self {
            layout: *layout,
            contention,
            steps: BinaryHeap::with_capacity(2 * layout.cores()),
            trips: vec![(nowhere, Effect::Read); layout.cores()],
            ports: (0..layout.cores()).map(|_| Port::default()).collect(),
            links: Links::new(layout, parameters, contention),
        })
    }

    /// `core` begins an access at `start_ps`.
    pub(super) fn depart(&mut self, core: usize, start_ps: u64, effect: Effect, trip: Trip) {
        self.trips[core] = (trip, effect);
        let step = match effect {
            Effect::Write => Step::Arrives(core as u16),
            Effect::Read | Effect::TestAndSet => Step::Asks(core as u16),
        };
        self.steps.push(Reverse((start_ps.saturating_add(trip.to_port_ps), step)));
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
                let (owner, tile) = self.ends(core);
                let wait = self.links.reserve_towards(tile, owner, now_ps);
                self.steps.push(Reverse((now_ps + wait, Step::Asks(core))));
                None
            }
            Step::Asks(core) => {
                let (owner, _) = self.ends(core);
                let (trip, effect) = self.trips[usize::from(core)];
                let index = trip.owner.index();
                let port = &mut self.ports[index];
                if port.is_idle(now_ps) {
                    return Some(self.serve(index, core, now_ps));
                }
                if port.wait(&self.layout, owner, Packet { core, effect }) {
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
                Some(settled)
            }
        }
    }

    fn serve(&mut self, port: usize, core: u16, now_ps: u64) -> Settled {
        let (trip, effect) = self.trips[usize::from(core)];
        let served_ps = now_ps + self.contention.service_ps(effect);
        self.ports[port].busy_until_ps = served_ps;
        let (owner, tile) = self.ends(core);
        let wait = if effect == Effect::Write { 0 } else { self.links.reserve_from(owner, tile, served_ps) };
        Settled { core, time_ps: served_ps + trip.from_port_ps + wait, effect }
    }

    /// The tiles of the MPB and of the core whose access it is.
    fn ends(&self, core: u16) -> (Tile, Tile) {
        let owner = self.trips[usize::from(core)].0.owner;
        (self.layout.tile(owner), self.layout.tile(CoreId::new(core.into())))
    }
}
