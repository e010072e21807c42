//! Descriptions of machines: how the cores are laid out, and what their primitive operations cost.
//!
//! No price of the machine `scc`, and of meshes, is fitted to the running time of an algorithm. Each comes from a
//! table of measured primitives, named at its field; [`cost`](super::cost) combines them by the formulas of the
//! OC-Bcast paper (section 3, figure 2). What is fitted, to compare with published times of whole operations, is in
//! [`Parameters::SCC_CALIBRATED`] only.

use std::{error::Error, fmt};

use crate::{Layout, Prices};

use super::Cluster;

/// The primitive costs of a machine. The constants of [`Parameters::SCC`] and their sources:
///
/// | field | value | source |
/// |---|---|---|
/// | `hop_ps` | 5 ns | OC-Bcast paper, Table 1, `L^hop` |
/// | `mpb_ps` | 126 ns | Table 1, `o^mpb` |
/// | `memory_write_ps` | 461 ns | Table 1, `o_w^mem` |
/// | `memory_read_ps` | 208 ns | Table 1, `o_r^mem` |
/// | `put_from_mpb_ps` | 69 ns | Table 1, `o_put^mpb` |
/// | `get_to_mpb_ps` | 330 ns | Table 1, `o_get^mpb` |
/// | `put_from_memory_ps` | 190 ns | Table 1, `o_put^mem` |
/// | `get_to_memory_ps` | 95 ns | Table 1, `o_get^mem` |
/// | `core_mhz` | 533 | OC-Bcast paper, 6.1 |
/// | `word_cycles` | 97, 105, 121, 134 at d = 1, 3, 6, 8 | Barrelfish TN-005: uncached shared DRAM word from core 0 to the four controllers |
/// | `word_call_cycles` | 12 | counted: call and return 3, arguments 3, bounds check 2, address 4 (P54C latencies); TN-005 measured bare instructions, while Table 1 has its calls in it |
/// | `counter_ps` | 1.21 µs | **chosen**: nobody has published what an access to the FPGA of the SCC's board takes; it is what the scalable-barriers paper measured of an access through an FPGA beside its processors (IV.C) |
/// | `cache_sets`, `cache_ways` | 2048, 4 | L2 of the SCC: 256 KB, 4-way, 32-byte lines |
/// | `interrupt_delivery_cycles` | 612 | Barrelfish TN-005: hardware delivery of an inter-processor interrupt |
/// | `interrupt_frame_cycles` | 240 | not published; counted: save and restore registers 10, x87 state 202, load its control word 8, call and return 10, return from interrupt 10 (P54C latencies) |
/// | `packet_ps` | 0 | nobody has measured it by itself |
///
/// A test-and-set register has no published price; an access costs one MPB line read at its distance. Nor has an
/// entry of the lookup table; a write costs what the register of the own tile does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Time in which a packet traverses one router.
    pub hop_ps: u64,
    /// Overhead of reading or writing one MPB line.
    pub mpb_ps: u64,
    /// Overhead of writing one line of off-chip memory.
    pub memory_write_ps: u64,
    /// Overhead of reading one line of off-chip memory.
    pub memory_read_ps: u64,
    /// Overhead of calling a put whose source is the own MPB.
    pub put_from_mpb_ps: u64,
    /// Overhead of calling a get whose target is the own MPB.
    pub get_to_mpb_ps: u64,
    /// Overhead of calling a put whose source is private memory.
    pub put_from_memory_ps: u64,
    /// Overhead of calling a get whose target is private memory.
    pub get_to_memory_ps: u64,
    /// Clock of the cores.
    pub core_mhz: u64,
    /// Cycles of an access to an uncached word, by routers to its controller: the distances at which it was measured,
    /// ascending. Between them the time is interpolated linearly, beyond them each router adds two hops.
    pub word_cycles: [(u32, u64); 4],
    /// Cycles of a call that accesses an uncached word or a register, beside the access.
    pub word_call_cycles: u64,
    /// Overhead of an access to an atomic counter of the board.
    pub counter_ps: u64,
    /// Sets of the last private cache.
    pub cache_sets: u64,
    /// Ways of the last private cache.
    pub cache_ways: u64,
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

/// What is occupied, and for how long: where accesses meet, the later ones wait. It is part of the prices above, not
/// on top of them: an access that meets no other takes the time that it takes without contention. The constants of
/// [`Contention::SCC`]:
///
/// | field | value | source |
/// |---|---|---|
/// | `mpb_port_ps` | 9.5 ns | **fitted**, on one sentence of the OC-Bcast paper (3.3): up to 24 cores that get 128 lines from one MPB "do not create any measurable contention", more do; taken as 3 % of the mean at 24 |
/// | `mpb_port_write_ps` | 12 ns | derived: the line comes in with the request, two more flits of 16 bytes in two cycles of the 800 MHz mesh |
/// | `link_ps` | 3.75 ns | derived: a line and its header are 3 flits, of which a link moves one in a cycle |
///
/// How many flits wait at the input of a router, which decides how unfair ports are, is said and argued in the
/// `contention` module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contention {
    /// Time in which the port of an MPB serves one read of a line, by its own core or another.
    pub mpb_port_ps: u64,
    /// Time in which it serves one write.
    pub mpb_port_write_ps: u64,
    /// Time for which a packet with a line occupies each link of the mesh on its way.
    pub link_ps: u64,
}

