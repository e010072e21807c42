//! The one function family that prices operations. Nothing else in the simulator turns an operation into time, but
//! for what goes over a cluster's engines (`network`).
//!
//! The formulas are those of the OC-Bcast paper (section 3.1, figure 2), with *d* the routers between the core and
//! the MPB, register or memory controller that it talks to:
//!
//! * reading a line takes `o + 2 d L_hop`, and the value is that at the end (formulas 3 and 6);
//! * a written line is visible after `o + d L_hop`, and the core goes on after `o + 2 d L_hop`, when the
//!   acknowledgement is back (formulas 1, 2, 4, 5);
//! * an uncached word takes what was measured at its distance, read and written alike; a written word is visible one
//!   way (`d L_hop`) earlier, in keeping with lines;
//! * a test-and-set register costs one MPB line read at its distance: to read, where the value is that at the end,
//!   and to free, where it is free `d L_hop` earlier;
//! * private memory is behind the core's nearest controller, for those that it is exposed to as well; where caches are
//!   priced (`caches`), a line that L1 has takes nothing, one that L2 has takes what L2 takes, and any other one is read;
//! * raising an interrupt is a read, which tells whether the bit is set, and a write of the target's configuration
//!   register, each at the price of a test-and-set register at its distance; the target's test-and-set register is an
//!   operation of its own. The interrupt arrives when the bit is visible and delivery has taken its time. Taking it
//!   costs the core its trap frame, and a locked update of its own configuration register, four accesses to registers
//!   of the own tile;
//! * pointing a slot of the lookup table at another core's memory is a write of a register of the own tile, and
//!   nobody has measured that: it costs what a test-and-set register there costs;
//! * an atomic counter of the board costs what its FPGA takes, and the way to the tile that it hangs off, read and
//!   written alike; what is set is visible `d L_hop` earlier, what is raised is read, too;
//! * on a flat machine *d* is 1 everywhere;
//! * where our software has prices of its own (`software`), calls have none here, and an access takes what it takes on hardware:
//!   Table 1 has its authors' software in it. It is what the board's emulator prices by;
//! * on a cluster *d* costs nothing, accesses to lines of the own node's MPBs and all that goes over the engine take
//!   what [`Cluster`] says, and setting a flag has no overhead but that of its call.

use crate::{CoreId, Costs, Home, LINE_BYTES, Layout, LineAddress, SharedAddress, Software, Tile, kit::Expense};

use descriptions::Hardware;
use prices::{Effect, Journey, Target, Trip};

use super::{Cluster, Parameters};

/// When a write can be seen, and when the core that wrote goes on; both counted from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WriteCost {
    pub(super) visible_ps: u64,
    pub(super) complete_ps: u64,
}

/// How an access gets to its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Straight to the memory, at the distance's price.
    Direct,
    /// Through the core's cache, which is coherent with others of its node.
    Coherent,
    /// Over the engines to this node.
    Engine(usize),
}

/// What single accesses take, beside their way.
#[derive(Clone, Copy)]
struct Accesses {
    mpb_read_ps: u64,
    mpb_write_ps: u64,
    register_ps: u64,
    memory_read_ps: u64,
    memory_write_ps: u64,
}

impl Accesses {
    /// By papers, with the software that they were measured with.
    fn of_papers(costs: &Costs) -> Self {
        let [mpb_ps, memory_read_ps, memory_write_ps] =
            [costs.mpb_ps, costs.memory_read_ps, costs.memory_write_ps].map(u64::from);
        Self { mpb_read_ps: mpb_ps, mpb_write_ps: mpb_ps, register_ps: mpb_ps, memory_read_ps, memory_write_ps }
    }

    /// Of hardware alone.
    fn of_hardware(hardware: &Hardware) -> Self {
        let cycles = |cycles: u64| cycles * 1_000_000 / hardware.core_mhz;
        Self {
            mpb_read_ps: cycles(hardware.mpb_read_cycles),
            mpb_write_ps: cycles(hardware.mpb_write_cycles),
            register_ps: cycles(hardware.mpb_read_cycles),
            memory_read_ps: cycles(hardware.dram_cycles) + hardware.dram_read_ps,
            memory_write_ps: cycles(hardware.dram_cycles) + hardware.dram_write_ps,
        }
    }
}

