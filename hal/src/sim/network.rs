//! The engines between the nodes of a cluster, and what is on its way through them.
//!
//! An engine sends one packet at a time and receives one at a time, in the order in which they come. The time for which
//! a packet occupies it is part of the packet's latency, not on top of it: what meets no other takes exactly as long as
//! [`Cluster`] says. A packet that finds the receiving engine's queue full waits in the network, and then occupies the
//! engine for longer. Answers of loads are small, and meet nobody.
//!
//! A socket has one load under way. Others of its cores wait, first come, first served, until the answer is there.
//!
//! Stores are posted: the core that made one goes on. They become visible by themselves, those of one core in the order
//! in which they were made, also in different nodes; who sees a flag finds the data that was stored before it. The
//! engine keeps that order, and knows nothing of stores that do not go over it: before a core stores to memory of its
//! own node, or frees a register, it waits until its posted stores are answered, as a load behind them would be.
//!
//! **What a node has cached** any of its cores may write back. So a load of a line of shared memory reads it behind all
//! stores to it that its node has made before, whichever core's; and a core that has flushed waits until the stores are
//! answered that others of its node had on their way then: some may be write-backs of what it stored itself.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use rustc_hash::FxHashMap;

use crate::{CoreId, Layout, Line, LineAddress, SharedAddress};

use super::{Cluster, lines::Lines};

/// What a posted store will write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stored {
    /// The bytes of a line that the mask says.
    Line(LineAddress, Line, u32),
    Word(SharedAddress, u32),
}

/// Something that has come through the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Come {
    /// This core goes on: its load reads memory now, or its stores are answered.
    Core(u16),
    /// A store takes effect now.
    Store(Stored),
}

/// What is on its way: the load of a core, or a store, which has a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Packet {
    Store(u32),
    Load,
}

/// Something that happens in the network. At one time, what is on its way comes before what begins, lower cores come
/// before higher ones, and the stores of a core before its load.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    /// A packet of this core takes effect.
    Lands(u16, Packet),
    /// A packet of this core is at the engine that receives it.
    Arrives(u16, Packet),
    /// The load that this socket had under way is answered.
    Answered(u16),
    /// The stores of this core are answered, and the core waits for that.
    Settled(u16),
    /// A packet of this core is handed to the engine that sends it.
    Leaves(u16, Packet),
    /// This core asks its socket for a load.
    Asks(u16),
}

/// Where something goes, and what it is.
#[derive(Clone, Copy)]
struct Way {
    node: u16,
    loopback: bool,
    /// The line of shared memory that it is about, if it is about one.
    line: Option<u64>,
}

#[derive(Default)]
struct EngineQueues {
    sends_until_ps: u64,
    receives_until_ps: u64,
    /// When the packets that are there will have been received.
    received_ps: VecDeque<u64>,
}

#[derive(Default)]
struct Socket {
    is_busy: bool,
    waiting: VecDeque<u16>,
}

struct Port {
    node: u16,
    socket: u16,
    /// Where its load goes.
    load: Way,
    /// The number of its next store.
    next_store: u32,
    /// When the last of its stores that was sent arrives.
    last_arrival_ps: u64,
    /// When the last of its stores that has arrived takes effect.
    last_visible_ps: u64,
    /// Stores of the core that have not taken effect.
    on_their_way: u32,
    /// When those that have are answered.
    answered_ps: u64,
    /// Whether the core waits for its stores.
    waits: bool,
    /// Cores that wait for one of its stores, and its number.
    awaited: Vec<(u32, u16)>,
    /// Stores of others that the core waits for.
    awaits: usize,
}

/// All engines and sockets of a cluster. A core's packets keep their order: a load finds what the core has stored
/// before.
pub(super) struct Network {
    cluster: Cluster,
    steps: BinaryHeap<Reverse<(u64, Step)>>,
    engines: Vec<EngineQueues>,
    sockets: Vec<Socket>,
    ports: Vec<Port>,
    stores: FxHashMap<(u16, u32), (Way, Stored)>,
    /// The lines of shared memory to which stores of each node are on their way.
    lines: FxHashMap<(u16, u64), OnTheirWay>,
}