impl Contention {
    /// The Intel SCC's.
    pub const SCC: Self = Self { mpb_port_ps: 9_500, mpb_port_write_ps: 12_000, link_ps: 3_750 };
}

/// What RCKMPI's software spends on one packet on the SCC.
///
/// Fitted on SCOSCo's section V.C: with 13 targets its message-based synchronisation takes 115.2 µs at the target, and
/// so does that of windows of
/// class `message` on this machine (`cargo xtask bench pscw --machine scc-calibrated`).
const FITTED_PACKET_PS: u64 = 3_108_000;

impl Parameters {
    /// The Intel SCC at 533 MHz cores, 800 MHz mesh and memory.
    pub const SCC: Self = Self {
        hop_ps: 5_000,
        mpb_ps: 126_000,
        memory_write_ps: 461_000,
        memory_read_ps: 208_000,
        put_from_mpb_ps: 69_000,
        get_to_mpb_ps: 330_000,
        put_from_memory_ps: 190_000,
        get_to_memory_ps: 95_000,
        core_mhz: 533,
        word_cycles: [(1, 97), (3, 105), (6, 121), (8, 134)],
        word_call_cycles: 12,
        counter_ps: 1_210_000,
        cache_sets: 2048,
        cache_ways: 4,
        interrupt_delivery_cycles: 612,
        interrupt_frame_cycles: 240,
        packet_ps: 0,
        flat: false,
        contention: None,
        cluster: None,
    };

    /// The SCC with the software costs that had to be fitted, for comparison with published times of whole
    /// operations: `packet_ps`.
    pub const SCC_CALIBRATED: Self = Self { packet_ps: FITTED_PACKET_PS, ..Self::SCC };

    /// The prototype of the scalable-barriers paper. Beside [`Cluster::FPGA`]:
    ///
    /// | field | value | source |
    /// |---|---|---|
    /// | `core_mhz` | 2200 | IV.B; computation takes the cycles of a P54C, so that programs do the same work on all machines |
    /// | `mpb_ps`, `memory_read_ps`, `memory_write_ps` | 100 ns | IV.B, local memory: also a locked instruction that takes or frees a test-and-set register of the own node, and a line of cached, combined or private memory of the own node |
    /// | `put_…_ps`, `get_…_ps`, `word_call_cycles` | 12 cycles | chosen: a put of an Opteron is a store, and a call takes what [`Parameters::SCC`] counts |
    /// | `hop_ps` | 0 | all nodes are equally far |
    /// | `cache_sets`, `cache_ways` | 8192, 1 | chosen: the 512 KB of a core's L2 in 64-byte lines; a range is flushed line by line (`clflush`), all by as many lines as there are (`wbinvd`) |
    /// | `interrupt_…_cycles` | as the SCC | not published |
    pub const CLUSTER_FPGA: Self = Self {
        hop_ps: 0,
        mpb_ps: Cluster::FPGA.memory_ps,
        memory_write_ps: Cluster::FPGA.memory_ps,
        memory_read_ps: Cluster::FPGA.memory_ps,
        put_from_mpb_ps: CLUSTER_CALL_PS,
        get_to_mpb_ps: CLUSTER_CALL_PS,
        put_from_memory_ps: CLUSTER_CALL_PS,
        get_to_memory_ps: CLUSTER_CALL_PS,
        core_mhz: CLUSTER_MHZ,
        cache_sets: 8192,
        cache_ways: 1,
        cluster: Some(Cluster::FPGA),
        ..Self::SCC
    };

    /// The same with the ASIC that the paper predicts.
    pub const CLUSTER_ASIC: Self = Self { cluster: Some(Cluster::ASIC), ..Self::CLUSTER_FPGA };
}

/// Clock of an Opteron in the cluster.
const CLUSTER_MHZ: u64 = 2_200;

/// What a call takes there.
const CLUSTER_CALL_PS: u64 = 12 * 1_000_000 / CLUSTER_MHZ;

/// A machine that can be simulated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// What it is called: what [`parse`](Self::parse) was given.
    pub name: String,
    /// Where its cores are.
    pub layout: Layout,
    /// What its operations cost.
    pub parameters: Parameters,
}

impl Description {
    /// The Intel SCC: 6 × 4 tiles of two cores.
    pub fn scc() -> Self {
        Self { name: "scc".into(), layout: Layout::scc(), parameters: Parameters::SCC }
    }