/// The price list of a machine.
pub(super) struct Cost {
    parameters: Parameters,
    accesses: Accesses,
    /// Whether software has prices of its own, so that no access and no call has any in it.
    software_apart: bool,
    /// On a cluster, the node of each core and of each controller.
    nodes: Vec<u16>,
    controller_nodes: Vec<u16>,
    /// The tile of each core; looking it up in the layout would cost two divisions for each operation.
    tiles: Vec<Tile>,
    nearest_controller: Vec<u16>,
    controllers: Vec<Tile>,
    board: Tile,
}

impl Cost {
    /// The prices of a machine: by papers, or of hardware alone, where software has prices of its own.
    pub(super) fn new(layout: &Layout, parameters: &Parameters, software_apart: bool) -> Self {
        let cores = || (0..layout.cores()).map(CoreId::new);
        let controllers: Vec<_> = (0..layout.controllers()).map(|index| layout.controller_tile(index)).collect();
        let node = |tile: Tile| tile.x + tile.y * layout.columns() as u16;
        Self {
            accesses: match &parameters.hardware {
                Some(hardware) if software_apart => Accesses::of_hardware(hardware),
                _ => Accesses::of_papers(&parameters.costs),
            },
            software_apart,
            parameters: parameters.clone(),
            nodes: cores().map(|core| layout.domain(core) as u16).collect(),
            controller_nodes: controllers.iter().map(|tile| node(*tile)).collect(),
            tiles: cores().map(|core| layout.tile(core)).collect(),
            nearest_controller: cores().map(|core| layout.nearest_controller(core) as u16).collect(),
            controllers,
            board: layout.board_tile(),
        }
    }

    /// The machine's cluster, if it is one.
    pub(super) fn cluster(&self) -> Option<&Cluster> {
        self.parameters.cluster.as_ref()
    }

    /// How an access to a line gets there.
    pub(super) fn way(&self, core: CoreId, at: LineAddress) -> Way {
        if self.parameters.cluster.is_none() {
            return Way::Direct;
        }
        let node = match at {
            LineAddress::Mpb(line) => self.nodes[line.core.index()],
            LineAddress::Shared(address) => self.node_of(address),
        };
        match at {
            _ if node != self.nodes[core.index()] => Way::Engine(node.into()),
            LineAddress::Mpb(_) => Way::Coherent,
            LineAddress::Shared(_) => Way::Direct,
        }
    }

    /// How an access to an uncached word gets there.
    pub(super) fn word_way(&self, at: SharedAddress) -> Way {
        match self.parameters.cluster {
            None => Way::Direct,
            Some(_) => Way::Engine(self.node_of(at).into()),
        }
    }

    fn node_of(&self, at: SharedAddress) -> u16 {
        match at.home() {
            Home::Controller(controller) => self.controller_nodes[usize::from(controller)],
            Home::Core(owner) => self.nodes[owner.index()],
        }
    }

    /// A line of the own node that the core's cache holds, or owns for stores.
    pub(super) fn hit(&self, cluster: &Cluster) -> u64 {
        self.cycles(cluster.hit_cycles)
    }

    #[inline(always)]
    pub(super) fn read_line(&self, core: CoreId, at: LineAddress) -> u64 {
        let (overhead, routers) = match at {
            LineAddress::Mpb(line) => (self.accesses.mpb_read_ps, self.to_core(core, line.core)),
            LineAddress::Shared(address) => (self.accesses.memory_read_ps, self.to_memory(core, address)),
        };
        overhead + self.hops(2 * routers)
    }

    #[inline(always)]
    pub(super) fn write_line(&self, core: CoreId, at: LineAddress) -> WriteCost {
        let (overhead, routers) = match at {
            LineAddress::Mpb(line) => (self.accesses.mpb_write_ps, self.to_core(core, line.core)),
            LineAddress::Shared(address) => (self.accesses.memory_write_ps, self.to_memory(core, address)),
        };
        self.write(overhead + self.hops(2 * routers), routers)
    }

    /// The way of a read of a line, where accesses can meet.
    #[inline(always)]
    pub(super) fn read_trip(&self, core: CoreId, at: LineAddress) -> Option<Trip> {
        self.parameters.contention?;
        let (target, routers) = self.target(core, at);
        self.trip(target, Effect::Read, self.read_line(core, at), routers)
    }

    /// The way of a write of a line, where accesses can meet.
    #[inline(always)]
    pub(super) fn write_trip(&self, core: CoreId, at: LineAddress) -> Option<Trip> {
        self.parameters.contention?;
        let (target, routers) = self.target(core, at);
        self.trip(target, Effect::Write, self.write_line(core, at).complete_ps, routers)
    }

