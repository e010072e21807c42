//! What the command line says of the node's place in a cluster.

use crate::{
    bare::options,
    qemu::{
        cluster::nodes::MAX_NODES,
        exit::failure::{fail, number},
        handed::facts::{MAX_CORES, Membership},
        memory::addresses,
    },
};

/// Seconds without a sign of life after which a node has disappeared, unless `deadline=` says otherwise.
const DEADLINE_S: usize = 10;

/// The largest deadline: a day.
const MAX_DEADLINE_S: usize = 86_400;

/// Reads the words about the cluster from the command line; nothing if the machine is none.
pub(crate) fn membership(line: &str, cores: usize) -> Option<Membership> {
    options::value_of(line, "nodes")?;
    let nodes = number(line, "nodes", 1, MAX_NODES);
    let number_from_0 = |key, default, max| match options::value_of(line, key) {
        Some("0") => 0,
        _ => number(line, key, default, max),
    };
    let node = number_from_0("node", 0, MAX_NODES);
    if node >= nodes {
        fail(format_args!("`node={node}`: a cluster of {nodes} nodes counts them from 0"));
    }
    if nodes * cores > MAX_CORES {
        fail(format_args!("{nodes} nodes of {cores} cores, but at most {} cores are possible", MAX_CORES));
    }
    let region = number(line, "shared_mib", usize::MAX, addresses::HEAP_BASE >> 20) << 20;
    if region + addresses::CLUSTER_REGION_BYTES > addresses::HEAP_BASE {
        fail(format_args!("`shared_mib=`: the shared region has to end below {} MiB", addresses::HEAP_BASE >> 20));
    }
    let deadline_s = number(line, "deadline", DEADLINE_S, MAX_DEADLINE_S);
    Some(Membership { node, nodes, region, deadline_s })
}