    /// The Intel SCC with [`Parameters::SCC_CALIBRATED`].
    pub fn scc_calibrated() -> Self {
        Self { name: "scc-calibrated".into(), layout: Layout::scc(), parameters: Parameters::SCC_CALIBRATED }
    }

    /// The cluster of the scalable-barriers paper with so many nodes and cores in each.
    ///
    /// # Panics
    /// If there are no cores, or more than 65535.
    pub fn cluster(name: &str, parameters: Parameters, nodes: u16, cores_per_node: u16) -> Self {
        let layout = Layout::cluster(nodes, cores_per_node);
        let prices = parameters
            .cluster
            .map_or(layout.prices(), |cluster| cluster.prices(parameters.put_from_mpb_ps, parameters.cache_sets));
        Self { name: name.into(), layout: layout.with_prices(prices), parameters }
    }

    /// The machine with this name: `scc`, `scc-calibrated`, or `mesh:WxHxC` for W × H tiles of C cores at the prices
    /// of the SCC; behind it, each once at most, `+contention` for [`Contention::SCC`], `+flat` for [`Parameters::flat`],
    /// and `+domains=D` for [`Layout::with_domains`]. Or `cluster-fpga` or `cluster-asic`, with `:NxC` for N nodes of C
    /// cores instead of 64 of 16.
    ///
    /// # Errors
    /// If there is no such machine; the error is one line that says what there is.
    pub fn parse(name: &str) -> Result<Self, DescriptionError> {
        let unknown = || DescriptionError { name: name.into() };
        let mut parts = name.split('+');
        let plain = Self::parse_plain(parts.next().unwrap_or_default()).ok_or_else(unknown)?;
        let (mut parameters, mut layout) = (plain.parameters.clone(), plain.layout);
        for suffix in parts {
            match suffix {
                _ if parameters.cluster.is_some() => return Err(unknown()),
                "contention" if parameters.contention.is_none() => {
                    parameters.contention = Some(Contention::SCC);
                    let port_ns = Contention::SCC.mpb_port_ps.div_ceil(1000) as u32;
                    layout = layout.with_prices(Prices { port_ns, ..layout.prices() });
                }
                "flat" if !parameters.flat => parameters.flat = true,
                _ if !layout.has_domains() => {
                    let domains = suffix.strip_prefix("domains=").and_then(|domains| domains.parse().ok());
                    layout = layout.with_domains(domains.filter(|domains| *domains > 0).ok_or_else(unknown)?);
                }
                _ => return Err(unknown()),
            }
        }
        Ok(Self { name: name.into(), layout, parameters })
    }

    /// The machine with this name without suffixes.
    fn parse_plain(name: &str) -> Option<Self> {
        match name {
            "scc" => return Some(Self::scc()),
            "scc-calibrated" => return Some(Self::scc_calibrated()),
            _ => {}
        }
        for (kind, parameters) in
            [("cluster-fpga", Parameters::CLUSTER_FPGA), ("cluster-asic", Parameters::CLUSTER_ASIC)]
        {
            if let Some(rest) = name.strip_prefix(kind) {
                let (nodes, cores) = Self::parse_nodes(rest)?;
                return Some(Self::cluster(name, parameters, nodes, cores));
            }
        }
        let sides = name.strip_prefix("mesh:")?;
        let sides: Vec<u16> = sides.split('x').map(str::parse).collect::<Result<_, _>>().ok()?;
        let &[columns, rows, cores_per_tile] = sides.as_slice() else { return None };
        let cores = u64::from(columns) * u64::from(rows) * u64::from(cores_per_tile);
        if cores == 0 || cores > u64::from(u16::MAX) {
            return None;
        }
        let layout = Layout::mesh(columns, rows, cores_per_tile);
        Some(Self { name: name.into(), layout, parameters: Parameters::SCC })
    }

    /// Nodes and cores of each, from `:NxC` or nothing.
    fn parse_nodes(text: &str) -> Option<(u16, u16)> {
        if text.is_empty() {
            return Some((64, 16));
        }
        let (nodes, cores) = text.strip_prefix(':')?.split_once('x')?;
        let (nodes, cores) = (nodes.parse::<u16>().ok()?, cores.parse::<u16>().ok()?);
        (1..=u32::from(u16::MAX)).contains(&(u32::from(nodes) * u32::from(cores))).then_some((nodes, cores))
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

/// There is no machine with this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DescriptionError {
    name: String,
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "no machine is called {:?}: there are scc, scc-calibrated and mesh:WxHxC (columns, rows, cores per tile; 1 to 65535 cores), \
             with +contention, +flat and +domains=D (coherence domains of neighbouring cores) behind it, each once at most, \
             and cluster-fpga[:NxC] and cluster-asic[:NxC] (nodes, cores of each)",
            self.name
        )
    }
}

impl Error for DescriptionError {}
