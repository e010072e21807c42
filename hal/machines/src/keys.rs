//! What parameters are, and everything that a machine file can say.

/// What machines a parameter is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// All machines.
    Any,
    /// Meshes of tiles.
    Mesh,
    /// Clusters of coherent nodes.
    Cluster,
}

/// What a parameter can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// A whole number in this range.
    Number(u64, u64),
    /// A list of whole numbers: the least and the greatest length that it can have.
    Numbers(usize, usize),
    /// A list of pairs of whole numbers: the least and the greatest number of pairs.
    Pairs(usize, usize),
    /// Any of these words.
    Words(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
}

/// A parameter of machines, or of something else that files describe.
#[derive(PartialEq, Eq, Debug)]
pub struct Key {
    /// `section.key`, as in the file.
    pub name: &'static str,
    /// Which machines have it.
    pub shape: Shape,
    /// What it can be.
    pub type_: Type,
    /// Whether a file, or what it is based on, has to say it.
    pub required: bool,
    /// What the parameter is, in words, with its unit.
    pub about: &'static str,
    /// Whether its numbers are read in base 16, as those of slots and registers are.
    pub is_hex: bool,
}

impl Key {
    /// The section of the file that it is in.
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    /// What its numbers count.
    pub fn unit(&self) -> &'static str {
        match self.name.rsplit_once('_') {
            Some((_, "ps")) => "ps",
            Some((_, "mhz")) => "MHz",
            Some((_, "cycles")) => "cycles",
            Some((_, "bytes")) => "bytes",
            Some((_, "gib")) => "GiB",
            _ => "",
        }
    }

    /// The parameter of machines with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
}

/// A second: no operation takes longer.
const MOST_PS: u64 = 1_000_000_000_000;
const TIME: Type = Type::Number(0, MOST_PS);
const CYCLES: Type = Type::Number(0, 1_000_000_000);
const CORES: Type = Type::Number(1, MOST_CORES);

/// Cores that a machine can have at most.
pub const MOST_CORES: u64 = 65_535;

/// Memory controllers that a file can place.
pub const MOST_CONTROLLERS: usize = 8;

const fn key(name: &'static str, shape: Shape, type_: Type, about: &'static str) -> Key {
    Key { name, shape, type_, required: true, about, is_hex: false }
}

const fn any(name: &'static str, type_: Type, about: &'static str) -> Key {
    key(name, Shape::Any, type_, about)
}

const fn mesh(name: &'static str, type_: Type, about: &'static str) -> Key {
    key(name, Shape::Mesh, type_, about)
}

const fn cluster(name: &'static str, type_: Type, about: &'static str) -> Key {
    key(name, Shape::Cluster, type_, about)
}

const fn optional(key: Key) -> Key {
    Key { required: false, ..key }
}

/// All parameters, in the order of tables.
pub const KEYS: &[Key] = &[
    mesh("layout.columns", CORES, "tiles from west to east"),
    mesh("layout.rows", CORES, "tiles from south to north"),
    mesh("layout.cores_per_tile", CORES, "cores of each tile"),
    optional(mesh(
        "layout.controllers",
        Type::Pairs(1, MOST_CONTROLLERS),
        "tiles [x, y] of the memory controllers; without, four as on the SCC",
    )),
    optional(mesh("layout.domains", CORES, "coherence domains of neighbouring cores; without, every core is one")),
    optional(mesh("layout.flat", Type::Flag, "whether all distances are 1")),
    cluster("layout.nodes", CORES, "coherent nodes"),
    cluster("layout.cores_per_node", CORES, "cores of each node"),
    any("prices.hop_ps", TIME, "a packet traverses one router"),
    any("prices.mpb_ps", TIME, "overhead of reading or writing one MPB line"),
    any("prices.memory_write_ps", TIME, "overhead of writing one line of off-chip memory"),
    any("prices.memory_read_ps", TIME, "overhead of reading one line of off-chip memory"),
    any("prices.put_from_mpb_ps", TIME, "overhead of a put from the own MPB"),
    any("prices.get_to_mpb_ps", TIME, "overhead of a get to the own MPB"),
    any("prices.put_from_memory_ps", TIME, "overhead of a put from private memory"),
    any("prices.get_to_memory_ps", TIME, "overhead of a get to private memory"),
    any("prices.core_mhz", Type::Number(1, 1_000_000), "clock of the cores"),
    mesh("prices.word_cycles", Type::Pairs(4, 4), "an uncached word, by routers to its controller"),
    any("prices.word_call_cycles", CYCLES, "a call that accesses a word or a register, beside the access"),
    mesh("prices.counter_ps", TIME, "overhead of an atomic counter of the board"),
    any("prices.cache_sets", Type::Number(1, 1 << 24), "sets of the last private cache"),
    any("prices.cache_ways", Type::Number(1, 1 << 10), "ways of the last private cache"),
    any("prices.interrupt_delivery_cycles", CYCLES, "from an interrupt's bit to its handler"),
    any("prices.interrupt_frame_cycles", CYCLES, "a handler's frame"),
    any("prices.packet_ps", TIME, "software of a message-based library, for one packet"),
    mesh("contention.mpb_port_ps", TIME, "the port of an MPB serves one read"),
    mesh("contention.mpb_port_write_ps", TIME, "the port of an MPB serves one write"),
    mesh("contention.input_flits", Type::Number(3, 1 << 20), "flits that wait for a port at an input of a router"),
    mesh("contention.link_ps", TIME, "a packet with data occupies a link"),
    mesh("contention.controller_ps", TIME, "a memory controller serves one access"),
    mesh("contention.on", Type::Words(&["ports", "links", "controllers"]), "where accesses wait for each other"),
    cluster("cluster.sockets", CORES, "sockets of a node"),
    cluster("cluster.memory_ps", TIME, "an access to memory of the own node"),
    cluster("cluster.hit_cycles", CYCLES, "an access that the core's cache answers"),
    cluster("cluster.transfer_ps", TIME, "a fetch of a line of the own node keeps others from it"),
    cluster("cluster.remote_load_ps", TIME, "a load from another node, there and back"),
    cluster("cluster.loopback_load_ps", TIME, "a load from the own node over its engine"),
    cluster("cluster.hand_over_ps", TIME, "what a core spends on a store"),
    cluster("cluster.send_ps", TIME, "a packet occupies the engine that sends it"),
    cluster("cluster.receive_load_ps", TIME, "a load occupies the engine that receives it"),
    cluster("cluster.receive_store_ps", TIME, "a store occupies the engine that receives it"),
    cluster("cluster.invalidate_ps", TIME, "how much longer for each cache that holds the line"),
    cluster("cluster.queue", Type::Number(1, 1 << 20), "packets that an engine has room for"),
    cluster("cluster.backpressure_ps", TIME, "how much longer if the packet has waited in the network"),
    cluster("cluster.on", Type::Words(&["loads", "engines"]), "one load at a time per socket; engines are occupied"),
];
