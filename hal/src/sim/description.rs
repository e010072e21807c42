//! Descriptions of machines: how the cores are laid out, and what their primitive operations cost.
//!
//! All numbers are in the files of the crate [`descriptions`], each with its source. No price of the machine `scc`, and of
//! meshes, is fitted to the running time of an algorithm: each comes from a table of measured primitives, and
//! [`cost`](super::cost) combines them by the formulas of the OC-Bcast paper (section 3, figure 2). What is fitted, to
//! compare with published times of whole operations, is in the machine `scc-calibrated` only.

pub use prices::Contention;

use descriptions::{
    Error, Hardware,
    machines::{Feature, Kind, Machine, MachineFile, Variant},
};

use prices::WordCycles;

use crate::{Costs, Layout, Prices, Tile};

use super::cluster_costs::Cluster;

/// The primitive costs of a machine; `cargo xtask machines NAME` shows them with their sources.
///
/// A test-and-set register has no published price; an access costs one MPB line read at its distance. Nor has an
/// entry of the lookup table; a write costs what the register of the own tile does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// What algorithms are chosen by, and what the operations take that are made of it.
    pub costs: Costs,
    /// Overhead of calling a get whose target is the own MPB.
    pub get_to_mpb_ps: u64,
    /// Cycles of an access to an uncached word, by routers to its controller: the distances at which it was measured,
    /// ascending. Between them the time is interpolated linearly, beyond them each router adds two hops.
    pub word_cycles: WordCycles,
    /// Cycles of a call that accesses an uncached word or a register, beside the access.
    pub word_call_cycles: u64,
    /// Overhead of an access to an atomic counter of the board.
    pub counter_ps: u64,
    /// Ways of the last private cache.
    pub cache_ways: u64,
    /// What single accesses take without software, and what L2 takes; nothing on a cluster.
    pub hardware: Option<Hardware>,
    /// Cycles from an interrupt's bit in the configuration register to the first instruction of its handler.
    pub interrupt_delivery_cycles: u64,
    /// Cycles of a handler's frame: saving and restoring what it interrupts.
    pub interrupt_frame_cycles: u64,
    /// What a message-based library's software spends on one packet, see [`Software::Packet`](crate::Software::Packet).
    pub packet_ps: u64,
    /// Whether every MPB, register and memory controller counts as one router away, as in the OC-Bcast paper's analysis
    /// (section 5).
    pub flat: bool,
    /// What accesses that meet do to each other; nothing if it is not given.
    pub contention: Option<Contention>,
    /// What a cluster's nodes and engines cost, if the machine is one: the prices of its MPBs, and of all that goes
    /// from node to node.
    pub cluster: Option<Cluster>,
}

/// Where accesses wait for each other, on a mesh.
#[derive(Clone, Copy, Default)]
struct Contended {
    ports: bool,
    links: bool,
    controllers: bool,
}

impl Contended {
    /// What the machine's name says there is, else the file.
    fn of(file: &MachineFile, variant: Variant) -> Self {
        let in_file = || ["ports", "links", "controllers"].map(|kind| file.values.has_word("contention.on", kind));
        let [ports, links, controllers] = variant.contention().unwrap_or_else(in_file);
        Self { ports, links, controllers }
    }

    /// What the file says of it, if there is any.
    fn contention(self, file: &MachineFile) -> Option<Contention> {
        let all = Contention::of(&file.values);
        let when = |on: bool, ps| if on { ps } else { 0 };
        (self.ports || self.links || self.controllers).then(|| Contention {
            mpb_port_ps: when(self.ports, all.mpb_port_ps),
            mpb_port_write_ps: when(self.ports, all.mpb_port_write_ps),
            link_ps: when(self.links, all.link_ps),
            controller_ps: when(self.controllers, all.controller_ps),
            ..all
        })
    }
}

impl Parameters {
    /// The Intel SCC at 533 MHz cores, 800 MHz mesh and memory, without contention.
    pub fn scc() -> Self {
        Description::scc().parameters
    }

    /// The parameters of a machine file, with the given kinds of contention.
    fn of(file: &MachineFile, contended: Contended) -> Self {
        let price = |key: &str| file.values.number(&format!("prices.{key}"));
        let costs = file.costs();
        Self {
            costs: Costs { mpb_port_ps: if contended.ports { costs.mpb_port_ps } else { 0 }, ..costs },
            get_to_mpb_ps: price("get_to_mpb_ps"),
            word_cycles: WordCycles::of(file.values.pairs("prices.word_cycles")),
            word_call_cycles: price("word_call_cycles"),
            counter_ps: price("counter_ps"),
            cache_ways: price("cache_ways"),
            hardware: file.hardware(),
            interrupt_delivery_cycles: price("interrupt_delivery_cycles"),
            interrupt_frame_cycles: price("interrupt_frame_cycles"),
            packet_ps: price("packet_ps"),
            flat: file.values.has("layout.flat"),
            contention: contended.contention(file),
            cluster: file.is_cluster().then(|| Cluster::of(file)),
        }
    }
}

