//! The cluster of the scalable-barriers paper: nodes that are coherent inside and reach each other's memory through an
//! engine of loads and stores (Fröning et al., *Highly Scalable Barriers for Future High-Performance Computing
//! Clusters*; sections are that paper's).
//!
//! **Inside a node** memory is coherent. An MPB is DRAM of its node there (V.A, "DRAM mapped"). An access takes the
//! latency of memory, unless the core's cache holds the line: then it takes that of the cache. So a core that polls a line
//! of its own node spins in its cache, and pays for the access that finds the change. Fetches of one line by several
//! cores go one after the other, a transfer apart.
//!
//! **To other nodes**, and to uncached words of the own one, which are mapped as the engine's (III.A, loopback), go
//! loads and stores over the engine. A load carries 64 bits at most, and one is outstanding per socket (III.C), so that
//! a line is four loads, and cores of one socket wait for each other. Stores are posted: a core hands one over and goes
//! on, and it is visible one way later.
//! A word or line is one packet. Stores of one core are visible in the order in which they were made.
//! A real line of four loads could tear; here the last load reads all of it, since lines are atomic in the HAL.
//!
//! Nothing says how far nodes are from each other; all are equally far here, as in the paper's latencies.

use crate::Prices;

/// What a node and its engine cost. The constants of [`Cluster::FPGA`] and [`Cluster::ASIC`] and their sources:
///
/// | field | FPGA | ASIC | source |
/// |---|---|---|---|
/// | `sockets` | 4 | 4 | IV.B: quad-socket machines; threads are spread over sockets first, since figure 4 has latency grow beyond four threads |
/// | `memory_ps` | 100 ns | 100 ns | IV.B: "approx. 100ns for local memory" |
/// | `hit_cycles` | 3 | 3 | L1 of an Opteron K10 (AMD's optimisation guide for family 10h) |
/// | `remote_load_ps` | 1.89 µs | 534 ns | IV.B and C |
/// | `loopback_load_ps` | 1.21 µs | 534 ns | IV.C; of an ASIC the paper gives one latency, and applies it to loads of the own node when it derives 43 µs from 94 |
/// | `hand_over_ps` | 25 ns | 25 ns | derived: a line and 8 bytes of command at 1.6 GB/s of the host's interface (III.C) |
/// | `send_ps` | 64 ns | 64 ns | derived: the same 40 bytes at 624 MB/s of a link (III.C); IV.C keeps links as they are |
/// | `receive_load_ps` | 64 ns | 64 ns | derived, as `send_ps`: the engine is pipelined (III.C) |
/// | `receive_store_ps` | 574 ns | 112 ns | **fitted**, on Eq. 2 at 8 nodes of one core: 5.66 µs with a tree of fan-in 8; the logic scales with its clock, 156 to 800 MHz (IV.C) |
/// | `queue` | 35 | 35 | **fitted**, on V.B: the engine of a flat barrier's master "gets congested at 40 nodes", in barriers back to back |
/// | `backpressure_ps` | 574 ns | 112 ns | chosen: what waits in the network is received half as fast; the paper does not say how much slower |
/// | `transfer_ps` | 28 ns | 28 ns | **fitted**, on the 0.0561 µs of Eq. 2 by which each core of a node lengthens a barrier, in which each has its flag fetched and fetches the phase |
///
/// A posted store is visible after `(load - memory) / 2 + memory`: half of what a load takes beside the memory access
/// is its way there. That is derived, and so is the way back of a load. A store cannot be visible before the engines
/// have sent and received it, though: on the FPGA, one through the own engine takes 738 ns instead of 655.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// Sockets of a node; core i of a node is on socket i modulo their number.
    pub sockets: u16,
    /// An access to memory of the own node.
    pub memory_ps: u64,
    /// Cycles of an access that the core's cache answers.
    pub hit_cycles: u64,
    /// For how long a fetch of a line of the own node keeps others from it.
    pub transfer_ps: u64,
    /// A load of at most 64 bits from another node, there and back.
    pub remote_load_ps: u64,
    /// The same from the own node.
    pub loopback_load_ps: u64,
    /// What a core spends on a store before it goes on.
    pub hand_over_ps: u64,
    /// For how long a packet occupies the engine that sends it.
    pub send_ps: u64,
    /// For how long a load's request occupies the engine that receives it.
    pub receive_load_ps: u64,
    /// For how long a store occupies it.
    pub receive_store_ps: u64,
    /// Packets that an engine has room for; others wait in the network.
    pub queue: usize,
    /// For how much longer a packet that has waited in the network occupies the engine that receives it.
    pub backpressure_ps: u64,
}

/// What an FPGA's logic takes for a store that arrives.
const RECEIVE_STORE_PS: u64 = 574_000;

/// Bytes that one load brings at most.
const LOAD_BYTES: usize = 8;

impl Cluster {
    /// The prototype.
    pub const FPGA: Self = Self {
        sockets: 4,
        memory_ps: 100_000,
        hit_cycles: 3,
        transfer_ps: 28_000,
        remote_load_ps: 1_890_000,
        loopback_load_ps: 1_210_000,
        hand_over_ps: 25_000,
        send_ps: 64_000,
        receive_load_ps: 64_000,
        receive_store_ps: RECEIVE_STORE_PS,
        queue: 35,
        backpressure_ps: RECEIVE_STORE_PS,
    };

    /// The prototype's prediction for an ASIC.
    pub const ASIC: Self = Self {
        remote_load_ps: 534_000,
        loopback_load_ps: 534_000,
        receive_store_ps: RECEIVE_STORE_PS * 156 / 800,
        backpressure_ps: RECEIVE_STORE_PS * 156 / 800,
        ..Self::FPGA
    };

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

    /// What algorithms are chosen by; `call_ps` is what a call takes that sets a flag, and caches have so many sets.
    pub(super) fn prices(&self, call_ps: u64, cache_sets: u64) -> Prices {
        let ns = |ps: u64| ps.div_ceil(1_000) as u32;
        let near = ns(call_ps + self.memory_ps);
        Prices {
            push_ns: ns(call_ps + self.one_way_ps(false)),
            push_done_ns: ns(call_ps + self.hand_over_ps),
            near_push_ns: near,
            near_push_done_ns: near,
            own_poll_ns: ns(self.memory_ps),
            near_poll_ns: ns(self.memory_ps),
            poll_ns: ns(Self::loads(crate::LINE_BYTES) as u64 * self.remote_load_ps),
            receive_ns: ns(self.receive_store_ps),
            near_transfer_ns: ns(self.transfer_ps),
            cache_sets: cache_sets as u32,
            port_ns: 0,
        }
    }
}