    /// The way of an access to an uncached word, where accesses can meet.
    pub(super) fn word_trip(&self, core: CoreId, at: SharedAddress, effect: Effect) -> Option<Trip> {
        self.parameters.contention?;
        let (target, routers) = self.target(core, LineAddress::Shared(at));
        self.trip(target, effect, self.word(routers), routers)
    }

    /// What an expense has to do with private memory, where accesses can meet.
    #[inline(always)]
    pub(super) fn errand(&self, core: CoreId, expense: Expense) -> Option<Journey> {
        self.parameters.contention?;
        let (lines, effect) = self.private_lines(expense)?;
        let controller = self.nearest_controller[core.index()];
        let routers = self.routers(self.tiles[core.index()], self.controllers[usize::from(controller)]);
        let trip = self.trip(Target::Controller(controller), effect, self.private(core, effect), routers)?;
        Some(Journey { trip, effect, more: lines.checked_sub(1)? })
    }

    /// The way of an access that takes `complete_ps` picoseconds in all.
    #[inline(always)]
    fn trip(&self, target: Target, effect: Effect, complete_ps: u64, routers: u64) -> Option<Trip> {
        Some(Trip::new(&self.parameters.contention?, target, effect, complete_ps, self.hops(routers)))
    }

    /// Where an access to a line can meet others, and how many routers away that is.
    #[inline(always)]
    fn target(&self, core: CoreId, at: LineAddress) -> (Target, u64) {
        match at {
            LineAddress::Mpb(line) => (Target::Mpb(line.core.index() as u16), self.to_core(core, line.core)),
            LineAddress::Shared(address) => {
                (Target::Controller(self.controller(address)), self.to_memory(core, address))
            }
        }
    }

    pub(super) fn read_word(&self, core: CoreId, at: SharedAddress) -> u64 {
        self.word(self.to_memory(core, at))
    }

    pub(super) fn write_word(&self, core: CoreId, at: SharedAddress) -> WriteCost {
        let routers = self.to_memory(core, at);
        self.write(self.word(routers), routers)
    }

    pub(super) fn test_and_set(&self, core: CoreId, register: CoreId) -> u64 {
        self.accesses.register_ps + self.hops(2 * self.to_core(core, register))
    }

    pub(super) fn free(&self, core: CoreId, register: CoreId) -> WriteCost {
        self.write(self.test_and_set(core, register), self.to_core(core, register))
    }

    /// Any access to an atomic counter.
    pub(super) fn access_counter(&self, core: CoreId) -> WriteCost {
        let routers = self.routers(self.tiles[core.index()], self.board);
        self.write(self.parameters.counter_ps + self.hops(2 * routers), routers)
    }

    /// Raising an interrupt on `target`; it arrives [`delivery`](Self::delivery) after it is visible.
    pub(super) fn raise(&self, core: CoreId, target: CoreId) -> WriteCost {
        let access = self.test_and_set(core, target);
        self.write(2 * access, self.to_core(core, target))
    }

    /// From the visible bit of an interrupt to its arrival at the core.
    pub(super) fn delivery(&self) -> u64 {
        self.cycles(self.parameters.interrupt_delivery_cycles)
    }

    pub(super) fn expense(&self, core: CoreId, expense: Expense) -> u64 {
        let (parameters, costs) = (&self.parameters, self.costs());
        match expense {
            Expense::Line(_) | Expense::LineLoad => 0,
            // All this is software, and has its prices there.
            Expense::PutFromMemory
            | Expense::PutMade
            | Expense::PutFromMpb
            | Expense::GetToMemory
            | Expense::GetUsed
            | Expense::GetToMpb
            | Expense::FlagStore
            | Expense::WordCall(_)
            | Expense::InvalidateMpb
                if self.software_apart =>
            {
                0
            }
            Expense::PutFromMemory | Expense::PutMade => costs.put_from_memory_ps.into(),
            Expense::PutFromMpb => costs.put_from_mpb_ps.into(),
            Expense::GetToMemory | Expense::GetUsed => costs.get_to_memory_ps.into(),
            Expense::GetToMpb => parameters.get_to_mpb_ps,
            Expense::FlagStore if parameters.cluster.is_some() => costs.put_from_mpb_ps.into(),
            Expense::FlagStore => {
                u64::from(costs.put_from_mpb_ps) + u64::from(costs.mpb_ps) + 2 * u64::from(costs.hop_ps)
            }
            Expense::WordCall(_) => self.cycles(parameters.word_call_cycles),
            Expense::Cycles(cycles) => self.cycles(cycles),
            Expense::Software(Software::Packet) => parameters.packet_ps,
            Expense::InvalidateMpb => self.cycles(1),
            Expense::TakeInterrupt => {
                self.cycles(self.parameters.interrupt_frame_cycles) + 4 * self.test_and_set(core, core)
            }
            Expense::MapSlot => self.test_and_set(core, core),
            Expense::PrivateRead { .. } | Expense::PrivateWrite { .. } | Expense::Flush { .. } | Expense::FlushAll => {
                self.private_lines(expense)
                    .map_or(0, |(lines, effect)| lines.saturating_mul(self.private(core, effect)))
            }
        }
    }

