//! Several machines as one: nodes that share a region of memory and nothing else.
//!
//! Each node is a QEMU process. Its image, statics, heaps and locks are its own; the region, which holds the shared
//! DRAM, the MPBs of all cores and the [notice board](super::notices), is the same memory for all. Words `node=`, `nodes=`
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

use crate::{
    CoreId,
    bare::{port, this_core::this_core},
    qemu::handed::facts::{self, Membership},
};

/// Nodes that a cluster can have: as many as cores, if each has one.
pub(crate) const MAX_NODES: usize = 255;

/// This node's place, if the machine is a cluster.
pub(crate) fn member() -> Option<&'static Membership> {
    facts::known_information()?.membership.as_ref()
}

/// The core of the whole machine that the calling core is: on a node of a cluster, its own number follows those of
/// the nodes before it.
pub fn this_core_id() -> CoreId {
    global(this_core())
}

/// The number of cores of all nodes together.
pub(crate) fn all_cores() -> usize {
    facts::core_count() * member().map_or(1, |member| member.nodes)
}

/// The core of the whole machine that core `local` of this node is.
pub(crate) fn global(local: usize) -> CoreId {
    CoreId::new(member().map_or(0, |member| member.node * facts::core_count()) + local)
}

/// Which core of this node a core of the whole machine is, if it is one.
pub(crate) fn local(core: CoreId) -> Option<usize> {
    let first = global(0).index();
    core.index().checked_sub(first).filter(|local| *local < facts::core_count())
}

/// The node that a core is part of.
pub(crate) fn node_of(core: CoreId) -> usize {
    core.index() / facts::core_count()
}

/// Which core of its node `core` is, for what nodes do not share.
///
/// # Panics
/// If it is of another node: `what` cannot be had from there.
pub(crate) fn expect_local(core: CoreId, what: &str) -> usize {
    local(core).unwrap_or_else(|| {
        panic!("{what} of {core} is out of reach of {}, which is on another node", global(this_core()))
    })
}

/// Returns when other nodes can see what this core has stored; at once if there are none.
pub(crate) fn make_visible() {
    if member().is_some() {
        port::short_delay();
    }
}