/// Stores of one node to one line.
#[derive(Default)]
struct OnTheirWay {
    stores: usize,
    /// Cores of the node whose loads of the line have been received, and read it behind these stores.
    loads: Vec<u16>,
}

impl Network {
    pub(super) fn new(layout: &Layout, cluster: Cluster) -> Self {
        // More sockets than cores change nothing, and would be too many to count where there are many nodes.
        let sockets = usize::from(cluster.sockets).min(layout.cores_per_domain());
        let port = |core: usize| {
            let node = layout.domain(CoreId::new(core));
            let socket = (core - layout.domain_cores(node).start) % sockets;
            Port {
                node: node as u16,
                socket: (node * sockets + socket) as u16,
                load: Way { node: 0, loopback: false, line: None },
                next_store: 0,
                last_arrival_ps: 0,
                last_visible_ps: 0,
                on_their_way: 0,
                answered_ps: 0,
                waits: false,
                awaited: Vec::new(),
                awaits: 0,
            }
        };
        Self {
            cluster,
            steps: BinaryHeap::new(),
            engines: std::iter::repeat_with(EngineQueues::default).take(layout.domains()).collect(),
            sockets: std::iter::repeat_with(Socket::default).take(layout.domains() * sockets).collect(),
            ports: (0..layout.cores()).map(port).collect(),
            stores: FxHashMap::default(),
            lines: FxHashMap::default(),
        }
    }

    /// `core` begins a load from `node` at `start_ps`, perhaps of part of a line. Returns how long its answer takes
    /// after it has read memory.
    pub(super) fn load(&mut self, core: usize, node: usize, line: Option<LineAddress>, start_ps: u64) -> u64 {
        let loopback = usize::from(self.ports[core].node) == node;
        self.ports[core].load = Way { node: node as u16, loopback, line: line.and_then(shared_line) };
        self.steps.push(Reverse((start_ps, Step::Asks(core as u16))));
        self.cluster.return_ps(loopback)
    }

    /// `core` begins a store to `node` at `start_ps`. Returns how long it takes before the core goes on.
    pub(super) fn store(&mut self, core: usize, node: usize, stored: Stored, start_ps: u64) -> u64 {
        let port = &mut self.ports[core];
        let number = port.next_store;
        port.next_store = number.wrapping_add(1);
        port.on_their_way += 1;
        let line = match stored {
            Stored::Line(at, ..) => shared_line(at),
            Stored::Word(..) => None,
        };
        let way = Way { node: node as u16, loopback: usize::from(port.node) == node, line };
        if let Some(line) = line {
            self.lines.entry((port.node, line)).or_default().stores += 1;
        }
        self.stores.insert((core as u16, number), (way, stored));
        self.steps.push(Reverse((start_ps, Step::Leaves(core as u16, Packet::Store(number)))));
        self.cluster.hand_over_ps
    }

    /// When all stores of `core` are answered, if that is known. If not, it has to give way until it is.
    pub(super) fn settle(&mut self, core: usize) -> Option<u64> {
        let port = &mut self.ports[core];
        port.waits = port.on_their_way > 0;
        (!port.waits).then_some(port.answered_ps)
    }

    /// Whether `core` has to give way until the stores are answered that `others` have on their way.
    pub(super) fn settle_others(&mut self, core: usize, others: impl Iterator<Item = usize>) -> bool {
        for other in others.filter(|other| *other != core) {
            let port = &mut self.ports[other];
            if port.on_their_way > 0 {
                port.awaited.push((port.next_store.wrapping_sub(1), core as u16));
                self.ports[core].awaits += 1;
            }
        }
        self.ports[core].awaits > 0
    }

    /// Whether a store is on its way.
    pub(super) fn has_stores(&self) -> bool {
        !self.stores.is_empty()
    }

    /// When the next step is.
    pub(super) fn next_ps(&self) -> Option<u64> {
        self.steps.peek().map(|Reverse((time, _))| *time)
    }

