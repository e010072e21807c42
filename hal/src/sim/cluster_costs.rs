//! The cluster of the scalable-barriers paper: nodes that are coherent inside and reach each other's memory through an
//! engine of loads and stores (Fröning et al., *Highly Scalable Barriers for Future High-Performance Computing
//! Clusters*; sections are that paper's).
//!
//! **Inside a node** memory is coherent. An MPB is DRAM of its node there (V.A, "DRAM mapped"). An access takes the
//! latency of memory, unless the core's cache holds the line: then it takes that of the cache. So a core that polls a
//! line of its own node spins in its cache, and pays for the access that finds the change. Fetches of one line by
//! several cores go one after the other, a transfer apart.
//!
//! **To other nodes**, and to uncached words of the own one, which are mapped as the engine's (III.A, loopback), go
//! loads and stores over the engine. A load carries 64 bits at most, and one is outstanding per socket (III.C), so that
//! a line is four loads, and cores of one socket wait for each other. Stores are posted: a core hands one over and goes
//! on, and it is visible one way later.
//! A word or line is one packet. Stores of one core are visible in the order in which they were made.
//! A real line of four loads could tear; here the last load reads all of it, since lines are atomic in the HAL.
//!
//! Nothing says how far nodes are from each other; all are equally far here, as in the paper's latencies.

use descriptions::machines::MachineFile;

/// What a node and its engine cost; `cargo xtask machines cluster-fpga` shows it with its sources.
///
/// A posted store is visible after `(load - memory) / 2 + memory`: half of what a load takes beside the memory access
/// is its way there. That is derived, and so is the way back of a load. A store cannot be visible before the engines
/// have sent and received it, though: on the FPGA, one through the own engine takes 738 ns instead of 655.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// Sockets of a node, each with one load under way; core i of a node is on socket i modulo their number.
    pub sockets: u16,
    /// An access to memory of the own node.
    pub memory_ps: u64,
    /// Cycles of an access that the core's cache answers.
    pub hit_cycles: u64,
    /// For how long a fetch of a line of the own node keeps others from it.
    pub transfer_ps: u64,
    /// A load of at most 64 bits from another node, there and back.
    pub remote_load_ps: u64,
    /// A load of at most 64 bits from the own node over its engine, there and back.
    pub loopback_load_ps: u64,
    /// What a core spends on a store before it goes on.
    pub hand_over_ps: u64,
    /// For how long a packet occupies the engine that sends it.
    pub send_ps: u64,
    /// For how long a load's request occupies the engine that receives it.
    pub receive_load_ps: u64,
    /// For how long a store occupies it.
    pub receive_store_ps: u64,
    /// For how much longer it does for each cache that holds the line, and has to give it up.
    pub invalidate_ps: u64,
    /// Packets that an engine has room for; others wait in the network.
    pub queue: usize,
    /// For how much longer a packet that has waited in the network occupies the engine that receives it.
    pub backpressure_ps: u64,
}

/// Bytes that one load brings at most.
const LOAD_BYTES: usize = 8;

impl Cluster {
    /// What the file of a cluster says.
    pub(super) fn of(file: &MachineFile) -> Self {
        let number = |key: &str| file.values.number(&format!("cluster.{key}"));
        let cluster = Self {
            sockets: number("sockets") as u16,
            memory_ps: number("memory_ps"),
            hit_cycles: number("hit_cycles"),
            transfer_ps: number("transfer_ps"),
            remote_load_ps: number("remote_load_ps"),
            loopback_load_ps: number("loopback_load_ps"),
            hand_over_ps: number("hand_over_ps"),
            send_ps: number("send_ps"),
            receive_load_ps: number("receive_load_ps"),
            receive_store_ps: number("receive_store_ps"),
            invalidate_ps: number("invalidate_ps"),
            queue: number("queue") as usize,
            backpressure_ps: number("backpressure_ps"),
        };
        let on = |word| file.values.has_word("cluster.on", word);
        let cluster = if on("engines") { cluster } else { cluster.with_ideal_engines() };
        if on("loads") {
            cluster
        } else {
            Self { sockets: file.values.number("layout.cores_per_node") as u16, ..cluster }
        }
    }

    /// The same cluster with engines that nothing occupies: packets take as long as ever, and meet nobody.
    pub(super) fn with_ideal_engines(self) -> Self {
        Self { send_ps: 0, receive_load_ps: 0, receive_store_ps: 0, invalidate_ps: 0, backpressure_ps: 0, ..self }
    }

    /// Loads that a piece of memory takes which lies within a line.
    pub(super) const fn loads(bytes: usize) -> usize {
        bytes.div_ceil(LOAD_BYTES)
    }

    const fn load_ps(&self, loopback: bool) -> u64 {
        if loopback { self.loopback_load_ps } else { self.remote_load_ps }
    }

    /// The way of a load's answer.
    pub(super) const fn return_ps(&self, loopback: bool) -> u64 {
        self.load_ps(loopback).saturating_sub(self.memory_ps) / 2
    }

    /// From an access to its effect in memory, if it meets no other.
    pub(super) const fn one_way_ps(&self, loopback: bool) -> u64 {
        self.load_ps(loopback).saturating_sub(self.return_ps(loopback))
    }

    /// For how long a packet occupies the engine that receives it.
    pub(super) const fn receive_ps(&self, is_store: bool) -> u64 {
        if is_store { self.receive_store_ps } else { self.receive_load_ps }
    }

    /// From one engine to the other: what is left of the way there.
    pub(super) const fn wire_ps(&self, loopback: bool, is_store: bool) -> u64 {
        let both = self.send_ps + self.receive_ps(is_store) + self.memory_ps;
        self.one_way_ps(loopback).saturating_sub(both)
    }
}