    /// The lines of private memory that an expense stands for, and what happens to them.
    pub(super) fn private_lines(&self, expense: Expense) -> Option<(u64, Effect)> {
        match expense {
            Expense::PrivateRead { lines } => Some((lines.into(), Effect::Read)),
            Expense::PrivateWrite { lines } => Some((lines.into(), Effect::Write)),
            Expense::Flush { lines } => Some((self.displaced(lines.into()), Effect::Read)),
            Expense::FlushAll => Some((self.displaced(self.costs().cache_sets.into()), Effect::Read)),
            _ => None,
        }
    }

    /// Bytes of a core's L2.
    pub(super) fn l2_bytes(&self) -> u64 {
        u64::from(self.costs().cache_sets) * self.parameters.cache_ways * LINE_BYTES as u64
    }

    /// Reads of `lines` lines that L2 has.
    pub(super) fn l2_hits(&self, lines: u64) -> u64 {
        self.cycles(lines * self.parameters.hardware.map_or(0, |hardware| hardware.l2_cycles))
    }

    fn write(&self, complete_ps: u64, routers: u64) -> WriteCost {
        WriteCost { visible_ps: complete_ps - self.hops(routers), complete_ps }
    }

    /// Lines that have to be read to displace a range of `lines` lines: as many as a set has ways, for each set that the
    /// range touches.
    fn displaced(&self, lines: u64) -> u64 {
        lines.min(self.costs().cache_sets.into()) * self.parameters.cache_ways
    }

    /// An access to a line of private memory.
    fn private(&self, core: CoreId, effect: Effect) -> u64 {
        let Accesses { memory_read_ps, memory_write_ps, .. } = self.accesses;
        let overhead = if effect == Effect::Write { memory_write_ps } else { memory_read_ps };
        let controller = self.controllers[usize::from(self.nearest_controller[core.index()])];
        let routers = self.routers(self.tiles[core.index()], controller);
        overhead + self.hops(2 * routers)
    }

    fn costs(&self) -> &Costs {
        &self.parameters.costs
    }

    /// What this many routers on the way take, in ps.
    fn hops(&self, routers: u64) -> u64 {
        routers * u64::from(self.costs().hop_ps)
    }

    fn cycles(&self, cycles: u64) -> u64 {
        let mhz = self.costs().core_mhz;
        match cycles.checked_mul(1_000_000) {
            Some(all) => all / u64::from(mhz),
            // An absurd amount of work saturates instead of wrapping to a small one.
            None => u64::try_from(u128::from(cycles) * 1_000_000 / u128::from(mhz)).unwrap_or(u64::MAX / 4),
        }
    }

    fn word(&self, routers: u64) -> u64 {
        self.parameters.word_cycles.ps(routers, self.costs().hop_ps.into(), |cycles| self.cycles(cycles))
    }

    fn to_core(&self, from: CoreId, to: CoreId) -> u64 {
        let Some(tile) = self.tiles.get(to.index()) else { panic!("{to} does not exist") };
        self.routers(self.tiles[from.index()], *tile)
    }

    fn to_memory(&self, core: CoreId, at: SharedAddress) -> u64 {
        let Some(tile) = self.controllers.get(usize::from(self.controller(at))) else { panic!("{at} does not exist") };
        self.routers(self.tiles[core.index()], *tile)
    }

    /// The memory controller that shared memory is behind.
    fn controller(&self, at: SharedAddress) -> u16 {
        match at.home() {
            Home::Controller(controller) => controller,
            Home::Core(owner) => self.nearest_controller[owner.index()],
        }
    }

    /// Routers on the way, as they are priced.
    fn routers(&self, from: Tile, to: Tile) -> u64 {
        if self.parameters.flat { 1 } else { u64::from(from.routers_to(to)) }
    }
}
