//! Everything that a machine file can say.

use crate::{Key, MOST_CONTROLLERS, Shape, Type};

/// A second: no operation takes longer.
const TIME: Type = Type::Number(0, 1_000_000_000_000);
/// What an operation of a mesh takes: less than the 4 ms that a word of picoseconds holds.
const WORD_TIME: Type = Type::Number(0, u32::MAX as u64);
const CYCLES: Type = Type::Number(0, 1_000_000_000);
const CORES: Type = Type::Number(1, MOST_CORES);

/// Cores that a machine can have at most.
pub const MOST_CORES: u64 = 65_535;

const fn any(name: &'static str, type_: Type, about: &'static str) -> Key {
    Key::new(name, None, type_, about)
}

const fn mesh(name: &'static str, type_: Type, about: &'static str) -> Key {
    Key::new(name, Some(Shape::Mesh), type_, about)
}

const fn cluster(name: &'static str, type_: Type, about: &'static str) -> Key {
    Key::new(name, Some(Shape::Cluster), type_, about)
}

/// All parameters, in the order of tables.
pub const KEYS: &[Key] = &[
    mesh("layout.columns", CORES, "tiles from west to east"),
    mesh("layout.rows", CORES, "tiles from south to north"),
    mesh("layout.cores_per_tile", CORES, "cores of each tile"),
    mesh(
        "layout.controllers",
        Type::Pairs(1, MOST_CONTROLLERS),
        "tiles [x, y] of the memory controllers; without, four as on the SCC",
    )
    .optional(),
    mesh("layout.domains", CORES, "coherence domains of neighbouring cores; without, every core is one").optional(),
    mesh("layout.flat", Type::Flag, "whether all distances are 1").optional(),
    cluster("layout.nodes", CORES, "coherent nodes"),
    cluster("layout.cores_per_node", CORES, "cores of each node"),
    any("prices.hop_ps", WORD_TIME, "a packet traverses one router"),
    any("prices.mpb_ps", WORD_TIME, "overhead of reading or writing one MPB line"),
    any("prices.memory_write_ps", WORD_TIME, "overhead of writing one line of off-chip memory"),
    any("prices.memory_read_ps", WORD_TIME, "overhead of reading one line of off-chip memory"),
    any("prices.put_from_mpb_ps", WORD_TIME, "overhead of a put from the own MPB"),
    any("prices.get_to_mpb_ps", TIME, "overhead of a get to the own MPB"),
    any("prices.put_from_memory_ps", WORD_TIME, "overhead of a put from private memory"),
    any("prices.get_to_memory_ps", WORD_TIME, "overhead of a get to private memory"),
    any("prices.core_mhz", Type::Number(1, 1_000_000), "clock of the cores"),
    mesh("prices.word_cycles", Type::Pairs(4, 4), "an uncached word, by routers to its controller"),
    any("prices.word_call_cycles", CYCLES, "a call that accesses a word or a register, beside the access"),
    mesh("prices.counter_ps", TIME, "overhead of an atomic counter of the board"),
    any("prices.cache_sets", Type::Number(1, 1 << 24), "sets of the last private cache"),
    any("prices.cache_ways", Type::Number(1, 1 << 10), "ways of the last private cache"),
    any("prices.interrupt_delivery_cycles", CYCLES, "from an interrupt's bit to its handler"),
    any("prices.interrupt_frame_cycles", CYCLES, "a handler's frame"),
    any("prices.packet_ps", TIME, "software of a message-based library, for one packet"),
    mesh("hardware.l2_cycles", CYCLES, "L2 answers a load, or takes a store"),
    mesh("hardware.mpb_read_cycles", CYCLES, "an MPB line or a register is loaded"),
    mesh("hardware.mpb_write_cycles", CYCLES, "a combined line gets to an MPB, and the answer back"),
    mesh("hardware.dram_cycles", CYCLES, "what a core spends on a line of memory"),
    mesh("hardware.dram_read_ps", TIME, "what the memory spends on a line that is read"),
    mesh("hardware.dram_write_ps", TIME, "what the memory spends on a line that is written"),
    mesh("hardware.l1_flush_cycles", CYCLES, "`wbinvd` empties L1"),
    mesh("contention.mpb_port_ps", WORD_TIME, "the port of an MPB serves one read"),
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