/// The layout that a file describes.
fn layout(file: &MachineFile) -> Layout {
    let number = |key: &str| file.values.number(&format!("layout.{key}")) as u16;
    if file.is_cluster() {
        return Layout::cluster(number("nodes"), number("cores_per_node"));
    }
    let mut layout = Layout::mesh(number("columns"), number("rows"), number("cores_per_tile"));
    let controllers = file.values.pairs("layout.controllers");
    if !controllers.is_empty() {
        let tiles: Vec<_> = controllers.iter().map(|[x, y]| Tile { x: *x as u16, y: *y as u16 }).collect();
        layout = layout.with_controllers(&tiles);
    }
    match number("domains") {
        0 => layout,
        domains => layout.with_domains(domains),
    }
}

/// A machine that can be simulated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// The name that [`parse`](Self::parse) was given.
    pub name: String,
    /// Where its cores are.
    pub layout: Layout,
    /// What the machine's operations cost.
    pub parameters: Parameters,
}

impl Description {
    /// The Intel SCC without contention, `scc+ideal`: 6 × 4 tiles of two cores, whose accesses take what papers say and
    /// never wait for each other.
    ///
    /// # Panics
    /// If its file is wrong, which tests rule out.
    pub fn scc() -> Self {
        Self::parse("scc+ideal").expect("the SCC is a machine")
    }

    /// The same machine, with the prices by which algorithms are chosen.
    fn with_prices(mut self) -> Self {
        let parameters = &self.parameters;
        self.layout = match parameters.cluster {
            Some(cluster) => self.layout.with_prices(prices_of(&cluster, parameters)),
            None if parameters.flat => self.layout.with_prices(Prices::flat(&parameters.costs)),
            None => self.layout.with_costs(parameters.costs),
        };
        self
    }

    /// The machine with this name, as [`Machine`] says.
    ///
    /// # Errors
    /// If there is no such machine, or its file is wrong; the error is one line that says what there is.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let Machine { kind, variant } = name.parse()?;
        let file = kind.file();
        let mut layout = match kind {
            Kind::Mesh { width, height, cores_per_tile } => Layout::mesh(width, height, cores_per_tile),
            Kind::Cluster { nodes: Some((nodes, cores)), .. } => Layout::cluster(nodes, cores),
            _ => layout(&file),
        };
        let mut parameters = Parameters::of(&file, Contended::of(&file, variant));
        if let Some(cluster) = &mut parameters.cluster {
            if variant.has(Feature::UnlimitedLoads) {
                cluster.sockets = layout.cores_per_domain() as u16;
            }
            if variant.has(Feature::IdealEngines) {
                *cluster = cluster.with_ideal_engines();
            }
        }
        parameters.flat |= variant.has(Feature::Flat);
        if let Some(domains) = variant.domains() {
            layout = layout.with_domains(domains.get());
        }
        Ok(Self { name: name.into(), layout, parameters }.with_prices())
    }

    /// The same machine with only its first `cores` cores running; rows of tiles are added if that many do not fit.
    ///
    /// # Panics
    /// If `cores` is 0 or the mesh would need more than 65535 cores.
    #[must_use]
    pub fn with_cores(self, cores: usize) -> Self {
        Self { layout: self.layout.with_cores(cores), ..self }
    }
}

/// What algorithms are chosen by, on a cluster with these parameters.
fn prices_of(cluster: &Cluster, parameters: &Parameters) -> Prices {
    let ns = |ps: u64| ps.div_ceil(1_000) as u32;
    let costs = &parameters.costs;
    let call_ps = u64::from(costs.put_from_mpb_ps);
    let near = ns(call_ps + cluster.memory_ps);
    Prices {
        push_ns: ns(call_ps + cluster.one_way_ps(false)),
        push_done_ns: ns(call_ps + cluster.hand_over_ps),
        near_push_ns: near,
        near_push_done_ns: near,
        own_poll_ns: ns(cluster.memory_ps),
        near_poll_ns: ns(cluster.memory_ps),
        poll_ns: ns(Cluster::loads(crate::LINE_BYTES) as u64 * cluster.remote_load_ps),
        write_ns: ns(cluster.hand_over_ps),
        receive_ns: ns(cluster.receive_store_ps),
        near_transfer_ns: ns(cluster.transfer_ps),
        loads: cluster.sockets.into(),
        cache_sets: costs.cache_sets,
        port_ns: 0,
        serve_ns: ns(Cluster::loads(crate::LINE_BYTES) as u64 * cluster.receive_load_ps),
        put_ns: ns(costs.put_from_memory_ps.into()),
        get_ns: ns(costs.get_to_memory_ps.into()),
        memory_read_ns: ns(costs.memory_read_ps.into()),
        memory_write_ns: ns(costs.memory_write_ps.into()),
        core_mhz: costs.core_mhz,
    }
}
