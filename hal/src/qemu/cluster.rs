//! Several machines as one: nodes that share a region of memory and nothing else.
//!
//! Each node is a QEMU process. Its image, statics, heaps and locks are its own; the region, which holds the shared
//! DRAM, the MPBs of all cores and the [`board`](super::board), is the same memory for all. Words `node=`, `nodes=`
//! and `shared_mib=` on the command line say which node this is and where the region begins. Node i has cores
//! `i * C..(i + 1) * C`; inside this backend cores are counted per node wherever locks, page directories and local
//! APICs are meant, and [`global`] and [`local`] say which core of the whole machine that is.
//!
//! **What holds between nodes.** A locked instruction of a single-threaded QEMU is none to another process, so between
//! nodes there are single-writer words and no read-modify-write: test-and-set registers, interrupts and private memory
//! that is exposed stay inside a node. The emulator's locks, which make a line move as a whole, do so inside a node
//! only. Between nodes the words of a line are written in ascending order and read in descending order, and x86 keeps
//! both, so whoever finds the last word of a tagged line has the words before it. Nobody waits for a store to leave the
//! processor's store buffer, except that a store that must be seen before a later load is followed by
//! [`make_visible`]: reading a port leaves the translated code and takes a lock of the host.
//!
//! **Who is alive.** See [`heartbeat`](super::heartbeat).

use crate::CoreId;

use super::{boot, memory, port, this_core};
use crate::bare::words;

/// Nodes that a cluster can have: as many as cores, if each has one.
pub(super) const MAX_NODES: usize = 255;

/// Seconds without a sign of life after which a node has disappeared, unless `deadline=` says otherwise.
const DEADLINE_S: usize = 10;

/// The largest deadline: a day.
const MAX_DEADLINE_S: usize = 86_400;

/// A node's place in its cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Membership {
    /// Which node this is.
    pub(super) node: usize,
    /// How many there are.
    pub(super) nodes: usize,
    /// Where the shared region begins.
    pub(super) region: usize,
    /// Seconds without a sign of life after which a node has disappeared.
    pub(super) deadline_s: usize,
}

/// Reads the words about the cluster from the command line; nothing if the machine is none.
pub(super) fn membership(line: &str, cores: usize) -> Option<Membership> {
    words::value_of(line, "nodes")?;
    let nodes = boot::number(line, "nodes", 1, MAX_NODES);
    let number = |key, default, max| match words::value_of(line, key) {
        Some("0") => 0,
        _ => boot::number(line, key, default, max),
    };
    let node = number("node", 0, MAX_NODES);
    if node >= nodes {
        boot::fail(format_args!("`node={node}`: a cluster of {nodes} nodes counts them from 0"));
    }
    if nodes * cores > super::smp::MAX_CORES {
        boot::fail(format_args!(
            "{nodes} nodes of {cores} cores, but at most {} cores are possible",
            super::smp::MAX_CORES
        ));
    }
    let region = boot::number(line, "shared_mib", usize::MAX, memory::HEAP_BASE >> 20) << 20;
    if region + memory::CLUSTER_REGION_BYTES > memory::HEAP_BASE {
        boot::fail(format_args!("`shared_mib=`: the shared region has to end below {} MiB", memory::HEAP_BASE >> 20));
    }
    let deadline_s = boot::number(line, "deadline", DEADLINE_S, MAX_DEADLINE_S);
    Some(Membership { node, nodes, region, deadline_s })
}

/// This node's place, if the machine is a cluster.
pub(super) fn member() -> Option<&'static Membership> {
    boot::known_information()?.membership.as_ref()
}

/// The number of cores of all nodes together.
pub(super) fn all_cores() -> usize {
    boot::core_count() * member().map_or(1, |member| member.nodes)
}

/// The core of the whole machine that core `local` of this node is.
pub(super) fn global(local: usize) -> CoreId {
    CoreId::new(member().map_or(0, |member| member.node * boot::core_count()) + local)
}

/// Which core of this node a core of the whole machine is, if it is one.
pub(super) fn local(core: CoreId) -> Option<usize> {
    let first = global(0).index();
    core.index().checked_sub(first).filter(|local| *local < boot::core_count())
}

/// The node that a core is part of.
pub(super) fn node_of(core: CoreId) -> usize {
    core.index() / boot::core_count()
}

/// Which core of its node `core` is, for what nodes do not share.
///
/// # Panics
/// If it is of another node: `what` cannot be had from there.
pub(super) fn expect_local(core: CoreId, what: &str) -> usize {
    local(core).unwrap_or_else(|| {
        panic!("{what} of {core} is out of reach of {}, which is on another node", global(this_core()))
    })
}

/// Returns when other nodes can see what this core has stored; at once if there are none.
pub(super) fn make_visible() {
    if member().is_some() {
        port::short_delay();
    }
}