    /// Makes the next step, where caches hold `lines`. Returns what takes effect, and when.
    pub(super) fn step(&mut self, lines: &Lines) -> Option<(u64, Come)> {
        let Reverse((now_ps, step)) = self.steps.pop()?;
        match step {
            Step::Asks(core) => {
                let socket = &mut self.sockets[usize::from(self.ports[usize::from(core)].socket)];
                if socket.is_busy {
                    socket.waiting.push_back(core);
                } else {
                    socket.is_busy = true;
                    self.push(now_ps, Step::Leaves(core, Packet::Load));
                }
            }
            Step::Leaves(core, packet) => {
                let is_store = packet != Packet::Load;
                let wire_ps = self.cluster.wire_ps(self.way(core, packet).loopback, is_store);
                let port = &mut self.ports[usize::from(core)];
                let engine = &mut self.engines[usize::from(port.node)];
                engine.sends_until_ps = engine.sends_until_ps.max(now_ps) + self.cluster.send_ps;
                // The way to the own node is shorter, and nothing overtakes a store.
                let arrival_ps = (engine.sends_until_ps + wire_ps).max(port.last_arrival_ps);
                if is_store {
                    port.last_arrival_ps = arrival_ps;
                }
                self.push(arrival_ps, Step::Arrives(core, packet));
            }
            Step::Arrives(core, packet) => {
                let way = self.way(core, packet);
                let copies = match self.stored(core, packet) {
                    Some(Stored::Line(at, ..)) => lines.copies(at.key()),
                    _ => 0,
                };
                let received_ps = self.receive(way.node, packet, copies, now_ps) + self.cluster.memory_ps;
                let port = &mut self.ports[usize::from(core)];
                if packet == Packet::Load {
                    let received_ps = received_ps.max(port.last_visible_ps);
                    let line = way.line.and_then(|line| self.lines.get_mut(&(port.node, line)));
                    match line {
                        Some(on_their_way) => on_their_way.loads.push(core),
                        None => self.read(core, received_ps),
                    }
                } else {
                    port.last_visible_ps = received_ps.max(port.last_visible_ps);
                    let visible_ps = port.last_visible_ps;
                    self.push(visible_ps, Step::Lands(core, packet));
                }
            }
            Step::Answered(socket) => {
                let socket = &mut self.sockets[usize::from(socket)];
                match socket.waiting.pop_front() {
                    Some(core) => self.push(now_ps, Step::Leaves(core, Packet::Load)),
                    None => socket.is_busy = false,
                }
            }
            Step::Lands(core, Packet::Load) | Step::Settled(core) => return Some((now_ps, Come::Core(core))),
            Step::Lands(core, Packet::Store(number)) => {
                let (way, stored) = self.stores.remove(&(core, number))?;
                let port = &mut self.ports[usize::from(core)];
                port.on_their_way -= 1;
                port.answered_ps = port.answered_ps.max(now_ps + self.cluster.return_ps(way.loopback));
                if port.on_their_way == 0 && std::mem::take(&mut port.waits) {
                    let answered_ps = port.answered_ps;
                    self.push(answered_ps, Step::Settled(core));
                }
                self.release_others(core, number, now_ps + self.cluster.return_ps(way.loopback));
                if let Some(line) = way.line {
                    self.release_loads(core, line, now_ps);
                }
                return Some((now_ps, Come::Store(stored)));
            }
        }
        None
    }

    /// The load of `core` reads memory at `time_ps`.
    fn read(&mut self, core: u16, time_ps: u64) {
        let port = &self.ports[usize::from(core)];
        let (socket, answer_ps) = (port.socket, self.cluster.return_ps(port.load.loopback));
        self.push(time_ps.saturating_add(answer_ps), Step::Answered(socket));
        self.push(time_ps, Step::Lands(core, Packet::Load));
    }

