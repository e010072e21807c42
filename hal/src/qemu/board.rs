//! What the nodes of a cluster tell each other about themselves, in the last part of the memory that they share.
//!
//! Every word has one writer: a node, whose cores may take turns at it with locked instructions, since these hold
//! inside a node.

use core::sync::atomic::{AtomicU32, Ordering};

use super::{
    cluster::{self, MAX_NODES},
    memory::{BOARD_OFFSET, CLUSTER_REGION_BYTES},
    smp::MAX_CORES,
};

/// How far a node has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Stage {
    /// Not started yet.
    Absent = 0,
    /// Its cores have started.
    Runs = 1,
    /// All of its cores have finished their programs.
    Finished = 2,
    /// It has ended with a report that says why.
    Failed = 3,
}

/// What one node tells, in a cache line of the host.
#[repr(C, align(64))]
pub(super) struct NodeLine {
    stage: AtomicU32,
    /// Counted up as long as the node is alive.
    pub(super) beat: AtomicU32,
    /// Writes of its cores to memory that cores share.
    pub(super) writes: AtomicU32,
}

impl NodeLine {
    pub(super) fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Absent,
            1 => Stage::Runs,
            2 => Stage::Finished,
            _ => Stage::Failed,
        }
    }

    pub(super) fn set_stage(&self, stage: Stage) {
        self.stage.store(stage as u32, Ordering::Release);
    }
}

/// The whole of it. All zero when the first node starts.
#[repr(C)]
struct Board {
    nodes: [NodeLine; MAX_NODES],
    /// See [`stuck`](super::stuck): one for each core.
    states: [AtomicU32; MAX_CORES],
}

const _: () = assert!(BOARD_OFFSET + size_of::<Board>() <= CLUSTER_REGION_BYTES, "the board fits the shared region");

fn board() -> Option<&'static Board> {
    let start = cluster::member()?.region + BOARD_OFFSET;
    // SAFETY: 1. the region is memory, mapped at its physical address on every core and before paging is on; 2. it is
    // as long as the assertion says and aligned to pages; 3. all of the board's words are atomic.
    Some(unsafe { &*core::ptr::with_exposed_provenance::<Board>(start) })
}

/// The lines of all nodes; nothing if the machine is no cluster.
pub(super) fn nodes() -> Option<&'static [NodeLine]> {
    let nodes = cluster::member()?.nodes;
    board().map(|board| &board.nodes[..nodes])
}

/// This node's line; nothing if the machine is no cluster.
pub(super) fn own() -> Option<&'static NodeLine> {
    let node = cluster::member()?.node;
    board().map(|board| &board.nodes[node])
}

/// The states of all cores; nothing if the machine is no cluster.
pub(super) fn states() -> Option<&'static [AtomicU32]> {
    board().map(|board| &board.states[..cluster::all_cores()])
}
