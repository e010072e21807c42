//! The notice board: what the nodes of a cluster tell each other about themselves, in the last part of the memory that they share.
//!
//! Every word has one writer: a node, whose cores may take turns at it with locked instructions, since these hold
//! inside a node.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::qemu::{
    cluster::nodes::{self, MAX_NODES},
    emulator::note::Note,
    handed::facts::MAX_CORES,
    memory::addresses::{BOARD_OFFSET, CLUSTER_REGION_BYTES, MPB_BYTES_PER_CORE, SHARED_DRAM_BYTES},
};

/// How far a node has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Stage {
    /// Not started yet.
    Absent = 0,
    /// The cores of the node have started.
    Runs = 1,
    /// All of its cores have finished their programs.
    Finished = 2,
    /// The node has ended with a report that says why.
    Failed = 3,
}

/// What one node tells, in a cache line of the host.
#[repr(C, align(64))]
pub(crate) struct NodeLine {
    stage: AtomicU32,
    /// Counted up as long as the node is alive.
    pub(crate) beat: AtomicU32,
    /// Writes of its cores to memory that cores share.
    pub(crate) writes: AtomicU32,
    /// Larger than what it and those of the others were when a core of it last began to wait.
    pub(crate) begun: AtomicU32,
}

impl NodeLine {
    pub(crate) fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Absent,
            1 => Stage::Runs,
            2 => Stage::Finished,
            _ => Stage::Failed,
        }
    }

    pub(crate) fn set_stage(&self, stage: Stage) {
        self.stage.store(stage as u32, Ordering::Release);
    }
}

/// The whole of it. All zero when the first node starts.
#[repr(C)]
struct Board {
    nodes: [NodeLine; MAX_NODES],
    /// One for each core.
    notes: [Note; MAX_CORES],
}

const _: () =
    assert!(SHARED_DRAM_BYTES + MAX_CORES * MPB_BYTES_PER_CORE <= BOARD_OFFSET, "all MPBs lie below the board");
const _: () = assert!(BOARD_OFFSET + size_of::<Board>() <= CLUSTER_REGION_BYTES, "the board fits the shared region");

fn board() -> Option<&'static Board> {
    let start = nodes::member()?.region + BOARD_OFFSET;
    // SAFETY: 1. the region is memory, mapped at its physical address on every core and before paging is on; 2. it is
    // as long as the assertion says and aligned to pages; 3. all of the board's words are atomic.
    Some(unsafe { &*core::ptr::with_exposed_provenance::<Board>(start) })
}

/// The lines of all nodes; nothing if the machine is no cluster.
pub(crate) fn nodes() -> Option<&'static [NodeLine]> {
    let nodes = nodes::member()?.nodes;
    board().map(|board| &board.nodes[..nodes])
}

/// This node's line; nothing if the machine is no cluster.
pub(crate) fn own() -> Option<&'static NodeLine> {
    let node = nodes::member()?.node;
    board().map(|board| &board.nodes[node])
}

/// The notes of all cores; nothing if the machine is no cluster.
pub(crate) fn notes() -> Option<&'static [Note]> {
    board().map(|board| &board.notes[..nodes::all_cores()])
}

/// Says to the other nodes that this one ends, and how. What was said first counts: that all programs have finished, or
/// that something failed.
pub(crate) fn note_end(stage: Stage) {
    if let Some(own) = own()
        && ![Stage::Finished, Stage::Failed].contains(&own.stage())
    {
        own.set_stage(stage);
        nodes::make_visible();
    }
}