    /// A store of `core` with this number is answered at `answered_ps`: cores that wait for no other go on then.
    fn release_others(&mut self, core: u16, number: u32, answered_ps: u64) {
        let mut awaited = std::mem::take(&mut self.ports[usize::from(core)].awaited);
        awaited.retain(|(store, waiter)| {
            if *store == number {
                let waiting = &mut self.ports[usize::from(*waiter)];
                waiting.awaits -= 1;
                if waiting.awaits == 0 {
                    self.steps.push(Reverse((answered_ps, Step::Settled(*waiter))));
                }
            }
            *store != number
        });
        self.ports[usize::from(core)].awaited = awaited;
    }

    /// A store of `core` to this line has taken effect: loads that wait for it and for no other read memory next.
    fn release_loads(&mut self, core: u16, line: u64, now_ps: u64) {
        let key = (self.ports[usize::from(core)].node, line);
        let Some(on_their_way) = self.lines.get_mut(&key) else { return };
        on_their_way.stores -= 1;
        if on_their_way.stores == 0 {
            let loads = std::mem::take(&mut on_their_way.loads);
            self.lines.remove(&key);
            loads.into_iter().for_each(|core| self.read(core, now_ps));
        }
    }

    fn push(&mut self, time_ps: u64, step: Step) {
        self.steps.push(Reverse((time_ps, step)));
    }

    fn way(&self, core: u16, packet: Packet) -> Way {
        match packet {
            Packet::Load => self.ports[usize::from(core)].load,
            Packet::Store(number) => self.stores[&(core, number)].0,
        }
    }

    /// What a packet will write.
    fn stored(&self, core: u16, packet: Packet) -> Option<Stored> {
        match packet {
            Packet::Load => None,
            Packet::Store(number) => self.stores.get(&(core, number)).map(|(_, stored)| *stored),
        }
    }

    /// Enters a packet at the engine of `node`, where `copies` caches hold what it is about. Returns when it has been
    /// received.
    fn receive(&mut self, node: u16, packet: Packet, copies: u32, now_ps: u64) -> u64 {
        let engine = &mut self.engines[usize::from(node)];
        while engine.received_ps.front().is_some_and(|received| *received <= now_ps) {
            engine.received_ps.pop_front();
        }
        let mut service_ps =
            self.cluster.receive_ps(packet != Packet::Load) + u64::from(copies) * self.cluster.invalidate_ps;
        if engine.received_ps.len() >= self.cluster.queue {
            service_ps += self.cluster.backpressure_ps;
        }
        engine.receives_until_ps = engine.receives_until_ps.max(now_ps) + service_ps;
        engine.received_ps.push_back(engine.receives_until_ps);
        engine.receives_until_ps
    }
}

/// The key of a line of shared memory. What a core's MPB is told is not cached by others.
fn shared_line(at: LineAddress) -> Option<u64> {
    matches!(at, LineAddress::Shared(_)).then(|| at.key())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Description;

    #[test]
    fn a_store_to_the_own_node_does_not_overtake_one_to_another() {
        let description = Description::parse("cluster-fpga:2x1").unwrap();
        let mut network = Network::new(&description.layout, description.parameters.cluster.unwrap());
        let word = |node, value| Stored::Word(SharedAddress::new(node, 0), value);
        network.store(0, 1, word(1, 1), 0);
        network.store(0, 0, word(0, 2), 1);
        let lines = Lines::new(2);
        let mut landed = Vec::new();
        while network.next_ps().is_some() {
            landed.extend(network.step(&lines).map(|(_, come)| come));
        }
        assert_eq!(landed, [Come::Store(word(1, 1)), Come::Store(word(0, 2))]);
    }

    #[test]
    fn each_of_many_nodes_has_a_socket_of_its_own() {
        let cluster = Description::parse("cluster-fpga").unwrap().parameters.cluster.unwrap();
        for sockets in [4, u16::MAX] {
            let network = Network::new(&Layout::cluster(20_000, 1), Cluster { sockets, ..cluster });
            let distinct: std::collections::BTreeSet<_> = network.ports.iter().map(|port| port.socket).collect();
            assert_eq!((distinct.len(), network.sockets.len()), (20_000, 20_000));
        }
    }
}
